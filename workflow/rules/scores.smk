# Scores: the runs of a branch under each metric.

from bocu.experiment.stages import stage_memory, stage_minutes


rule score:
    input:
        unpack(lambda wildcards: plan.inputs.problem(wildcards.problem)),
        runs=lambda wildcards: (
            [] if wildcards.part else plan.run_files(plan.branch_at(wildcards))
        ),
    output:
        f"{plan.results}{{part}}/scores/{{problem}}/{{objective}}/{{algorithm}}.nc",
    log:
        f"{plan.results}/logs{{part}}/scores/{{problem}}/{{objective}}/{{algorithm}}.log",
    benchmark:
        f"{plan.results}/benchmarks{{part}}/scores/{{problem}}/{{objective}}/{{algorithm}}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("score", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("score", attempt),
    params:
        score=lambda wildcards: plan.parameters.score(
            plan.branch_at(wildcards), wildcards.part
        ),
    script:
        "../scripts/score.py"
