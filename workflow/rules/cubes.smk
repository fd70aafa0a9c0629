# Cubes: all branches of a problem, then all problems.


rule cube:
    input:
        lambda wildcards: [
            plan.score_file(branch) for branch in plan.branches_of(wildcards.problem)
        ],
    output:
        plan.results + "/cubes/{problem}.nc",
    log:
        plan.results + "/logs/cubes/{problem}.log",
    wildcard_constraints:
        problem="(?!summary)[a-z0-9-]+",
    params:
        cube=lambda wildcards: plan.cube_parameters(wildcards.problem),
    script:
        "../scripts/cube.py"


rule summary:
    input:
        plan.cubes,
    output:
        plan.summary,
    log:
        plan.results + "/logs/cubes/summary.log",
    params:
        fingerprint=lambda wildcards: plan.fingerprint("bocu.cubes"),
    script:
        "../scripts/summary.py"
