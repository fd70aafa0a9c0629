# Cubes: all branches of a problem, then all problems.


rule cube:
    input:
        lambda wildcards: [plan.score_file(branch) for branch in plan.branches_of(wildcards.problem)],
    output:
        plan.results + "/cubes/{problem}.nc",
    params:
        cube=lambda wildcards: plan.cube_parameters(wildcards.problem),
    wildcard_constraints:
        problem="(?!summary)[a-z0-9-]+",
    log:
        plan.results + "/logs/cubes/{problem}.log",
    script:
        "../scripts/cube.py"


rule summary:
    input:
        plan.cubes,
    output:
        plan.summary,
    params:
        fingerprint=lambda wildcards: plan.fingerprint("bocu.cubes"),
    log:
        plan.results + "/logs/cubes/summary.log",
    script:
        "../scripts/summary.py"
