"""A replay in words and numbers."""

from bocu.advice.replaying import BY_LOG, DONE, NEAR, STEADY, SUGGESTED, Replay
from bocu.io.tables import table

_NAMES = {DONE: "as was done", STEADY: "best expectation", SUGGESTED: "as suggested"}


def told(replay: Replay) -> str:
    """Return the lines that `bocu replay` prints."""
    parts = [[f"note: {note}" for note in replay.notes]] if replay.notes else []
    parts += [_how(replay), _earned(replay), _gains(replay), _advice(replay)]
    return "\n".join(line for part in parts for line in (*part, ""))


def _how(replay: Replay) -> list[str]:
    steps = len(replay.steps) // 2
    lines = [
        f"Replayed {replay.judged} of {replay.rows} rows in {steps} steps in time, each half of the rows advised from "
        "its own past"
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
    head = [replay.outcome, "a row", "worst tenth"]
    rows = [
        [_NAMES[who], f"{replay.earned[who].mean:.4g}", f"{replay.earned[who].worst:.4g}"]
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
        low, high = found.interval
        clear = "" if low > 0.0 else " (clearly less)" if high < 0.0 else " (no clear difference)"
        lines.append(f"  {_NAMES[one]} over {_NAMES[other]}: {found.gain:.4g} ({low:.4g} to {high:.4g}){clear}")
    return lines


def _advice(replay: Replay) -> list[str]:
    names = list(replay.steps[0].decisions[SUGGESTED])
    head = ["as of", "rows", *(f"{name} suggested" for name in names), *(f"{name} by expectation" for name in names)]
    rows = [
        [
            step.line,
            str(step.rows),
            *(_shown(step.decisions[who][name]) for who in (SUGGESTED, STEADY) for name in names),
        ]
        for step in replay.steps
    ]
    return ["Advice of both halves:", *(f"  {line}" for line in table(head, rows))]


def _shown(value: float | int | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
