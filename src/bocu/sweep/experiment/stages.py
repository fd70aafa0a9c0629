"""What the jobs around the runs ask for: memory and time, from benchmarks of the same rules.

`stages.json` holds the largest peak and the longest time that a job of each rule took, in the quick start and in
preparing all real and simulated data sets; `tests/benchmarks/stages.py` writes it from the files of the rules'
`benchmark:`. Larger experiments take more, so a job asks for several times as much, and for what Snakemake itself takes
on a cluster; a further attempt doubles it. How long a usual job takes, the median of the quick start, is known besides.
"""

import functools
import json
from pathlib import Path
from typing import NamedTuple

from bocu.sweep.experiment.resources import START_SECONDS, WORKFLOW_MB, memory, minutes

MEASURED = Path(__file__).with_name("stages.json")
_LARGER = 2.0  # times the peak of what was measured, in an experiment larger than those
_LONGER = 10.0  # times as long


class Taken(NamedTuple):
    """The most that a job of a rule took.

    Attributes:
        seconds: of wall time, from the start of its process.
        memory_mb: resident, with child processes, MB.
    """

    seconds: float
    memory_mb: float


@functools.cache
def taken() -> dict[str, Taken]:
    """Return what was measured, by rule."""
    rules = json.loads(MEASURED.read_text(encoding="utf-8"))["rules"]
    return {rule: Taken(**measured) for rule, measured in rules.items()}


def usual_seconds() -> dict[str, float]:
    """Return the wall time of a usual job by rule, of the rules that the quick start has."""
    return dict(json.loads(MEASURED.read_text(encoding="utf-8"))["usual"]["seconds"])


def stage_memory(rule: str, attempt: int) -> int:
    """Return the memory in MB to ask for in an attempt at a job of a rule."""
    return memory(WORKFLOW_MB + _LARGER * taken()[rule].memory_mb, attempt)


def stage_minutes(rule: str, attempt: int) -> int:
    """Return the minutes to ask for in an attempt at a job of a rule."""
    return minutes(START_SECONDS + _LONGER * taken()[rule].seconds, attempt)
