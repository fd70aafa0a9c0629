"""The rounds of one seed, timed."""

import time
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from bocu.core.plain import Specification
from bocu.sweep.runs.seed_run import SeedRun, build_problem


@dataclass(frozen=True)
class Length:
    """So many rounds, after the initial design, and the seconds that they took together."""

    rounds: int
    seconds: float


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


def measure(specification: Specification, limit_seconds: float) -> Timed:
    """Play seed 0 until its rounds took `limit_seconds` of the processor, or are all played.

    A first round is played beforehand, for what it imports and compiles.

    Args:
        specification: of the branch; its problem reads no file.
        limit_seconds: of the rounds together; the one in which they are spent is finished.
    """
    clock = time.process_time
    with threadpool_limits(specification["threads"]):
        start = clock()
        problem = build_problem(specification["problem"], {})
        built = clock()
        run = SeedRun(specification, problem, 0)
        while not run.finished and run.t <= 1:
            run.play()
        warm = clock()
        run = SeedRun(specification, problem, 0)
        while run.t < 1:
            run.play()
        started = clock()
        lengths: list[Length] = []
        while not run.finished and (not lengths or lengths[-1].seconds < limit_seconds):
            run.play()
            lengths.append(Length(len(lengths) + 1, clock() - started))
    held = sum(array.nbytes for array in run.record.arrays.values())
    half = lengths[(len(lengths) + 1) // 2 - 1]
    return Timed(built - start, started - warm, half, lengths[-1], held / run.rows)
