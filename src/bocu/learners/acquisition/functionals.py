"""From the payoffs of a decision in all contexts to the one number that is maximised.

Every functional returns its value and a supergradient in the payoffs: the worst distribution, by the envelope theorem.
Sources: SBO-KDE, DRBO-KDE and their baselines: Huang et al. (2024); StableOpt: Bogunovic et al. (2018); DRBO with MMD:
Kirschner et al. (2020); DRMOBO: `WorstCaseValue` of scalarised payoffs; the penalty `E u - epsilon L`, L the steepest
slope of the optimistic payoff u in the context, which bounds the worst expectation within a 1-Wasserstein distance
epsilon from below: Micheli et al. (2025).

Closed forms of the worst expectation within a divergence of a reference that may be continuous are those of Husain et
al. (2023), "Distributionally robust Bayesian optimization with phi-divergences", by its abstract and by the dual form
that others cite: chi-squared ``E u - sqrt(epsilon Var u)``, total variation ``E u - epsilon / 2 (sup u - inf u)``. Both
are lower bounds of the worst expectation (the linearisations at radius 0 of Tay et al. 2022). The first is exact while
``sqrt(epsilon / Var) (sup u - E) <= 1``, where the worst density is nowhere negative, the second while at least
epsilon / 2 of the reference's mass has the largest payoff: under a density it never has.
"""

from dataclasses import dataclass

import numpy as np

from bocu.core.loading import naming_extras
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.minimax import Chord
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import AmbiguitySet, Wanted
from bocu.robust.ambiguity.derivatives import In
from bocu.robust.objectives.functions import Expectation, SetObjective, Slice, UncertaintyObjective

#: Samples that are looked at while starts are chosen.
SCREENING_SAMPLES = 64

_DISTRIBUTION = Wanted(distribution=True)


class ExpectedValue(Functional):
    """The mean over contexts: SBO-KDE over samples, vanilla MOBO under a reference.

    Args:
        reference: probabilities, shape (M,); None: all contexts are equally likely samples.
        drafted_on: samples that ascents may begin on; 0: all.

    Raises:
        BocuError: the reference is no distribution.
    """

    def __init__(self, reference: np.ndarray | None = None, drafted_on: int = 0) -> None:
        self.reference = None if reference is None else checks.distribution(reference)
        self.drafted_on = drafted_on

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.reference is None:
            return payoffs.mean(axis=1), np.broadcast_to(1.0 / payoffs.shape[1], payoffs.shape)
        return payoffs @ self.reference, np.broadcast_to(self.reference, payoffs.shape)

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        return (_thinned(contexts) if self.reference is None else np.arange(contexts)), self

    def drafting(self, contexts: int) -> tuple[np.ndarray, Functional] | None:
        few = _drafted(contexts, 0 if self.reference is not None else self.drafted_on)
        return None if few is None else (few, self)


class MinimumValue(Functional):
    """The smallest payoff: StableOpt over points of its set of contexts, a grid's robust optimisation."""

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        worst = payoffs.argmin(axis=1)
        rows = np.arange(len(payoffs))
        weights = np.zeros_like(payoffs)
        weights[rows, worst] = 1.0
        return payoffs[rows, worst], weights

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        return _thinned(contexts), self


class SampledTotalVariation(Functional):
    """Worst case over an L1 set around the distribution of equally likely samples, with the infimum of all contexts.

    DRBO-KDE (Huang et al., 2024, Proposition 2): `ambiguity.sampled.sampled_worst_case`, by selection in place of
    a sort. Mass epsilon / 2 leaves the largest samples and goes to the smallest payoff at any context, so that the
    supergradient has a term for that context.

    Args:
        epsilon: L1 radius, 0 to 2; larger is as 2.
        samples: the first so many contexts are the samples; any others only lower the infimum.
        of_samples: whether the infimum is over the samples too. Over the others alone it may lie above some samples,
            which then keep their mass: `max over theta >= m of E min(u, theta) - epsilon / 2 (theta - m)`.
        drafted_on: samples that ascents may begin on, and as many of the other contexts; 0: all.

    Raises:
        BocuError: the radius is negative.
    """

    def __init__(self, epsilon: float, samples: int, of_samples: bool = True, drafted_on: int = 0) -> None:
        self.epsilon = checks.radius(epsilon)
        self.samples = samples
        self.of_samples = of_samples
        self.drafted_on = drafted_on
        moved = samples * min(self.epsilon / 2.0, 1.0)
        self._emptied = min(int(moved), samples - 1)  # largest samples that lose all their mass
        self._kept = 1.0 - (moved - self._emptied)  # share of its mass that the next one keeps

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(len(payoffs))
        first = 0 if self.of_samples else self.samples
        worst = first + payoffs[:, first:].argmin(axis=1)
        next_largest = self.samples - 1 - self._emptied
        order = payoffs[:, : self.samples].argpartition(next_largest, axis=1)
        weights = np.zeros_like(payoffs)
        weights[:, : self.samples] = 1.0 / self.samples
        weights[rows[:, None], order[:, next_largest + 1 :]] = 0.0
        weights[rows, order[:, next_largest]] *= self._kept
        if self.of_samples:
            weights[rows, worst] += min(self.epsilon / 2.0, 1.0)
        else:
            weights[:, : self.samples][payoffs[:, : self.samples] <= payoffs[rows, worst][:, None]] = 1.0 / self.samples
            weights[rows, worst] = 1.0 - weights[:, : self.samples].sum(axis=1)
        return np.einsum("bm,bm->b", weights, payoffs), weights

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        return self._over(_thinned(self.samples), _thinned(contexts - self.samples))

    def drafting(self, contexts: int) -> tuple[np.ndarray, Functional] | None:
        few = _drafted(self.samples, self.drafted_on)
        return None if few is None else self._over(few, few[few < contexts - self.samples])

    def _over(self, samples: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, Functional]:
        """Return contexts and functional of some samples and some of the others."""
        chosen = np.concatenate([samples, others + self.samples])
        return chosen, SampledTotalVariation(self.epsilon, len(samples), self.of_samples)


