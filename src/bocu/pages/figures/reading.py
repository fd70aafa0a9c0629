"""What figures and tables read: cubes and digests, what things are called, in which unit."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import open_netcdf, reading
from bocu.core.parameters import nearest
from bocu.pages.figures.digest import Digest
from bocu.pages.figures.results import CubeBranch as CubeBranch
from bocu.pages.figures.results import Results
from bocu.sweep.evaluation.curves import (
    TRACES,
    Kind,
    MeanCurve,
    Traces,
    accumulate,
    mean_curve,
    medians,
    scored_throughout,
    seconds_of_a_round,
    traced_rounds,
)
from bocu.sweep.evaluation.digests import is_digest, shown_pairs
from bocu.sweep.evaluation.law_paths import metrics_off_paths
from bocu.sweep.evaluation.prior_choices import first_rounds, rejection_rounds, trusted_shares
from bocu.sweep.evaluation.statistics import growth_slopes
from bocu.sweep.experiment.branches import NO_OBJECTIVE as NO_OBJECTIVE
from bocu.sweep.experiment.titles import in_words
from bocu.sweep.runs.status import DONE as DONE
from bocu.sweep.runs.status import MISSING as MISSING

REGRET, RECOMMENDED_REGRET, PAYOFF = "regret", "recommended_regret", "payoff"
HYPERVOLUME_SHARE = "hypervolume_share"


class Cube(Results):
    """The results of one problem, seed by seed and round by round; see `Results` for what has no rounds."""

    needed = (REGRET, *Results.needed)

    def values(self, variable: str, branch: CubeBranch, metric: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return a variable of the finished seeds of a branch.

        Returns:
            The values, shape (finished seeds, iterations, ...), and those seeds.
        """
        done = self.status(branch) == DONE
        with reading(self.path):
            objective, algorithm = self._places[branch]
            chosen = self.data[variable].isel(objective=objective, algorithm=algorithm)
            if metric is not None:
                chosen = chosen.isel(metric=self.metrics.index(metric))
            return chosen.transpose("seed", "iteration", ...).values[done], self._seeds[done]

    def regret(self, branch: CubeBranch, metric: str, variable: str = REGRET) -> tuple[np.ndarray, np.ndarray]:
        """Return the instantaneous regret in units of the payoff, shape (seeds, iterations), and the seeds.

        Seeds that are not finished, or that the metric does not score in every round from 1 on, are left out.
        `variable` may also be RECOMMENDED_REGRET, which is there where algorithms recommend something.
        """
        if variable not in self.data:
            return np.empty((0, len(self.iterations))), np.empty(0, dtype=int)
        values, seeds = self.values(variable, branch, metric)
        whole = scored_throughout(self.iterations, values)
        return values[whole], seeds[whole]

    def hypervolume_share(self, branch: CubeBranch, metric: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the share of the best front's hypervolume after each round, shape (seeds, rounds), and the seeds.

        Seeds that are not finished, or where the best front guarantees nothing finite, are left out; there are none
        where payoffs have one output.
        """
        started = self.iterations >= 1
        if HYPERVOLUME_SHARE not in self.data:
            return np.empty((0, started.sum())), np.empty(0, dtype=int)
        values, seeds = self.values(HYPERVOLUME_SHARE, branch, metric)
        known = ~np.isnan(values).any(axis=1)
        return values[known][:, started], seeds[known]

    def payoff(self, branch: CubeBranch) -> tuple[np.ndarray, np.ndarray]:
        """Return the noise-free payoff in the context met, shape (seeds, iterations), and the finished seeds.

        Empty where payoffs have several outputs, which only run files keep.
        """
        if PAYOFF not in self.data:
            return np.empty((0, len(self.iterations))), np.empty(0, dtype=int)
        return self.values(PAYOFF, branch)

    def reports(self, variable: str, branch: CubeBranch) -> bool:
        """Say whether the algorithm reports `variable` of itself: whether one finished run holds no fill value."""
        if variable not in self.data:
            return False
        values, _ = self.values(variable, branch)
        return bool((np.isfinite(values) if values.dtype.kind == "f" else values >= 0).any())

    def totals(self, branch: CubeBranch, metric: str) -> tuple[np.ndarray, np.ndarray]:
        regret, seeds = self.regret(branch, metric)
        return regret[:, self.iterations >= 1].sum(axis=1), seeds

    def growth(self, branch: CubeBranch, metric: str) -> np.ndarray:
        started = self.iterations >= 1
        regret, _ = self.regret(branch, metric)
        return growth_slopes(self.iterations[started], regret[:, started].cumsum(axis=1))

    def final_shares(self, branch: CubeBranch, metric: str) -> np.ndarray:
        return self.hypervolume_share(branch, metric)[0][:, -1]

    def curve(
        self, branch: CubeBranch, metric: str, kind: Kind, smooth: int = 1, from_initial: bool = False
    ) -> MeanCurve | None:
        if kind == "payoff":
            found, seeds = self.payoff(branch)
        else:
            found, seeds = self.regret(branch, metric, RECOMMENDED_REGRET if kind == "recommended" else REGRET)
        return mean_curve(self.iterations, found, kind, smooth, from_initial) if len(seeds) else None

    def traces(self, branch: CubeBranch, metric: str, kind: Kind) -> Traces | None:
        regret, seeds = self.regret(branch, metric)
        if not len(seeds) or kind not in TRACES:
            return None
        rounds, values = accumulate(self.iterations, regret, kind)
        kept = traced_rounds(self.iterations) - int((self.iterations < 1).sum())
        return Traces(rounds[kept], values[:, kept].astype(np.float32), seeds)

    def round_times(self, branch: CubeBranch) -> np.ndarray:
        mean = seconds_of_a_round(self.iterations, self.values("seconds", branch)[0])
        return mean[~np.isnan(mean)]

    def median_times(self, branch: CubeBranch, group: int) -> tuple[np.ndarray, np.ndarray]:
        return medians(self.iterations, self.values("seconds", branch)[0], group)

    def trusted_shares(self, branch: CubeBranch) -> np.ndarray | None:
        if not self.priors or not self.reports("chosen_prior", branch):
            return None
        return trusted_shares(self.values("chosen_prior", branch)[0], len(self.priors))

    def rejection_rounds(self, branch: CubeBranch) -> np.ndarray | None:
        if not self.reports("active_priors", branch):
            return None
        reported = self.reports("rejected_prior", branch)
        rejected = self.values("rejected_prior", branch)[0] if reported else None
        return rejection_rounds(self.iterations, self.values("active_priors", branch)[0], rejected)

    def resets(self, branch: CubeBranch) -> dict[int, int]:
        if not self.reports("all_rejected", branch):
            return {}
        flags, seeds = self.values("all_rejected", branch)
        rounds = first_rounds(self.iterations, flags == 1)
        return {int(seed): int(first) for seed, first in zip(seeds, rounds, strict=True) if not np.isnan(first)}


def results_at(path: str | Path) -> Results:
    """Open the results of a problem: its digest or its cube.

    Raises:
        BocuError: there is no such file, or it is broken.
    """
    with open_netcdf(path, decode_times=False) as data:
        digested = is_digest(data)
    return Digest(path) if digested else Cube(path)


def results_of(inputs: Mapping[str, Any]) -> Results:
    """Open the results that a figure of one problem is drawn from: the digest, where it stands among its inputs."""
    return Digest(inputs["digest"]) if "digest" in inputs else Cube(inputs["cube"])


def all_results(inputs: Mapping[str, Any]) -> list[Results]:
    """Open the results that a figure of the whole experiment is drawn from."""
    paths = inputs["digests"] if "digests" in inputs else inputs["cubes"]
    return [results_at(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]


def foremost(cube: Results) -> list[tuple[str, str]]:
    """Return the pairs of objective and metric that page and figures show unasked; files hold all.

    They are those of `shown_pairs`. Metrics along paths of laws stand in figures and files.
    """
    off_paths = set(metrics_off_paths(cube.data))
    return [pair for pair in shown_pairs(cube.objectives(), cube.metrics) if pair[1] in off_paths]


def with_unit(quantity: str, units: str) -> str:
    """Write a quantity with its unit for an axis; pure numbers have none."""
    unit = shown_unit(units)
    return f"{quantity} [{unit}]" if unit else quantity


SHOWN_UNITS = {"1": "", "degree_Celsius": "°C", "degree_C": "°C", "percent": "%", "percent year-1": "%/year"}


def shown_unit(units: str) -> str:
    """Write a unit as people read it; pure numbers have none."""
    return SHOWN_UNITS.get(units, units)


def decimals(error: float) -> int:
    """Return the places after the point at which `error` shows two figures, 0 to 8."""
    exponent = int(f"{error:e}".partition("e")[2])
    return min(max(1 - exponent, 0), 8)


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: "1 seed", "30 seeds", "2 branches"."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def spoken(items: Sequence[str]) -> str:
    """Write a list as people do: "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def shared_data_label(cubes: Sequence[Results]) -> str:
    """Return the label of data that are not measured, with its problems where not all share it; empty: none."""
    labelled = [cube for cube in cubes if cube.data_label]
    if not labelled or len(labelled) == len(cubes):
        return labelled[0].data_label if labelled else ""
    return f"{labelled[0].data_label}: {spoken([cube.problem for cube in labelled])}"


def metric_title(cubes: Iterable[Results], label: str) -> str:
    """Return what is written for a metric that one of the problems is scored by; else its label."""
    return next((cube.metric_titles[label] for cube in cubes if label in cube.metric_titles), label)


def problem_names(cubes: Sequence[Results]) -> dict[str, str]:
    """Return what is written for every problem, by its label: its title, or its label in words where titles agree."""
    titles = [cube.title for cube in cubes]
    return {cube.problem: cube.title if titles.count(cube.title) == 1 else in_words(cube.problem) for cube in cubes}


def reference_label(figure: str, wanted: str | None, names: Mapping[str, str]) -> str:
    """Return the label of the algorithm that others are compared with: the one wanted, else 'random', else the first.

    Args:
        figure: name of the figure that asks.
        wanted: label in the figure's parameters.
        names: label -> registered name of all algorithms.

    Raises:
        BocuError: no algorithm has the label.
    """
    if wanted is None:
        return next((label for label, name in names.items() if name == "random"), next(iter(names)))
    if wanted not in names:
        raise BocuError(f"{figure}: reference: no algorithm '{wanted}'; {nearest(wanted, names)}")
    return wanted


def seed_counts(counts: Mapping[str, int]) -> str:
    """Say how many seeds stand behind every title, in few words where they agree."""
    numbers = set(counts.values())
    if len(numbers) == 1:
        return counted(numbers.pop(), "seed")
    return "seeds: " + ", ".join(f"{title} {number}" for title, number in counts.items())
