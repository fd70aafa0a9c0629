"""Any uncertainty objective as a functional of payoffs, with gradients by the worst distributions behind it."""

import numpy as np

from bocu.core.loading import naming_extras
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.functionals import ExpectedValue, WorstCaseValue
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.derivatives import In, in_blocks
from bocu.robust.objectives.functions import Expectation, SetObjective, Slice, UncertaintyObjective

#: How far below others a decision is rated whose objective is minus infinity, in units of the payoff's spread.
FAR_BELOW = 1e3


class ObjectiveValue:
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
            found = in_blocks(self.objective.differential, payoffs, self.reference, In(True, False, False))
            assert found.payoffs is not None
            return found.value.copy(), found.payoffs.copy()
        with naming_extras():
            import torch  # slow, and objectives over a set do without

        tensor = torch.tensor(payoffs, requires_grad=True)
        values = self.objective(tensor, self.reference)
        (weights,) = torch.autograd.grad(values.sum(), tensor)
        return values.detach().numpy(), weights.numpy()

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        """Return all contexts, and the objective itself."""
        return np.arange(contexts), self


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