class WorstCaseValue(Functional):
    """Worst-case expectation over any set around a reference on the contexts: DRBO-MMD, DRMOBO.

    Args:
        ambiguity_set: the ambiguity set.
        reference: probabilities, shape (M,).

    Raises:
        BocuError: the reference is no distribution over the set's contexts.
    """

    def __init__(self, ambiguity_set: AmbiguitySet, reference: np.ndarray) -> None:
        self.reference = checks.distribution(reference, ambiguity_set.contexts)
        self.ambiguity_set = ambiguity_set.prepare(self.reference)

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Ascents call this for a few rows at a time, of a model's own numbers: unchecked.
        asked, found = self.ambiguity_set.solve_rows(payoffs, self.reference[None], (len(payoffs),), _DISTRIBUTION)
        assert found.distribution is not None
        return asked.values(found.value), found.distribution

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        # A bound stands in for what is costly to solve.
        return np.arange(contexts), Chord(self.ambiguity_set, self.reference) if self.ambiguity_set.costly else self


def _thinned(samples: int) -> np.ndarray:
    """Return the indices of the first few of exchangeable samples, or of a low-discrepancy sequence."""
    return np.arange(min(samples, SCREENING_SAMPLES))


def _drafted(samples: int, few: int) -> np.ndarray | None:
    """Return the indices of the first few of exchangeable samples; None where they are not much fewer."""
    return np.arange(few) if 0 < few <= samples // 2 else None


class MeanLessDeviation(Functional):
    """`E u - sqrt(factor epsilon Var u)`: chi-squared sets.

    Args:
        epsilon: the radius.
        reference: probabilities, shape (M,).
        factor: 1 for `chi2`, 2 for `chi2mod`, which is half of it.

    Raises:
        BocuError: the radius is negative, or the reference no distribution.
    """

    def __init__(self, epsilon: float, reference: np.ndarray, factor: float = 1.0) -> None:
        self.steepness = float(np.sqrt(factor * checks.radius(epsilon)))
        self.reference = checks.distribution(reference)

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = payoffs @ self.reference
        centred = payoffs - mean[:, None]
        deviation = np.sqrt(centred**2 @ self.reference)
        # Where payoffs are all the same any direction is as good.
        unit = centred / np.where(deviation > 0.0, deviation, 1.0)[:, None]
        return mean - self.steepness * deviation, self.reference * (1.0 - self.steepness * unit)


class MeanLessRange(Functional):
    """`E u - epsilon / 2 (max u - min u)`, both over all contexts: total variation.

    Args:
        epsilon: L1 radius, 0 to 2; larger is as 2.
        reference: probabilities, shape (M,), some of which may be 0.

    Raises:
        BocuError: the radius is negative, or the reference no distribution.
    """

    def __init__(self, epsilon: float, reference: np.ndarray) -> None:
        self.moved = min(checks.radius(epsilon) / 2.0, 1.0)
        self.reference = checks.distribution(reference)

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, highest, lowest = np.arange(len(payoffs)), payoffs.argmax(axis=1), payoffs.argmin(axis=1)
        weights = np.tile(self.reference, (len(payoffs), 1))
        weights[rows, highest] -= self.moved
        weights[rows, lowest] += self.moved
        return np.einsum("bm,bm->b", weights, payoffs), weights


