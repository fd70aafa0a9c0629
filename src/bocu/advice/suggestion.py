"""A suggestion: what to decide, what it guarantees, what that costs, and what there is to know of it."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bocu.advice.details import Details, LoggedRow
from bocu.advice.model import Influence
from bocu.advice.outcomes import ExpectedOutcome, OnFront
from bocu.advice.radius import RadiusEstimate


@dataclass(frozen=True)
class Judged:
    """A decision and what is expected of it, in units of the outcome.

    Attributes:
        decision: by name.
        expected: outcome under the forecast.
        interval: where that expectation lies with probability 0.95, by the model.
        guaranteed: expectation under the worst distribution; None where no worst case was asked for.
    """

    decision: dict[str, float | int | str]
    expected: float
    interval: tuple[float, float]
    guaranteed: float | None


@dataclass(frozen=True)
class Price:
    """The best decision at one size of the set.

    Attributes:
        size: radius, or level of `cvar`.
        decision: by name.
        guaranteed: its worst expectation at that size.
        expected: its outcome under the forecast.
        price: what it is expected to earn less (or cost more) than the decision of best expectation.
    """

    size: float
    decision: dict[str, float | int | str]
    guaranteed: float
    expected: float
    price: float


@dataclass(frozen=True)
class Shifted:
    """A context whose weight the worst distribution changes.

    Attributes:
        context: by name.
        weight: in the forecast.
        worst: in the worst distribution.
    """

    context: dict[str, float]
    weight: float
    worst: float


@dataclass(frozen=True)
class Ranked:
    """One of several alternatives.

    Attributes:
        line: what its row is called.
        judged: what is expected of it.
    """

    line: str
    judged: Judged


@dataclass(frozen=True)
class Suggestion:
    """What to decide, and why; `print` tells it in words.

    Attributes:
        best: the decision.
        steady: the decision of best expectation under the forecast.
        second: the best decision that differs; None where all are alike.
        given_up: what it is expected to earn less (or cost more) than the decision of best expectation.
        objective, set, size: what it is best under; `size` is the radius or the level of `cvar`.
        outcome, minimise, explore: what was asked.
        shifted: contexts by how much weight the worst distribution moves, largest first.
        means: mean of each context under the forecast and under the worst distribution.
        prices: best decisions by the size of the set.
        influences: how each column acts.
        noise: standard deviation of a single outcome around its expectation.
        taught: to within what the decision's expectation would be known (95 %) if it were tried once, in a context of
            the forecast; to within what it is known is half of its interval.
        optimistic: when exploring, the worst expectation that the decision may yet turn out to have.
        rows, contexts: numbers of rows learnt from and of contexts in the forecast.
        estimate: of the radius; None where it was given.
        half_lives: of contexts and of payoffs, in `time_unit`; None where nothing is forgotten.
        time_unit: "days", "rows", or "" of a column of numbers.
        notes: what was done to read the files, and what they do not tell.
        outcomes: of several outcomes what the decision brings of each; empty of one.
        front: of several outcomes without stated weights, decisions that no other beats in all of them.
        alternatives: of a list of alternatives all, best first.
        constraints: as they were written.
        outliers: rows of the log far from what all others tell.
        units: of columns, by name.
        evidence: makes `details`.
    """

    best: Judged
    steady: Judged
    second: Judged | None
    given_up: float
    objective: str
    set: str | None
    size: float | None
    outcome: str
    minimise: bool
    explore: bool
    shifted: list[Shifted]
    means: dict[str, tuple[float, float]]
    prices: list[Price]
    influences: list[Influence]
    noise: float
    taught: float
    optimistic: float | None
    rows: int
    contexts: int
    estimate: RadiusEstimate | None
    half_lives: tuple[float | None, float | None]
    time_unit: str
    notes: tuple[str, ...]
    outcomes: tuple[ExpectedOutcome, ...] = ()
    front: tuple[OnFront, ...] = ()
    alternatives: tuple[Ranked, ...] = ()
    constraints: tuple[str, ...] = ()
    outliers: tuple[LoggedRow, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    evidence: Callable[[], Details] | None = field(default=None, repr=False, compare=False)

    @property
    def decision(self) -> dict[str, float | int | str]:
        """The decision by name."""
        return self.best.decision

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, as `--json` prints it."""
        plain = asdict(replace(self, evidence=None))
        del plain["evidence"]
        return {**plain, "details": asdict(self.details)}

    @functools.cached_property
    def details(self) -> Details:
        """Slices, curves, weights and rows of the log, for pictures; worked out when first asked for."""
        assert self.evidence is not None
        return self.evidence()

    def to_html(self) -> str:
        """Return one page that tells all of it, in words and pictures; it needs no other file."""
        from bocu.advice.page import page_of

        return page_of(self.to_dict())

    def __str__(self) -> str:
        from bocu.advice.words import suggestion_told

        return suggestion_told(self)
