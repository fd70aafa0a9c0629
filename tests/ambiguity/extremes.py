"""Worst cases at the edges of double precision, and their duals maximised in extended precision.

An answer is right when its distribution lies within the radius, by definition, and its value is that of the dual: no
line here is shared with the solvers.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ambiguity.cases import make_set
from bocu.core.errors import BocuError
from bocu.robust.ambiguity import worst_case
from bocu.robust.ambiguity.mmd.path import PreparedReference

Long = np.longdouble
Array: TypeAlias = Any  # of extended precision, which numpy does not tell from its numbers


@dataclass
class Case:
    """One worst case; `f` and `p` in extended precision, f spanning [0, 1] over the contexts that can be reached."""

    ambiguity_set: Any
    kind: str
    payoffs: Array
    reference: Array
    f: Array = field(init=False)
    p: Array = field(init=False)
    low: float = field(init=False)
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        reached = slice(None) if self.ambiguity_set.leaves_support else self.reference > 0.0
        self.low = float(self.payoffs[reached].min())
        self.scale = float(np.ptp(self.payoffs[reached])) or 1.0
        self.f = (self.payoffs.astype(Long) - self.low) / self.scale
        self.p = self.reference.astype(Long) / self.reference.astype(Long).sum()


def case(kind: str, generator: np.random.Generator) -> Case:
    """A random case: references with masses down to 1e-300, radii from 1e-12 to beyond the largest, any scale."""
    n, p = _reference(generator)
    p /= p.sum()
    line = np.linspace(0.0, 1.0, n)
    f = (
        lambda: np.sin(9.0 * line),
        lambda: generator.normal(size=n),
        lambda: np.round(generator.normal(size=n), 1),
        lambda: line * generator.choice([-1.0, 1.0]),
        lambda: np.exp(generator.uniform(-30.0, 0.0, n)),
    )[generator.integers(5)]()
    f = f * 10.0 ** generator.uniform(-12.0, 12.0)
    flat = generator.random() < 0.3
    contexts = line[:, None] if flat else generator.random((n, 2))
    k = float(generator.choice([1.05, 1.3, 2.0, 3.0, 10.0, 100.0]))
    lengthscale = float(10.0 ** generator.uniform(-2.0, 0.0))
    top = {"tv": 2.0, "mmd": 1.5, "wass": 1.5, "chi2": 1e4, "chi2mod": 1e4, "cr": 1e4, "kl": 50.0, "cvar": 1e6}[kind]
    exponent = generator.uniform(-12.0, np.log10(3.0 * top))
    radius = float(
        generator.choice(
            [10.0**exponent, generator.uniform(0.0, 1.0), 10.0 ** generator.uniform(0.0, 305.0)], p=[0.6, 0.3, 0.1]
        )
    )
    return Case(make_set(kind, radius, contexts, k=k, lengthscale=lengthscale), kind, f, p)


def _reference(generator: np.random.Generator) -> tuple[int, Array]:
    way = generator.integers(5)
    if way == 0:  # narrow normals
        n = int(generator.integers(11, 102))
        sd = 10.0 ** generator.uniform(-3.0, -0.5)
        centre = generator.random()
        return n, _density(np.linspace(0.0, 1.0, n), np.array([centre]), sd)
    if way == 1:  # kernel density estimates of few points
        n = int(generator.integers(11, 102))
        return n, _density(
            np.linspace(0.0, 1.0, n), generator.random(generator.integers(2, 6)), 10.0 ** generator.uniform(-2.5, -0.5)
        )
    n = int(generator.integers(2, 30))
    if way == 2:  # masses over three hundred decades
        return n, 10.0 ** np.append(generator.uniform(-300.0, 0.0, n - 1), 0.0)[generator.permutation(n)]
    if way == 3:  # all but the last digits on one context
        return n, np.append(10.0 ** generator.uniform(-18.0, -10.0, n - 1), 1.0)[generator.permutation(n)]
    p = generator.dirichlet(np.full(n, 0.5))
    p[generator.random(n) < 0.2 * generator.integers(3)] = 0.0
    return n, p if p.sum() > 0.0 else np.eye(n)[0]


def _density(at: Array, centres: Array, sd: float) -> Array:
    away = ((at[:, None] - centres) / sd) ** 2
    return np.exp(-0.5 * (away - away.min())).sum(axis=1)


# Duals: each is a lower bound of the value for any multiplier; their maxima are the value.


def dual(one: Case) -> float:
    """The value, for payoffs that span [0, 1]."""
    with np.errstate(all="ignore"):
        return float(_DUALS[one.kind](one.ambiguity_set, one.f, one.p))


def _total_variation(of: Any, f: Array, p: Array) -> Array:
    return (np.minimum(f[:, None], f) * p).sum(axis=1).__sub__(Long(of.epsilon) / 2 * f).max()


def _conditional(of: Any, f: Array, p: Array) -> Array:
    inside = f[p > 0.0]
    return max(inside - (np.maximum(inside[:, None] - f, 0) * p).sum(axis=1) / Long(of.alpha))


def _wasserstein(of: Any, f: Array, p: Array) -> Array:
    cost, epsilon = of.cost.astype(Long), Long(of.epsilon)

    def line(price: Array, dearest: bool) -> tuple[Array, Array]:
        total = f + price * cost
        ties = np.where(total == total.min(axis=1, keepdims=True), cost, -np.inf if dearest else np.inf)
        spent = p @ (ties.max(axis=1) if dearest else ties.min(axis=1))
        return p @ total.min(axis=1), spent

    if line(Long(0), False)[1] <= epsilon:
        return Long(0)
    low, high = Long(0), Long(1)
    while line(high, True)[1] > epsilon:
        low, high = high, 4 * high
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if line(middle, True)[1] > epsilon else (low, middle)
    (at_low, cost_low), (at_high, cost_high) = line(low, True), line(high, False)
    crossing = low
    if cost_low > cost_high:  # both lines are above H: they meet at its maximum or above it
        crossing = np.clip(low + ((at_high - at_low) - cost_high * (high - low)) / (cost_low - cost_high), low, high)
    return max(line(price, True)[0] - price * epsilon for price in (low, crossing, high))


def _over(bound: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Maximum of a function of `exp(u)` with one peak."""
    low, high = Long(low), Long(high)
    best = Long(0)  # the least payoff
    for _ in range(14):
        u = np.linspace(low, high, 41, dtype=Long)
        found = bound(np.exp(u))
        place = int(np.argmax(found))
        best = max(best, found[place])
        low, high = u[max(place - 1, 0)], u[min(place + 1, 40)]
    return best


