"""Run a block of seeds."""

import json

from bocu.jobs import job

with job(snakemake):
    from bocu.progress import Progress
    from bocu.runs import Block, execute

    parameters = snakemake.params.block
    block = Block(json.loads(parameters["specification"]), dict(snakemake.input.items()), parameters["fingerprint"])
    with Progress(block.rounds, "rounds") as progress:
        execute(
            block,
            snakemake.output[0],
            snakemake.params.checkpoints,
            snakemake.config["checkpoint_seconds"],
            progress.advance,
        )
