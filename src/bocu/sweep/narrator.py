"""What a sweep says of itself while it runs: which job did what, how many are left, for about how long.

Knows nothing of Snakemake: `snakemake_logger_plugin_bocu` tells it what happened and prints the lines that it returns.
Imports little, because every start of Snakemake imports it.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bocu.io.tables import duration

SHOWN_RUNNING = 3  # jobs that a word in between names
_TAIL = 4096  # bytes of a log that are read
_BLOCK = re.compile(r"(.+)/seeds-(\d+)-(\d+)")
_ROUNDS = re.compile(r"rounds: (\d+) of (\d+), (\d+) s")
_TAKEN_OVER = "taken over from"


@dataclass(frozen=True)
class Job:
    """A job as its rule and wildcards name it.

    Attributes:
        logs: its log files.
        outputs: what it makes; a target such as `all` makes nothing.
    """

    rule: str
    wildcards: Mapping[str, str] = field(default_factory=dict)
    logs: Sequence[str] = ()
    outputs: Sequence[str] = ()

    @property
    def name(self) -> str:
        """What it does, such as `run hills/any/pe-gp-ucb seeds 0-14`."""
        given = {key: str(value) for key, value in self.wildcards.items()}
        partial = " (partial)" if given.pop("part", "") else ""
        what = "/".join(given.values())
        block = _BLOCK.fullmatch(what)
        if block:
            what = f"{block[1]} seeds {block[2]}-{block[3]}"
        return " ".join(filter(None, (self.rule, what or next(iter(self.outputs), "")))) + partial

    def rounds(self) -> tuple[int, int, int] | None:
        """Return rounds done, all rounds, and seconds, as its log last said; None where it says nothing of rounds."""
        found = _ROUNDS.findall(self._tail())
        return tuple(map(int, found[-1])) if found else None  # type: ignore[return-value]

    def achieved(self) -> str:
        """Say what its log says it came to, such as `216 rounds in 3 s`."""
        if _TAKEN_OVER in self._tail():
            return "taken over"
        rounds = self.rounds()
        return f"{rounds[0]} rounds in {duration(rounds[2])}" if rounds else ""

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines of its logs."""
        return self._tail().splitlines()[-count:]

    def _tail(self) -> str:
        return "\n".join(map(_tail, self.logs))


class Narrator:
    """Counts the jobs of a sweep and puts them into words. Times are those of `clock`, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._jobs: dict[int, Job] = {}
        self._since: dict[int, float] = {}  # running jobs, by when they were started
        self._planned: Counter[str] = Counter()
        self._finished: Counter[str] = Counter()  # jobs, by rule
        self._seconds: defaultdict[str, float] = defaultdict(float)  # that they took together
        self._told: list[tuple[Job, float]] = []

    def plan(self, jobs: Mapping[str, int]) -> None:
        """Note how many jobs of each rule there will be."""
        self._planned = Counter(jobs)
        self._start = self._clock()

    def start(self, number: int, job: Job) -> None:
        """Note that a job has started."""
        self._jobs[number] = job
        self._since[number] = self._clock()

    def finish(self, number: int) -> None:
        """Note that a job is done; `progress` tells it."""
        job, seconds = self._jobs.pop(number, None), self._clock() - self._since.pop(number, self._clock())
        if job is not None:
            self._finished[job.rule] += 1
            self._seconds[job.rule] += seconds
            if job.outputs:
                self._told.append((job, seconds))

    def fail(self, number: int) -> None:
        """Note that a job has failed."""
        self._since.pop(number, None)

    def name(self, number: int) -> str:
        """Return what a job does, or its number where it was never started."""
        job = self._jobs.get(number)
        return job.name if job else f"job {number}"

    def progress(self, done: int, total: int) -> Iterator[str]:
        """Tell what was finished since the last time; the last job of all ends with the time that all took."""
        told, self._told = self._told, []
        for job, seconds in told:
            came_to = job.achieved() or duration(seconds)
            yield f"{job.name}: {came_to}; {self._count(done, total)}"
        if done == total:
            yield f"all {total} jobs done in {duration(self._clock() - self._start)}"

    def running(self) -> Iterator[str]:
        """Tell of jobs that run: the longest first, with rounds and time left where their logs say so."""
        oldest = sorted(self._since, key=self._since.__getitem__)
        for number in oldest[:SHOWN_RUNNING]:
            job, seconds = self._jobs[number], self._clock() - self._since[number]
            rounds = job.rounds()
            if rounds and 0 < rounds[0] < rounds[1]:
                done, of, spent = rounds
                yield f"{job.name}: {done} of {of} rounds, {_about(spent * (of - done) / done)} left"
            else:
                yield f"{job.name}: for {duration(seconds)} now"
        if len(oldest) > SHOWN_RUNNING:
            yield f"... and {len(oldest) - SHOWN_RUNNING} more"

    def seconds_left(self) -> float | None:
        """Estimate the time until all is done by what finished jobs of the same rules took; None before any has.

        Jobs are taken to run side by side as much as they did so far.
        """
        finished, spent = self._finished.total(), sum(self._seconds.values())
        elapsed = self._clock() - self._start
        if not finished or elapsed <= 0:
            return None
        left = 0.0
        for rule, planned in self._planned.items():
            known = self._finished[rule]
            left += (planned - known) * (self._seconds[rule] / known if known else spent / finished)
        now = self._clock()
        begun = sum(now - since for since in self._since.values())
        side_by_side = max((spent + begun) / elapsed, 1.0)
        return max(left - begun, 0.0) / side_by_side

    def _count(self, done: int, total: int) -> str:
        seconds = self.seconds_left() if done < total else None
        return f"{done} of {total} jobs" + (f", {_about(seconds)} left" if seconds else "")


def _about(seconds: float) -> str:
    return f"about {duration(float(f'{seconds:.2g}'))}"


def _tail(log: str) -> str:
    try:
        with Path(log).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL))
            return file.read().decode("utf-8", errors="replace").rstrip()
    except OSError:
        return ""
