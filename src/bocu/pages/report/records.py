"""The numbers of the report as flat records: what its tables show and its CSV files hold.

A record is a plain dict; all records of one kind have the same keys. Regret is cumulative over all rounds from 1 on, in
units of the problem's payoff, lower is better.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.pages.figures.results import DONE, MISSING, NO_OBJECTIVE, Digest, Tables, final_totals, groups
from bocu.pages.figures.results import foremost as foremost
from bocu.sweep.evaluation.run_statistics import SECONDS, Told
from bocu.sweep.evaluation.standings import Standings, tail
from bocu.sweep.evaluation.statistics import mean_and_error, ranks

if TYPE_CHECKING:
    import xarray as xr

Fields = dict[str, Any]


@dataclass(frozen=True)
class Spent:
    """What an algorithm took on a problem: title, mean seconds of a round, seconds of all its runs."""

    problem: str
    label: str
    title: str
    round: float
    total: float


def _place(cube: Digest, objective: str, algorithm: str, metric: str | None = None) -> Fields:
    """Return what a record begins with: what it is about."""
    scored = {} if metric is None else {"metric": metric}
    return {"problem": cube.problem, "objective": objective, **scored, "algorithm": algorithm}


def choose_reference(table: Standings, wanted: str | None = None) -> str | None:
    """Return the algorithm that others are compared with: the one wanted, or that of the least mean regret.

    Yardsticks are not chosen unasked. None where no algorithm has a finished seed.
    """
    if wanted is not None and table.regrets.get(wanted):
        return wanted
    return table.least or min(table.means, key=lambda label: table.means[label], default=None)


def final_regret(cube: Digest, found: Tables) -> Iterator[Fields]:
    """Return mean, standard error and spread of the final cumulative regret, a record an algorithm and table.

    `standing` is that of `Standings.standing`; empty for yardsticks.
    """
    for (objective, metric), table in found.items():
        for label, own in table.regrets.items():
            mean, error = mean_and_error(np.array(list(own.values())))
            spread = tail(own.values())
            yield {
                **_place(cube, objective, label, metric),
                "rounds": int(cube.iterations[-1]),
                "seeds": len(own),
                "mean": float(mean),
                "standard_error": float(error),
                "median": spread.median,
                "worst_tenth": spread.worst_tenth,
                "stuck_seeds": spread.stuck,
                "standing": table.standing.get(label, ""),
                "margin": table.margin,
                "units": cube.units,
            }


def difference_records(cube: Digest, found: Tables, wanted: str | None = None) -> Iterator[Fields]:
    """Compare every algorithm with the reference on the same seeds, a record an algorithm and table."""
    for (objective, metric), table in found.items():
        reference = choose_reference(table, wanted)
        for label, gap in table.against(reference).items() if reference else ():
            yield {
                **_place(cube, objective, label, metric),
                "reference": reference,
                "seeds": gap.difference.count,
                "mean_difference": gap.difference.value,
                "low": gap.difference.low,
                "high": gap.difference.high,
                "p_value": gap.p_value,
                "on_average": gap.on_average,
                "differing_seeds": gap.less.count,
                "share_with_less_regret": gap.less.value,
                "share_low": gap.less.low,
                "share_high": gap.less.high,
                "p_value_of_share": gap.p_usually,
                "usually": gap.usually,
                "units": cube.units,
            }


def mean_ranks(cube: Digest) -> Iterator[Fields]:
    """Rank the algorithms within each seed, a record an algorithm, objective and metric."""
    for objective, metric, branches in groups(cube):
        totals = {label: own for label, own in final_totals(cube, branches, metric).items() if own}
        found = ranks(totals)
        for label, rank in found.mean.items():
            yield {
                **_place(cube, objective, label, metric),
                "seeds": found.count,
                "mean_rank": rank,
                "friedman_p_value": found.p_value,
            }


def told_records(cube: Digest, told: Told) -> Iterator[Fields]:
    """Return what is told of a statistic, a record a branch and metric; times have no metric."""
    if cube.outputs < told.outputs:
        return
    for objective, metric, branches in groups(cube) if "metric" in told.columns else [("", None, cube.branches())]:
        for branch in branches:
            values = np.array([*cube.per_seed(told.statistic, branch, metric).values()])
            place = _place(cube, objective or branch.objective, branch.algorithm, metric)
            yield {**place, **told.summary(values, int(cube.iterations[-1]))}


def spent(cube: Digest) -> list[Spent]:
    """Return what each algorithm took on a problem, asking and telling, over all its objectives."""
    found: dict[str, tuple[float, float, int]] = {}
    for branch in cube.branches():
        times = np.array([*cube.per_seed(SECONDS, branch).values()])
        total, rounds, seeds = found.get(branch.algorithm, (0.0, 0.0, 0))
        found[branch.algorithm] = (
            total + float(times.sum()) * float(cube.iterations[-1]),
            rounds + float(times.sum()),
            seeds + len(times),
        )
    return [
        Spent(cube.called, label, cube.titles[label], rounds / seeds, total)
        for label, (total, rounds, seeds) in found.items()
        if seeds
    ]


def holes(cube: Digest) -> Iterator[Fields]:
    """Name what is not there: seeds without a run, and finished seeds that a metric does not score, a record each."""
    for branch in cube.branches():
        status = cube.status(branch)
        missing = np.asarray(cube.seeds)[status == MISSING]
        found = [("no run", "", missing)] if len(missing) else []
        done = np.asarray(cube.seeds)[status == DONE]
        for metric in cube.metrics:
            unscored = np.setdiff1d(done, [*cube.totals(branch, metric)])
            if len(unscored):
                found.append(("no regret in some round", metric, unscored))
        for what, metric, seeds in found:
            told = {"what": what, "metric": metric, "count": len(seeds), "seeds": seed_ranges(seeds.tolist())}
            yield {**_place(cube, branch.objective, branch.algorithm), **told}


def with_titles(cube: Digest, record: Fields) -> Fields:
    """Return a record with titles in place of the labels of objective, metric and algorithm."""
    titles = {
        "objective": "" if record["objective"] == NO_OBJECTIVE else cube.objective_titles[record["objective"]],
        "algorithm": cube.titles[record["algorithm"]],
        "metric": cube.metric_titles.get(record.get("metric", ""), ""),
    }
    return {**record, **titles}


def resets(cube: Digest) -> Iterator[Fields]:
    """Name the runs in which all candidate priors were rejected, a record a run, with the first such round."""
    for branch in cube.branches():
        for seed, round_ in cube.resets(branch).items():
            yield {**_place(cube, branch.objective, branch.algorithm), "seed": seed, "round": round_}


def checkpoints(summary: "xr.Dataset", cube: Digest) -> Iterator[Fields]:
    """Return cumulative regret after some of the rounds, from the summary, a record an algorithm and checkpoint."""
    own = summary.sel(problem=cube.data.attrs["problem_label"])
    regret = own["cumulative_regret"].transpose("objective", "algorithm", "metric", "seed", "checkpoint")
    totals, rounds = regret.values, own["iteration_of"].values
    places = {dim: {str(label): i for i, label in enumerate(regret[dim].values)} for dim in regret.dims[:3]}
    for objective, metric, branches in groups(cube):
        for branch in branches:
            place = places["objective"][branch.objective], places["algorithm"][branch.algorithm]
            values = totals[(*place, places["metric"][metric])]
            whole = values[~np.isnan(values).any(axis=1)]
            mean, error = mean_and_error(whole)
            for point, round_ in enumerate(rounds):
                yield {
                    **_place(cube, objective, branch.algorithm, metric),
                    "round": int(round_),
                    "seeds": len(whole),
                    "mean": float(mean[point]),
                    "standard_error": float(error[point]),
                    "units": cube.units,
                }


def seed_ranges(seeds: list[int]) -> str:
    """Write seeds briefly: [0, 1, 2, 5] becomes "0-2, 5"."""
    parts: list[list[int]] = []
    for seed in sorted(seeds):
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)
