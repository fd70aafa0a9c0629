"""What a sweep says of itself while it runs: which job did what, how many are left, for about how long.

Knows nothing of Snakemake: `snakemake_logger_plugin_bocu` tells it what happened and prints the lines that it returns.
Imports little, because every start of Snakemake imports it.
"""

import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bocu.core.written import duration

SHOWN_RUNNING = 3  # jobs that a word in between names
SURE = 3.0  # seconds of work by which a forecast is trusted against what finished jobs took
SURE_OF_A_RULE = 3  # as many of its jobs count as much as its forecast: the first of a kind takes longer
SIDE_BY_SIDE = 60.0  # seconds for which all cores are taken to be used, against what was seen so far
LEAST = 1e-3  # seconds that a job is forecast to take
UNFORECAST = 1.0  # seconds, of a job that nothing is known of
_TAIL = 4096  # bytes of a log that are read
_BLOCK = re.compile(r"(.+)/seeds-(\d+)-(\d+)")
_ROUNDS = re.compile(r"rounds: (\d+) of (\d+), (\d+) s")
_STEEPEST = 3.0  # power of the rounds as which their time is taken to grow at most
_TAKEN_OVER = "taken over from"

_forecast: dict[str, float] = {}


def expect(seconds: Mapping[str, float]) -> None:
    """Be told what jobs of this process's sweep are forecast to take, by their names, and usual ones by their rules."""
    _forecast.clear()
    _forecast.update((job, max(found, LEAST)) for job, found in seconds.items())


@dataclass(frozen=True)
class Job:
    """A job as its rule and wildcards name it."""

    rule: str
    wildcards: Mapping[str, str] = field(default_factory=dict)
    logs: Sequence[str] = ()  #: its log files.
    outputs: Sequence[str] = ()  #: what it makes; a target such as `all` makes nothing.

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

    def rounds(self) -> list[tuple[int, int, int]]:
        """Return rounds done, all rounds, and seconds, each time that its log said so of late."""
        return [(int(done), int(of), int(spent)) for done, of, spent in _ROUNDS.findall(self._tail())]

    def seconds_left(self, told: Sequence[tuple[int, int, int]]) -> float:
        """Estimate what it still needs from what `rounds` told, of one round at least.

        Later rounds take longer, as posteriors of more observations do: until a seed is done, its time is taken to grow
        by the power of the rounds by which it has grown since half of them.
        """
        done, of, spent = told[-1]
        block = _BLOCK.fullmatch(self.wildcards.get("block", ""))
        seeds = int(block[3]) - int(block[2]) + 1 if block else 1
        before, _, then = min(told, key=lambda line: abs(2 * line[0] - done))
        power = 1.0
        if seeds * done < of and 0 < before < done and 0 < then < spent:
            power = min(max(math.log(spent / then) / math.log(done / before), 1.0), _STEEPEST)
        return spent * (seeds * (of / (seeds * done)) ** power - 1.0)

    def achieved(self) -> str:
        """Say what its log says it came to, such as `216 rounds in 3 s`."""
        if _TAKEN_OVER in self._tail():
            return "taken over"
        return "".join(f"{done} rounds in {duration(spent)}" for done, _, spent in self.rounds()[-1:])

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines of its logs."""
        return self._tail().splitlines()[-count:]

    def _tail(self) -> str:
        return "\n".join(map(tail, self.logs))


class Narrator:
    """Counts the jobs of a sweep and puts them into words. Times are those of `clock`, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._first: float | None = None  # when the first job was started
        self._cores: int | None = None
        self._jobs: dict[int, Job] = {}
        self._since: dict[int, float] = {}  # running jobs, by when they were started
        self._planned: Counter[str] = Counter()
        self._finished: Counter[str] = Counter()  # jobs, by rule
        self._seconds: defaultdict[str, float] = defaultdict(float)  # that they took together
        self._forecast: defaultdict[str, float] = defaultdict(float)  # that they were forecast to take
        self._told: list[tuple[Job, float]] = []

    def plan(self, jobs: Mapping[str, int]) -> None:
        """Note how many jobs of each rule there will be."""
        self._planned = Counter(jobs)
        self._start = self._clock()

    def provide(self, cores: int) -> None:
        """Note how many jobs may run side by side."""
        self._cores = cores

    def start(self, number: int, job: Job) -> None:
        """Note that a job has started."""
        self._jobs[number] = job
        self._since[number] = self._clock()
        if self._first is None:
            self._first = self._since[number]

    def finish(self, number: int) -> None:
        """Note that a job is done; `progress` tells it."""
        job, seconds = self._jobs.pop(number, None), self._clock() - self._since.pop(number, self._clock())
        if job is not None:
            self._finished[job.rule] += 1
            self._seconds[job.rule] += seconds
            self._forecast[job.rule] += _forecast_of(job)
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
            told = job.rounds()
            if told and 0 < told[-1][0] < told[-1][1]:
                done, of, _ = told[-1]
                yield f"{job.name}: {done} of {of} rounds, {_about(job.seconds_left(told))} left"
            else:
                yield f"{job.name}: for {duration(seconds)} now"
        if len(oldest) > SHOWN_RUNNING:
            yield f"... and {len(oldest) - SHOWN_RUNNING} more"

    def seconds_left(self) -> float | None:
        """Estimate the time until all is done; None before any job has finished.

        Jobs take what they are forecast to, times as much longer as finished ones took: those of the same rule, and as
        long as these are few, all. They are taken to use all cores, and ever more as many as they did so far.
        """
        now = self._clock()
        if self._first is None or not self._finished:
            return None
        spent = sum(self._seconds.values())
        slower = (SURE + spent) / (SURE + sum(self._forecast.values()))

        def pace(rule: str) -> float:
            usual = SURE_OF_A_RULE * _forecast.get(rule, UNFORECAST)
            return (slower * usual + self._seconds[rule]) / (usual + self._forecast[rule])

        left = sum(
            pace(rule) * max(planned * _forecast.get(rule, UNFORECAST) - self._forecast[rule], 0.0)
            for rule, planned in self._planned.items()
            if planned > self._finished[rule]
        )
        running = [(self._jobs[number], now - since) for number, since in self._since.items()]
        left -= sum(min(seconds, pace(job.rule) * _forecast_of(job)) for job, seconds in running)
        busy, elapsed = spent + sum(seconds for _, seconds in running), now - self._first
        cores = self._cores or 1
        side_by_side = (cores * SIDE_BY_SIDE + busy) / (SIDE_BY_SIDE + elapsed)
        to_do = self._planned.total() - self._finished.total()
        return max(left, 0.0) / max(min(side_by_side, to_do), 1.0)

    def _count(self, done: int, total: int) -> str:
        seconds = self.seconds_left() if done < total else None
        return f"{done} of {total} jobs" + (f", {_about(seconds)} left" if seconds else "")


def _forecast_of(job: Job) -> float:
    return _forecast.get(job.name) or _forecast.get(job.rule, UNFORECAST)


def _about(seconds: float) -> str:
    return f"about {duration(float(f'{seconds:.2g}'))}"


def tail(log: str | Path) -> str:
    """Return the end of a log."""
    try:
        with Path(log).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL))
            return file.read().decode("utf-8", errors="replace").rstrip()
    except OSError:
        return ""