@dataclass(frozen=True)
class Stencil:
    """Pairs of contexts around points, by whose differences slopes are taken."""

    #: shape (2 P D, D): ahead of each of P points in each of D coordinates, then behind, in the same order.
    contexts: np.ndarray
    reach: np.ndarray  #: distance between a pair in units of the slope's context, shape (P, D).

    @classmethod
    def around(cls, points: np.ndarray, step: float, width: np.ndarray) -> "Stencil":
        """Place pairs around points (P, D) of the unit cube, cut to it.

        Args:
            points: where slopes are taken.
            step: to either side, in the unit cube.
            width: length of a coordinate of the cube in units of the slope's context, shape (D,).
        """
        moved = step * np.eye(points.shape[1])
        ahead, behind = (np.clip(points[:, None] + sign * moved, 0.0, 1.0) for sign in (1.0, -1.0))
        reach = np.einsum("pdd->pd", ahead - behind) * width
        flat = [each.reshape(-1, points.shape[1]) for each in (ahead, behind)]
        return cls(np.concatenate(flat), reach)


class SlopePenalty(Functional):
    """The mean over the first contexts, less a radius times the steepest slope over a stencil, which come after.

    Args:
        epsilon: the radius, in units of the context.
        seen: number of the contexts that the mean is over.
        stencil: the others.
        floor: whether the value is no less than the smallest payoff in any of the contexts, which the worst expectation
            is not.

    Raises:
        BocuError: the radius is negative.
    """

    def __init__(self, epsilon: float, seen: int, stencil: Stencil, floor: bool = False) -> None:
        self.epsilon = checks.radius(epsilon)
        self.seen = seen
        self.stencil = stencil
        self.floor = floor

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(len(payoffs))
        half = self.stencil.reach.size
        ahead, behind = payoffs[:, self.seen : self.seen + half], payoffs[:, self.seen + half :]
        slopes = (ahead - behind).reshape(len(payoffs), *self.stencil.reach.shape) / self.stencil.reach
        norms = np.linalg.norm(slopes, axis=2)
        steepest = norms.argmax(axis=1)
        norm = norms[rows, steepest]
        values = payoffs[:, : self.seen].mean(axis=1) - self.epsilon * norm
        weights = np.zeros_like(payoffs)
        weights[:, : self.seen] = 1.0 / self.seen
        direction = slopes[rows, steepest] / np.where(norm > 0.0, norm, 1.0)[:, None]
        pull = np.zeros((len(payoffs), *self.stencil.reach.shape))
        pull[rows, steepest] = -self.epsilon * direction / self.stencil.reach[steepest]
        weights[:, self.seen : self.seen + half] = pull.reshape(len(payoffs), half)
        weights[:, self.seen + half :] = -weights[:, self.seen : self.seen + half]
        if self.floor:
            lowest = payoffs.argmin(axis=1)
            below = values < payoffs[rows, lowest]
            values[below] = payoffs[rows, lowest][below]
            weights[below] = 0.0
            weights[rows[below], lowest[below]] = 1.0
        return values, weights


#: How far below others a decision is rated whose objective is minus infinity, in units of the payoff's spread.
FAR_BELOW = 1e3


class ObjectiveValue(Functional):
    """An uncertainty objective at a reference.

    Decisions whose objective is minus infinity (robust satisficing of too high an aspiration) are rated by their
    expectation, far below the others: ascents climb from there to where the objective is finite.

    Args:
        objective: at the radius wanted.
        reference: probabilities, shape (M,).
        spread: a typical difference of payoffs.

    Raises:
        BocuError: the reference is no distribution.
    """

    def __init__(self, objective: UncertaintyObjective, reference: np.ndarray, spread: float = 1.0) -> None:
        self.objective = objective
        self.reference = checks.distribution(reference)
        self.spread = spread

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rated, gradients = self._with_gradients(payoffs)
        lost = np.isneginf(rated)
        if lost.any():
            rated[lost] = payoffs[lost] @ self.reference - FAR_BELOW * self.spread
            gradients[lost] = self.reference
        return rated, gradients

    def _with_gradients(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(self.objective, SetObjective):
            found = self.objective.differential(payoffs, self.reference, In(True, False, False))
            assert found.payoffs is not None
            return found.value.copy(), found.payoffs.copy()
        with naming_extras():
            import torch  # slow, and objectives over a set do without

        tensor = torch.tensor(payoffs, requires_grad=True)
        values = self.objective(tensor, self.reference)
        (weights,) = torch.autograd.grad(values.sum(), tensor)
        return values.detach().numpy(), weights.numpy()


def functional(objective: UncertaintyObjective, reference: np.ndarray, spread: float = 1.0) -> Functional:
    """Return an uncertainty objective as a functional, in the way that suits it.

    Args:
        objective: at the radius wanted.
        reference: probabilities, shape (M,).
        spread: as `ObjectiveValue` has it.

    Raises:
        BocuError: the reference is no distribution over the objective's contexts.
    """
    if isinstance(objective, Expectation):
        return ExpectedValue(reference)
    if isinstance(objective, Slice) and (objective.alpha, objective.beta) == (1.0, 0.0):
        return WorstCaseValue(objective.ambiguity_set, reference)
    return ObjectiveValue(objective, reference, spread)
