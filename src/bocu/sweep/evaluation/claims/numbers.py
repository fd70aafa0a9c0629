"""The numbers that the words of a check stand for, one a seed, read from a cube."""

import copy
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Set
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import open_netcdf
from bocu.core.parameters import nearest
from bocu.sweep.evaluation.claims.expressions import WORDS, Measure, Scope, Sum, problem_of_measure
from bocu.sweep.evaluation.claims.places import Known, Place, place_of
from bocu.sweep.evaluation.cubes import swept_entries
from bocu.sweep.evaluation.curves import scored_throughout
from bocu.sweep.evaluation.paired_means import moving_blocks
from bocu.sweep.evaluation.prior_choices import rejection_rounds
from bocu.sweep.evaluation.robust_front import guaranteed_share
from bocu.sweep.evaluation.statistics import growth_slopes
from bocu.sweep.runs.records import DONE, MISSING

if TYPE_CHECKING:
    from typing import Self

    import xarray as xr

SECOND_HALF = 0.5
STUCK = 0.9  #: Share of the second half's rounds in which a seed trusts the prior that it sticks to.
_REMEMBERED = 64  #: Branches under a metric whose regret of every round is kept in memory.
Source: TypeAlias = "str | Path | xr.Dataset | Numbers"  #: A cube of one problem, or its numbers.
Sample = Mapping[int, float]  #: A number a seed.
Swept = Mapping[str, Mapping[str, Any]]  #: What a sweep has made: see `swept_entries`.


class Numbers(ABC):
    """The numbers of one problem.

    Attributes:
        known: what a check may name there.
        variables: those of its cube.
        swept: what a sweep has made of it: see `swept_entries`.
        finished: seeds that some runs have finished.
        data_label: what the data behind the problem are where nobody measured them; empty: measured, or none.
        kept_rounds: rounds up to which regret is known.
        block: of how many rounds the blocks are that stand in the place of seeds; 0: none do.
    """

    data_label = ""
    block = 0
    kept_rounds: Set[int]

    def __init__(self, known: Known, variables: Collection[str], swept: Swept, finished: int) -> None:
        self.known, self.variables, self.swept, self.finished = known, variables, swept, finished

    def named(self, names: Mapping[str, str]) -> "Self":
        """Return the same numbers for a check whose labels are called otherwise here."""
        other = copy.copy(self)
        other.known = replace(self.known, names=dict(names))
        return other

    def by_blocks(self, length: int) -> "Self":
        """Return the same numbers, means over the seeds, with moving blocks of so many rounds in the seeds' place."""
        other = copy.copy(self)
        other.block = length
        return other

    def measured(self, measure: Measure, scope: Scope) -> Sample:
        """Return what a word stands for, for every seed, or block, that has all of it.

        Raises:
            BocuError: there is nothing of what is asked for.
        """
        return self.at(measure.word, place_of(measure, scope, self.known))

    def at(self, word: str, place: Place) -> Sample:
        """Return what a word stands for at a place, for every seed, or block, that has all of it.

        Raises:
            BocuError: the problem does not have what the word is about.
        """
        if WORDS[word].variable not in self.variables:
            raise BocuError(f"'{self.known.problem}' has no '{WORDS[word].variable}', which the check asks for")
        if self.block:
            rounds = self.by_round("payoff" if word == "payoff" else "final", place).mean(axis=0)
            rounds = np.where(np.arange(len(rounds)) < (place.round or len(rounds)), rounds, 0.0)
            share = len(rounds) if word == "mean" else 1
            return dict(enumerate(moving_blocks(rounds / share, self.block).tolist()))
        seeds, values = self._column(word, place)
        return {int(seed): float(value) for seed, value in zip(seeds, values, strict=True) if not np.isnan(value)}

    @abstractmethod
    def _column(self, word: str, place: Place) -> tuple[np.ndarray, np.ndarray]:
        """Return seeds and what a word stands for, both of shape (seeds,); not a number: nothing."""

    @abstractmethod
    def by_round(self, word: str, place: Place) -> np.ndarray:
        """Return regret ("final") or payoff of each round from 1 on, shape (seeds, rounds).

        Raises:
            BocuError: single rounds are not at hand.
        """