def _kullback_leibler(of: Any, f: Array, p: Array) -> Array:
    f, p = f[p > 0.0], p[p > 0.0]

    def bound(price: Array) -> Array:
        change = np.expm1(-f / price[:, None]) @ p
        direct = np.exp(-f / price[:, None]) @ p
        return -price * (Long(of.epsilon) + np.where(change > -0.5, np.log1p(change), np.log(direct)))

    return _over(bound, -45.0, 45.0)


def _power(of: Any, f: Array, p: Array) -> Array:
    """Of order k: `max_w w - C (sum p (w - f)_+^k*)^(1/k*)`."""
    k = Long({"ChiSquared": 2, "ModifiedChiSquared": 2}.get(type(of).__name__) or of.k)
    star, epsilon = k / (k - 1), Long(of.epsilon) / (2 if type(of).__name__ == "ChiSquared" else 1)
    f, p = f[p > 0.0], p[p > 0.0]

    def bound(w: Array) -> Array:
        share = f / w[:, None]
        inside = share < 1
        log = np.log1p(-np.where(inside, share, 0))
        change = np.where(inside, np.expm1(star * log), -1) @ p
        direct = np.where(inside, np.exp(star * log), 0) @ p
        total = np.where(change > -0.5, np.log1p(change), np.log(np.where(direct > 0, direct, 1)))
        return np.where(direct > 0, -w * np.expm1(np.log1p(k * (k - 1) * epsilon) / k + total / star), -1)

    # Between two payoffs the bound is smooth; there may be a peak below the second as far down as its mass says.
    return _over(bound, -45.0, 45.0)


def _discrepancy(of: Any, f: Array, p: Array) -> Array:
    """The best bound of Kirschner et al. (2020) for dual vectors where the solver has arrived: any vector will do."""
    matrix, epsilon = of.gram.astype(Long), Long(of.epsilon)
    (points,) = PreparedReference(p.astype(float), of._gram).at_radii(f.astype(float)[None], [of.epsilon])
    found = [Long(0)]
    r, level = points.r[0].astype(Long), points.rate[0] != 0.0
    for deviation in (r, *(_stationary(matrix, f, p, kept, epsilon) for kept in (level, r > -p))):
        image = matrix @ deviation
        norm = np.sqrt(deviation @ image)
        for price in (epsilon / Long(points.t[0]), -(f @ deviation) / norm):
            vector = price / norm
            found.append((f + vector * image).min() - vector * (p @ image) - price * epsilon)
    return max(bound for bound in found if np.isfinite(bound))


