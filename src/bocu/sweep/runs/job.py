"""A run job of the workflow: a block of seeds, from the parameters of its rule to its run file."""

from collections.abc import Mapping
from typing import Any

from bocu.core.io.progress import Progress
from bocu.sweep.experiment.fingerprints.fingerprint import definitions, run_roots
from bocu.sweep.experiment.paths import RUN_CACHE, checkpoint_folder
from bocu.sweep.runs.accepting import accept_run
from bocu.sweep.runs.execution import Block, execute
from bocu.sweep.runs.run_cache import RunCache
from bocu.sweep.runs.seed_run import Inputs


def run_block(
    parameters: Mapping[str, Any],
    inputs: Inputs,
    output: str,
    script: str,
    checkpoint_seconds: float,
    accept: bool = False,
) -> None:
    """Run a block of seeds and write its run file, with progress in the log, through the run cache.

    Args:
        parameters: `specification`, plain, and `fingerprint`, of `JobParameters.run`.
        inputs: files that the problem is built from.
        output: the run file.
        script: the rule's, which is part of the code.
        checkpoint_seconds: time between two checkpoints.
        accept: whether a run file that stands by other code is kept, where rounds of it come out alike.

    Raises:
        BocuError: an input file is missing or broken.
    """
    specification = parameters["specification"]
    block = Block(specification, inputs, parameters["fingerprint"], definitions([script, *run_roots(specification)]))
    cache = RunCache(RUN_CACHE)
    if accept:
        accept_run(output, block, cache)
    with Progress(block.rounds, "rounds") as progress:
        execute(block, output, checkpoint_folder(output), checkpoint_seconds, progress.advance, cache)
