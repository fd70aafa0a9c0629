"""Runs of one seed, played to their end, and what of them must be the same bit for bit."""

from bocu.sweep.runs.seed_run import SeedRun


def finished(run: SeedRun) -> SeedRun:
    """The run after its last round."""
    while not run.finished:
        run.play()
    return run


def numbers(run: SeedRun) -> dict[str, bytes]:
    """All that a run recorded but how long it took."""
    return {name: values.tobytes() for name, values in run.record.arrays.items() if name != "seconds"}
