"""The numbers of the report as flat records: what its tables show and its CSV files hold.

A record is a plain dict; all records of one kind have the same keys. Regret is cumulative over all rounds from 1 on, in
units of the problem's payoff, lower is better.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.evaluation.statistics import bootstrap_mean, growth_exponent, mean_and_error, paired_differences, ranks
from bocu.figures.reading import DONE, MISSING, NO_OBJECTIVE, Cube, CubeBranch

if TYPE_CHECKING:
    import xarray as xr

Fields = dict[str, Any]


def groups(cube: Cube) -> Iterator[tuple[str, str, list[CubeBranch]]]:
    """Return what is compared with each other: pursued objective, metric, and the branches that stand side by side."""
    for objective in cube.objectives():
        shown = [branch for branch in cube.branches() if branch.objective in (objective, NO_OBJECTIVE)]
        for metric in cube.metrics:
            yield objective, metric, shown


def foremost(cube: Cube) -> list[tuple[str, str]]:
    """Return the pairs of objective and metric that the page shows; files hold all.

    What an objective reaches is scored by the metric of its own label, where there is one.
    """
    pairs = [(objective, metric) for objective, metric, _ in groups(cube)]
    return [(objective, metric) for objective, metric in pairs if metric == objective or objective not in cube.metrics]


def final_totals(cube: Cube, branches: list[CubeBranch], metric: str) -> dict[str, dict[int, float]]:
    """Return the final cumulative regret, algorithm label -> seed -> regret; algorithms without a finished seed too."""
    totals = {}
    for branch in branches:
        regret, seeds = cube.regret(branch, metric)
        started = regret[:, cube.iterations >= 1]
        totals[branch.algorithm] = dict(zip((int(seed) for seed in seeds), started.sum(axis=1).tolist(), strict=True))
    return totals


def choose_reference(cube: Cube, totals: dict[str, dict[int, float]], wanted: str | None = None) -> str | None:
    """Return the algorithm that others are compared with: the one wanted, or that of the least mean regret.

    Yardsticks are not chosen unasked. None where no algorithm has a finished seed.
    """
    if wanted is not None and totals.get(wanted):
        return wanted
    means = {label: float(np.mean(list(own.values()))) for label, own in totals.items() if own}
    competing = {label: mean for label, mean in means.items() if label not in cube.yardsticks} or means
    return min(competing, key=lambda label: competing[label]) if competing else None


def final_regret(cube: Cube) -> list[Fields]:
    """Return mean and standard error of the final cumulative regret, a record an algorithm, objective and metric."""
    records = []
    for objective, metric, branches in groups(cube):
        for label, own in final_totals(cube, branches, metric).items():
            mean, error = mean_and_error(np.array(list(own.values())))
            records.append(
                {
                    "problem": cube.problem,
                    "objective": objective,
                    "metric": metric,
                    "algorithm": label,
                    "rounds": int(cube.iterations[-1]),
                    "seeds": len(own),
                    "mean": float(mean),
                    "standard_error": float(error),
                    "units": cube.units,
                }
            )
    return records


def difference_records(cube: Cube, wanted: str | None = None) -> list[Fields]:
    """Compare every algorithm with the reference on the same seeds, a record an algorithm, objective and metric."""
    records = []
    for objective, metric, branches in groups(cube):
        totals = final_totals(cube, branches, metric)
        reference = choose_reference(cube, totals, wanted)
        if reference is None:
            continue
        for label, found in paired_differences(totals, reference).items():
            records.append(
                {
                    "problem": cube.problem,
                    "objective": objective,
                    "metric": metric,
                    "algorithm": label,
                    "reference": reference,
                    "seeds": found.difference.count,
                    "mean_difference": found.difference.value,
                    "low": found.difference.low,
                    "high": found.difference.high,
                    "share_of_seeds_with_more_regret": found.worse,
                    "p_value_holm": found.p_value,
                    "units": cube.units,
                }
            )
    return records


def mean_ranks(cube: Cube) -> list[Fields]:
    """Rank the algorithms within each seed, a record an algorithm, objective and metric."""
    records = []
    for objective, metric, branches in groups(cube):
        totals = {label: own for label, own in final_totals(cube, branches, metric).items() if own}
        found = ranks(totals)
        for label, rank in found.mean.items():
            records.append(
                {
                    "problem": cube.problem,
                    "objective": objective,
                    "metric": metric,
                    "algorithm": label,
                    "seeds": found.count,
                    "mean_rank": rank,
                    "friedman_p_value": found.p_value,
                }
            )
    return records


def growth(cube: Cube) -> list[Fields]:
    """Return the growth exponent of cumulative regret, a record an algorithm, objective and metric."""
    records = []
    started = cube.iterations >= 1
    for objective, metric, branches in groups(cube):
        for branch in branches:
            regret, _ = cube.regret(branch, metric)
            found = growth_exponent(cube.iterations[started], regret[:, started].cumsum(axis=1))
            records.append(
                {
                    "problem": cube.problem,
                    "objective": objective,
                    "metric": metric,
                    "algorithm": branch.algorithm,
                    "seeds": found.count,
                    "exponent": found.value,
                    "low": found.low,
                    "high": found.high,
                }
            )
    return records


def final_hypervolumes(cube: Cube) -> list[Fields]:
    """Return the share of the best front's hypervolume that is guaranteed at the end, with its interval over seeds.

    A record an algorithm, objective and metric; none where payoffs have one output.
    """
    records = []
    for objective, metric, branches in groups(cube) if cube.outputs > 1 else ():
        for branch in branches:
            share, _ = cube.hypervolume_share(branch, metric)
            found = bootstrap_mean(share[:, -1])
            records.append(
                {
                    "problem": cube.problem,
                    "objective": objective,
                    "metric": metric,
                    "algorithm": branch.algorithm,
                    "rounds": int(cube.iterations[-1]),
                    "seeds": found.count,
                    "share": found.value,
                    "low": found.low,
                    "high": found.high,
                }
            )
    return records


def seconds(cube: Cube) -> list[Fields]:
    """Return the time of a round (asking and telling), mean and standard error over seeds, a record a branch."""
    records = []
    for branch in cube.branches():
        values = cube.values("seconds", branch)[0]
        known = ~np.isnan(values).any(axis=1)
        mean, error = mean_and_error(values[known].mean(axis=1))
        records.append(
            {
                "problem": cube.problem,
                "objective": branch.objective,
                "algorithm": branch.algorithm,
                "seeds": int(known.sum()),
                "seconds_per_round": float(mean),
                "standard_error": float(error),
            }
        )
    return records


def holes(cube: Cube) -> list[Fields]:
    """Name what is not there: seeds without a run, and finished seeds that a metric does not score, a record each."""
    records = []
    for branch in cube.branches():
        status = cube.status(branch)
        missing = np.asarray(cube.seeds)[status == MISSING]
        found = [("no run", "", missing)] if len(missing) else []
        done = np.asarray(cube.seeds)[status == DONE]
        for metric in cube.metrics:
            unscored = np.setdiff1d(done, cube.regret(branch, metric)[1])
            if len(unscored):
                found.append(("no regret in some round", metric, unscored))
        records += [
            {
                "problem": cube.problem,
                "objective": branch.objective,
                "algorithm": branch.algorithm,
                "what": what,
                "metric": metric,
                "count": len(seeds),
                "seeds": seed_ranges(seeds.tolist()),
            }
            for what, metric, seeds in found
        ]
    return records


def resets(cube: Cube) -> list[Fields]:
    """Name the runs in which all candidate priors were rejected, a record a run, with the first such round."""
    records = []
    for branch in cube.branches():
        if not cube.reports("all_rejected", branch):
            continue
        flags, seeds = cube.values("all_rejected", branch)
        for seed, row in zip(seeds, flags == 1, strict=True):
            if row.any():
                records.append(
                    {
                        "problem": cube.problem,
                        "objective": branch.objective,
                        "algorithm": branch.algorithm,
                        "seed": int(seed),
                        "round": int(cube.iterations[row.argmax()]),
                    }
                )
    return records


def checkpoints(summary: "xr.Dataset", cube: Cube) -> list[Fields]:
    """Return cumulative regret after some of the rounds, from the summary, a record an algorithm and checkpoint."""
    own = summary.sel(problem=cube.problem)
    records = []
    for objective, metric, branches in groups(cube):
        for branch in branches:
            chosen = own["cumulative_regret"].sel(objective=branch.objective, algorithm=branch.algorithm, metric=metric)
            values = chosen.transpose("seed", "checkpoint").values
            whole = values[~np.isnan(values).any(axis=1)]
            mean, error = mean_and_error(whole)
            for place, round_ in enumerate(own["iteration_of"].values):
                records.append(
                    {
                        "problem": cube.problem,
                        "objective": objective,
                        "metric": metric,
                        "algorithm": branch.algorithm,
                        "round": int(round_),
                        "seeds": len(whole),
                        "mean": float(mean[place]),
                        "standard_error": float(error[place]),
                        "units": cube.units,
                    }
                )
    return records


def seed_ranges(seeds: list[int]) -> str:
    """Write seeds briefly: [0, 1, 2, 5] becomes "0-2, 5"."""
    parts: list[list[int]] = []
    for seed in sorted(seeds):
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)
