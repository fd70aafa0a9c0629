# Cubes: all branches of a problem, with the digest that figures and tables read; then all problems.


rule cube:
    input:
        lambda wildcards: plan.products.scores(wildcards.problem, wildcards.part),
    output:
        cube=f"{plan.results}{{part}}/cubes/{{problem}}.nc",
        digest=f"{plan.results}{{part}}/digests/{{problem}}.nc",
    log:
        f"{plan.results}/logs{{part}}/cubes/{{problem}}.log",
    benchmark:
        f"{plan.results}/benchmarks{{part}}/cubes/{{problem}}.tsv"
    wildcard_constraints:
        problem="(?!summary)[a-z0-9-]+",
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("cube", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("cube", attempt),
    params:
        cube=lambda wildcards: plan.parameters.cube(wildcards.problem, wildcards.part),
    script:
        "../scripts/cube.py"


rule summary:
    input:
        lambda wildcards: plan.products.digests(wildcards.part),
    output:
        f"{plan.results}{{part}}/cubes/summary.nc",
    log:
        f"{plan.results}/logs{{part}}/cubes/summary.log",
    benchmark:
        f"{plan.results}/benchmarks{{part}}/cubes/summary.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("summary", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("summary", attempt),
    params:
        fingerprint=lambda wildcards: plan.parameters.fingerprint("summary"),
    script:
        "../scripts/summary.py"
