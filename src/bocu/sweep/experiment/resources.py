"""What a job needs: time, memory and disk of a block of seeds before it runs, and what to ask a cluster for.

The model of a block, on one core of the machine it was measured on:

    seconds = start + problem + seeds x (sum over kinds of steps of count x price + tables x valuation)
    memory  = workflow + process + 8 bytes x (6 x arms^2 + numbers) + copies x rows
    disk    = file + rows
    rows    = seeds x rounds x (row + row_per_prior x priors)

The classes of problem and algorithm say the counts (`bocu.core.about`): `Problem.size`, `Algorithm.work`. The prices
stand in `costs.json` beside this module, measured by the commands that it names, by class: a class without a line of
its own has that of the nearest base class. Bare `Problem` and `Algorithm` have cautious ones, which hold for classes
that say nothing. A problem takes block + cubic x arms^3 seconds once, and `round` in each round, in which algorithms
play as many rounds as its `rehearsal` has, where it has one. What a payoff table takes depends on the ambiguity set of
the objective pursued (`SolveCost`): the decisions that a search solves, at one radius or at two.

Jobs around the runs ask for several times the largest peak and the longest time that a job of their rule took, in the
quick start and in preparing all data sets: `stages.json`, which `tests/benchmarks/stages.py` writes from the files of
the rules' `benchmark:`. Metrics on the discretisation of continuous contexts take what their set says of a solve
(`AmbiguitySet.solve_cost`), and every one an evaluation of payoffs.

Measured times of earlier runs correct all this: `bocu.sweep.forecast`. Planning calls this for every job,
so nothing is imported but the classes, and no data are opened.
"""

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bocu.core.about import Size, Work
from bocu.core.written import duration

if TYPE_CHECKING:
    from bocu.robust.ambiguity.base import SolveCost
    from bocu.sweep.experiment.branches import Branch, Component
    from bocu.sweep.experiment.plan import Plan


Prices = Mapping[str, float]  #: By kind of step, seconds; `row` and `row_per_prior`, bytes.

COSTS: Mapping[str, Any] = json.loads(Path(__file__).with_name("costs.json").read_text(encoding="utf-8"))
_JOB: Prices = COSTS["job"]
START_SECONDS = _JOB["start_seconds"]  # of a cluster job: two Snakemakes parse the workflow, Python imports the library
WORKFLOW_MB = _JOB["workflow_mb"]  # those two Snakemakes
PROCESS_MB = _JOB["process_mb"]  # Python with the library
ROW_COPIES = _JOB["row_copies"]  # in memory for each of the run file's: records, data set, checkpoint, compression
FILE_MB = _JOB["file_mb"]  # an empty run file, its log and its benchmark

MEMORY_MARGIN = 1.5
TIME_MARGIN = 3.0  # slower processors, busy file systems
MEMORY_STEP_MB = 100
TIME_STEP_MINUTES = 5
LEAST_MINUTES = 10
MORE = 2  # times as much is asked for in each further attempt

UNKNOWN_PROBLEM, UNKNOWN_ALGORITHM = "bocu.problems.base:Problem", "bocu.learners.algorithms.base:Algorithm"


@dataclass(frozen=True)
class BlockEstimate:
    """What one block of seeds takes."""

    seconds: float  #: core seconds, from the start of the job to the written file.
    memory_mb: float  #: peak of all processes of the job together, MB.
    disk_mb: float  #: the run file, MB.
    #: those of its classes, "module:Class", that say nothing of what they cost: cautious numbers stand in.
    unknown: tuple[str, ...] = ()


