"""Whether an ambiguity set keeps its promises: values, distributions and slopes against what its distance says."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.robust.ambiguity.base import AmbiguitySet, worst_case
from bocu.robust.ambiguity.checks import Floats
from bocu.testing.breaches import Subject, same, subject

_CONTEXTS = 6
_RADII = (0.0, 0.02, 0.1, 0.3, 0.7, 1.0, 1.6, 2.5, 6.0)
_BETWEEN = np.geomspace(1e-3, 1e3, 50)
_CLOSER = 3
_TOLERANCE = 1e-7  #: Of values, for payoffs that span 1.
_RAYS = 10
_HALVINGS = 40


def check_set(
    what: str | type[AmbiguitySet], parameters: Mapping[str, object] | None = None, *, instances: int = 6
) -> None:
    """Check an ambiguity set on random payoffs and references over a few contexts, some of them without mass.

    Its value lies between the least payoff that it reaches and the expectation, falls with the radius and is convex in
    it; the distribution is one, attains the value and lies within the radius; no distribution found along random rays
    within the radius is worse; the slope is one of a tangent; shifting and scaling payoffs shifts and scales the
    value; satisficing touches the value; a set that is a polytope agrees with a linear programme over it.

    Args:
        what: as an experiment file may name it, or the class.
        parameters: keys of the set beside name and radius.
        instances: number of random references.

    Raises:
        Breach: a promise is not kept.
    """
    __tracebackhide__ = True
    found = subject("set", what)
    checked = found.parameters({"name": found.entry.called, **(parameters or {})})
    for attribute in ("leaves_support", "has_radius", "finite_slope_at_zero", "costly", "compiled"):
        value = getattr(found.kind, attribute, None)
        found.wants(isinstance(value, bool), f"{attribute}: found {value!r}; allowed: True or False")
    for seed in range(instances):
        generator = np.random.default_rng(seed)
        contexts = generator.random((_CONTEXTS, 1 + seed % 2))
        with found.calling("stated"):
            built = found.kind.stated(checked, contexts)
        found.wants(isinstance(built, AmbiguitySet), f"stated: found {built!r}; allowed: an ambiguity set")
        found.wants(built.contexts in (None, _CONTEXTS), f"contexts: found {built.contexts}; it was given {_CONTEXTS}")
        reference = _reference(seed, generator)
        payoffs = generator.random((8, _CONTEXTS))
        payoffs = (payoffs - payoffs.min(axis=1, keepdims=True)) / np.ptp(payoffs, axis=1, keepdims=True)
        said = Subject(found.entry, found.kind, f"{found.said}: on random instance {seed}")
        _Instance(said, built, payoffs, reference, generator).check()
    _check_concentration(found, built)


def _reference(seed: int, generator: np.random.Generator) -> Floats:
    reference: Floats = generator.dirichlet(np.full(_CONTEXTS, 0.8))
    if seed % 3 == 1:
        reference[generator.choice(_CONTEXTS, 2, replace=False)] = 0.0
    if seed % 3 == 2:
        reference = np.full(_CONTEXTS, 1.0)
    return reference / reference.sum()


@dataclass(frozen=True)
class _Instance:
    """A set over given contexts, payoffs (8, n) that span [0, 1], and a reference (n,)."""

    found: Subject
    built: AmbiguitySet
    payoffs: Floats
    reference: Floats
    generator: np.random.Generator

    def check(self) -> None:
        radii = _RADII if self.built.has_radius else (0.0,)
        solved = [self._solved(radius) for radius in radii]
        values = np.stack([each.value for each in solved])
        slopes = np.stack([each.slope for each in solved])
        for radius, each in zip(radii, solved, strict=True):
            self._bounds(radius, each)
            self._distribution(radius, each)
            self._rays(radius, each)
            self._programme(radius, each)
            self._moved(radius, each)
        if self.built.has_radius:
            self._along_radii(np.array(radii), values, slopes)
            self._satisficing()
        self._slope_at_zero(slopes[0])

    def _solved(self, radius: float) -> Any:
        payoffs, reference = self.payoffs.copy(), self.reference.copy()
        with self.found.calling(f"worst_case at radius {radius:g}"):
            sized = self.built.with_epsilon(radius)
            found = worst_case(payoffs, reference, sized)
            again = worst_case(payoffs, reference, self.built.with_epsilon(radius))
            values, slopes = sized.values(payoffs, reference)
            one = worst_case(payoffs[3], reference, sized)
        self._wants(same(found.value, again.value), radius, "the same question has two answers")
        unchanged = same(payoffs, self.payoffs) and same(reference, self.reference)
        self._wants(unchanged, radius, "writes into an array that it was handed")
        for name, array in (("value", found.value), ("slope", found.slope)):
            self._wants(array.shape == (len(payoffs),), radius, f"{name} of shape {array.shape}, not {(len(payoffs),)}")
            self._wants(array.dtype == np.float64, radius, f"{name} is of {array.dtype}, not of float64")
            self._wants(not np.isnan(array).any(), radius, f"{name} is {array}")
        self._wants(np.isfinite(found.value).all(), radius, f"value is {found.value}")
        self._near(values, found.value, radius, "values() and worst_case() differ")
        self._near(one.value, found.value[3], radius, "a row alone and among others have different values")
        self._wants(_equal(slopes, found.slope), radius, "the slopes of values() and worst_case() differ")
        return found

    def _bounds(self, radius: float, found: Any) -> None:
        reached = slice(None) if self.built.leaves_support else self.reference > 0.0
        least = self.payoffs[:, reached].min(axis=1)
        mean = self.payoffs @ self.reference
        low, high = found.value.min(initial=np.inf, where=found.value < least - _TOLERANCE), found.value - mean
        self._wants(low == np.inf, radius, f"value {low} lies below the least payoff that the set reaches")
        self._wants((high <= _TOLERANCE).all(), radius, "a value lies above the expectation under the reference")

    def _distribution(self, radius: float, found: Any) -> None:
        q = found.distribution
        self._wants(q.shape == self.payoffs.shape, radius, f"distribution of shape {q.shape}, not {self.payoffs.shape}")
        self._wants((q >= -1e-9).all(), radius, f"distribution: a probability is {q.min()}")
        self._near(q.sum(axis=1), 1.0, radius, "distribution: does not sum to 1")
        self._near((q * self.payoffs).sum(axis=1), found.value, radius, "the distribution does not attain the value")
        if not self.built.leaves_support:
            outside = np.abs(q[:, self.reference == 0.0]).max(initial=0.0)
            self._wants(outside < 1e-9, radius, "mass outside the support, though leaves_support is False")
        if self.built.has_radius:
            distance = self._distance(np.maximum(q, 0.0) / np.maximum(q, 0.0).sum(axis=1, keepdims=True))
            far = distance.max()
            self._wants(far <= radius * (1 + 1e-5) + 1e-6, radius, f"the distribution lies at a distance of {far:.8g}")

    def _rays(self, radius: float, found: Any) -> None:
        """Look for something worse: only the distance is asked, nothing of the solution."""
        if not self.built.has_radius:
            return
        ends = np.vstack([np.eye(_CONTEXTS), self.generator.dirichlet(np.full(_CONTEXTS, 0.5), _RAYS)])
        if not self.built.leaves_support:
            ends = np.where(self.reference > 0.0, ends, 0.0)
            ends = ends[ends.sum(axis=1) > 0.0]
            ends /= ends.sum(axis=1, keepdims=True)
        low, high = np.zeros(len(ends)), np.ones(len(ends))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            inside = self._distance(self.reference + middle[:, None] * (ends - self.reference)) <= radius
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        worse = (self.payoffs @ (self.reference + low[:, None] * (ends - self.reference)).T).min(axis=1)
        missed = (found.value - worse - np.minimum(found.gap, _TOLERANCE)).max()
        self._wants(missed <= _TOLERANCE, radius, f"a distribution within the radius is worse, by {missed:.3g}")

    def _programme(self, radius: float, found: Any) -> None:
        try:
            polytope = self.built.with_epsilon(radius).polytope(self.reference)
        except BocuError:
            return  # it is none
        for row, value in zip(self.payoffs, found.value, strict=True):
            solved = polytope.minimise(row)
            self._wants(solved is not None, radius, "polytope: there is no distribution in it")
            assert solved is not None
            self._near(solved[0], value, radius, "polytope: a linear programme over it has another value")

    def _moved(self, radius: float, found: Any) -> None:
        with self.found.calling(f"worst_case at radius {radius:g} of payoffs moved and scaled"):
            moved = worst_case(3.0 * self.payoffs - 5.0, self.reference, self.built.with_epsilon(radius)).value
            level = worst_case(np.full((1, _CONTEXTS), 2.5), self.reference, self.built.with_epsilon(radius)).value
        self._near(moved, 3.0 * found.value - 5.0, radius, "of 3 f - 5 the value is not 3 v - 5", 1e-6)
        self._near(level, 2.5, radius, "of payoffs that are all 2.5 the value is not")

    def _along_radii(self, radii: Floats, values: Floats, slopes: Floats) -> None:
        self._near(values[0], self.payoffs @ self.reference, 0.0, "the value is not the expectation")
        for place in range(len(radii) - 1):
            rise = (values[place + 1] - values[place]).max()
            self._wants(rise <= _TOLERANCE, radii[place + 1], f"the value rises with the radius, by {rise:.3g}")
        for place, radius in enumerate(radii):
            self._wants((slopes[place] <= _TOLERANCE).all(), radius, f"a slope is {slopes[place].max()}, above 0")
            finite = np.isfinite(slopes[place])
            line = values[place][finite] + slopes[place][finite] * (radii[:, None] - radius)
            above = (line - values[:, finite]).max(initial=0.0)
            said = f"the line of the slope lies above the value, by {above:.3g}: not convex, or another slope"
            self._wants(above <= 10 * _TOLERANCE, radius, said)
        with self.found.calling("values_at"):
            at = self.built.values_at(self.payoffs, self.reference, radii)
        self._near(at.T, values, float(radii[-1]), "values_at() differs from values() one by one")

    def _slope_at_zero(self, slopes: Floats) -> None:
        if self.built.has_radius and self.built.finite_slope_at_zero:
            self._wants(np.isfinite(slopes).all(), 0.0, "a slope is -inf, though finite_slope_at_zero is True")

    def _satisficing(self) -> None:
        mean = self.payoffs @ self.reference
        with self.found.calling("values_at"):
            values = self.built.values_at(self.payoffs, self.reference, _BETWEEN)
        floor = values[:, -1]
        for share in (0.3, 0.8):
            tau = floor + share * (mean - floor)
            with self.found.calling(f"satisficing at {share:g} of the way to the expectation"):
                slope = self.built.satisficing(self.payoffs, self.reference, tau)
            self._wants((slope <= 0.0).all() and np.isfinite(slope).all(), 0.0, f"satisficing: a slope is {slope}")
            room = values - (tau[:, None] + slope[:, None] * _BETWEEN)
            self._wants((room >= -1e-6).all(), 0.0, f"satisficing: the line cuts the value, by {-room.min():.3g}")
            for row in np.flatnonzero(slope < -1e-4).tolist()[:2]:
                left = self._room(row, values[row], tau[row], 0.97 * slope[row])
                self._wants(left <= 1e-7, 0.0, f"satisficing: a line 3 % less steep stays {left:.3g} below the value")
        with self.found.calling("satisficing above the expectation"):
            above = self.built.satisficing(self.payoffs, self.reference, mean + 0.1)
        self._wants((above == -np.inf).all(), 0.0, f"satisficing above the expectation: {above.max()}, not -inf")

    def _room(self, row: int, values: Floats, tau: float, slope: float) -> float:
        """Return how far the value of a row stays above a line: looked for closer where it comes nearest."""
        tried = _BETWEEN
        for _ in range(_CLOSER):
            place = int((values - tau - slope * tried).argmin())
            tried = np.linspace(tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)], 16)
            values = self.built.values_at(self.payoffs[row], self.reference, tried)
        return float((values - tau - slope * tried).min())

    def _distance(self, q: Floats) -> Floats:
        with self.found.calling("distance"):
            distance = np.asarray(self.built.distance(q, self.reference), dtype=float)
        self._wants(distance.shape == q.shape[:-1], 0.0, f"distance has shape {distance.shape}, not {q.shape[:-1]}")
        sound = (distance >= -1e-12).all() and not np.isnan(distance).any()
        self._wants(sound, 0.0, f"distance: found {distance.min()}")
        return distance

    def _near(self, one: object, other: object, radius: float, line: str, tolerance: float = _TOLERANCE) -> None:
        apart = float(np.abs(np.asarray(one) - np.asarray(other)).max(initial=0.0))
        self._wants(apart <= tolerance, radius, f"{line}: {apart:.3g} apart")

    def _wants(self, holds: object, radius: float, line: str) -> None:
        self.found.wants(holds, f"radius {radius:g}: {line}")


def _equal(one: Floats, other: Floats) -> bool:
    return np.allclose(one, other, rtol=1e-9, atol=1e-9)


def _check_concentration(found: Subject, built: AmbiguitySet) -> None:
    if not found.kind.concentrates():
        return
    with found.calling("concentration_radius"):
        radii = [built.concentration_radius(seen, _CONTEXTS, 0.1) for seen in (0, 1, 10, 1000)]
    found.wants(radii[0] == np.inf, f"concentration_radius: found {radii[0]} of nothing seen; allowed: inf")
    falls = all(later < sooner for sooner, later in pairwise(radii)) and radii[-1] >= 0.0
    found.wants(falls, f"concentration_radius: found {radii} of 0, 1, 10 and 1000 contexts seen: it does not fall")
