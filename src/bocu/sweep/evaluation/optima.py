"""The best that there is where it takes long to find: searched for once a problem and metric, stored.

On the discretisation of continuous contexts there stands beside it how far the metric's values lie from those on four
times as many points: the error of discretisation.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

PROBES = 64  #: Decisions within their cube, and corners at most, at which the error is measured, besides the best.


@dataclass(frozen=True)
class StoredOptima:
    """What a file of optima holds."""

    #: the best value of each round, by the seed and the round. None for a seed: of all seeds, without rounds where they
    #: do not share their payoffs.
    values: Mapping[int | None, Mapping[int, float]]
    error: float  #: of the discretisation, in units of the metric; not a number where there is none.
    against: int  #: points of the discretisation that it was measured against; 0 where there is none.


def store_optima(parameters: Specification, inputs: Inputs, output: str | Path) -> None:
    """Search for the best decisions of a problem under some metrics as a job of the workflow is told to.

    Args:
        parameters: `problem` and `metrics` with their labels, plain, `iterations` and `seed`, of
            `JobParameters.optima`; `seeds`, how many there are, where each draws weights of the outputs.
        inputs: the files that the problem is built from.
        output: `best` (metric, iteration), `best_decision` (metric, iteration, decision_dim), `discretisation_error`
            (metric) and how many points that was measured against. Without rounds where seeds do not share payoffs.
            Of several outputs each has a dimension seed after the metric.
    """
    import xarray as xr

    problem = build_problem(parameters["problem"], inputs)
    protocol = PROTOCOLS[problem.protocol]
    first, second = (problem.realise(Streams(parameters["seed"] + place)) for place in (0, 1))
    rounds = np.arange(1 - problem.initial, parameters["iterations"] + 1)
    unseen = np.empty((len(rounds), first.description.contexts.dimension))

    def stated_in(realisation: Realisation) -> list[Situation]:
        return [protocol.situation(realisation, int(t), unseen[:place]) for place, t in enumerate(rounds)]

    stated = stated_in(first)
    seeds = range(parameters["seed"], parameters["seed"] + parameters.get("seeds", 0))
    own, other = (each.payoff_function if is_continuous(each) else each.table for each in (first, second))
    kept = slice(None if own == other or seeds else 0)
    values, decisions, errors, against = [], [], [], []
    for metric in parameters["metrics"]:
        scorer = build_scorer(metric)
        discretised = is_continuous(first) and (scorer.under is not None or scorer.metric.discretised)
        if seeds:
            met = ((each, stated_in(each)) for each in (problem.realise(Streams(seed)) for seed in seeds))
            pairs = [scorer.metric.best(*scorer.met(*each)) for each in met]
            best, where = (np.array(found) for found in zip(*pairs, strict=True))
        else:
            shown, under = _on_cells(scorer, first, stated) if discretised else scorer.met(first, stated)
            best, where = scorer.metric.best(shown, under)
        error, points = _error(scorer, first, stated[-1:], where[-1]) if discretised else (np.nan, 0)
        values.append(best[kept])
        decisions.append(where[kept])
        errors.append(error)
        against.append(points)
    of_rounds = ("metric", *(["seed"] if seeds else []), "iteration")
    described = {
        "best": (of_rounds, values, "largest value under the metric"),
        "best_decision": ((*of_rounds, "decision_dim"), decisions, "decision that has it"),
        "discretisation_error": (("metric",), errors, "largest difference from the values on more points"),
        "measured_against": (("metric",), against, "those points"),
    }
    labels: dict[str, Sequence[Any] | np.ndarray] = {"metric": [metric["label"] for metric in parameters["metrics"]]}
    labels |= {"iteration": rounds[kept]} | ({"seed": list(seeds)} if seeds else {})
    names = {"metric": "label of the metric", "iteration": "round; 0 and below: the initial design", "seed": "seed"}
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
        seeds = data["seed"].values.tolist() if "seed" in data.dims else [None]
        columns = [data[name].values.tolist() for name in ("metric", "discretisation_error", "measured_against")]
        found = {}
        for place, (label, error, points) in enumerate(zip(*columns, strict=True)):
            best = data["best"].values[place].reshape(len(seeds), len(rounds)).tolist()
            by_seed = {seed: dict(zip(rounds, own, strict=True)) for seed, own in zip(seeds, best, strict=True)}
            found[label] = StoredOptima(by_seed, error, points)
        return found


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
