"""Run a block of seeds."""

import json

from bocu.jobs import block_job

with block_job(snakemake.output[0]):
    from bocu.compiling import share_with_jobs
    from bocu.fingerprint import definitions, run_roots
    from bocu.plan import SHARED_RUNS, checkpoint_folder
    from bocu.progress import Progress
    from bocu.runs import Block, execute
    from bocu.sharing import SharedRuns

    share_with_jobs()
    parameters = snakemake.params.block
    specification = json.loads(parameters["specification"])
    code = parameters["fingerprint"], definitions(run_roots(specification))
    block = Block(specification, dict(snakemake.input.items()), *code)
    with Progress(block.rounds, "rounds") as progress:
        execute(
            block,
            snakemake.output[0],
            checkpoint_folder(snakemake.output[0]),
            snakemake.config["checkpoint_seconds"],
            progress.advance,
            SharedRuns(SHARED_RUNS),
        )
