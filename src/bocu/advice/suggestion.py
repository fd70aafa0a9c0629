"""A suggestion: what to decide, what it guarantees, what that costs, and the words that tell it."""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bocu.advice.details import Details, LoggedRow, Shifted
from bocu.advice.model import Influence
from bocu.advice.outcomes import ExpectedOutcome, OnFront
from bocu.advice.radius import Chosen, RadiusEstimate
from bocu.advice.search import Search
from bocu.core.written import table


@dataclass(frozen=True)
class Judged:
    """A decision and what is expected of it, in units of the outcome."""

    decision: dict[str, float | int | str]  #: by name.
    expected: float  #: outcome under the forecast.
    interval: tuple[float, float]  #: where that expectation lies with probability 0.95, by the model.
    #: expectation under the worst distribution, by the model; None where no worst case was asked for.
    worst: float | None
    #: what that is held to be at least (of costs, at most): a bound that pays for what is not known.
    guaranteed: float | None


@dataclass(frozen=True)
class Price:
    """The best decision at one size of the set."""

    size: float  #: radius, or level of `cvar`.
    decision: dict[str, float | int | str]  #: by name.
    worst: float  #: its worst expectation at that size, by the model.
    guaranteed: float  #: what that is held to be at least.
    expected: float  #: its outcome under the forecast.
    price: float  #: what it is expected to earn less (or cost more) than the decision of best expectation.


@dataclass(frozen=True)
class Insured:
    """The decision of best worst case over a set that covers the contexts to come: an insurance, and its price."""

    radius: float  #: of the set.
    coverage: float  #: probability that the next rows lie within it.
    horizon: int  #: number of these rows.
    decision: dict[str, float | int | str]  #: by name.
    guaranteed: float  #: what its worst expectation is held to be at least.
    price: float  #: what it is expected to earn less (or cost more) than what is suggested.


