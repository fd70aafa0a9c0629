"""Derivatives of worst-case expectations and of their slopes: in the payoffs, the reference and the radius.

The value v is concave in the payoffs and smooth but for ties. By the envelope theorem its gradient in the payoffs is
the worst distribution, in the radius the slope, in the reference minus the slope times that of the distance. A gradient
g in the reference is meant along the simplex; of those that differ by a constant, the one here has `p.g = v`: that of
the extension of v to all vectors by degree one (for an expectation, the payoffs). Contexts without mass, where the set
gives them none, stay so. Where something is not differentiable, it is the derivative of one piece beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bocu.robust.ambiguity.base import AmbiguitySet, Wanted
from bocu.robust.ambiguity.checks import Floats


class In(NamedTuple):
    """In which variables derivatives are wanted."""

    payoffs: bool = True
    reference: bool = True
    radius: bool = True


EVERYTHING = In()


@dataclass(frozen=True, slots=True)
class Differential:
    """A number for each row of payoffs, and its derivatives where they were wanted."""

    value: Floats  #: (...) the number itself, perhaps minus infinity.
    payoffs: Floats | None = None  #: (..., n) gradient in the payoffs.
    reference: Floats | None = None  #: (..., n) gradient in the reference of the row.
    radius: Floats | None = None  #: (...) derivative in the radius.

    def scaled(self, weight: float) -> Differential:
        """The differential of `weight` times the number."""
        return Differential(weight * self.value, *(None if part is None else weight * part for part in self._parts()))

    def plus(self, other: Differential) -> Differential:
        """The differential of the sum of two numbers."""
        pairs = zip(self._parts(), other._parts(), strict=True)
        parts = (None if one is None or two is None else one + two for one, two in pairs)
        return Differential(self.value + other.value, *parts)

    def _parts(self) -> tuple[Floats | None, ...]:
        return self.payoffs, self.reference, self.radius


def value_and_slope(
    ambiguity_set: AmbiguitySet, payoffs: ArrayLike, reference: ArrayLike, wanted: In, *, with_slope: bool
) -> tuple[Differential, Differential | None]:
    """Worst-case expectation and its slope with their derivatives; arguments and errors as in `worst_case`.

    Args:
        ambiguity_set: the ambiguity set.
        payoffs: (..., n) array.
        reference: (n,) or (..., n) array.
        wanted: in which variables.
        with_slope: whether the slope's derivatives are wanted; else there is None in its place.

    Raises:
        BocuError: also where a derivative in the reference is wanted and the set knows none.
    """
    asked = ambiguity_set.normalise(payoffs, reference)
    f, p, low, scale, leading = asked.f, asked.p, asked.low, asked.scale, asked.leading
    shape = (*leading, f.shape[1])
    moves = with_slope and any(wanted)
    rows = ambiguity_set.solve(f, p, Wanted(distribution=moves or wanted.payoffs or wanted.reference, rate=moves))
    q, rate = rows.distribution, rows.rate
    value, slope = low + scale * rows.value, scale * rows.slope
    of_value = of_slope = None
    if wanted.reference:
        assert q is not None
        of_value = _along(ambiguity_set, scale[:, None] * ambiguity_set._in_reference(f, p, q, rows.slope), p, value)
    answer = Differential(
        value.reshape(leading),
        q.reshape(shape) if q is not None and wanted.payoffs else None,
        None if of_value is None else of_value.reshape(shape),
        slope.reshape(leading) if wanted.radius else None,
    )
    if not with_slope:
        return answer, None
    bend = None
    if moves and (wanted.reference or wanted.radius):
        assert q is not None
        assert rate is not None
        moved, bend = ambiguity_set._slope_in_reference(f, p, q, rows.slope, rate)
        of_slope = _along(ambiguity_set, scale[:, None] * moved, p, slope)
    return answer, Differential(
        slope.reshape(leading),
        rate.reshape(shape) if rate is not None and wanted.payoffs else None,
        of_slope.reshape(shape) if of_slope is not None and wanted.reference else None,
        (scale * bend).reshape(leading) if bend is not None and wanted.radius else None,
    )


def satisficing(
    ambiguity_set: AmbiguitySet, payoffs: ArrayLike, reference: ArrayLike, tau: ArrayLike, wanted: In
) -> Differential:
    """`AmbiguitySet.satisficing` with its derivatives, 0 where it is flat or minus infinity; the radius has no part."""
    asked = ambiguity_set.normalise(payoffs, reference)
    f, p, scale, leading = asked.f, asked.p, asked.scale, asked.leading
    shape = (*leading, f.shape[1])
    tangent = ambiguity_set.tangents(asked, tau)
    inverse = tangent.inverse_radius()
    slope = scale * tangent.slope
    gradient = None
    if wanted.reference:
        gradient = np.zeros_like(f)
        touched = inverse > 0.0
        if touched.any():
            own = p if len(p) == 1 else p[touched]
            moved = ambiguity_set._in_reference(f[touched], own, tangent.distribution[touched], tangent.slope[touched])
            moved *= (scale * inverse)[touched, None]
            gradient[touched] = _along(ambiguity_set, moved, own, slope[touched])
    return Differential(
        slope.reshape(leading),
        (inverse[:, None] * tangent.distribution).reshape(shape) if wanted.payoffs else None,
        None if gradient is None else gradient.reshape(shape),
        np.zeros(leading) if wanted.radius else None,
    )


def _along(ambiguity_set: AmbiguitySet, gradient: Floats, p: Floats, value: Floats) -> Floats:
    """Of the gradients in the reference that differ by a constant, the one whose mean under it is the value."""
    value = np.where(np.isfinite(value), value, 0.0)
    gradient = gradient + (value - np.einsum("bn,bn->b", gradient, np.broadcast_to(p, gradient.shape)))[:, None]
    return gradient if ambiguity_set.leaves_support else np.where(p > 0.0, gradient, value[:, None])
