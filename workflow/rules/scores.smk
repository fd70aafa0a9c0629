# Scores: the runs of a branch under each judge.


rule score:
    input:
        unpack(lambda wildcards: plan.problem_inputs(wildcards.problem)),
        runs=lambda wildcards: plan.run_files(plan.branch_at(wildcards)),
    output:
        plan.results + "/scores/{problem}/{objective}/{algorithm}.nc",
    log:
        plan.results + "/logs/scores/{problem}/{objective}/{algorithm}.log",
    params:
        score=lambda wildcards: plan.score_parameters(plan.branch_at(wildcards)),
    script:
        "../scripts/score.py"
