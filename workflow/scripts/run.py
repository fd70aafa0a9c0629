"""Run a block of seeds."""

import json

from bocu.sweep.jobs import block_job

with block_job(snakemake.output[0]):
    from bocu.experiment.fingerprints.fingerprint import definitions, run_roots
    from bocu.experiment.paths import RUN_CACHE, checkpoint_folder
    from bocu.io.progress import Progress
    from bocu.runs.compiling import share_with_jobs
    from bocu.runs.execution import Block, execute
    from bocu.runs.run_cache import RunCache

    share_with_jobs()
    parameters = snakemake.params.block
    specification = json.loads(parameters["specification"])
    code = parameters["fingerprint"], definitions([snakemake.resources.script, *run_roots(specification)])
    block = Block(specification, dict(snakemake.input.items()), *code)
    with Progress(block.rounds, "rounds") as progress:
        execute(
            block,
            snakemake.output[0],
            checkpoint_folder(snakemake.output[0]),
            float(snakemake.resources.checkpoint_seconds),
            progress.advance,
            RunCache(RUN_CACHE),
        )