def _stationary(matrix: Array, f: Array, p: Array, kept: Array, epsilon: Array) -> Array:
    """The deviation of norm epsilon where `M r + t f` is level on the contexts kept and r is `-p` on the others."""
    n, size = len(p), int(kept.sum())
    system = np.zeros((size + 1, size + 3), dtype=Long)
    system[:size, :size] = matrix[np.ix_(kept, kept)]
    system[:size, size], system[size, :size] = -1, 1
    system[:size, size + 1] = matrix[np.ix_(kept, ~kept)] @ p[~kept]
    system[size, size + 1] = p[~kept].sum()
    system[:size, size + 2] = -f[kept]
    for column in range(size + 1):
        pivot = column + int(np.abs(system[column:, column]).argmax())
        system[[column, pivot]] = system[[pivot, column]]
        system[column] /= system[column, column]
        others = np.arange(size + 1) != column
        system[others] -= system[others, column, None] * system[column]
    start, turn = np.zeros(n, dtype=Long), np.zeros(n, dtype=Long)
    start[~kept], start[kept], turn[kept] = -p[~kept], system[:size, size + 1], system[:size, size + 2]
    a, b, c = turn @ matrix @ turn, turn @ matrix @ start, start @ matrix @ start - epsilon**2
    return start + (-b + np.sqrt(b * b - a * c)) / a * turn


_DUALS = {
    "tv": _total_variation,
    "cvar": _conditional,
    "wass": _wasserstein,
    "mmd": _discrepancy,
    "kl": _kullback_leibler,
    "cr": _power,
    "chi2": _power,
    "chi2mod": _power,
}


# Distances, from their definitions, as what is missed of the radius.


def beyond(one: Case, q: Array) -> float:
    """How far q is outside: distance over radius, less one."""
    of, p, q = one.ambiguity_set, one.p, q.astype(Long)
    q = q / q.sum()
    inside = p > 0
    if not of.leaves_support and q[~inside].any():
        return np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where(inside, (q - p) / p, 0)  # q / p - 1
        if one.kind == "cvar":
            return float(max((q - p / Long(of.alpha)) / (p / Long(of.alpha) + Long(1e-300))))
        if one.kind == "tv":
            distance = np.abs(q - p).sum()
        elif one.kind == "mmd":
            distance = np.sqrt((q - p) @ of.gram.astype(Long) @ (q - p))
        elif one.kind == "wass":
            distance = Long(float(of.distance(q.astype(float) / float(q.astype(float).sum()), one.reference)))
        elif one.kind == "kl":
            terms = np.where(
                away < 1e-4,
                away**2 * (Long(0.5) - away / 6 + away**2 / 12 - away**3 / 20),
                (1 + away) * np.log1p(away) - away,
            )
            distance = np.where(
                np.abs(away) < 1e-4, p * terms, p * ((1 + away) * np.where(away > -1, np.log1p(away), 0) - away)
            ).sum()
        else:
            k = Long(2 if one.kind != "cr" else of.k)
            a = np.log1p(away)
            terms = np.where(
                k * np.abs(a) < 1e-4,
                a**2 * (Long(0.5) + a * ((k + 1) / 6 + a * (k**2 + k + 1) / 24)),
                (np.expm1(k * a) - k * np.expm1(a)) / (k * (k - 1)),
            )
            distance = (p * terms).sum() * (2 if one.kind == "chi2" else 1)
        return float(distance / Long(of.epsilon) - 1) if of.epsilon else float(distance)


def failures(kind: str, cases: int, seed: int = 0) -> list[tuple[int, str, str]]:
    """Solve random cases and compare: the index of each that fails, how and why; warnings count as raised."""
    found: list[tuple[int, str, str]] = []
    # Gram matrices are nearly singular: their solver stops at gaps of 1e-8, takes sums of 1 within 1e-9, and at the
    # smallest radii neither its bound nor ours keeps more digits.
    mmd = kind == "mmd"
    most, rounding, beside, share = (1e-7, 2e-8, 1e-13, 1e-8) if mmd else (1e-11, 1e-13, 1e-15, 1e-9)
    for index in range(cases):
        one = case(kind, np.random.default_rng([seed, index]))

        def failed(how: str, why: object, index: int = index, one: Case = one) -> None:
            found.append((index, how, f"{one.ambiguity_set}, {len(one.f)} contexts: {why}"))

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                w = worst_case(one.payoffs, one.reference, one.ambiguity_set)
        except (BocuError, ArithmeticError, ValueError, RuntimeWarning) as fault:
            failed("raised", fault)
            continue
        q, gap = w.distribution.astype(Long), float(w.gap) / one.scale
        if not (np.isfinite(w.distribution).all() and np.isfinite([w.value, w.gap]).all() and w.slope <= 0.0):
            failed("not a number", w)
            continue
        value = (Long(float(w.value)) - one.low) / one.scale
        error = abs(float(value - dual(one)))
        out, attained = beyond(one, q), abs(float(one.f @ (q / q.sum()) - value))
        if not out <= share + beside / max(one.ambiguity_set.epsilon, 1e-300) or attained > (1e-9 if mmd else 1e-11):
            failed("infeasible", f"{out:.2g} of the radius beyond, the value is attained to {attained:.2g}")
        if error > most:
            failed("wrong", error)
        if error > gap + rounding:
            failed("unproven", f"{error} with a gap of {gap}")
    return found
