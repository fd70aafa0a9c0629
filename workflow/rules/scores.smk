# Scores: the best decisions on discretised contexts, and the runs of a branch under each metric.

from bocu.sweep.experiment.resources import (
    more_minutes,
    optima_seconds,
    scoring_seconds,
)


rule optima:
    input:
        unpack(lambda wildcards: plan.inputs.problem(wildcards.problem)),
    output:
        f"{plan.results}/optima/{{problem}}/{{entry}}.nc",
    log:
        f"{plan.results}/logs/optima/{{problem}}/{{entry}}.log",
    benchmark:
        f"{plan.results}/benchmarks/optima/{{problem}}/{{entry}}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("optima", attempt),
        runtime=lambda wildcards, attempt: (
            stage_minutes("optima", attempt)
            + more_minutes(
                optima_seconds(plan, wildcards.problem, wildcards.entry), attempt
            )
        ),
    params:
        optima=lambda wildcards: plan.parameters.optima(
            wildcards.problem, wildcards.entry
        ),
    script:
        "../scripts/optima.py"


rule score:
    input:
        unpack(
            lambda wildcards: plan.inputs.score(
                plan.branch_at(wildcards), wildcards.part
            )
        ),
    output:
        f"{plan.results}{{part}}/scores/{{problem}}/{{objective}}/{{algorithm}}.nc",
    log:
        f"{plan.results}/logs{{part}}/scores/{{problem}}/{{objective}}/{{algorithm}}.log",
    benchmark:
        f"{plan.results}/benchmarks{{part}}/scores/{{problem}}/{{objective}}/{{algorithm}}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("score", attempt),
        runtime=lambda wildcards, attempt: (
            stage_minutes("score", attempt)
            + more_minutes(scoring_seconds(plan, plan.branch_at(wildcards)), attempt)
        ),
    params:
        score=lambda wildcards: plan.parameters.score(
            plan.branch_at(wildcards), wildcards.part
        ),
    script:
        "../scripts/score.py"