def estimate(branch: "Branch", seeds: int) -> BlockEstimate:
    """Estimate what a block of `seeds` seeds of a branch takes, by the model alone."""
    problem = branch.problem.kind
    priced_as, set_up = prices_of("problems", problem)
    unknown = [branch.problem.registered.shown] if priced_as == UNKNOWN_PROBLEM else []
    size: Size = problem.size(branch.problem.parameters)
    rounds = branch.iterations
    work, prices = _work(branch, size, size.rehearsal or rounds)
    if prices is COSTS["algorithms"][UNKNOWN_ALGORITHM]:
        unknown.append(branch.algorithm.registered.shown)
    valuation = _valuation(branch) if work.tables else None
    a_seed = sum(count * prices[step] for step, count in work.counts.items())
    if valuation is not None:
        a_seed += work.tables * _radii(branch) * _search_seconds(valuation, size)
    a_seed *= rounds if size.rehearsal else 1
    a_seed += set_up.get("round", 0.0) * rounds
    rows_mb = 1e-6 * seeds * rounds * (prices["row"] + prices.get("row_per_prior", 0.0) * work.priors)
    compiler_mb = 0.0 if valuation is None else valuation.memory_mb
    held_mb = 8e-6 * (6 * size.arms**2 + work.numbers)
    return BlockEstimate(
        seconds=START_SECONDS + (set_up["block"] + set_up.get("cubic", 0.0) * size.arms**3) + seeds * a_seed,
        memory_mb=WORKFLOW_MB + PROCESS_MB + compiler_mb + held_mb + ROW_COPIES * rows_mb,
        disk_mb=FILE_MB + rows_mb,
        unknown=tuple(unknown),
    )


def _work(branch: "Branch", size: Size, rounds: int) -> tuple[Work, Prices]:
    """Count what a seed takes, with the prices of it; cautiously where a step has none."""
    from bocu.learners.algorithms.base import Algorithm

    algorithm, parameters = branch.algorithm.kind, branch.algorithm.parameters
    work: Work = algorithm.work(parameters, size, rounds)
    _, prices = prices_of("algorithms", algorithm)
    if work.counts.keys() <= prices.keys():
        return work, prices
    return Algorithm.work(parameters, size, rounds), COSTS["algorithms"][UNKNOWN_ALGORITHM]


@functools.cache
def prices_of(kind: str, found: Any) -> tuple[str, Prices]:
    """Return the class whose prices hold for a class, and these."""
    known: Mapping[str, Prices] = COSTS[kind]
    names = (f"{base.__module__}:{base.__qualname__}" for base in found.__mro__)
    name = next(name for name in names if name in known)
    return name, known[name]


def _valuation(branch: "Branch") -> "SolveCost | None":
    """Return what the objective that is pursued takes."""
    ambiguity_set = getattr(branch.objective.parameters, "set", None) if branch.objective else None
    return ambiguity_set.family.solve_cost() if ambiguity_set is not None else None


def _radii(branch: "Branch") -> int:
    """Return at how many radii a table is solved: at two where a difference stands for the slope."""
    assert branch.objective is not None
    return 1 if getattr(branch.objective.parameters, "difference", None) is None else 2


def _search_seconds(cost: "SolveCost", size: Size) -> float:
    """Return the seconds of finding the decision of the best worst case in a table."""
    solved = size.arms * min(1.0, cost.searched * size.contexts / 64)
    return cost.search + solved * size.contexts * cost.seconds * (size.contexts / 64) ** cost.growth


def memory(expected_mb: float, attempt: int) -> int:
    """Return the memory in MB to ask for where `expected_mb` is expected: with a margin, doubled by each attempt."""
    return _round_up(expected_mb * MEMORY_MARGIN, MEMORY_STEP_MB) * MORE ** (attempt - 1)


def minutes(expected_seconds: float, attempt: int) -> int:
    """Return the minutes to ask for where `expected_seconds` are expected: with a margin, doubled by each attempt."""
    return max(LEAST_MINUTES, _round_up(expected_seconds * TIME_MARGIN / 60, TIME_STEP_MINUTES)) * MORE ** (attempt - 1)


def _round_up(value: float, step: int) -> int:
    return step * math.ceil(value / step)


