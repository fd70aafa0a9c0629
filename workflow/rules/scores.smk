# Scores: the runs of a branch under each metric. `part` is empty, or "/partial" for what exists so far.

from bocu.experiment.resources import memory, minutes


rule score:
    input:
        unpack(lambda wildcards: plan.inputs.problem(wildcards.problem)),
        runs=lambda wildcards: (
            [] if wildcards.part else plan.run_files(plan.branch_at(wildcards))
        ),
    output:
        plan.results + "{part}/scores/{problem}/{objective}/{algorithm}.nc",
    log:
        plan.results + "/logs{part}/scores/{problem}/{objective}/{algorithm}.log",
    resources:
        mem_mb=lambda wildcards, attempt: memory(1000, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        score=lambda wildcards: plan.parameters.score(
            plan.branch_at(wildcards), wildcards.part
        ),
    script:
        "../scripts/score.py"