@dataclass(frozen=True)
class Ranked:
    """One of several alternatives."""

    line: str  #: what its row is called.
    judged: Judged  #: what is expected of it.
    best: float  #: probability that no other has a better expectation, by the model.
    #: what it is expected to earn less (or cost more) than the first, with its interval (95 %).
    behind: tuple[float, float, float]


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
        reference: where contexts come from, "forecast" or "log".
        nearly_worst: whether the worst case is next to that of the worst context there is.
        replayed: of the objective "replay", what was taken and what it would have earned in later blocks of the log.
        insured: of that objective, the decision that is best over the set that covers the next block.
        outcomes: of several outcomes what the decision brings of each; empty of one.
        front: of several outcomes without stated weights, decisions that no other beats in all of them.
        alternatives: of a list of alternatives, or of a few names alone, all, best first.
        constraints: as they were written.
        outliers: rows of the log that are not believed, and left out.
        doubted: the decision if they were believed; None where there are none.
        units: of columns, by name.
        evidence: makes `details`.
        search: candidates, model and rule.
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
    reference: str = "forecast"
    nearly_worst: bool = False
    replayed: Chosen | None = None
    insured: Insured | None = None
    outcomes: tuple[ExpectedOutcome, ...] = ()
    front: tuple[OnFront, ...] = ()
    alternatives: tuple[Ranked, ...] = ()
    constraints: tuple[str, ...] = ()
    outliers: tuple[LoggedRow, ...] = ()
    doubted: Judged | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    evidence: Callable[[], Details] | None = field(default=None, repr=False, compare=False)
    search: Search | None = field(default=None, repr=False, compare=False)

    @property
    def decision(self) -> dict[str, float | int | str]:
        """The decision by name."""
        return self.best.decision

    @property
    def most(self) -> str:
        """What bounds are, in words."""
        return "at most" if self.minimise else "at least"

    def unit(self, name: str) -> str:
        """Return the unit of a column as it stands behind a number."""
        return of(self.units.get(name, ""))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, as `--json` prints it."""
        plain = asdict(replace(self, evidence=None, search=None))
        del plain["evidence"], plain["search"]
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
        """Return the lines that `bocu suggest` prints."""
        return "\n".join(line for part in _parts(self) for line in (*part, ""))


#: Most contexts whose change of weight is told, and most alternatives.
_TOLD, _ALTERNATIVES = 4, 10


def _parts(suggestion: Suggestion) -> Iterator[list[str]]:
    if suggestion.notes:
        yield [f"note: {note}" for note in suggestion.notes]
    yield _decision(suggestion)
    if suggestion.best.guaranteed is not None:
        yield _worst(suggestion)
    names = list(suggestion.best.decision)
    if suggestion.prices:
        size = "share" if suggestion.set == "cvar" else "radius"
        rows = [
            [f"{one.size:.4g}", *_values(one), f"{one.guaranteed:.4g}", f"{one.expected:.4g}", f"{one.price:.3g}"]
            for one in suggestion.prices
        ]
        yield titled(f"Price of robustness, by {size}:", [size, *names, "guaranteed", "expected", "price"], rows)
    if suggestion.front:
        told = "expected" if suggestion.best.guaranteed is None else "worst"
        outcomes = (f"{told} {one.name}{suggestion.unit(one.name)}" for one in suggestion.outcomes)
        rows = [
            [*_values(one), *(f"{value:.4g}" for value in one.worst.values()), one.which or "-"]
            for one in suggestion.front
        ]
        yield titled("Decisions that no other beats in all outcomes:", [*names, *outcomes, "which is"], rows)
    if suggestion.alternatives:
        yield _alternatives(suggestion)
    elif suggestion.second is not None:
        yield ["Next best that differs:", f"  {_judged(suggestion.second, suggestion)}"]
    rows = [
        [
            entry.name,
            entry.role,
            "-" if entry.lengthscale is None else f"{entry.lengthscale:.3g}{suggestion.unit(entry.name)}",
            f"{entry.swing:.3g}{suggestion.unit(suggestion.outcome)}",
        ]
        for entry in sorted(suggestion.influences, key=lambda entry: -entry.swing)
    ]
    yield titled("What was learnt:", ["column", "role", "length-scale", f"moves {suggestion.outcome} by"], rows)
    if suggestion.outliers:
        yield _outliers(suggestion)


def why(suggestion: Suggestion) -> str:
    """Return what the decision is best under, in words."""
    here = suggestion.replayed
    if suggestion.explore:
        return f"to try: it may yet turn out best, at {suggestion.optimistic:.4g}"
    if here is not None and not here.blocks:
        return "best expectation; the log is too short for a replay"
    if here is not None:
        half = f"rows that count half after {here.half_life:.3g} {suggestion.time_unit}" if here.half_life else ""
        how = f"best worst expectation within {here.radius:.3g} of" if here.radius else "best expectation under"
        return (
            f"{how} {half.rstrip() or 'all rows alike'}: of {here.options} such ways the plainest that pays in later "
            "blocks of the log"
        )
    if suggestion.objective == "ro":
        return "best in its worst context"
    if suggestion.objective in ("replay", "so"):
        return f"best expectation if contexts come as in the {suggestion.reference}"
    if suggestion.objective == "cvar":
        return f"best mean of the worst {suggestion.size:.0%} of contexts"
    return f"best worst expectation over the set '{suggestion.set}' of radius {suggestion.size:g}"


def _earned(suggestion: Suggestion) -> Iterator[str]:
    """Return what the way to decide would have earned in later blocks, and the insurance."""
    unit = suggestion.unit(suggestion.outcome)
    if (here := suggestion.replayed) is not None and here.earned and here.gain:
        low, high = here.gain.interval
        more = f", {here.gain.gain:.3g} ({low:.3g} to {high:.3g}) more than the best expectation over all rows alike"
        yield (
            f"In {here.blocks} later blocks of {here.horizon} rows of the log, this way to decide would have brought "
            f"{here.earned.mean:.4g}{unit} a row by the model (worst tenth of blocks {here.earned.worst:.4g})"
            f"{'' if here.half_life is None and not here.radius else more}"
        )
    if (sure := suggestion.insured) is not None:
        yield (
            f"Insured against the next {sure.horizon} rows lying within {sure.radius:.3g} of the reference "
            f"(probability {sure.coverage:.0%}): {named(sure.decision, suggestion.units)}, an expectation of "
            f"{suggestion.most} {sure.guaranteed:.4g}{unit}; price {sure.price:.3g}{unit}"
        )


def _decision(suggestion: Suggestion) -> list[str]:
    best, name, unit = suggestion.best, suggestion.outcome, suggestion.unit(suggestion.outcome)
    lines = [f"Decision: {named(best.decision, suggestion.units)}", f"  ({why(suggestion)})"]
    if suggestion.constraints:
        lines.append(f"  (it keeps {', '.join(suggestion.constraints)})")
    low, high = best.interval
    known = (high - low) / 2.0
    close = functools.partial(rounded, doubt=known)
    lines.append(
        f"Expected {name}: {close(best.expected)}{unit}, which the log places between {close(low)} and {close(high)} "
        "(95 %)"
    )
    for one in suggestion.outcomes:
        low, high = one.interval
        lines.append(f"  {one.name} {one.expected:.4g}{suggestion.unit(one.name)}, between {low:.4g} and {high:.4g}")
    if best.guaranteed is not None and best.worst is not None:
        nearly = ", nearly that of the worst context there is" if suggestion.nearly_worst else ""
        lines.append(
            f"Guaranteed {name}: an expectation of {suggestion.most} {close(best.guaranteed)}{unit}; the worst case of "
            f"the model is {close(best.worst)}{nearly}"
        )
    less = f"It {'costs more' if suggestion.minimise else 'earns less'} by {suggestion.given_up:.4g}{unit}"
    than = f"{less} than the best decision" if suggestion.given_up > 0.0 else "No decision is better"
    lines += [
        f"{than} if contexts come as in the {suggestion.reference}",
        *_earned(suggestion),
        f"A single {name} lies around its expectation with standard deviation {suggestion.noise:.4g}{unit}",
        f"Trying it once would teach: its expectation, known to within {known:.4g}{unit}, would be known to within "
        f"{suggestion.taught:.4g}{unit}",
    ]
    has = f"; the forecast has {suggestion.contexts} different contexts" if suggestion.reference == "forecast" else ""
    return [*lines, f"Learnt from {suggestion.rows} rows{has}"]


def _worst(suggestion: Suggestion) -> list[str]:
    if not suggestion.shifted:
        return [f"Worst distribution: that of the {suggestion.reference} itself"]
    lines = ["Worst distribution, as if"]
    for moved in suggestion.shifted[:_TOLD]:
        how = (
            f" came {moved.worst / moved.weight:.3g} times as often"
            if moved.weight > 0.0
            else f", which the {suggestion.reference} gives no weight, came {moved.worst:.3g} of times"
        )
        lines.append(f"  {named(moved.context, suggestion.units)}{how}")
    if len(suggestion.shifted) > _TOLD:
        lines.append(f"  and {len(suggestion.shifted) - _TOLD} other contexts changed their weight")
    return lines + [
        f"  {name} is {worst:.4g}{suggestion.unit(name)} on average, in the {suggestion.reference} {mean:.4g}"
        for name, (mean, worst) in suggestion.means.items()
    ]


def _alternatives(suggestion: Suggestion) -> list[str]:
    head = ["alternative", *suggestion.best.decision, "expected", "guaranteed", "best with", "behind the first"]
    rows = [
        [
            entry.line,
            *_values(entry.judged),
            f"{entry.judged.expected:.4g}",
            "-" if entry.judged.guaranteed is None else f"{entry.judged.guaranteed:.4g}",
            f"{entry.best:.0%}",
            "{:.3g} ({:.3g} to {:.3g})".format(*entry.behind) if any(entry.behind) else "-",
        ]
        for entry in suggestion.alternatives[:_ALTERNATIVES]
    ]
    more = len(suggestion.alternatives) - len(rows)
    return [*titled("Alternatives, best first:", head, rows), *([f"  and {more} others"] if more else [])]


def _outliers(suggestion: Suggestion) -> list[str]:
    rows = suggestion.outliers
    lines = [
        "Rows that are not believed: typing errors, or rare and real? They lie far from what all others tell, and "
        "were left out"
    ]
    if suggestion.doubted is not None:
        lines.append(f"  If they count, the decision is {_judged(suggestion.doubted, suggestion)}")
    for row in rows[:_TOLD]:
        by = "" if row.residual is None else f", {abs(row.residual):.2g} {'above' if row.residual > 0 else 'below'}"
        met = {name: value for name, value in row.context.items() if value is not None}
        lines.append(f"  {row.line}: {named({**row.decision, **met}, suggestion.units)}{by}")
    return [*lines, f"  and {len(rows) - _TOLD} others"] if len(rows) > _TOLD else lines


def titled(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, its columns aligned, below its title."""
    return [title, *(f"  {line}" for line in table(head, rows))]


def _judged(judged: Judged, suggestion: Suggestion) -> str:
    expected = f"{named(judged.decision, suggestion.units)}: expected {suggestion.outcome} {judged.expected:.4g}"
    return expected if judged.guaranteed is None else f"{expected}, guaranteed {judged.guaranteed:.4g}"


def _values(entry: Judged | Price | OnFront) -> list[str]:
    return [in_digits(value) for value in entry.decision.values()]


def named(entries: Mapping[str, float | int | str], units: Mapping[str, str]) -> str:
    """Return "price = 7.5 euro, staff = 3"."""
    return ", ".join(f"{name} = {in_digits(value)}{of(units.get(name, ''))}" for name, value in entries.items())


def rounded(value: float, doubt: float) -> str:
    """Return a number to the second digit of what is not known of it."""
    if not 0.0 < doubt < math.inf:
        return f"{value:.4g}"
    decimals = 1 - math.floor(math.log10(doubt))
    return f"{round(value, decimals):.{max(decimals, 0)}f}"


def of(unit: str) -> str:
    """Return a unit as it stands behind a number."""
    return f" {unit}" if unit else ""


def in_digits(value: float | int | str, digits: int = 6) -> str:
    """Return a number to its first digits, and what is whole or a name as it is."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
