# Cubes: all branches of a problem, then all problems. `part` is empty, or "/partial" for what exists so far.

from bocu.experiment.resources import memory, minutes


rule cube:
    input:
        lambda wildcards: plan.score_files(wildcards.problem, wildcards.part),
    output:
        plan.results + "{part}/cubes/{problem}.nc",
    log:
        plan.results + "/logs{part}/cubes/{problem}.log",
    wildcard_constraints:
        problem="(?!summary)[a-z0-9-]+",
    resources:
        mem_mb=lambda wildcards, attempt: memory(1000, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        cube=lambda wildcards: plan.parameters.cube(wildcards.problem, wildcards.part),
    script:
        "../scripts/cube.py"


rule summary:
    input:
        lambda wildcards: plan.cubes(wildcards.part),
    output:
        plan.results + "{part}/cubes/summary.nc",
    log:
        plan.results + "/logs{part}/cubes/summary.log",
    resources:
        mem_mb=lambda wildcards, attempt: memory(1000, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        fingerprint=lambda wildcards: plan.parameters.fingerprint("summary"),
    script:
        "../scripts/summary.py"
