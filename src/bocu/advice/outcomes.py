"""Several outcomes: one weighted sum that is decided by, and the front of decisions that no other beats in all of them.

Each outcome has a model of its own. The worst distribution of a weighted sum is one for all outcomes together; what a
decision on the front guarantees of an outcome is under the distribution that is worst for that outcome alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bocu.advice.logs import Log
from bocu.advice.model import Learnt
from bocu.core.errors import BocuError, shown
from bocu.core.loading import naming_extras
from bocu.core.parameters import nearest
from bocu.core.ties import first_best

#: Most decisions of a front that are told.
_MOST_ON_A_FRONT = 9

_GOAL = re.compile(r"(?P<name>.+?)\s*:\s*(?P<goal>min|max)")


@dataclass(frozen=True)
class Outcome:
    """What is earned or paid."""

    name: str  #: of the column.
    minimise: bool  #: whether it is a cost.
    weight: float  #: what one unit of it counts in the sum, positive.

    @property
    def sign(self) -> float:
        """1 to maximise, -1 to minimise."""
        return -1.0 if self.minimise else 1.0


@dataclass(frozen=True)
class ExpectedOutcome(Outcome):
    """One of several outcomes, and what a decision is expected to bring of it."""

    expected: float  #: under the forecast.
    interval: tuple[float, float]  #: where that expectation lies with probability 0.95, by the model.
    #: expectation under the distribution that is worst for this outcome; None without a worst case.
    worst: float | None


@dataclass(frozen=True)
class OnFront:
    """A decision that no other beats in all outcomes."""

    decision: dict[str, float | int | str]  #: by name.
    expected: dict[str, float]  #: by outcome, under the forecast.
    #: by outcome, under the distribution worst for it; what is expected where there is no worst case.
    worst: dict[str, float]
    which: str  #: what it stands for, as "best profit" or "suggested"; empty where nothing stands out.


def read_outcomes(
    outcome: str | Sequence[str], minimise: bool, weights: Mapping[str, float] | None
) -> tuple[Outcome, ...]:
    """Read "profit", "profit,waste:min" or a sequence of such names.

    Args:
        outcome: names of columns, each with `:min` or `:max` behind it where it is not as `minimise` says.
        minimise: whether an outcome that does not say so is a cost.
        weights: of several outcomes; left out, each is 1 until the log tells their spread.

    Raises:
        BocuError: there is none, one stands twice, or weights are of others or not positive.
    """
    texts = outcome.split(",") if isinstance(outcome, str) else list(outcome)
    found = []
    for text in texts:
        match = _GOAL.fullmatch(text.strip())
        name, goal = (match["name"], match["goal"] == "min") if match else (text.strip(), minimise)
        found.append(Outcome(name, goal, 1.0))
    names = [one.name for one in found]
    if not all(names):
        raise BocuError(f"--outcome: found {shown(outcome)}; allowed: names of columns, as profit or profit,waste:min")
    for name in names:
        if names.count(name) > 1:
            raise BocuError(f"--outcome: '{name}' stands twice")
    if not weights:
        return tuple(found)
    for name, weight in weights.items():
        if name not in names:
            raise BocuError(f"--weights: found {shown(name)}, which is no outcome; {nearest(name, names)}")
        if not 0.0 < weight < float("inf"):
            raise BocuError(f"--weights: {name}: found {weight:g}; allowed: positive numbers, minimised ones too")
    for name in names:
        if name not in weights:
            raise BocuError(f"--weights: '{name}' has none; all of several outcomes have one, or none has")
    if len(found) == 1:
        return tuple(found)
    return tuple(Outcome(one.name, one.minimise, float(weights[one.name])) for one in found)


def read_weights(text: str, option: str = "weights") -> dict[str, float]:
    """Read "profit=1,waste=20" of an option.

    Raises:
        BocuError: it is not of that form.
    """
    found = {}
    for entry in text.split(","):
        name, _, weight = (side.strip() for side in entry.partition("="))
        try:
            found[name] = float(weight)
        except ValueError:
            raise BocuError(f"--{option}: found {shown(entry)}; allowed: NAME=NUMBER, as profit=1,waste=20") from None
    return found


def by_spread(outcomes: Sequence[Outcome], logs: Sequence[Log]) -> tuple[Outcome, ...]:
    """Let outcomes count by one over their standard deviation in the log."""
    spreads = (float(np.std(log.outcome, ddof=1)) for log in logs)
    return tuple(replace(one, weight=1.0 / spread) for one, spread in zip(outcomes, spreads, strict=True))


def sum_of(outcomes: Sequence[Outcome], logs: Sequence[Log]) -> Log:
    """Return the log of the weighted sum, to be maximised."""
    weights = np.array([one.sign * one.weight for one in outcomes])
    first = logs[0]
    return replace(
        first,
        outcome=weights @ np.stack([log.outcome for log in logs]),
        gaps=replace(first.gaps, outcome=weights @ np.stack([log.gaps.outcome for log in logs])),
    )


def sign_of(outcomes: Sequence[Outcome]) -> float:
    """Return 1 where what is told is to be maximised, as a sum of several outcomes is, and -1 of one that is paid."""
    return outcomes[0].sign if len(outcomes) == 1 else 1.0


def sum_in_words(outcomes: Sequence[Outcome]) -> str:
    """Return "profit - 20 waste", or the name of the only outcome."""
    if len(outcomes) == 1:
        return outcomes[0].name
    text = ""
    for one in outcomes:
        factor = "" if one.weight == 1.0 else f"{one.weight:.4g} "
        sign = ("-" if one.minimise else "") if not text else (" - " if one.minimise else " + ")
        text += f"{sign}{factor}{one.name}"
    return text


class Combined:
    """A weighted sum of one outcome or more, to be maximised, asked as one model is.

    What is not known of one outcome is taken to be independent of what is not known of another.

    Args:
        outcomes: with their weights.
        models: one an outcome, each to be maximised.

    Attributes:
        decisions, log: of the first outcome's model; all have the same rows.
        earned: what whole rows brought, to be maximised, (t,).
        noise: standard deviation of a single sum around its expectation.
    """

    def __init__(self, outcomes: Sequence[Outcome], models: Sequence[Learnt]) -> None:
        self.outcomes = tuple(outcomes)
        self.models = tuple(models)
        self.decisions = models[0].decisions
        self.log = models[0].log
        self._weights = np.array([one.weight for one in outcomes])
        self.earned = self._summed([model.earned for model in models])
        self.noise = float(np.sqrt(self._weights**2 @ np.array([model.noise**2 for model in models])))

    def scaled(self, contexts: np.ndarray) -> np.ndarray:
        """Return contexts (n, l) in the units of the models."""
        return self.models[0].scaled(contexts)

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the expected sum (n, C) of decisions (n, d) in the forecast's contexts."""
        return self._summed([model.means(values) for model in self.models])

    def spreads(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return standard deviations (n,) of expectations under distributions (n, C) or (C,)."""
        return self._joined([model.spreads(values, weights) for model in self.models])

    def unevenness(self, value: np.ndarray, weights: np.ndarray) -> float:
        """Return by how much uneven noise widens the variance of an expected sum."""
        return float(self._weights**2 @ np.array([model.unevenness(value, weights) for model in self.models]))

    def joint(self, values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean (n,) and covariance (n, n) of expected sums of decisions (n, d) over contexts weighted (C,)."""
        means, covariances = zip(*(model.joint(values, weights) for model in self.models), strict=True)
        return self._summed(means), self._varied(covariances)

    def variances_after(self, value: np.ndarray, weights: np.ndarray, met: np.ndarray) -> np.ndarray:
        """Return variances (n,) of the expected sum after a trial of a decision (d,) in contexts at positions (n,)."""
        return self._varied([model.variances_after(value, weights, met) for model in self.models])

    def pairs(self, values: np.ndarray, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected sum (n,) of decisions (n, d), each in its own context, and its standard deviation."""
        means, spreads = zip(*(model.pairs(values, contexts) for model in self.models), strict=True)
        return self._summed(means), self._joined(spreads)

    def pair_means(self, values: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        """Return the expected sum (n,) of decisions (n, d), each in its own context."""
        return self._summed([model.pair_means(values, contexts) for model in self.models])

    def asked_of(self, contexts: np.ndarray) -> "Combined":
        """Return the sum, asked about other contexts (C, l)."""
        return Combined(self.outcomes, [model.asked_of(contexts) for model in self.models])

    def draws(self) -> list["Combined"]:
        """Return sums of models at other hyper-parameters, as probable as the log has them."""
        found = zip(*(model.draws() for model in self.models), strict=True)
        return [Combined(self.outcomes, models) for models in found]

    def lengthscales(self) -> list[float | None]:
        """Return the length-scale of each column in its own units; None where outcomes have their own, or of names."""
        found = self.models[0].lengthscales()
        return found if len(self.models) == 1 else [None] * len(found)

    def _summed(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.asarray(np.tensordot(self._weights, np.stack(parts), axes=1))

    def _joined(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.sqrt(self._varied([part**2 for part in parts]))

    def _varied(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.asarray(np.tensordot(self._weights**2, np.stack(parts), axes=1))


def front(values: np.ndarray, always: Sequence[int]) -> list[int]:
    """Return rows (n, k), to be maximised in each column, that no other row beats, first those that are to be there.

    At most so many as are told: beyond those wanted `always`, on the front or not, each next one lies farthest from
    those before.
    """
    with naming_extras():
        import moocore

    best = np.flatnonzero(moocore.is_nondominated(values, maximise=True))
    span = np.ptp(values[best], axis=0)
    scaled = values / np.where(span > 0.0, span, 1.0)
    chosen = list(dict.fromkeys(always))
    while len(chosen) < _MOST_ON_A_FRONT:
        distance = np.linalg.norm(scaled[best][:, None] - scaled[chosen], axis=2).min(axis=1)
        if not distance.size or distance.max() < 0.02:
            break
        chosen.append(int(best[first_best(distance)]))
    return chosen
