"""A user's own phi-divergence, `d(q, p) = sum_i p_i phi(q_i / p_i)`; mass stays in the reference's support.

Solved through the two-variable dual `max_{l >= 0, nu} nu - l epsilon - l sum_i p_i phi*((nu - f_i) / l)` (Ben-Tal
et al., 2013; DRMOBO, under review, Eq. 9): nu makes q a distribution, l makes it meet the radius, both by bracketed
scalar roots, and the dual value certifies the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.loading import load
from bocu.robust.ambiguity.base import expectation, pair, pick, relative
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.divergences import HIGHEST, LOWEST, CurveDivergence, Point, bracketed
from bocu.robust.ambiguity.parameters import SetParameters, named

Function = Callable[[Floats], Floats]

#: Largest distance between primal and dual value, in ranges of the payoffs, before phi and conjugate are doubted.
_LARGEST_GAP = 1e-6


class PhiDivergenceParameters(SetParameters):
    """A divergence of the user's own."""

    name: str = named("phi")
    phi: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")] = Field(
        description="`module:name` of a pair of functions of arrays, phi and its conjugate, or of three with the "
        "conjugate's derivative; the module must be importable, and editing what they use reruns what uses them",
    )

    def refuse_misfits(self) -> None:
        self.over(None)


class PhiDivergence(CurveDivergence):
    """Set of radius `epsilon` in the divergence of a convex `phi` with `phi(1) = 0`.

    Args:
        epsilon: radius.
        phi: convex on t >= 0, elementwise on arrays; `phi(0)` may be infinite.
        conjugate: `phi*(s) = sup_{t >= 0} s t - phi(t)`, elementwise; infinite or NaN outside its domain.
        conjugate_derivative: the derivative of `conjugate`; central differences of `conjugate`, good to about 1e-9,
            without it.

    Note:
        phi is taken to be smooth at 1: the slope at `epsilon = 0` is `-inf` unless the payoffs are constant.

    Examples:
        >>> import numpy as np
        >>> from bocu.robust.ambiguity import worst_case
        >>> set = PhiDivergence(0.1, lambda t: 0.5 * (t - 1) ** 2, lambda s: np.where(s > -1, s + s**2 / 2, -0.5))
        >>> round(float(worst_case([0.0, 1.0], [0.5, 0.5], set).value), 6)  # E - sqrt(2 epsilon Var)
        0.276393
    """

    about = About(
        title="phi-divergence",
        summary="every distribution whose distance from the reference, in a divergence of one's own, is the radius or "
        "less",
        paper="DRMOBO",
    )
    Parameters = PhiDivergenceParameters
    costly = True

    def __init__(
        self, epsilon: float, phi: Function, conjugate: Function, conjugate_derivative: Function | None = None
    ) -> None:
        super().__init__(epsilon)
        for name, function in (("phi", phi), ("conjugate", conjugate)):
            if not callable(function):
                raise BocuError(f"{name} is {function!r}: it must be a function of arrays")
        at_one = float(np.asarray(phi(np.ones(1)))[0])
        if not abs(at_one) <= 1e-10:
            raise BocuError(f"phi(1) is {at_one}: it must be 0")
        self.phi, self.conjugate = phi, conjugate
        self.conjugate_derivative = conjugate_derivative
        step = 1e-6
        low, high = np.asarray(phi(np.array([1.0 - step, 1.0 + step])), dtype=float)
        self._tilt_at_one = (high - low) / (2.0 * step)

    @classmethod
    def stated(cls, parameters: PhiDivergenceParameters, contexts: Floats | None) -> PhiDivergence:
        """The set of the functions named, see `AmbiguitySet.stated`."""
        target = parameters.phi
        try:
            functions = tuple(load(target))
        except Exception as error:  # whatever importing the user's module raises
            message = f"phi: found '{target}'; allowed: module:name of two or three functions ({error})"
            raise BocuError(message) from None
        if len(functions) not in (2, 3):
            raise BocuError(f"phi: found {len(functions)} functions in '{target}'; allowed: two or three")
        if not all(map(callable, functions)):
            raise BocuError(
                f"phi: found '{target}', which holds what cannot be called; allowed: two or three functions"
            )
        return cls(0.0, *functions)

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """Divergence `(...)` of distributions `(..., n)`; infinite where q leaves the support of p."""
        first, second = pair(q, p)
        ratio, outside = relative(first, second)
        return np.where(outside, np.inf, self._divergence(ratio, second))

    def _divergence(self, ratio: Floats, p: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.where(p > 0.0, p * np.asarray(self.phi(ratio), dtype=float), 0.0).sum(axis=-1)

    def _ratio(self, s: Floats) -> Floats:
        """`phi*'(s)`, infinite beyond the domain of the conjugate."""
        with np.errstate(all="ignore"):
            inside = np.isfinite(np.asarray(self.conjugate(s), dtype=float))
            if self.conjugate_derivative is not None:
                ratio = np.asarray(self.conjugate_derivative(s), dtype=float)
            else:
                step = 1e-6 * np.maximum(1.0, np.abs(s))
                ratio = (np.asarray(self.conjugate(s + step)) - np.asarray(self.conjugate(s - step))) / (2.0 * step)
        return np.where(inside & np.isfinite(ratio), np.maximum(ratio, 0.0), 1e300)

    def _normalised(self, temperature: Floats, f: Floats, p: Floats) -> tuple[Floats, Floats]:
        """Worst ratios q / p at multipliers `(m,)`, and nu `(m,)`."""

        def excess(nu: Floats, rows: np.ndarray) -> Floats:
            ratio = self._ratio((nu[:, None] - f[rows]) / temperature[rows, None])
            return np.minimum(expectation(ratio, pick(p, rows)), 1e300) - 1.0

        # At nu = min f + l phi'(1) no ratio exceeds 1, at nu = max f + l phi'(1) none is below.
        centre, margin = temperature * self._tilt_at_one, 1e-4 * temperature
        better, other = bracketed(excess, centre - margin, centre + margin + 1.0)
        ratios = [self._ratio((nu[:, None] - f) / temperature[:, None]) for nu in (better, other)]
        sums = [expectation(ratio, p) for ratio in ratios]
        # The two ends enclose a sum of 1 (nearly, or across a jump of phi*'): mix them to meet it.
        span = sums[1] - sums[0]
        share = np.clip(np.divide(1.0 - sums[0], span, out=np.zeros_like(span), where=span != 0.0), 0.0, 1.0)
        ratio = ratios[0] + np.where(share > 0.0, share, 0.0)[:, None] * (ratios[1] - ratios[0])
        return ratio / expectation(ratio, p)[:, None], better

    def _point(self, u: Floats, f: Floats, p: Floats, *, small: bool) -> Point:
        temperature = np.exp(u)
        ratio, nu = self._normalised(temperature, f, p)
        q = p * ratio
        value = np.einsum("bn,bn->b", q, f)
        divergence = self._divergence(ratio, np.broadcast_to(p, f.shape))
        return Point(q, value, divergence, temperature, temperature * divergence, nu, f)

    def _at_radius(self, f: Floats, p: Floats, mean: Floats) -> Point:
        log_radius = np.log(self.epsilon)

        def excess(u: Floats, rows: np.ndarray) -> Floats:
            divergence = self._point(u, f[rows], pick(p, rows), small=True).divergence
            return np.log(np.maximum(divergence, 1e-300)) - log_radius

        count = len(f)
        better, other = bracketed(excess, np.full(count, LOWEST), np.full(count, HIGHEST / 2))
        point, beside = self._point(better, f, p, small=True), self._point(other, f, p, small=True)
        # Mixing the two ends stays inside the set, since the divergence is convex.
        span = beside.divergence - point.divergence
        share = np.divide(self.epsilon - point.divergence, span, out=np.zeros_like(span), where=span != 0.0)
        share = np.clip(share, 0.0, 1.0)[:, None]
        point.q = (1.0 - share) * point.q + share * beside.q
        point.value = np.einsum("bn,bn->b", point.q, f)
        self._certify(point, f, p)
        point.tilt = self._tilt(better, f, p)
        return point

    def _certify(self, point: Point, f: Floats, p: Floats) -> None:
        """Compare with the dual value at the same multiplier; `steepness` holds nu."""
        gap = np.abs(point.value - self._dual_at(point.steepness, point.multiplier, f, p))
        if not (gap <= _LARGEST_GAP).all():
            row = int(np.argmax(~(gap <= _LARGEST_GAP)))
            raise BocuError(
                f"primal and dual value differ by {gap[row]:.1e} of the payoffs' range in row {row}: "
                "conjugate must be sup over t >= 0 of s t - phi(t), phi convex"
            )

    def _dual(self, f: Floats, p: Floats, multiplier: Floats, value: Floats) -> Floats:
        return self._dual_at(self._normalised(multiplier, f, p)[1], multiplier, f, p)

    def _dual_at(self, nu: Floats, multiplier: Floats, f: Floats, p: Floats) -> Floats:
        with np.errstate(all="ignore"):
            conjugate = np.asarray(self.conjugate((nu[:, None] - f) / multiplier[:, None]), dtype=float)
        return nu - multiplier * (self.epsilon + expectation(np.where(p > 0.0, conjugate, 0.0), p))

    def _tilt(self, u: Floats, f: Floats, p: Floats) -> Floats:
        """Derivative of log q along the curve, by central differences."""
        step = 1e-4
        ends = [self._normalised(np.exp(u + sign * step), f, p)[0] for sign in (1.0, -1.0)]
        both = (ends[0] > 0.0) & (ends[1] > 0.0)
        return np.log(np.where(both, ends[0], 1.0) / np.where(both, ends[1], 1.0))

    def _intercept(self, ratio: Floats) -> Floats:
        # By differences, good to about 1e-9; a context that lost its mass is left with phi(0).
        step = 1e-6 * ratio
        rise = np.asarray(self.phi(ratio + step)) - np.asarray(self.phi(ratio - step))
        return np.asarray(self.phi(ratio), dtype=float) - 0.5e6 * rise

    def _bending(self, ratio: Floats) -> Floats:
        step = 1e-3 * ratio
        around = np.asarray(self.phi(ratio + step)) + np.asarray(self.phi(ratio - step))
        return (around - 2.0 * np.asarray(self.phi(ratio))) / (1e-3 * step)

    def _start(self, f: Floats, p: Floats, mean: Floats) -> Floats:
        return np.zeros_like(mean)

    def _floor_radius(self, mass: Floats) -> Floats:
        with np.errstate(all="ignore"):
            at_zero = float(np.asarray(self.phi(np.zeros(1)), dtype=float)[0])
            rest = np.where(mass < 1.0, (1.0 - mass) * at_zero, 0.0)
            return mass * np.asarray(self.phi(1.0 / mass), dtype=float) + rest
