"""Uncertainty objectives of the payoffs and the reference alone: SO, RO and VaR."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import is_tensor
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.objectives.best import Best, best_of
from bocu.robust.objectives.functions import UncertaintyObjective

if TYPE_CHECKING:
    from torch import Tensor


class WithoutSet(UncertaintyObjective):
    """An objective of the payoffs and the reference alone. The reference of tensors may be an array."""

    def __call__(self, payoffs: Any, reference: Any) -> Any:
        """See `UncertaintyObjective.__call__`."""
        plain = reference.detach().cpu().double().numpy() if is_tensor(reference) else reference
        if not is_tensor(payoffs):
            payoff = checks.payoffs(payoffs)
            return self._of_arrays(payoff, checks.distribution(plain, payoff.shape[-1]))
        from bocu.robust.ambiguity.tensors import like

        p = checks.distribution(plain, payoffs.shape[-1])
        return self.of_tensors(payoffs, reference if is_tensor(reference) else like(p, payoffs))

    def _argmax(self, payoffs: Floats, reference: Floats, tolerance: float) -> Best:
        return best_of(self._of_arrays(payoffs, reference))  # both have been checked

    @abstractmethod
    def _of_arrays(self, payoffs: Floats, reference: Floats) -> Floats: ...

    @abstractmethod
    def of_tensors(self, payoffs: Tensor, reference: Tensor, radius: Tensor | None = None) -> Tensor:
        """See `UncertaintyObjective.of_tensors`; the reference is not checked."""


@dataclass(frozen=True)
class Expectation(WithoutSet):
    """SO: `p.f`."""

    def _of_arrays(self, payoffs: Floats, reference: Floats) -> Floats:
        return payoffs @ reference if reference.ndim == 1 else np.einsum("...n,...n->...", payoffs, reference)

    def of_tensors(self, payoffs: Tensor, reference: Tensor, radius: Tensor | None = None) -> Tensor:
        return (checks.real_tensor("payoffs", payoffs).double() * reference.to(payoffs.device).double()).sum(-1)


@dataclass(frozen=True)
class Minimum(WithoutSet):
    """RO: `min f`; the reference is only checked."""

    def _of_arrays(self, payoffs: Floats, reference: Floats) -> Floats:
        return payoffs.min(axis=-1)

    def of_tensors(self, payoffs: Tensor, reference: Tensor, radius: Tensor | None = None) -> Tensor:
        return checks.real_tensor("payoffs", payoffs).double().amin(dim=-1)


_ROUNDING = 1e-12  # in sums of probabilities: three tenths are no more than 0.3


@dataclass(frozen=True)
class Quantile(WithoutSet):
    """VaR: of payoffs in ascending order the first at which the probability is above alpha.

    Its gradient is that of the payoff it is.
    """

    alpha: float

    def __post_init__(self) -> None:
        if not 0.0 <= checks.real("alpha", self.alpha) < 1.0:
            raise BocuError(f"alpha is {self.alpha}: it must lie in [0, 1)")

    def _of_arrays(self, payoffs: Floats, reference: Floats) -> Floats:
        order = payoffs.argsort(axis=-1, kind="stable")
        mass = np.take_along_axis(np.broadcast_to(reference, payoffs.shape), order, axis=-1)
        beyond = mass.cumsum(axis=-1) > self.alpha + _ROUNDING
        at = np.take_along_axis(order, beyond.argmax(axis=-1)[..., None], axis=-1)
        return np.take_along_axis(payoffs, at, axis=-1)[..., 0]

    def of_tensors(self, payoffs: Tensor, reference: Tensor, radius: Tensor | None = None) -> Tensor:
        payoff = checks.real_tensor("payoffs", payoffs).double()
        ascending = payoff.sort(dim=-1, stable=True)
        mass = reference.to(payoff.device).double().expand_as(payoff).gather(-1, ascending.indices)
        beyond = (mass.cumsum(dim=-1) > self.alpha + _ROUNDING).double()
        return ascending.values.gather(-1, beyond.argmax(dim=-1, keepdim=True))[..., 0]