MEASURED = Path(__file__).with_name("stages.json")
_LARGER = 2.0  # times the peak of what was measured, in an experiment larger than those
_LONGER = 10.0  # times as long


class Taken(NamedTuple):
    """The most that a job of a rule took."""

    seconds: float  #: of wall time, from the start of its process.
    memory_mb: float  #: resident, with child processes, MB.


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


SEARCHED = 8_000  #: Decisions that a search for the best one values: measured, 4,000 to 24,000 in 1 to 5 coordinates.
WEIGHED = 400
"""The same of a round whose weights of the outputs are its own: measured, 10 to 800 by the price of the set."""
PROBED = 100  #: Decisions at which the error of the discretisation is measured, on more points.
_PAYOFF_SECONDS = 1e-7  # of a decision in a context


def optima_seconds(plan: "Plan", problem: str, entry: str) -> float:
    """Return the core seconds of searching for the best decisions of a problem under the metrics of an entry."""
    from bocu.robust.contexts.cells import REFINEMENT

    if plan.weighed(problem):
        parameters: Any = plan.problem_parameters(problem)
        rounds = plan.experiment.seeds.count * (parameters.initial_points() + plan.experiment.iterations)
        contexts = getattr(parameters, "contexts", 100)
        return sum(WEIGHED * rounds * _value_seconds(metric, contexts) for metric in plan.optima(problem)[entry])
    cells = _cells(plan, problem)
    return sum(
        SEARCHED * _value_seconds(metric, cells) + PROBED * _value_seconds(metric, REFINEMENT * cells)
        for metric in plan.discretised(problem).get(entry, [])
    )


def scoring_seconds(plan: "Plan", branch: "Branch") -> float:
    """Return the core seconds of scoring the runs of a branch by metrics on the discretisation; 0 without any."""
    problem = branch.problem.label
    metrics = [metric for of_entry in plan.discretised(problem).values() for metric in of_entry]
    if not metrics:
        return 0.0
    cells = _cells(plan, problem)
    rows = plan.problem_parameters(problem).initial_points() + branch.iterations
    decisions = plan.experiment.seeds.count * rows
    return sum(decisions * _value_seconds(metric, cells) for metric in metrics)


def more_minutes(seconds: float, attempt: int) -> int:
    """Return the minutes to ask for besides those of the stage, of a job that is forecast to take so many seconds."""
    return math.ceil(seconds * TIME_MARGIN / 60) * MORE ** (attempt - 1)


def scoring_told(plan: "Plan", cores: int) -> list[str]:
    """Return a line for people on what discretised metrics take; none where there are none."""
    searches = [
        optima_seconds(plan, problem, entry) for problem in plan.problems for entry in plan.discretised(problem)
    ]
    if not searches:
        return []
    scores = [scoring_seconds(plan, branch) for branch in plan.branches.values()]
    jobs = len(searches) + sum(seconds > 0.0 for seconds in scores)
    total = sum(searches) + sum(scores)
    wall = max(total / cores, max(searches) + max(scores))
    return [
        f"metrics on discretised contexts: {duration(total)} of core time in {jobs} jobs, {duration(wall)} on {cores} "
        f"cores; on a cluster {START_SECONDS:.0f} s more each"
    ]


def _cells(plan: "Plan", problem: str) -> int:
    from bocu.robust.contexts.cells import points_of

    size = plan.problems[problem].kind.size(plan.problem_parameters(problem))
    return points_of(size.context_coordinates)


def _value_seconds(metric: "Component", cells: int) -> float:
    """Return the seconds of valuing a decision."""
    from bocu.core.parameters import sections
    from bocu.robust.ambiguity.parameters import SetParameters

    seconds = _PAYOFF_SECONDS * cells
    for _, section in sections(metric.parameters):
        if isinstance(section, SetParameters):
            cost = section.family.solve_cost()
            seconds += cells * cost.seconds * (cells / 64) ** cost.growth
    return seconds
