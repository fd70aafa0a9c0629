"""A replay in words and numbers."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bocu.advice.replayed import BY_LOG, DONE, NEAR, STEADY, SUGGESTED, Gain, Replay
from bocu.advice.words import of
from bocu.core.io.tables import table

NAMES = {DONE: "as was done", STEADY: "best expectation", SUGGESTED: "as suggested"}
OVER = {DONE: "what was done", STEADY: "best expectation"}

#: Most pieces of advice that are told.
_ADVICE = 24


def replay_told(replay: Replay) -> str:
    """Return the lines that `bocu replay` prints."""
    parts = [[f"note: {note}" for note in replay.notes]] if replay.notes else []
    parts += [_how(replay), _earned(replay), _gains(replay), _where(replay), _advice(replay)]
    return "\n".join(line for part in parts for line in (*part, ""))


def _how(replay: Replay) -> list[str]:
    times = (
        f"{replay.blocks} steps in time"
        if not replay.forecasts
        else f"{replay.blocks} steps in time, each row under the forecast that was at hand for it"
    )
    lines = [
        f"Replayed {replay.judged} of {replay.rows} rows in {times}, each half of the rows advised from its own past"
    ]
    if replay.judge == BY_LOG:
        lines.append(
            f"Judged by the log: by the outcome of the nearest row that did not advise, within {NEAR:.0%} of the range "
            "of each decision and context"
        )
    else:
        lines.append(
            "Judged by a model, fitted to the half of the rows that did not advise: right as far as that model is"
        )
        lines.append(
            f"  (the log holds rows like the decisions, within {NEAR:.0%} of each range, for {replay.matched} of them)"
        )
    return lines


def _earned(replay: Replay) -> list[str]:
    names = [one.name for one in replay.outcomes]
    head = [replay.outcome + of(replay.units.get(replay.outcome, "")), "a row", "worst tenth", *names]
    rows = [
        [
            NAMES[who],
            f"{replay.earned[who].mean:.4g}",
            f"{replay.earned[who].worst:.4g}",
            *(f"{one.earned[who].mean:.4g}" for one in replay.outcomes),
        ]
        for who in (DONE, STEADY, SUGGESTED)
    ]
    lines = list(table(head, rows))
    if replay.judge != BY_LOG:
        lines.append(f"(what was done, by the log itself: {replay.logged:.4g} a row)")
    return lines


def _gains(replay: Replay) -> list[str]:
    verb = "costs less" if replay.minimise else "earns more"
    lines = [f"What {verb}, a row, with 95 % intervals of paired differences:"]
    for pair, found in replay.gains.items():
        one, _, other = pair.partition(" over ")
        lines.append(f"  {NAMES[one]} over {NAMES[other]}: {_with_interval(found)}{_clear(found)}")
    return lines


def _where(replay: Replay) -> list[str]:
    pairs = (f"{SUGGESTED} over {DONE}", f"{SUGGESTED} over {STEADY}")
    if not replay.parts:
        return []
    head = ["where", "rows", *(f"over {OVER[pair.partition(' over ')[2]]}" for pair in pairs)]
    rows = [
        [
            f"{part.name} {values_in_words(asdict(part))}" + of(replay.units.get(part.name, "")),
            str(part.rows),
            *(_with_interval(part.gains[pair]) if part.gains else "-" for pair in pairs),
        ]
        for part in replay.parts
    ]
    return [
        "As suggested, by parts of the rows (of twenty such intervals one is expected to miss):",
        *(f"  {line}" for line in table(head, rows)),
    ]


def values_in_words(part: Mapping[str, Any]) -> str:
    """Return "0 to 2.5", the values of a part as plain data."""
    low, high = (value if isinstance(value, str) else f"{value:.4g}" for value in (part["low"], part["high"]))
    return low if low == high else f"{low} to {high}"


def _with_interval(found: Gain) -> str:
    low, high = found.interval
    return f"{found.gain:.4g} ({low:.4g} to {high:.4g})"


def _clear(found: Gain) -> str:
    low, high = found.interval
    if low == high == 0.0:
        return " (always the same)"
    return "" if low > 0.0 else " (clearly less)" if high < 0.0 else " (no clear difference)"


def _advice(replay: Replay) -> list[str]:
    names = list(replay.steps[0].decisions[SUGGESTED])
    each = replay.forecasts
    head = [
        *(["for"] if each else []),
        "as of",
        "rows",
        *(f"{name} suggested" for name in names),
        *(f"{name} by expectation" for name in names),
    ]
    rows = [
        [
            *([step.row or ""] if each else []),
            step.line,
            str(step.rows),
            *(_shown(step.decisions[who][name]) for who in (SUGGESTED, STEADY) for name in names),
        ]
        for step in replay.steps[:_ADVICE]
    ]
    more = len(replay.steps) - len(rows)
    return [
        "Advice of both halves:",
        *(f"  {line}" for line in table(head, rows)),
        *([f"  and {more} others (--json has all)"] if more else []),
    ]


def _shown(value: float | int | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
