# Scores: the runs of a branch under each judge.


rule score:
    input:
        unpack(lambda wildcards: plan.problem_inputs(wildcards.problem)),
        runs=lambda wildcards: plan.run_files(plan.branch_at(wildcards)),
    output:
        plan.results + "/scores/{problem}/{objective}/{algorithm}.nc",
    params:
        score=lambda wildcards: plan.score_parameters(plan.branch_at(wildcards)),
    log:
        plan.results + "/logs/scores/{problem}/{objective}/{algorithm}.log",
    script:
        "../scripts/score.py"
