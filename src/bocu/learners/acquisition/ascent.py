"""Many quasi-Newton ascents in a box, in lockstep: each step evaluates all of them in one call.

Projected BFGS (Bertsekas, 1982): coordinates at a bound that the gradient pushes out of the box are held, the others
move along the inverse Hessian's direction, and the step is cut back along the projection until the Armijo condition
holds. Dimensions are few, so that the whole inverse Hessian is kept in place of a limited memory. On functions with
kinks an ascent ends when no step improves; the best point seen counts.
"""

from collections.abc import Callable

import numpy as np

ValueAndGradient = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

ARMIJO = 1e-4
SMALLEST_STEP = 1e-7  # in the largest coordinate
PATIENCE = 10  # evaluations in which an ascent must gain
FIRST_STEP = 0.1  # the same, before curvature is known
MEETING = 6  # evaluations after which ascents are looked at that may have met
MET = 1e-2  # in every coordinate


def ascend(
    objective: ValueAndGradient,
    starts: np.ndarray,
    *,
    scale: float = 1.0,
    tolerance: float = 1e-8,
    steps: int = 200,
    draft: ValueAndGradient | None = None,
    merge: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Climb from every start inside [0, 1]^D.

    Args:
        objective: values (B,) and gradients (B, D) at points (B, D).
        starts: shape (B, D).
        scale: a typical difference of the objective's values, its unit.
        tolerance: an ascent ends once a step gains less than this share of `scale`, or could gain no more to first
            order, or ten evaluations gain less than ten times as much.
        steps: most evaluations of one ascent, of the objective and of the draft each.
        draft: nearly the same function: climbed first, so that few steps on the objective are left, along curvatures
            that are known.
        merge: whether of ascents that have met only the highest goes on.

    Returns:
        The best point of every ascent (B, D) and its value (B,).
    """

    def scaled(function: "ValueAndGradient") -> "ValueAndGradient":
        def valued(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, gradient = function(points)
            return value / scale, gradient / scale

        return valued

    x = np.array(starts, dtype=float)
    first, *others = (scaled(function) for function in (draft, objective) if function is not None)
    state = _Ascents(x, *first(x))
    state.climb(first, tolerance, steps, merge)
    for other in others:
        state.resume(*other(state.x))
        state.climb(other, tolerance, steps, merge)
    return state.x, scale * state.value


class _Ascents:
    """The ascents; rows are those of the starts, `active` those that go on."""

    def __init__(self, x: np.ndarray, value: np.ndarray, gradient: np.ndarray) -> None:
        count, dimension = x.shape
        self.x, self.value, self.gradient = x, value, gradient
        self.active = np.arange(count)
        self._inverse = np.zeros((count, dimension, dimension))
        self._inverse[:] = np.eye(dimension)
        self._fresh = np.ones(count, dtype=bool)  # whether the inverse Hessian is still a guess
        self._step = np.ones(count)
        self._direction = np.zeros_like(x)
        self._stuck = np.zeros(count, dtype=bool)
        self._noted = value.copy()
        self._aim(self.active)

    def climb(self, objective: ValueAndGradient, tolerance: float, steps: int, merge: bool) -> None:
        """Let all ascents go on to their ends."""
        for step in range(steps):
            if step and step % PATIENCE == 0:
                self.lose_patience(tolerance)
            if merge and step and step % MEETING == 0:
                self.merge()
            self.retire(tolerance)
            if not len(self.active):
                break
            trial = self.trial()
            self.take(trial, *objective(trial), tolerance)

    def resume(self, value: np.ndarray, gradient: np.ndarray) -> None:
        """Go on from the ends with values (B,) and gradients (B, D) of another function that curves alike."""
        self.value, self.gradient = value, gradient
        self.active = np.arange(len(value))
        self._stuck[:] = False
        self._noted = value.copy()
        self._aim(self.active)

    def retire(self, tolerance: float) -> None:
        """Let those end that are stuck or stationary."""
        rows = self.active
        free = self._free(rows)
        # To first order no point of the box is better by more than this.
        room = np.where(self.gradient[rows] > 0.0, 1.0 - self.x[rows], self.x[rows])
        gain = (np.abs(self.gradient[rows]) * np.where(free, np.minimum(room, FIRST_STEP), 0.0)).sum(axis=1)
        self.active = rows[~self._stuck[rows] & (gain > tolerance)]

    def merge(self) -> None:
        """Let those end that are near to one that is higher, the first on ties."""
        rows = self.active[np.argsort(-self.value[self.active], kind="stable")]
        near = (np.abs(self.x[rows, None] - self.x[None, rows]) <= MET).all(axis=2)
        self.active = np.sort(rows[~np.tril(near, -1).any(axis=1)])

    def lose_patience(self, tolerance: float) -> None:
        """Let those end that gained little since the last call, as they creep along a kink."""
        self._stuck |= self.value - self._noted <= PATIENCE * tolerance
        self._noted = self.value.copy()

    def trial(self) -> np.ndarray:
        """Return the next point of every active ascent."""
        rows = self.active
        return np.clip(self.x[rows] + self._step[rows, None] * self._direction[rows], 0.0, 1.0)

    def take(self, trial: np.ndarray, value: np.ndarray, gradient: np.ndarray, tolerance: float) -> None:
        """Move to the points that gained enough and cut the steps of the others."""
        rows = self.active
        moved = trial - self.x[rows]
        expected = (self.gradient[rows] * moved).sum(axis=1)
        gained = value - self.value[rows]
        good = (gained >= ARMIJO * expected) & (gained > 0.0)
        self._cut(rows[~good], gained[~good], expected[~good])

        rows = rows[good]
        moved, gained = moved[good], gained[good]
        self._learn(rows, moved, self.gradient[rows] - gradient[good])
        self.x[rows], self.value[rows], self.gradient[rows] = trial[good], value[good], gradient[good]
        self._stuck[rows] = gained <= tolerance
        self._aim(rows)

    def _free(self, rows: np.ndarray) -> np.ndarray:
        """Say which coordinates may move uphill, (rows, D)."""
        x, gradient = self.x[rows], self.gradient[rows]
        return ~((x <= 0.0) & (gradient <= 0.0) | (x >= 1.0) & (gradient >= 0.0))

    def _aim(self, rows: np.ndarray) -> None:
        """Set direction and first step of some ascents."""
        free = self._free(rows)
        uphill = np.where(free, self.gradient[rows], 0.0)
        direction = np.where(free, (self._inverse[rows] @ uphill[:, :, None])[:, :, 0], 0.0)
        along = (direction * uphill).sum(axis=1)
        lost = ~(along > 1e-10 * np.linalg.norm(direction, axis=1) * np.linalg.norm(uphill, axis=1))
        self._forget(rows[lost])
        direction[lost] = uphill[lost]
        fresh = self._fresh[rows]
        length = np.abs(direction).max(axis=1)
        self._direction[rows] = direction
        self._step[rows] = np.where(fresh, FIRST_STEP / np.maximum(length, np.finfo(float).tiny), 1.0)

    def _cut(self, rows: np.ndarray, gained: np.ndarray, expected: np.ndarray) -> None:
        """Shorten steps that gained too little, to the top of the parabola through what is known."""
        top = np.divide(0.5 * expected, expected - gained, out=np.full_like(expected, 0.5), where=expected > gained)
        self._step[rows] *= np.clip(top, 0.1, 0.5)
        length = self._step[rows] * np.abs(self._direction[rows]).max(axis=1)
        small = rows[length < SMALLEST_STEP]
        # A wrong inverse Hessian gets one more chance along the gradient.
        self._stuck[small[self._fresh[small]]] = True
        again = small[~self._fresh[small]]
        self._forget(again)
        self._aim(again)

    def _forget(self, rows: np.ndarray) -> None:
        self._inverse[rows] = np.eye(self.x.shape[1])
        self._fresh[rows] = True

    def _learn(self, rows: np.ndarray, moved: np.ndarray, change: np.ndarray) -> None:
        """Update inverse Hessians of the negative objective by moves and falls of the gradient, both (rows, D)."""
        # Held coordinates did not move; their change of gradient says nothing about the free ones.
        change = np.where(moved == 0.0, 0.0, change)
        curvature = (moved * change).sum(axis=1)
        size = (change**2).sum(axis=1)
        convex = curvature > 1e-10 * np.sqrt((moved**2).sum(axis=1) * size)
        # Where the objective curves upwards the model is of no use: go further next time.
        self._inverse[rows[~convex]] *= 2.0
        rows, s, y, curvature, size = rows[convex], moved[convex], change[convex], curvature[convex], size[convex]
        first = self._fresh[rows]
        self._inverse[rows[first]] *= (curvature / size)[first, None, None]
        self._fresh[rows] = False
        inverse = self._inverse[rows]
        along = (inverse @ y[:, :, None])[:, :, 0]
        outer = s[:, :, None] * along[:, None, :]
        outer = (outer + outer.transpose(0, 2, 1)) / curvature[:, None, None]
        factor = (1.0 + (y * along).sum(axis=1) / curvature) / curvature
        self._inverse[rows] = inverse - outer + factor[:, None, None] * s[:, :, None] * s[:, None, :]
