"""The results of one problem as its digest has them: see `bocu.sweep.evaluation.digests`."""

import functools
from pathlib import Path

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import reading
from bocu.pages.figures.results import CubeBranch, Results
from bocu.sweep.evaluation.curves import TRACES, Kind, MeanCurve, Traces
from bocu.sweep.evaluation.digests import MEDIAN_ROUNDS, NEVER, curve_name, trace_name
from bocu.sweep.runs.status import DONE


class Digest(Results):
    """The results of one problem without its rounds: totals by seed, and curves over the seeds, thinned.

    An array is read when it is first asked for, under one metric for all branches, and kept until `release`.
    """

    needed = (*Results.needed, "point_iteration")

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._kept: dict[tuple[str, str | None], np.ndarray] = {}

    def release(self) -> None:
        self._kept.clear()

    def _array(self, name: str, metric: str | None = None) -> np.ndarray:
        """Return an array of all branches, of one metric where there are several."""
        if (name, metric) not in self._kept:
            with reading(self.path):
                found = self.data[name] if metric is None else self.data[name].isel(metric=self._metric_places[metric])
                self._kept[name, metric] = found.values
        return self._kept[name, metric]

    def _of(self, name: str, branch: CubeBranch, metric: str | None = None) -> np.ndarray | None:
        """Return what the digest has of a branch; None where it has nothing of the name."""
        if name not in self.data.variables:
            return None
        found: np.ndarray = self._array(name, metric)[self._places[branch]]
        return found

    @functools.cached_property
    def _metric_places(self) -> dict[str, int]:
        return {label: place for place, label in enumerate(self.metrics)}

    def totals(self, branch: CubeBranch, metric: str) -> tuple[np.ndarray, np.ndarray]:
        totals = self._of("total_regret", branch, metric)
        if totals is None:
            return np.empty(0), np.empty(0, dtype=int)
        known = ~np.isnan(totals)
        return totals[known], self._seeds[known]

    def growth(self, branch: CubeBranch, metric: str) -> np.ndarray:
        slopes = self._of("growth_slope", branch, metric)
        return np.empty(0) if slopes is None else slopes[~np.isnan(slopes)]

    def final_shares(self, branch: CubeBranch, metric: str) -> np.ndarray:
        shares = self._of("final_hypervolume_share", branch, metric)
        return np.empty(0) if shares is None else shares[~np.isnan(shares)]

    def curve(
        self, branch: CubeBranch, metric: str, kind: Kind, smooth: int = 1, from_initial: bool = False
    ) -> MeanCurve | None:
        if smooth > 1:
            raise BocuError(f"{self.path}: rounds are averaged from the cube; a digest has single ones")
        name = curve_name(kind, from_initial)
        scored = None if kind == "payoff" else metric
        seeds = self._of(f"{name}_seeds", branch, scored)
        if seeds is None or not seeds > 0:
            return None
        rounds = self._array("point_iteration")
        mean, error = (self._of(f"{name}_{what}", branch, scored) for what in ("mean", "error"))
        assert mean is not None
        assert error is not None
        shown = slice(None) if from_initial else rounds >= 1
        counted = rounds - self._iterations[0] + 1 if from_initial else rounds
        rounds, mean, error, counted = rounds[shown], mean[shown], error[shown], counted[shown]
        if kind == "average":
            mean, error = mean / counted, error / counted
        return MeanCurve(counted, mean, error, int(seeds))

    def traces(self, branch: CubeBranch, metric: str, kind: Kind) -> Traces | None:
        """Return the curve of each finished seed, of a branch and metric that pages show; None otherwise."""
        place = self._traced.get((*self._places[branch], self._metric_places[metric]))
        if place is None or kind not in TRACES:
            return None
        with reading(self.path):
            values = self.data[trace_name(kind)].isel(traced=place).values
        rounds = self._array("trace_iteration")
        known = ~np.isnan(values).any(axis=1)
        if not known.any():
            return None
        return Traces(rounds, values[known], self._seeds[known])

    @functools.cached_property
    def _traced(self) -> dict[tuple[int, ...], int]:
        """Row of the curves of seeds by the places of objective, algorithm and metric."""
        names = [f"traced_{dim}" for dim in ("objective", "algorithm", "metric")]
        if not all(name in self.data.variables for name in names):
            return {}
        with reading(self.path):
            places = np.stack([self.data[name].values for name in names], axis=1)
        return {tuple(int(one) for one in place): row for row, place in enumerate(places)}

    def round_times(self, branch: CubeBranch) -> np.ndarray:
        times = self._of("seconds_per_round", branch)
        return np.empty(0) if times is None else times[~np.isnan(times)]

    def median_times(self, branch: CubeBranch, group: int) -> tuple[np.ndarray, np.ndarray]:
        if group != MEDIAN_ROUNDS:
            raise BocuError(f"{self.path}: found medians of {MEDIAN_ROUNDS} rounds; others are taken from the cube")
        rounds, times = self._array("group_iteration"), self._of("seconds_median", branch)
        done = self.status(branch) == DONE
        return rounds, np.empty((0, len(rounds))) if times is None else times[done]

    def trusted_shares(self, branch: CubeBranch) -> np.ndarray | None:
        shares = self._of("trusted_share", branch)
        if shares is None or np.isnan(shares).all():
            return None
        return shares[~np.isnan(shares).any(axis=1)]

    def rejection_rounds(self, branch: CubeBranch) -> np.ndarray | None:
        rounds = self._of("rejection_round", branch)
        if rounds is None or np.isnan(rounds).all():
            return None
        rounds = rounds[self.status(branch) == DONE]
        return np.where(rounds == NEVER, np.nan, rounds)

    def resets(self, branch: CubeBranch) -> dict[int, int]:
        rounds = self._of("all_rejected_round", branch)
        if rounds is None:
            return {}
        return {int(seed): int(first) for seed, first in zip(self._seeds, rounds, strict=True) if np.isfinite(first)}
