"""The rounds of one seed, timed."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bocu.core.plain import Inputs, Specification


@dataclass(frozen=True)
class Length:
    """So many rounds, after the initial design.

    Attributes:
        rounds: how many.
        seconds: what they took together.
        memory_mb: peak memory of the process up to then, MB.
    """

    rounds: int
    seconds: float
    memory_mb: float


@dataclass(frozen=True)
class Timed:
    """What the first rounds took, at two lengths.

    Attributes:
        set_up_seconds: to build the problem, once a block.
        start_seconds: to draw a seed and play its initial design.
        half, whole: half of the rounds played, and all of them. The same where only one was.
        row_bytes: of a round in memory, more than in a compressed run file.
    """

    set_up_seconds: float
    start_seconds: float
    half: Length
    whole: Length
    row_bytes: float


def measure(
    specification: Specification,
    inputs: Inputs,
    seed: int,
    limit_seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> Timed:
    """Play one seed until its rounds took `limit_seconds`, or are all played.

    A first round is played beforehand, for what it imports and compiles.

    Args:
        specification: of the branch.
        inputs: files that the problem is built from.
        seed: the seed.
        limit_seconds: of the rounds together; the one in which they are spent is finished.
        clock: what the time is taken by.
    """
    from threadpoolctl import threadpool_limits

    from bocu.sweep.runs.seed_run import SeedRun, build_problem

    with threadpool_limits(specification["threads"]):
        start = clock()
        problem = build_problem(specification["problem"], inputs)
        built = clock()
        run = SeedRun(specification, problem, seed)
        while not run.finished and run.t <= 1:
            run.play()
        warm = clock()
        run = SeedRun(specification, problem, seed)
        while run.t < 1:
            run.play()
        started = clock()
        lengths: list[Length] = []
        while not run.finished and (not lengths or lengths[-1].seconds < limit_seconds):
            run.play()
            lengths.append(Length(len(lengths) + 1, clock() - started, peak_mb()))
    held = sum(array.nbytes for array in run.record.arrays.values())
    half = lengths[(len(lengths) + 1) // 2 - 1]
    return Timed(built - start, started - warm, half, lengths[-1], held / run.rows)


def peak_mb() -> float:
    """Return the peak memory of this process, MB."""
    status = Path("/proc/self/status")
    if status.is_file():  # Linux; what `resource` says there may be the peak of the process that started this one
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1e3
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
