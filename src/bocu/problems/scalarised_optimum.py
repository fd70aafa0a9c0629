"""The best decision under a scalarised objective, for many weights at once.

Regret of the DRMOBO paper (Eq. 11) is against `max_x v(s'f(x))` at the weights s of every round; the paper does not
say how the maximum is found. Here a search over a net of weights leaves a pool of good decisions: Sobol points, clouds
around the best of them, ascents from the best of every cloud. For other weights the best decisions of the pool climb.
All ascents of a call advance together. v may have kinks; gradients are central differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.randomness import scrambled_sobol
from bocu.core.ties import first_best
from bocu.learners.acquisition.multistart import ascend
from bocu.robust.ambiguity.checks import Floats

PayoffTables = Callable[[Floats], Floats]  #: Payoffs `(m, n, K)` of decisions `(m, Dx)` in n contexts.

Values = Callable[[Floats], Floats]  #: What payoffs `(m, n)` are worth, `(m,)`: each row by itself.

RAW = 2**11
SPREAD = 256  #: Raw points that say how much values differ.
CLOUDS, CLOUD, CLOUD_WIDTH = 16, 64, 0.1
NET = {1: 1, 2: 33}
NET_OTHERWISE = 66  #: Weights of the net by number of outputs; the fewest of them where there are more than two.
KEPT = 3  #: Ends of ascents that the pool keeps of each weight, and decisions of the pool that climb.
_TOLERANCE = 1e-10
POLLS, FIRST_POLL, LAST_POLL = 200, 1e-3, 1e-8
_STEP = 1e-6
_APART = 1e-4
_PAYOFFS_AT_A_TIME = 2**21


def weight_net(outputs: int, size: int) -> Floats:
    """Evenly spread weights `(m, K)`, all positive, each summing to 1; the fewest that are `size` or more.

    A lattice on the simplex, shrunk into its interior. For one output the only weight is 1.

    Raises:
        BocuError: `outputs` or `size` is less than 1.
    """
    if outputs < 1 or size < 1:
        raise BocuError(f"weight_net: found {outputs} outputs and {size} weights; allowed: 1 or more")
    if outputs == 1:
        return np.ones((1, 1))
    divisions = 0
    while comb(divisions + outputs - 1, outputs - 1) < size:
        divisions += 1
    return (_compositions(divisions, outputs) + 1.0 / outputs) / (divisions + 1.0)


def _compositions(total: int, parts: int) -> Floats:
    """All rows of `parts` whole numbers, 0 or more, that sum to `total`."""
    if parts == 1:
        return np.full((1, 1), float(total))
    blocks = []
    for first in range(total + 1):
        rest = _compositions(total - first, parts - 1)
        blocks.append(np.column_stack([np.full(len(rest), float(first)), rest]))
    return np.concatenate(blocks)


def scalarise(payoffs: Floats, weights: Floats) -> Floats:
    """`s'f`: payoffs `(..., n, K)` and weights `(..., K)`, whose leading axes broadcast, give `(..., n)`."""
    return np.einsum("...nk,...k->...n", payoffs, weights)


@dataclass(frozen=True)
class NetOptima:
    """The best decisions for rows of weights: values `(m,)` and decisions `(m, Dx)`."""

    values: Floats
    decisions: Floats


@dataclass(frozen=True)
class Pool:
    """Decisions that are good at some weights."""

    values: Values  #: what they were found under.
    decisions: Floats  #: (P, Dx).
    payoffs: Floats  #: (P, n, K).


class ScalarisedSearch:
    """Searches for the decisions of the unit cube that are best under scalarised objectives.

    Args:
        table: the payoffs.
        dimension: Dx.
        outputs: K.
        raw: Sobol points.
    """

    def __init__(self, table: PayoffTables, dimension: int, outputs: int, raw: int = RAW) -> None:
        self.table = table
        self.dimension = dimension
        self.outputs = outputs
        self.raw = raw

    def payoffs(self, decisions: Floats) -> Floats:
        """Payoffs `(m, n, K)` of decisions `(m, Dx)`."""
        return self.table(decisions)

    @cached_property
    def _screened(self) -> tuple[Floats, Floats]:
        lower, upper = np.zeros(self.dimension), np.ones(self.dimension)
        points = scrambled_sobol(lower, upper, self.raw, np.random.default_rng(0))
        # A problem is often at its best at the centre, by symmetry, and many Sobol points miss it.
        points = np.concatenate([np.full((1, self.dimension), 0.5), points])
        return points, self.payoffs(points)

    def pool(self, values: Values) -> Pool:
        """Search under an objective, at a net of weights."""
        weights = weight_net(self.outputs, NET.get(self.outputs, NET_OTHERWISE))
        points, payoffs = self._screened
        starts = np.concatenate([self._starts(values, points, payoffs, row) for row in weights])
        owners = np.repeat(np.arange(len(weights)), CLOUDS)
        ends, reached = self._climb(values, starts, weights[owners])
        ends, reached = (each.reshape(len(weights), CLOUDS, -1) for each in (ends, reached))
        order = np.argsort(-reached[:, :, 0], axis=1, kind="stable")[:, :KEPT]
        kept = _apart(np.take_along_axis(ends, order[:, :, None], axis=1).reshape(-1, self.dimension))
        return Pool(values, kept, self.payoffs(kept))

    def best(self, pool: Pool, weights: Floats) -> NetOptima:
        """The best decisions at weights `(m, K)`: the best of the pool for each, after an ascent."""
        valued = self.valued(pool, weights)
        order = np.argsort(-valued, axis=1, kind="stable")[:, :KEPT]
        owners = np.repeat(weights, order.shape[1], axis=0)
        ends, reached = self._climb(pool.values, pool.decisions[order.ravel()], owners)
        ends, reached = self._poll(pool.values, ends, reached, owners)
        first = reached.reshape(order.shape).argmax(axis=1) + order.shape[1] * np.arange(len(weights))
        return NetOptima(reached[first], ends[first])

    def valued(self, pool: Pool, weights: Floats) -> Floats:
        """Values `(m, P)` of the pool's decisions at weights `(m, K)`."""
        size, contexts, _ = pool.payoffs.shape
        block = max(1, _PAYOFFS_AT_A_TIME // (size * contexts))
        found = np.empty((len(weights), size))
        for start in range(0, len(weights), block):
            rows = weights[start : start + block]
            flat = scalarise(pool.payoffs[None], rows[:, None]).reshape(-1, contexts)
            found[start : start + block] = pool.values(flat).reshape(len(rows), size)
        return found

    def _starts(self, values: Values, points: Floats, payoffs: Floats, weights: Floats) -> Floats:
        """The best decision `(CLOUDS, Dx)` of a cloud around each of the best raw points."""
        best = np.argsort(-values(scalarise(payoffs, weights)), kind="stable")[:CLOUDS]
        cloud = CLOUD_WIDTH * scrambled_sobol(*_centred(self.dimension), CLOUD, np.random.default_rng(1))
        cloud[0] = 0.0  # the raw point itself
        around = np.clip(points[best][:, None, :] + cloud, 0.0, 1.0)
        found = values(scalarise(self.payoffs(around.reshape(-1, self.dimension)), weights))
        return around[np.arange(len(best)), found.reshape(len(best), -1).argmax(axis=1)]

    def _climb(self, values: Values, starts: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Ends and values of ascents from starts `(m, Dx)` at weights `(m, K)`."""
        split = self.dimension
        steps = _STEP * np.vstack([np.zeros(split), np.eye(split), -np.eye(split)])
        _, payoffs = self._screened
        typical = values(scalarise(payoffs[:SPREAD], np.full(self.outputs, 1.0 / self.outputs)))
        spread = float(typical[np.isfinite(typical)].std()) if np.isfinite(typical).any() else 0.0

        def value(joint: Floats) -> tuple[Floats, Floats]:
            x, s = joint[:, :split], joint[:, split:]
            around = np.clip(x[:, None, :] + steps, 0.0, 1.0)
            table = self.payoffs(around.reshape(-1, split)).reshape(*around.shape[:2], -1, self.outputs)
            flat = scalarise(table, s[:, None, :])
            found = values(flat.reshape(-1, flat.shape[-1])).reshape(len(x), -1)
            above, below = slice(1, 1 + split), slice(1 + split, None)
            width = np.einsum("bdd->bd", around[:, above] - around[:, below])
            with np.errstate(invalid="ignore"):  # an aspiration out of reach is worth -inf
                rise = found[:, above] - found[:, below]
            slope = np.where(np.isfinite(rise), rise, 0.0) / width
            return found[:, 0], np.column_stack([slope, np.zeros_like(s)])

        # Weights ride along as coordinates that nothing moves: an ascent does not tell which of the rows it asks for.
        scale = spread if spread > 0.0 else 1.0
        ends, reached = ascend(value, np.hstack([starts, weights]), scale=scale, tolerance=_TOLERANCE)
        return ends[:, :split], reached

    def _poll(self, values: Values, decisions: Floats, reached: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Leave kinks, where ascents get stuck: try points around, along random axes, ever closer where none is better.

        Mesh adaptive direct search (Audet and Dennis, 2006), all rows together.
        """
        generator = np.random.default_rng(2)
        x, best = decisions.copy(), reached.copy()
        step = np.full(len(x), FIRST_POLL)
        rows = np.arange(len(x))
        for turn in range(POLLS):
            # Ridges often run along a coordinate: every other turn takes the coordinates' own axes.
            random = np.linalg.qr(generator.standard_normal((self.dimension, self.dimension)))[0]
            axes = random if turn % 2 else np.eye(self.dimension)
            tried = np.clip(x[rows, None, :] + step[rows, None, None] * np.vstack([axes, -axes]), 0.0, 1.0)
            table = self.payoffs(tried.reshape(-1, self.dimension)).reshape(*tried.shape[:2], -1, self.outputs)
            flat = scalarise(table, weights[rows, None, :])
            found = values(flat.reshape(-1, flat.shape[-1])).reshape(len(rows), -1)
            first = found.argmax(axis=1)
            top = found[np.arange(len(rows)), first]
            better = top > best[rows]
            x[rows[better]], best[rows[better]] = tried[better, first[better]], top[better]
            step[rows] *= np.where(better, 2.0, 0.5)
            rows = rows[step[rows] > LAST_POLL]
            if not len(rows):
                break
        return x, best


class FiniteSearch(ScalarisedSearch):
    """The same of finite decisions, all of which are valued.

    Args:
        table: the payoffs.
        decisions: (P, Dx).
        outputs: K.
    """

    def __init__(self, table: PayoffTables, decisions: Floats, outputs: int) -> None:
        super().__init__(table, decisions.shape[1], outputs)
        self.decisions = decisions

    @cached_property
    def _tabulated(self) -> Floats:
        return self.payoffs(self.decisions)

    def pool(self, values: Values) -> Pool:
        """All decisions: none is searched for."""
        return Pool(values, self.decisions, self._tabulated)

    def best(self, pool: Pool, weights: Floats) -> NetOptima:
        """The best decisions at weights `(m, K)`; ties go to the first."""
        valued = self.valued(pool, weights)
        first = np.array([first_best(values) for values in valued])
        return NetOptima(valued[np.arange(len(weights)), first], pool.decisions[first])


def _centred(dimension: int) -> tuple[Floats, Floats]:
    return np.full(dimension, -0.5), np.full(dimension, 0.5)


def _apart(decisions: Floats) -> Floats:
    """Leave out decisions that nearly repeat another one."""
    _, first = np.unique(np.round(decisions / _APART), axis=0, return_index=True)
    return decisions[np.sort(first)]
