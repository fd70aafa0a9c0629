"""What metrics on the discretisation of continuous contexts take: forecast before any of them is computed.

A worst case costs what its set says of a solve (`AmbiguitySet.solve_cost`), and every one an evaluation of payoffs.
"""

import math
from typing import TYPE_CHECKING

from bocu.core.parameters import sections
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.contexts.cells import REFINEMENT, points_of
from bocu.sweep.experiment.resources import MORE, START_SECONDS, TIME_MARGIN

if TYPE_CHECKING:
    from bocu.sweep.experiment.branches import Branch, Component
    from bocu.sweep.experiment.plan import Plan

SEARCHED = 8_000
"""Decisions that a search for the best one values: measured, 4,000 to 24,000 in 1 to 5 coordinates."""
PROBED = 100
"""Decisions at which the error of the discretisation is measured, on more points."""
_PAYOFF_SECONDS = 1e-7  # of a decision in a context


def optima_seconds(plan: "Plan", problem: str, entry: str) -> float:
    """Return the core seconds of searching for the best decisions of a problem under the metrics of an entry."""
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
    from bocu.core.written import duration

    jobs = len(searches) + sum(seconds > 0.0 for seconds in scores)
    total = sum(searches) + sum(scores)
    wall = max(total / cores, max(searches) + max(scores))
    return [
        f"metrics on discretised contexts: {duration(total)} of core time in {jobs} jobs, {duration(wall)} on {cores} "
        f"cores; on a cluster {START_SECONDS:.0f} s more each"
    ]


def _cells(plan: "Plan", problem: str) -> int:
    size = plan.problems[problem].kind.size(plan.problem_parameters(problem))
    return points_of(size.context_coordinates)


def _value_seconds(metric: "Component", cells: int) -> float:
    """Return the seconds of valuing a decision."""
    seconds = _PAYOFF_SECONDS * cells
    for _, section in sections(metric.parameters):
        if isinstance(section, SetParameters):
            cost = section.family.solve_cost()
            seconds += cells * cost.seconds * (cells / 64) ** cost.growth
    return seconds
