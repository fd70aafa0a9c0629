"""Run a block of seeds."""

from bocu.sweep.jobs import block_job

with block_job(snakemake) as parameters:
    from bocu.sweep.runs.job import run_block

    inputs, asked = dict(snakemake.input.items()), snakemake.resources
    accept = asked.code == "accept"
    run_block(parameters, inputs, snakemake.output[0], asked.script, float(asked.checkpoint_seconds), accept)
