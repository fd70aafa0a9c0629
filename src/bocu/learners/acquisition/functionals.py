"""From the payoffs of a decision in all contexts to the one number that is maximised.

Every functional returns its value and a supergradient in the payoffs: the worst distribution, by the envelope theorem.
Sources: SBO-KDE, DRBO-KDE and their baselines: Huang et al. (2024); StableOpt: Bogunovic et al. (2018); DRBO with MMD:
Kirschner et al. (2020); DRMOBO: `WorstCaseValue` of scalarised payoffs.
"""

import numpy as np

from bocu.core.errors import BocuError
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.minimax import Chord
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.rows import Wanted

#: Samples that are looked at while starts are chosen.
SCREENING_SAMPLES = 64

_DISTRIBUTION = Wanted(distribution=True)


class ExpectedValue:
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
        """Return few contexts of exchangeable ones, all under a reference, and the expectation itself."""
        return (_thinned(contexts) if self.reference is None else np.arange(contexts)), self

    def drafting(self, contexts: int) -> tuple[np.ndarray, Functional] | None:
        """Return the first `drafted_on` of many exchangeable contexts, and the expectation itself."""
        few = _drafted(contexts, 0 if self.reference is not None else self.drafted_on)
        return None if few is None else (few, self)


class MinimumValue:
    """The smallest payoff: StableOpt over points of its set of contexts, a grid's robust optimisation."""

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        worst = payoffs.argmin(axis=1)
        rows = np.arange(len(payoffs))
        weights = np.zeros_like(payoffs)
        weights[rows, worst] = 1.0
        return payoffs[rows, worst], weights

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        """Return few contexts, and the minimum itself."""
        return _thinned(contexts), self


class SampledTotalVariation:
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
        BocuError: the radius is negative, there is no sample, or no context for the infimum to be over.
    """

    def __init__(self, epsilon: float, samples: int, of_samples: bool = True, drafted_on: int = 0) -> None:
        self.epsilon = checks.radius(epsilon)
        if samples < 1:
            raise BocuError(f"samples: found {samples}; allowed: 1 or more")
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
        """Return few samples and few of the other contexts, and the same set around those samples."""
        return self._over(_thinned(self.samples), _thinned(contexts - self.samples))

    def drafting(self, contexts: int) -> tuple[np.ndarray, Functional] | None:
        """Return few samples and few of the other contexts, and the same set around those samples."""
        few = _drafted(self.samples, self.drafted_on)
        return None if few is None else self._over(few, few[few < contexts - self.samples])

    def _over(self, samples: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, Functional]:
        """Return contexts and functional of some samples and some of the others."""
        chosen = np.concatenate([samples, others + self.samples])
        return chosen, SampledTotalVariation(self.epsilon, len(samples), self.of_samples)


class WorstCaseValue:
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
        """Return all contexts, and a bound in place of what is costly to solve."""
        return np.arange(contexts), Chord(self.ambiguity_set, self.reference) if self.ambiguity_set.costly else self


def _thinned(samples: int) -> np.ndarray:
    """Return the indices of the first few of exchangeable samples, or of a low-discrepancy sequence."""
    return np.arange(min(samples, SCREENING_SAMPLES))


def _drafted(samples: int, few: int) -> np.ndarray | None:
    """Return the indices of the first few of exchangeable samples; None where they are not much fewer."""
    return np.arange(few) if 0 < few <= samples // 2 else None
