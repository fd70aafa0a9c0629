# What is claimed of the experiment, judged by its cubes.


rule claims:
    input:
        lambda wildcards: plan.inputs.claims(wildcards.part),
    output:
        f"{plan.results}{{part}}/claims/verdicts.json",
    log:
        f"{plan.results}/logs{{part}}/claims/verdicts.log",
    benchmark:
        f"{plan.results}/benchmarks{{part}}/claims/verdicts.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("claims", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("claims", attempt),
    params:
        claims=lambda wildcards: plan.parameters.claims(),
    script:
        "../scripts/claims.py"
