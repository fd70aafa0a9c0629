"""Runs of one seed, played to their end, and what of them must be the same bit for bit."""

from collections.abc import Callable
from pathlib import Path

from bocu.core.io.files import read_netcdf
from bocu.core.plain import Specification
from bocu.sweep.runs.execution import Block, execute
from bocu.sweep.runs.seed_run import SeedRun


def finished(run: SeedRun) -> SeedRun:
    """The run after its last round."""
    while not run.finished:
        run.play()
    return run


def numbers(run: SeedRun) -> dict[str, bytes]:
    """All that a run recorded but how long it took."""
    return {name: values.tobytes() for name, values in run.record.arrays.items() if name != "seconds"}


def assert_continued(folder: Path, specified: Callable[[int], Specification], rounds: tuple[int, int]) -> None:
    """A run file of some rounds that is asked for more is that of a run that long from the start, bit for bit."""

    def run(label: str, iterations: int) -> None:
        block = Block(specified(iterations), {}, "code")
        execute(block, folder / f"{label}.nc", folder / "checkpoints", 1e9)

    run("grown", rounds[0])
    run("grown", rounds[1])
    run("fresh", rounds[1])
    grown, fresh = read_netcdf(folder / "grown.nc"), read_netcdf(folder / "fresh.nc")
    for variable in fresh.variables:
        if fresh[variable].dtype.kind != "O" and variable != "seconds":
            assert grown[variable].values.tobytes() == fresh[variable].values.tobytes(), variable
    assert grown.stream_states.values.tolist() == fresh.stream_states.values.tolist()
