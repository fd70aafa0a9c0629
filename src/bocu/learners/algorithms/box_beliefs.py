"""What is believed of payoffs over a box of arms that change with time, under each of several candidate priors.

An arm is rated by the upper confidence bound of its payoff now (Ziomek et al. 2025, Algorithm 1, for continuous arms).
Bounds of all priors that are asked after are climbed together: the largest of them, or their average, is one function
of the arm. The net of Theorem 4.1(B) is there for its proof alone.
"""

import copy
from collections.abc import Sequence

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.plain import State
from bocu.core.rounds import BoxDomain, Context, Decision, Round
from bocu.core.ties import first_best
from bocu.learners.acquisition.base import Acquisition
from bocu.learners.acquisition.multistart import SearchParameters, maximise
from bocu.learners.algorithms.beliefs import Beliefs, Ratings, box_sqrt_beta
from bocu.learners.surrogates.box_time_varying import BoxPosteriors, BoxPrior


class PriorsBound(Acquisition):
    """The largest of the bounds `mean + sqrt_beta deviation` of several priors on an arm at a time, or their average.

    Decisions are points of the unit cube, onto which a box is mapped.

    Args:
        posteriors: of all priors.
        rows: indices of the priors that count.
        sqrt_beta: multiplier of each of them, shape (rows,).
        t: the time.
        corners: of the box, shape (2, D).
        shares: weight of each prior in the average, shape (rows,); None: the largest counts.
    """

    def __init__(
        self,
        posteriors: BoxPosteriors,
        rows: Sequence[int] | np.ndarray,
        sqrt_beta: np.ndarray,
        t: int,
        corners: np.ndarray,
        shares: np.ndarray | None,
    ) -> None:
        self.posteriors = posteriors
        self.rows = rows
        self.sqrt_beta = sqrt_beta
        self.t = t
        self.lower, self.upper = corners
        self.shares = shares

    @property
    def dimension(self) -> int:
        return len(self.lower)

    def __call__(self, decisions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moments = self.posteriors.predict_with_gradients(self.rows, self.points(decisions), self.t)
        mean, deviation, mean_slope, deviation_slope = moments
        weights = self._weights(bounds := mean + self.sqrt_beta[:, None] * deviation)
        slopes = mean_slope + self.sqrt_beta[:, None, None] * deviation_slope
        gradient = np.einsum("pb,pbd->bd", weights, slopes) * (self.upper - self.lower)
        return np.einsum("pb,pb->b", weights, bounds), gradient

    def screen(self, decisions: np.ndarray) -> np.ndarray:
        bounds = self.bounds(self.points(decisions))
        return np.einsum("pb,pb->b", self._weights(bounds), bounds)

    def points(self, decisions: np.ndarray) -> np.ndarray:
        """Return the points of the box (n, D) of decisions in the unit cube."""
        return np.clip(self.lower + decisions * (self.upper - self.lower), self.lower, self.upper)

    def bounds(self, points: np.ndarray) -> np.ndarray:
        """Return the bounds at points of the box (n, D), shape (rows, n)."""
        mean, deviation = self.posteriors.predict(self.rows, points, self.t)
        return mean + self.sqrt_beta[:, None] * deviation

    def _weights(self, bounds: np.ndarray) -> np.ndarray:
        """Return how much each bound counts, both of shape (rows, n)."""
        if self.shares is not None:
            return np.broadcast_to(self.shares[:, None], bounds.shape)
        chosen = np.zeros(bounds.shape)
        chosen[bounds.argmax(axis=0), np.arange(bounds.shape[1])] = 1.0
        return chosen


class BoxRatings(Ratings):
    """The arms of the best bounds, searched for in each of the open boxes.

    Args:
        posteriors: of all priors.
        t: the round.
        available: corners of the open boxes, shape (boxes, 2, D).
        sqrt_beta: multipliers of the priors, shape (priors,).
        search: how thoroughly.
        generator: of the starts.
    """

    def __init__(
        self,
        posteriors: BoxPosteriors,
        t: int,
        available: np.ndarray,
        sqrt_beta: np.ndarray,
        search: SearchParameters,
        generator: np.random.Generator,
    ) -> None:
        self._posteriors = posteriors
        self._t = t
        self._available = available
        self._sqrt_beta = sqrt_beta
        self._search = search
        self._generator = generator

    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, np.ndarray]:
        rows = np.asarray(priors)
        bound, point = self._best(rows)
        return int(rows[first_best(bound.bounds(point[None])[:, 0])]), point

    def best_on_average(self, weights: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(weights)
        return self._best(rows, weights[rows])[1]

    def _best(self, rows: np.ndarray, shares: np.ndarray | None = None) -> tuple[PriorsBound, np.ndarray]:
        """Return the function of the open box in which it is largest, and the arm where."""
        among = self._posteriors, rows, self._sqrt_beta[rows], self._t
        over = [PriorsBound(*among, corners, shares) for corners in self._available]
        search = self._search
        found = [maximise(each, self._generator, raw=search.raw, restarts=search.restarts) for each in over]
        first = first_best([best.value for best in found])
        return over[first], over[first].points(found[first].decision[None])[0]


class BoxBeliefs(Beliefs):
    """Beliefs where arms are a box and the context is the time step; recommended is the arm of the highest mean now.

    Args:
        priors: over the box.
        noise: standard deviation of the observation noise, in units of the payoff.
        box: the arms.
        search: how the best arm is searched for.
        generator: of the starts of that search.

    Raises:
        BocuError: the box is not bounded.
    """

    points = arms = 0

    def __init__(
        self,
        priors: Sequence[BoxPrior],
        noise: float,
        box: BoxDomain,
        search: SearchParameters,
        generator: np.random.Generator,
    ) -> None:
        self.box = box
        self.corners = np.stack([box.lower, box.upper])
        if not np.isfinite(self.corners).all():
            raise BocuError(f"decisions: found a box from {box.lower} to {box.upper}; a bounded one is wanted")
        self.posteriors = BoxPosteriors(priors, noise)
        self.search = search
        self.generator = generator

    @property
    def log_evidence(self) -> np.ndarray:
        return self.posteriors.log_evidence.copy()

    def valid_sqrt_beta(self, rule: str, t: int, delta: float, prior: int) -> float:
        if rule != "theorem-4.1":
            raise BocuError(f"confidence: found '{rule}', which is for finitely many arms; in a box: theorem-4.1")
        known = self.posteriors.priors[prior]
        if known.slope is None:
            raise BocuError(f"prior '{known.label}': how steep payoffs are is not known; give `sqrt_beta` a number")
        return box_sqrt_beta(t, delta, known.slope, self.box.upper - self.box.lower)

    def available(self, round: Round) -> np.ndarray:
        if round.available is None:
            return self.corners[None]
        boxes = np.asarray(round.available, dtype=float)
        sound = boxes.ndim == 3 and len(boxes) and boxes.shape[1:] == self.corners.shape
        if not sound or (boxes[:, 0] > boxes[:, 1]).any() or not self._holds(boxes):
            allowed = f"corners of boxes within {self.box.lower} to {self.box.upper}, (boxes, 2, {self.box.dimension})"
            raise BocuError(f"round {round.t}: available: found shape {boxes.shape}; allowed: {allowed}")
        return boxes

    def member(self, decision: Decision) -> np.ndarray:
        return np.array(decision, dtype=float)

    def ratings(self, round: Round, available: np.ndarray, sqrt_beta: np.ndarray) -> Ratings:
        return BoxRatings(self.posteriors, round.t, available, sqrt_beta, self.search, self.generator)

    def foresee(self, prior: int, decision: Decision, round: Round) -> tuple[np.ndarray, np.ndarray]:
        mean, deviation = self.posteriors.predict([prior], self.member(decision)[None], round.t)
        return mean[0], deviation[0]

    def observe(self, decision: Decision, context: Context, value: float, t: int) -> None:
        self.posteriors.observe(self.member(decision), int(context), value)

    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: np.ndarray) -> np.ndarray:
        generator = copy.deepcopy(self.generator)  # looking at what is known leaves the next decision as it is
        whole = self.corners[None]
        ratings = BoxRatings(self.posteriors, self.posteriors.time, whole, 0.0 * sqrt_beta, self.search, generator)
        return ratings.best_on_average(weights)

    def state(self) -> State:
        return self.posteriors.state()

    def restore(self, state: State) -> None:
        self.posteriors.restore(state)

    def _holds(self, boxes: np.ndarray) -> bool:
        return bool((boxes[:, 0] >= self.box.lower).all() and (boxes[:, 1] <= self.box.upper).all())
