"""The best that there is where it takes long to find: searched for once a problem and metric, stored.

On the discretisation of continuous contexts there stands beside it how far the metric's values lie from those on four
times as many points: the error of discretisation.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bocu.core.io.files import canonical_json, open_netcdf, reading, write_netcdf
from bocu.core.plain import Specification
from bocu.core.randomness import Streams, scrambled_sobol
from bocu.core.rounds import Situation
from bocu.problems.base import Realisation
from bocu.sweep.evaluation.discretised import is_continuous, on_cells
from bocu.sweep.evaluation.metrics import Scorer, build_scorer
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.seed_run import Inputs, build_problem

PROBES = 64
"""Decisions within their cube, and corners at most, at which the error is measured, besides the best."""


@dataclass(frozen=True)
class StoredOptima:
    """What a file of optima holds.

    Attributes:
        values: the best value of each round, by the round; empty where seeds do not share their payoffs.
        error: of the discretisation, in units of the metric; not a number where there is none.
        against: points of the discretisation that it was measured against; 0 where there is none.
    """

    values: Mapping[int, float]
    error: float
    against: int


def store_optima(parameters: Specification, inputs: Inputs, output: str | Path) -> None:
    """Search for the best decisions of a problem under some metrics as a job of the workflow is told to.

    Args:
        parameters: `problem` and `metrics` with their labels, plain, `iterations` and `seed`, of
            `JobParameters.optima`.
        inputs: the files that the problem is built from.
        output: `best` (metric, iteration), `best_decision` (metric, iteration, decision_dim), `discretisation_error`
            (metric) and how many points that was measured against. Without rounds where seeds do not share payoffs.
    """
    import xarray as xr

    problem = build_problem(parameters["problem"], inputs)
    protocol = PROTOCOLS[problem.protocol]
    first, second = (problem.realise(Streams(parameters["seed"] + place)) for place in (0, 1))
    rounds = np.arange(1 - problem.initial, parameters["iterations"] + 1)
    unseen = np.empty((len(rounds), first.description.contexts.dimension))
    stated = [protocol.situation(first, int(t), unseen[:place]) for place, t in enumerate(rounds)]
    own, other = (each.payoff_function if is_continuous(each) else each.table for each in (first, second))
    kept = slice(None if own == other else 0)
    values, decisions, errors, against = [], [], [], []
    for metric in parameters["metrics"]:
        scorer = build_scorer(metric)
        discretised = is_continuous(first) and (scorer.under is not None or scorer.metric.discretised)
        shown, under = _on_cells(scorer, first, stated) if discretised else scorer.met(first, stated)
        best, where = scorer.metric.best(shown, under)
        error, points = _error(scorer, first, stated[-1:], where[-1]) if discretised else (np.nan, 0)
        values.append(best[kept])
        decisions.append(where[kept])
        errors.append(error)
        against.append(points)
    described = {
        "best": (("metric", "iteration"), values, "largest value under the metric"),
        "best_decision": (("metric", "iteration", "decision_dim"), decisions, "decision that has it"),
        "discretisation_error": (("metric",), errors, "largest difference from the values on more points"),
        "measured_against": (("metric",), against, "those points"),
    }
    labels = {"metric": [metric["label"] for metric in parameters["metrics"]], "iteration": rounds[kept]}
    names = {"metric": "label of the metric", "iteration": "round; 0 and below: the initial design"}
    data = xr.Dataset(
        {
            name: (dims, np.array(found), {"long_name": said, "units": "1"})
            for name, (dims, found, said) in described.items()
        },
        {name: (name, found, {"long_name": names[name], "units": "1"}) for name, found in labels.items()},
        {"specification": canonical_json({key: parameters[key] for key in ("problem", "metrics")})},
    )
    write_netcdf(data, output)


def read_optima(file: str | Path) -> dict[str, StoredOptima]:
    """Read what `store_optima` wrote, by the labels of the metrics.

    Raises:
        BocuError: the file is missing or broken.
    """
    with open_netcdf(file) as data, reading(file):
        rounds = data["iteration"].values.tolist()
        columns = (
            data[name].values.tolist() for name in ("metric", "best", "discretisation_error", "measured_against")
        )
        return {
            label: StoredOptima(dict(zip(rounds, best, strict=True)), error, points)
            for label, best, error, points in zip(*columns, strict=True)
        }


def _on_cells(
    scorer: Scorer, realisation: Realisation, situations: Sequence[Situation], refined: bool = False
) -> tuple[Realisation, Sequence[Situation]]:
    return on_cells(*scorer.met(realisation, situations, refined), refined)


def _error(
    scorer: Scorer, realisation: Realisation, situations: Sequence[Situation], best: np.ndarray
) -> tuple[float, int]:
    """Return the largest difference of a metric's values from those on a finer discretisation, and its points.

    Measured at the best decision, at corners of the decisions' cube and at Sobol points in it.
    """
    lower, upper = np.zeros(len(best)), np.ones(len(best))
    corners = np.array([*itertools.islice(itertools.product((0.0, 1.0), repeat=len(best)), PROBES)])
    probes = np.vstack([best, corners, scrambled_sobol(lower, upper, PROBES, np.random.default_rng(0))])
    found = []
    for refined in (False, True):
        shown, under = _on_cells(scorer, realisation, situations, refined)
        scorer.metric.meet(shown)
        found.append(scorer.metric.values(shown.table(probes)[..., 0], under[0]))
    with np.errstate(invalid="ignore"):  # an aspiration out of reach is worth -inf on both
        apart = np.abs(found[0] - found[1])
    return float(np.nanmax(apart, initial=0.0)), len(shown.description.contexts.points)  # type: ignore[union-attr]
