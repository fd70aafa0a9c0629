"""Uncertainty objectives: one number for each decision from its payoffs over contexts and a reference distribution.

The objectives of Tay et al. (2024, Table 1), to be maximised. With v(epsilon) the worst-case expectation over a set
and delta its right derivative in epsilon: SO `p.f`, RO `min f` over all contexts, DRO `v(epsilon)`, WCS `delta(0)`, MR
`v(0) + beta delta(0)`, GEN `alpha v(epsilon) + beta delta(epsilon)`, RS the least steep slope k with
`v(e) >= tau + k e` for all e. DRO, WCS and MR are GEN at particular values, so that the identities between them hold by
construction. VaR (Nguyen et al. 2021) is the lowest payoff that is not among the worst fraction alpha.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar, cast

import numpy as np
import pydantic
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import NoParameters, NotNegative, Number, Parameters, ParametersType, Positive
from bocu.core.rounds import ANNOUNCED, CONTINUOUS, FINITE, SCALARISED
from bocu.core.ties import first_best
from bocu.robust.ambiguity import checks, derivatives
from bocu.robust.ambiguity.base import AmbiguitySet, is_tensor
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.derivatives import EVERYTHING, Differential, In
from bocu.robust.ambiguity.parameters import SetParameters, StatedSet, by_default, sets_that

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Best:
    """The best decision, with its certificate.

    Attributes:
        index: position of the decision along the decisions' axis; the lowest on ties, see `bocu.core.ties`.
        value: its objective value, computed exactly.
        bound: no other decision is better than this; at most `value`, but for a tie or a tolerance that was asked for.
        solved: number of decisions whose value was computed, the others being excluded by bounds.
        highest: position of the very largest value, whether it ties with another or not.
    """

    index: int
    value: float
    bound: float
    solved: int
    highest: int


def best_of(values: Floats, size: float | None = None) -> Best:
    """The best of values `(decisions,)` that are all known; `size` as `first_best` has it."""
    index = first_best(values, size)
    value = float(values[index])
    others = values.copy()
    others[index] = -np.inf
    return Best(index, value, float(others.max()), len(values), int(values.argmax()))


class UncertaintyObjective(ABC):
    """Payoffs `(..., decisions, contexts)` and a reference `(contexts,)` in, values `(..., decisions)` out.

    Examples:
        >>> from bocu.robust.ambiguity import TotalVariation
        >>> payoffs = [[0.0, 1.0, 2.0], [0.9, 0.9, 0.9]]
        >>> UncertaintyObjective.dro(TotalVariation(0.5))(payoffs, [0.2, 0.6, 0.2]).tolist()
        [0.55, 0.9]
    """

    @staticmethod
    def so() -> UncertaintyObjective:
        """Stochastic: the expectation under the reference."""
        return Expectation()

    @staticmethod
    def ro() -> UncertaintyObjective:
        """Robust: the minimum over all contexts, of the reference's support or not."""
        return Minimum()

    @staticmethod
    def dro(ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        """Distributionally robust: the worst-case expectation v(epsilon)."""
        return Slice(ambiguity_set, 1.0, 0.0)

    @staticmethod
    def wcs(ambiguity_set: AmbiguitySet, *, difference: float | None = None) -> UncertaintyObjective:
        """Worst-case sensitivity: the slope of v at 0, whatever the set's epsilon; `difference` as in `gen`."""
        return AtZero(ambiguity_set.with_epsilon(0.0), 0.0, 1.0, difference)

    @staticmethod
    def mr(ambiguity_set: AmbiguitySet, beta: float, *, difference: float | None = None) -> UncertaintyObjective:
        """Mean and risk: `v(0) + beta delta(0)`, whatever the set's epsilon; `difference` as in `gen`."""
        return AtZero(ambiguity_set.with_epsilon(0.0), 1.0, beta, difference)

    @staticmethod
    def gen(
        ambiguity_set: AmbiguitySet, alpha: float, beta: float, *, difference: float | None = None
    ) -> UncertaintyObjective:
        """General: `alpha v(epsilon) + beta delta(epsilon)`, alpha and beta not negative.

        The slope is exact (`-inf` for phi-divergences at epsilon 0) unless `difference` h asks for the forward
        difference `(v(epsilon + h) - v(epsilon)) / h` of the published code of Tay et al. (2024).
        """
        return Slice(ambiguity_set, alpha, beta, difference)

    @staticmethod
    def rs(ambiguity_set: AmbiguitySet, tau: float) -> UncertaintyObjective:
        """Robust satisficing at aspiration tau: the slope of the least steep line from `(0, tau)` below v.

        0 where tau is at most the floor of v, `-inf` where tau exceeds the expectation; `argmax` finds the decision of
        the largest expectation where that is so of all.
        """
        return LeastSteepLine(ambiguity_set, tau)

    @staticmethod
    def var(alpha: float) -> UncertaintyObjective:
        """Value at risk: the lowest payoff w that payoffs do not exceed with a probability of more than alpha.

        With alpha 0 it is the minimum over the reference's support.
        """
        return Quantile(alpha)

    @abstractmethod
    def __call__(self, payoffs: object, reference: object) -> Any:
        """Values of decisions.

        Args:
            payoffs: (..., decisions, contexts), or (contexts,) for one decision; numpy array or torch tensor.
            reference: (contexts,), or (..., contexts) one for each decision.

        Returns:
            (..., decisions), numpy or a tensor with gradients to the payoffs where they are finite.

        Raises:
            BocuError: as `bocu.robust.ambiguity.worst_case` does.
        """

    def of_tensors(self, payoffs: Tensor, reference: Tensor, radius: Tensor | None = None) -> Tensor:
        """Values of tensors `(..., n)`, float64, also within the transforms of `torch.func`.

        Args:
            payoffs: (..., n).
            reference: (n,) or (..., n), a tensor.
            radius: a tensor () in place of the set's own, for objectives that have one.
        """
        return self(payoffs, reference)

    def argmax(self, payoffs: ArrayLike, reference: ArrayLike, *, tolerance: float = 0.0) -> Best:
        """The best decision without solving all of them exactly where bounds can exclude some.

        Args:
            payoffs: (decisions, contexts).
            reference: (contexts,).
            tolerance: in units of the objective: accept a decision once no other can be better by more than this, ties
                apart.
        """
        payoff, p = self._checked(payoffs, reference)
        if payoff.ndim != 2:
            raise BocuError(f"payoffs has shape {payoff.shape}: argmax takes (decisions, contexts)")
        if checks.radius(tolerance, "tolerance") == np.inf:
            raise BocuError("tolerance is inf: it must be finite")
        found = self._searched(payoff, p, tolerance)
        return best_of(self.values(payoff, p), self._size(payoff)) if found is None else found

    def values(self, payoffs: Floats, reference: Floats) -> Floats:
        """Values of decisions, as of a call, for arrays that have been checked."""
        return np.asarray(self(payoffs, reference))

    def _checked(self, payoffs: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats]:
        payoff = checks.payoffs(payoffs)
        return payoff, checks.distribution(reference, payoff.shape[-1])

    def _searched(self, payoffs: Floats, reference: Floats, tolerance: float) -> Best | None:
        """The best decision by another way than that of all values; None where there is none."""
        return None

    def _size(self, payoffs: Floats) -> float | None:
        """Magnitude of what values are made of, of which their rounding is a share; None: that of the values."""
        return None

    def best_and_taken(
        self, payoffs: Floats, reference: Floats, taken: int, available: NDArray[np.integer] | None = None
    ) -> tuple[float, float]:
        """The largest value of the decisions that are available, and that of the one that was taken.

        Args:
            payoffs: (decisions, contexts).
            reference: (contexts,).
            taken: index of a decision.
            available: indices of decisions; None: all.
        """
        values = self.values(payoffs, reference)
        return float((values if available is None else values[available]).max()), float(values[taken])

    def with_epsilon(self, epsilon: float) -> Self:
        """The objective at another radius of its set; itself where the radius does not matter."""
        return self

    @property
    def has_radius(self) -> bool:
        """Whether values depend on a radius."""
        return False

    def exact(self) -> UncertaintyObjective:
        """The objective with the exact slope in place of a difference."""
        return self


class SetObjective(UncertaintyObjective):
    """An objective over an ambiguity set, with derivatives in the payoffs, the reference and the radius."""

    ambiguity_set: AmbiguitySet

    @abstractmethod
    def differential(self, payoffs: ArrayLike, reference: ArrayLike, wanted: In = EVERYTHING) -> Differential:
        """Values of decisions and their derivatives, see `ambiguity.derivatives`; of arrays, as `__call__`."""

    @abstractmethod
    def values(self, payoffs: Floats, reference: Floats) -> Floats:
        """See `UncertaintyObjective.values`."""

    def __call__(self, payoffs: Any, reference: Any) -> Any:
        """See `UncertaintyObjective.__call__`; tensors carry gradients to the payoffs and the reference."""
        if is_tensor(payoffs):
            return self.of_tensors(payoffs, reference)
        return self.values(*self._checked(payoffs, reference))

    def of_tensors(self, payoffs: Tensor, reference: Tensor, radius: Tensor | None = None) -> Tensor:
        """See `UncertaintyObjective.of_tensors`."""
        from bocu.robust.ambiguity.tensors import solved

        return solved(self, payoffs, reference, radius)

    def _checked(self, payoffs: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats]:
        return self.ambiguity_set.checked(payoffs, reference)


@dataclass(frozen=True)
class Slice(SetObjective):
    """GEN, and with it DRO, WCS and MR: `alpha v + beta delta` at the set's epsilon."""

    ambiguity_set: AmbiguitySet
    alpha: float
    beta: float
    difference: float | None = None

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            value = checks.real(name, getattr(self, name))
            if not 0.0 <= value < np.inf:
                raise BocuError(f"{name} is {value}: it must be finite and 0 or more")
        if self.difference is not None and not 0.0 < self.difference < np.inf:
            raise BocuError(f"difference is {self.difference}: it must be finite and more than 0")

    def values(self, payoffs: Floats, reference: Floats) -> Floats:
        if self.difference is not None:
            return self._differences(payoffs, payoffs, reference)
        return self._combine(*self.ambiguity_set.solved(payoffs, reference))

    def with_epsilon(self, epsilon: float) -> Self:
        """GEN at another radius."""
        if epsilon == self.ambiguity_set.epsilon:
            return self
        return replace(self, ambiguity_set=self.ambiguity_set.with_epsilon(epsilon))

    @property
    def has_radius(self) -> bool:
        return self.ambiguity_set.has_radius

    def differential(self, payoffs: ArrayLike, reference: ArrayLike, wanted: In = EVERYTHING) -> Differential:
        """`alpha v + beta delta` and its derivatives; a difference is one of two solves."""
        by_slope = self.difference is None and self.beta > 0.0
        now, slope = derivatives.value_and_slope(self.ambiguity_set, payoffs, reference, wanted, with_slope=by_slope)
        if self.beta == 0.0:
            return now.scaled(self.alpha)
        if slope is not None:
            steep = slope.scaled(self.beta)
            return steep if self.alpha == 0.0 else now.scaled(self.alpha).plus(steep)
        assert self.difference is not None
        ahead = self.ambiguity_set.with_epsilon(self.ambiguity_set.epsilon + self.difference)
        later, _ = derivatives.value_and_slope(ahead, payoffs, reference, wanted, with_slope=False)
        steepness = self.beta / self.difference
        both = now.scaled(self.alpha - steepness).plus(later.scaled(steepness))
        # The value by the difference itself, which keeps more digits.
        return replace(both, value=self._combine(now.value, (later.value - now.value) / self.difference))

    def exact(self) -> UncertaintyObjective:
        """GEN with the exact slope."""
        return self if self.difference is None else replace(self, difference=None)

    def from_bounds(self, upper: ArrayLike, lower: ArrayLike, reference: ArrayLike) -> Floats:
        """UCB-BOCU-1 of Tay et al. (2024): `alpha v(u, epsilon) + beta (v(u, epsilon + h) - v(l, epsilon)) / h`.

        Args:
            upper: (..., decisions, contexts) upper and lower confidence bounds u and l of the payoffs.
            lower: likewise.
            reference: (contexts,).

        Returns:
            (..., decisions). Needs an objective with a `difference` h.
        """
        return self._differences(*self._bounds(upper, lower, reference))

    def _bounds(self, upper: ArrayLike, lower: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats, Floats]:
        above, p = self._checked(upper, reference)
        return above, above if lower is upper else self._checked(lower, p)[0], p

    def _differences(self, upper: Floats, lower: Floats, reference: Floats) -> Floats:
        h, radius = self.difference, self.ambiguity_set.epsilon
        if h is None:
            raise BocuError("difference is None: bounds are combined by a finite difference, give it")
        at = self.ambiguity_set.solved_at(upper, reference, [radius, radius + h])
        below = at[..., 0] if lower is upper else self.ambiguity_set.solved_at(lower, reference, [radius])[..., 0]
        return self._combine(at[..., 0], (at[..., 1] - below) / h)

    def argmax_from_bounds(self, upper: ArrayLike, lower: ArrayLike, reference: ArrayLike) -> Best:
        """The best decision by `from_bounds`, without solving all of them where bounds can exclude some.

        Args:
            upper: (decisions, contexts).
            lower: likewise.
            reference: (contexts,).
        """
        above, below, p = self._bounds(upper, lower, reference)
        if above.ndim != 2 or above.shape != below.shape:
            raise BocuError(f"bounds have shapes {above.shape} and {below.shape}: both must be (decisions, contexts)")
        size = max(self._size(above), self._size(below))
        if self.difference is None or self.beta == 0.0 or not self.ambiguity_set.costly:
            return best_of(self._differences(above, below, p), size)
        from bocu.robust.ambiguity.search import best_difference

        weights = self.alpha, self.beta, self.difference
        return Best(*best_difference(above, below, p, self.ambiguity_set, *weights, 0.0, size))

    def upper_bound(self, upper: ArrayLike, lower: ArrayLike, reference: ArrayLike) -> Floats:
        """The upper bound of Tay et al. (2024, Equations 10 and 11), by the exact slope.

        The worst case of the upper bounds, and the largest slope of any payoffs between the bounds.

        Args:
            upper: (..., decisions, contexts) upper confidence bounds of the payoffs.
            lower: likewise.
            reference: (contexts,).

        Returns:
            (..., decisions).

        Raises:
            BocuError: the slope has weight, and the set has no largest one in closed form.
        """
        value = self.ambiguity_set.values(upper, reference)[0]
        if self.beta == 0.0:
            return self.alpha * value
        return self._combine(value, self.ambiguity_set.values(self.ambiguity_set.flattest(lower, upper), reference)[1])

    def _combine(self, value: Floats, slope: Floats) -> Floats:
        # A zero weight drops its term: 0 times an infinite slope is not a number.
        if self.beta == 0.0:
            return self.alpha * value
        return self.beta * slope if self.alpha == 0.0 else self.alpha * value + self.beta * slope

    def _size(self, payoffs: Floats) -> float:
        """Magnitude of what values are made of: their rounding is a share of it."""
        return (self.alpha + self.beta / (self.difference or 1.0)) * float(np.abs(payoffs).max())

    def best_and_taken(
        self, payoffs: Floats, reference: Floats, taken: int, available: NDArray[np.integer] | None = None
    ) -> tuple[float, float]:
        """As of any objective, most decisions excluded by bounds where that is known to change no digit."""
        found = None
        if self.ambiguity_set.digits_by_row:
            found = self._searched(payoffs if available is None else payoffs[available], reference, 0.0)
        if found is None:
            return super().best_and_taken(payoffs, reference, taken, available)
        index = found.highest if available is None else int(available[found.highest])
        # By four, as products of matrices take rows: a single one is summed up in another order than in a table.
        best, value = self.values(payoffs[[index, taken, taken, taken]], reference)[:2].tolist()
        if value > best and (available is None or taken in available):
            best = value
        return best, value

    def _searched(self, payoffs: Floats, reference: Floats, tolerance: float) -> Best | None:
        """The best decision by bounds; None where no search is made."""
        step = self.difference if self.beta > 0.0 else None
        if not self.ambiguity_set.costly:
            return None
        from bocu.robust.ambiguity.search import best_difference, best_slice

        over, within = (self.ambiguity_set, self.alpha, self.beta), (tolerance, self._size(payoffs))
        if step is not None and self.ambiguity_set.epsilon == 0.0:
            return Best(*best_difference(payoffs, payoffs, reference, *over, step, *within))
        if self.alpha > 0.0 and (step is None or step <= self.beta / self.alpha):
            return Best(*best_slice(payoffs, reference, *over, step, *within))
        return None


@dataclass(frozen=True)
class AtZero(Slice):
    """WCS and MR: GEN at radius 0, whatever the radius of a round."""

    def with_epsilon(self, epsilon: float) -> Self:
        """Itself."""
        return self

    @property
    def has_radius(self) -> bool:
        return False

    def differential(self, payoffs: ArrayLike, reference: ArrayLike, wanted: In = EVERYTHING) -> Differential:
        """As that of GEN, but for the radius, which has no part."""
        found = super().differential(payoffs, reference, wanted._replace(radius=False))
        return replace(found, radius=np.zeros_like(found.value)) if wanted.radius else found


@dataclass(frozen=True)
class LeastSteepLine(SetObjective):
    """RS at aspiration tau."""

    ambiguity_set: AmbiguitySet
    tau: float

    def __post_init__(self) -> None:
        if not np.isfinite(checks.real("tau", self.tau)):
            raise BocuError(f"tau is {self.tau}: it must be finite")

    def differential(self, payoffs: ArrayLike, reference: ArrayLike, wanted: In = EVERYTHING) -> Differential:
        """`k(tau)` and its derivatives."""
        return derivatives.satisficing(self.ambiguity_set, payoffs, reference, self.tau, wanted)

    def values(self, payoffs: Floats, reference: Floats) -> Floats:
        asked = self.ambiguity_set.spanning(*checks.rows(payoffs, reference))
        return asked.slopes(self.ambiguity_set.tangents(asked, self.tau).slope)

    def _searched(self, payoffs: Floats, reference: Floats, tolerance: float) -> Best | None:
        values = self.values(payoffs, reference)
        if not np.isneginf(values).all():
            return best_of(values)
        # No decision meets the aspiration: the one that comes nearest to it.
        return replace(best_of(payoffs @ reference), value=-np.inf, bound=-np.inf)


class WithoutSet(UncertaintyObjective):
    """An objective of the payoffs and the reference alone. The reference of tensors may be an array."""

    def __call__(self, payoffs: Any, reference: Any) -> Any:
        """See `UncertaintyObjective.__call__`."""
        plain = reference.detach().cpu().double().numpy() if is_tensor(reference) else reference
        if not is_tensor(payoffs):
            return self.values(*self._checked(payoffs, plain))
        from bocu.robust.ambiguity.tensors import like

        p = checks.distribution(plain, payoffs.shape[-1])
        return self.of_tensors(payoffs, reference if is_tensor(reference) else like(p, payoffs))

    @abstractmethod
    def values(self, payoffs: Floats, reference: Floats) -> Floats:
        """See `UncertaintyObjective.values`."""

    @abstractmethod
    def of_tensors(self, payoffs: Tensor, reference: Tensor, radius: Tensor | None = None) -> Tensor:
        """See `UncertaintyObjective.of_tensors`; the reference is not checked."""


@dataclass(frozen=True)
class Expectation(WithoutSet):
    """SO: `p.f`."""

    def values(self, payoffs: Floats, reference: Floats) -> Floats:
        return payoffs @ reference if reference.ndim == 1 else np.einsum("...n,...n->...", payoffs, reference)

    def of_tensors(self, payoffs: Tensor, reference: Tensor, radius: Tensor | None = None) -> Tensor:
        return (checks.real_tensor("payoffs", payoffs).double() * reference.to(payoffs.device).double()).sum(-1)


@dataclass(frozen=True)
class Minimum(WithoutSet):
    """RO: `min f`; the reference is only checked."""

    def values(self, payoffs: Floats, reference: Floats) -> Floats:
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

    def values(self, payoffs: Floats, reference: Floats) -> Floats:
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


class Difference(Parameters):
    """The slope by a forward difference, as the published code of Tay et al. (2024) has it."""

    difference: Positive = Field(description="step h of (v(epsilon + h) - v(epsilon)) / h, in units of the radius")


Slope = Literal["exact"] | Difference


class Objective(ABC, Generic[ParametersType]):
    """An uncertainty objective of an experiment.

    Attributes:
        ambiguity: its set and radius rule; None where it has no set.
    """

    about: ClassVar[About]
    Parameters: ClassVar[type[Parameters]]

    #: Protocols whose runs it can score.
    protocols: ClassVar[tuple[str, ...]] = ANNOUNCED + CONTINUOUS

    #: Whether values depend on the reference.
    reference_matters: ClassVar[bool] = True

    #: Whether values depend on the radius of its set, where it has one.
    radius_matters: ClassVar[bool] = True

    def __init__(self, parameters: ParametersType) -> None:
        self.parameters = parameters

    @classmethod
    def from_specification(cls, parameters: Mapping[str, object]) -> Self:
        """Build the objective of a run specification."""
        return cls(cast("ParametersType", cls.Parameters.model_validate(parameters)))

    @property
    def ambiguity(self) -> SetParameters | None:
        """Its set and radius rule; None where it has no set."""
        return getattr(self.parameters, "set", None)

    @abstractmethod
    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        """Return the objective over context points of shape (contexts, dimension), at radius 0.

        Args:
            contexts: None where they are no finite set, which objectives without a set do not mind.
        """


class Stochastic(Objective[NoParameters]):
    """SO: the expectation under the reference."""

    about = About(title="SO", summary="stochastic: the expectation under the reference")

    Parameters = NoParameters

    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        return UncertaintyObjective.so()


class Robust(Objective[NoParameters]):
    """RO: the minimum over all contexts."""

    about = About(title="RO", summary="robust: the minimum over all contexts")
    protocols = FINITE + CONTINUOUS + SCALARISED
    reference_matters = False

    Parameters = NoParameters

    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        return UncertaintyObjective.ro()


class ValueAtRiskParameters(Parameters):
    """VaR: its level."""

    alpha: Annotated[Number, Field(ge=0.0, lt=1.0)] = Field(
        0.1, description="fraction of the worst outcomes that is left out of account; 0: the minimum over the support"
    )


class ValueAtRisk(Objective[ValueAtRiskParameters]):
    """VaR: the lowest payoff but for a fraction of the worst outcomes."""

    about = About(
        title="VaR",
        summary="value at risk: the lowest payoff but for the worst fraction alpha of outcomes",
        paper="Nguyen et al. 2021",
    )
    Parameters = ValueAtRiskParameters

    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        return UncertaintyObjective.var(self.parameters.alpha)


class WithSet(Parameters):
    """An objective over an ambiguity set."""

    set: StatedSet = Field(by_default("tv"), description="the ambiguity set; a name alone has its defaults")


class WithSlope(WithSet):
    """An objective that takes the slope of the worst-case expectation in the radius."""

    slope: Slope = Field(
        "exact", description="`exact`, or `{difference: h}`: the forward difference that the published code takes"
    )

    @property
    def difference(self) -> float | None:
        """Step of the difference that stands for the slope; None: the slope is exact."""
        return self.slope.difference if isinstance(self.slope, Difference) else None

    def at_zero(self) -> bool:
        """Whether the slope is taken at radius 0, where it must be finite."""
        return True

    @pydantic.model_validator(mode="after")
    def _finite_slope(self) -> Self:
        if self.at_zero() and not self.set.family.finite_slope_at_zero:
            others = sets_that(lambda family: family.finite_slope_at_zero)
            raise ValueError(
                f"the slope of '{self.set.name}' at radius 0 is -inf, so that the objective is; take {others}"
            )
        return self


WithSetType = TypeVar("WithSetType", bound=WithSet)


class OverASet(Objective[WithSetType]):
    """An objective over an ambiguity set, which its parameters have."""

    @abstractmethod
    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        """Return the objective over a set."""

    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        return self.around(self.parameters.set.over(contexts))


class DistributionallyRobustParameters(WithSet):
    """DRO: its ambiguity set."""


class DistributionallyRobust(OverASet[DistributionallyRobustParameters]):
    """DRO: the worst expectation over the set."""

    about = About(
        title="DRO",
        summary="distributionally robust: the worst expectation over an ambiguity set",
        paper="Kirschner et al. 2020",
    )
    Parameters = DistributionallyRobustParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        return UncertaintyObjective.dro(ambiguity_set)


class WorstCaseSensitivityParameters(WithSlope):
    """WCS: its distance and how the slope is taken; the radius does not matter."""


class WorstCaseSensitivity(OverASet[WorstCaseSensitivityParameters]):
    """WCS: the slope of the worst-case expectation at radius 0."""

    about = About(
        title="WCS",
        summary="worst-case sensitivity: how fast that expectation falls with the radius at 0",
        paper="Tay et al. 2024",
    )
    radius_matters = False
    Parameters = WorstCaseSensitivityParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        return UncertaintyObjective.wcs(ambiguity_set, difference=self.parameters.difference)


class MeanRiskParameters(WithSlope):
    """MR: its distance, how the slope is taken, and the weight of risk."""

    beta: NotNegative = Field(1.0, description="weight of the slope")


class MeanRisk(OverASet[MeanRiskParameters]):
    """MR: the expectation plus beta times the slope at radius 0."""

    about = About(
        title="MR",
        summary="mean and risk: expectation plus beta times the sensitivity",
        paper="Tay et al. 2024",
    )
    radius_matters = False
    Parameters = MeanRiskParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        settings = self.parameters
        return UncertaintyObjective.mr(ambiguity_set, settings.beta, difference=settings.difference)


class GeneralParameters(WithSlope):
    """GEN: its ambiguity set, how the slope is taken, and both weights."""

    alpha: NotNegative = Field(1.0, description="weight of the worst-case expectation")
    beta: NotNegative = Field(1.0, description="weight of its slope at the radius")

    def at_zero(self) -> bool:
        return self.beta > 0.0 and self.set.radius == 0.0


class General(OverASet[GeneralParameters]):
    """GEN: alpha times the worst-case expectation plus beta times its slope (Tay et al. 2024)."""

    about = About(
        title="GEN",
        summary="general: alpha times the worst expectation plus beta times its slope",
        paper="Tay et al. 2024",
    )
    Parameters = GeneralParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        settings = self.parameters
        return UncertaintyObjective.gen(ambiguity_set, settings.alpha, settings.beta, difference=settings.difference)


class SatisficingParameters(WithSet):
    """RS: its distance and the aspiration; the radius does not matter."""

    tau: Number = Field(description="aspiration, in units of the payoff")


class Satisficing(OverASet[SatisficingParameters]):
    """RS: the slope of the least steep line from (0, tau) below the worst-case expectation."""

    about = About(title="RS", summary="robust satisficing at an aspiration tau", paper="Tay et al. 2024")
    radius_matters = False
    Parameters = SatisficingParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        return UncertaintyObjective.rs(ambiguity_set, self.parameters.tau)