class CubeNumbers(Numbers):
    """The numbers of a cube.

    Args:
        cube: of one problem; arrays are read when they are asked for.
    """

    def __init__(self, cube: "xr.Dataset") -> None:
        self.cube = cube
        self.data_label = str(cube.attrs.get("data_label", ""))
        self.iterations: np.ndarray = cube["iteration"].values
        self.status: np.ndarray = cube["status"].transpose("objective", "algorithm", "seed").values
        self._places = {
            dim: {str(label): i for i, label in enumerate(cube[dim].values)}
            for dim in ("objective", "algorithm", "metric", "prior")
            if dim in cube.coords
        }
        planned: np.ndarray = np.asarray(np.isin(self.status, (MISSING, DONE)).any(axis=2))
        known = Known(
            problem=str(cube.attrs["problem_label"]),
            algorithms={
                label: [objective for objective, i in self._places["objective"].items() if planned[i, j]]
                for label, j in self._places["algorithm"].items()
                if planned[:, j].any()
            },
            metrics=list(self._places["metric"]),
            rounds=int(self.iterations[-1]),
            priors=list(self._places.get("prior", {})),
        )
        self.kept_rounds = frozenset(range(1, known.rounds + 1))
        finished = int((self.status == DONE).any(axis=(0, 1)).sum())
        super().__init__(known, {str(name) for name in cube.data_vars}, swept_entries(cube.attrs), finished)
        self._regret = functools.lru_cache(_REMEMBERED)(self._read_regret)

    def _column(self, word: str, place: Place) -> tuple[np.ndarray, np.ndarray]:
        match word:
            case "final" | "mean" | "at":
                seeds, regret = self._regret(place.objective, place.algorithm, place.metric)
                total = regret[:, : place.round].cumsum(axis=1)[:, -1]  # one seed or many: added up in one order
                return seeds, total / regret.shape[1] if word == "mean" else total
            case "recommended":
                done, branch = self._branch("recommended_regret", (place.objective, place.algorithm))
                last = branch.isel(metric=self._places["metric"][place.metric], iteration=-1)
                return self.cube["seed"].values[done], last.values[done]
            case "hypervolume":
                metric = self._places["metric"][place.metric]
                (done, tried), (_, best) = (
                    self._branch(name, (place.objective, place.algorithm))
                    for name in ("front_guarantee", "best_front_guarantee")
                )
                guaranteed = [
                    front.isel(metric=metric).transpose("seed", "weight", "output").values[done]
                    for front in (tried, best)
                ]
                shares = [guaranteed_share(*fronts) for fronts in zip(*guaranteed, strict=True)]
                return self.cube["seed"].values[done], np.array(shares)
            case "growth":
                seeds, regret = self._regret(place.objective, place.algorithm, place.metric)
                rounds = self.iterations[self.iterations >= 1]
                return seeds, growth_slopes(rounds, regret.cumsum(axis=1), SECOND_HALF)
            case "payoff":
                seeds, payoffs = self._reported(place, "payoff")
                return seeds, payoffs.sum(axis=1)
            case "seconds":
                seeds, times = self._reported(place, "seconds")
                return seeds, times.mean(axis=1)
            case "share" | "sticks":
                seeds, chosen = self._reported(place, "chosen_prior")
                trusted = chosen == self._places["prior"][place.prior]
                late = trusted[:, trusted.shape[1] // 2 :].mean(axis=1) >= STUCK
                return seeds, trusted.mean(axis=1) if word == "share" else late.astype(float)
            case _:
                seeds, active = self._reported(place, "active_priors")
                rounds_of = rejection_rounds(
                    self.iterations[self.iterations >= 1], active, self._rejected(place, seeds)
                )
                return seeds, (~np.isnan(rounds_of[:, self._places["prior"][place.prior]])).astype(float)

    def by_round(self, word: str, place: Place) -> np.ndarray:
        if word == "final":
            return self._regret(place.objective, place.algorithm, place.metric)[1]
        return self._reported(place, word)[1]

    def _rejected(self, place: Place, seeds: np.ndarray) -> np.ndarray | None:
        """Return the prior that each round rejected, negative: none; None where that is not reported."""
        if "rejected_prior" not in self.cube:
            return None
        _, branch = self._branch("rejected_prior", (place.objective, place.algorithm))
        rejected: np.ndarray = branch.transpose("seed", "iteration").values[:, self.iterations >= 1]
        return rejected[np.isin(self.cube["seed"].values, seeds)]

    def _branch(self, name: str, place: tuple[str, str]) -> tuple[np.ndarray, "xr.DataArray"]:
        """Return the finished seeds of a branch, as truth values, and a variable of it."""
        i, j = self._places["objective"][place[0]], self._places["algorithm"][place[1]]
        return self.status[i, j] == DONE, self.cube[name].isel(objective=i, algorithm=j)

    def _read_regret(self, objective: str, algorithm: str, metric: str) -> tuple[np.ndarray, np.ndarray]:
        """Return seeds and regret of the rounds from 1 on, of finished seeds that are scored in every round."""
        done, branch = self._branch("regret", (objective, algorithm))
        values = branch.isel(metric=self._places["metric"][metric]).transpose("seed", "iteration").values
        whole = done & scored_throughout(self.iterations, values)
        return self.cube["seed"].values[whole], values[whole][:, self.iterations >= 1]

    def _reported(self, place: Place, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return seeds and what finished runs report of the rounds from 1 on, but for seeds that report nothing."""
        done, branch = self._branch(name, (place.objective, place.algorithm))
        values = branch.transpose("seed", "iteration", ...).values
        kept = values[:, self.iterations >= 1]
        if kept.dtype.kind == "f":
            said = np.isfinite(kept).reshape(len(kept), -1).all(axis=1)
        else:
            said = (kept >= 0).reshape(len(kept), -1).any(axis=1)
        return self.cube["seed"].values[done & said], kept[done & said]


class Swapped(Numbers):
    """The numbers of a problem, with runs of another experiment on it in the place of one algorithm's.

    Args:
        own: those of all other algorithms.
        label: of the algorithm whose place is taken.
        other: numbers of the same problem elsewhere.
        there: label of what takes it, there.

    Raises:
        BocuError: one of them has no such algorithm, or the other has other rounds, or lacks an objective or a metric.
    """

    def __init__(self, own: Numbers, label: str, other: Numbers, there: str) -> None:
        known, others = own.known, other.known
        for name, of in ((label, known), (there, others)):
            if name not in of.algorithms:
                raise BocuError(f"no algorithm '{name}' on '{of.problem}'; {nearest(name, of.algorithms)}")
        if others.rounds != known.rounds:
            raise BocuError(f"'{there}' on '{known.problem}': found {others.rounds} rounds; wanted: {known.rounds}")
        unpursued = {*known.algorithms[label]} - {*others.algorithms[there]}
        if lacking := unpursued | ({*known.metrics} - {*others.metrics}):
            raise BocuError(f"'{there}' on '{known.problem}': found nothing of {', '.join(sorted(lacking))}")
        super().__init__(known, {*own.variables} & {*other.variables}, own.swept, min(own.finished, other.finished))
        self.kept_rounds = own.kept_rounds & other.kept_rounds
        self.data_label = own.data_label
        self._own, self._label, self._other, self._there = own, label, other, there

    def _column(self, word: str, place: Place) -> tuple[np.ndarray, np.ndarray]:
        numbers, place = self._where(place)
        return numbers._column(word, place)

    def by_round(self, word: str, place: Place) -> np.ndarray:
        numbers, place = self._where(place)
        return numbers.by_round(word, place)

    def _where(self, place: Place) -> tuple[Numbers, Place]:
        if place.algorithm != self._label:
            return self._own, place
        return self._other, replace(place, algorithm=self._there)


def sample(quantity: Sum, scope: Scope, numbers_of: Callable[[str], Numbers]) -> Sample | float:
    """Return a quantity for every seed that has all of it; a number that is written out is itself.

    Args:
        quantity: what is asked for.
        scope: where it looks.
        numbers_of: label of a problem -> its numbers.
    """
    terms: list[tuple[float, Sample | float]] = [
        (factor, numbers_of(problem_of_measure(measure, scope)).measured(measure, scope))
        for factor, measure in quantity.terms
    ]
    return combined([*terms, (1.0, quantity.number)])


def combined(terms: list[tuple[float, Sample | float]]) -> Sample | float:
    """Return the weighted sum of numbers a seed, over the seeds that all have; of numbers alone, a number."""
    fixed = sum(weight * term for weight, term in terms if isinstance(term, float))
    samples = [(weight, term) for weight, term in terms if not isinstance(term, float)]
    if not samples:
        return float(fixed)
    shared = sorted(set.intersection(*(set(sample) for _, sample in samples)))
    return {seed: fixed + sum(weight * sample[seed] for weight, sample in samples) for seed in shared}


def as_numbers(source: Source, files: ExitStack) -> Numbers:
    """Return the numbers of one problem; a file is open until `files` are closed."""
    if isinstance(source, str | Path):
        source = files.enter_context(open_netcdf(source, decode_times=False))
    return source if isinstance(source, Numbers) else CubeNumbers(source)
