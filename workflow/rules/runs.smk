# Runs: a block of seeds of one problem x objective x algorithm. Every pattern and function here is worked out for each
# job, so one wildcard names the block, and functions are `signed`.

from bocu.sweep.experiment.plan import signed
from bocu.sweep.forecast import Forecaster

forecaster = Forecaster(plan, elsewhere=False)


rule run:
    input:
        unpack(
            signed(
                lambda wildcards: plan.inputs.problem(
                    wildcards.block.partition("/")[0]
                )
            )
        ),
    output:
        # `update` leaves the finished file in place, so that more iterations continue it.
        update(f"{plan.results}/runs/{{block}}.nc"),
    # No `log`: Snakemake deletes it before a job, also under a job of an earlier call that still writes there. The script
    # adds to `log_file` of the output.
    benchmark:
        f"{plan.results}/benchmarks/runs/{{block}}.tsv"
    threads: plan.experiment.threads
    resources:
        mem_mb=signed(
            lambda wildcards, attempt: forecaster.memory(
                *plan.block(wildcards.block), attempt
            )
        ),
        runtime=signed(
            lambda wildcards, attempt: forecaster.minutes(
                *plan.block(wildcards.block), attempt
            )
        ),
        # No parameters: another number of seconds, or another place of the clone, is to rerun nothing. The seconds are
        # text, for Snakemake rounds numbers; the script's own name is an address where the workflow is read from a forge.
        checkpoint_seconds=str(plan.experiment.checkpoint_seconds),
        code=plan.experiment.code,
        script=plan.parameters.script("run"),
    params:
        block=signed(
            lambda wildcards: plan.parameters.run(*plan.block(wildcards.block))
        ),
    script:
        "../scripts/run.py"
