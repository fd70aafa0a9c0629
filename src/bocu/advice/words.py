"""A suggestion in words and numbers."""

from collections.abc import Iterator, Mapping

from bocu.advice.suggestion import Judged, Suggestion
from bocu.io.tables import table

#: Most contexts whose change of weight is told.
_TOLD = 4

_UNDER = {
    "so": "best expectation under the forecast",
    "ro": "best in its worst context",
}


def told(suggestion: Suggestion) -> str:
    """Return the lines that `bocu suggest` prints."""
    return "\n".join(line for part in _parts(suggestion) for line in (*part, ""))


def _parts(suggestion: Suggestion) -> Iterator[list[str]]:
    if suggestion.notes:
        yield [f"note: {note}" for note in suggestion.notes]
    yield _decision(suggestion)
    if suggestion.best.guaranteed is not None:
        yield _worst(suggestion)
    if suggestion.prices:
        yield _prices(suggestion)
    if suggestion.second is not None:
        yield ["Next best that differs:", f"  {_judged(suggestion.second, suggestion)}"]
    yield _influences(suggestion)


def _decision(suggestion: Suggestion) -> list[str]:
    if suggestion.explore:
        why = f"to try: it may yet turn out best, at {suggestion.optimistic:.4g}"
    elif suggestion.objective in _UNDER:
        why = _UNDER[suggestion.objective]
    elif suggestion.objective == "cvar":
        why = f"best mean of the worst {suggestion.size:.0%} of contexts"
    else:
        why = f"best worst expectation over the set '{suggestion.set}' of radius {suggestion.size:g}"
    best, name = suggestion.best, suggestion.outcome
    lines = [f"Decision: {named(best.decision)}", f"  ({why})"]
    low, high = best.interval
    lines.append(f"Expected {name}: {best.expected:.4g}, which the log places between {low:.4g} and {high:.4g} (95 %)")
    if best.guaranteed is not None:
        most = "at most" if suggestion.minimise else "at least"
        lines.append(f"Guaranteed {name}: an expectation of {most} {best.guaranteed:.4g}, if the model is right")
    verb = "costs more" if suggestion.minimise else "earns less"
    lines.append(f"It {verb} by {suggestion.given_up:.4g} than the best decision if the forecast is right")
    lines.append(f"A single {name} lies around its expectation with standard deviation {suggestion.noise:.4g}")
    lines.append(f"Learnt from {suggestion.rows} rows; the forecast has {suggestion.contexts} different contexts")
    return lines


def _worst(suggestion: Suggestion) -> list[str]:
    if not suggestion.shifted:
        return ["Worst distribution: the forecast itself"]
    lines = ["Worst distribution, as if"]
    for moved in suggestion.shifted[:_TOLD]:
        if moved.weight > 0.0:
            lines.append(f"  {named(moved.context)} came {moved.worst / moved.weight:.3g} times as often")
        else:
            lines.append(
                f"  {named(moved.context)}, which the forecast gives no weight, came {moved.worst:.3g} of times"
            )
    if len(suggestion.shifted) > _TOLD:
        lines.append(f"  and {len(suggestion.shifted) - _TOLD} other contexts changed their weight")
    lines += [
        f"  {name} is {worst:.4g} on average, in the forecast {mean:.4g}"
        for name, (mean, worst) in suggestion.means.items()
    ]
    return lines


def _prices(suggestion: Suggestion) -> list[str]:
    size = "share" if suggestion.set == "cvar" else "radius"
    head = [size, *suggestion.best.decision, "guaranteed", "expected", "price"]
    rows = [
        [
            f"{entry.size:.4g}",
            *(_shown(value) for value in entry.decision.values()),
            f"{entry.guaranteed:.4g}",
            f"{entry.expected:.4g}",
            f"{entry.price:.3g}",
        ]
        for entry in suggestion.prices
    ]
    return [f"Price of robustness, by {size}:", *(f"  {line}" for line in table(head, rows))]


def _influences(suggestion: Suggestion) -> list[str]:
    head = ["column", "role", "length-scale", f"moves {suggestion.outcome} by"]
    rows = [
        [
            entry.name,
            entry.role,
            "-" if entry.lengthscale is None else f"{entry.lengthscale:.3g}",
            f"{entry.swing:.3g}",
        ]
        for entry in sorted(suggestion.influences, key=lambda entry: -entry.swing)
    ]
    return ["What was learnt:", *(f"  {line}" for line in table(head, rows))]


def _judged(judged: Judged, suggestion: Suggestion) -> str:
    guaranteed = "" if judged.guaranteed is None else f", guaranteed {judged.guaranteed:.4g}"
    return f"{named(judged.decision)}: expected {suggestion.outcome} {judged.expected:.4g}{guaranteed}"


def named(entries: Mapping[str, float | int | str]) -> str:
    """Return "price = 7.5, staff = 3"."""
    return ", ".join(f"{name} = {_shown(value)}" for name, value in entries.items())


def _shown(value: float | int | str) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
