# Runs: a block of seeds of one problem x objective x algorithm. What is called for every job is `signed`.

from bocu.plan import signed
from bocu.resources import run_memory, run_minutes


rule run:
    input:
        unpack(signed(lambda wildcards: plan.problem_inputs(wildcards.problem))),
    output:
        # `update` leaves the finished file in place, so that more iterations continue it.
        update(
            plan.results
            + "/runs/{problem}/{objective}/{algorithm}/seeds-{first}-{last}.nc"
        ),
    log:
        plan.results
        + "/logs/runs/{problem}/{objective}/{algorithm}/seeds-{first}-{last}.log",
    benchmark:
        plan.results
        + "/benchmarks/runs/{problem}/{objective}/{algorithm}/seeds-{first}-{last}.tsv"
    threads: plan.experiment.threads
    resources:
        mem_mb=signed(
            lambda wildcards, attempt: run_memory(
                plan.branch_at(wildcards), wildcards.first, wildcards.last, attempt
            )
        ),
        runtime=signed(
            lambda wildcards, attempt: run_minutes(
                plan.branch_at(wildcards), wildcards.first, wildcards.last, attempt
            )
        ),
    params:
        block=signed(
            lambda wildcards: plan.run_parameters(
                plan.branch_at(wildcards), wildcards.first, wildcards.last
            )
        ),
    script:
        "../scripts/run.py"
