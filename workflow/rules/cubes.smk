# Cubes: all branches of a problem, then all problems. `part` is empty, or "/partial" for what exists so far.


rule cube:
    input:
        lambda wildcards: plan.score_files(wildcards.problem, wildcards.part),
    output:
        plan.results + "{part}/cubes/{problem}.nc",
    log:
        plan.results + "/logs{part}/cubes/{problem}.log",
    wildcard_constraints:
        problem="(?!summary)[a-z0-9-]+",
    params:
        cube=lambda wildcards: plan.cube_parameters(wildcards.problem, wildcards.part),
    script:
        "../scripts/cube.py"


rule summary:
    input:
        lambda wildcards: plan.cubes(wildcards.part),
    output:
        plan.results + "{part}/cubes/summary.nc",
    log:
        plan.results + "/logs{part}/cubes/summary.log",
    params:
        fingerprint=lambda wildcards: plan.fingerprint("bocu.cubes"),
    script:
        "../scripts/summary.py"
