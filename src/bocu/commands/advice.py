"""What `bocu suggest` and `bocu replay` are asked, from a settings file and the command line, which goes before it."""

from pathlib import Path
from typing import Any

import typer

from bocu.core.errors import BocuError

_CALLED = {"set": "name", "constraints": "constraint"}


def names_of(text: str | None) -> list[str] | None:
    """Return the names of columns that have commas between."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def arguments(context: typer.Context, settings: Path | None, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `bocu.suggest` or `bocu.replay`.

    Args:
        context: of the command, which knows what was written on the command line.
        settings: file that states what the command line does not.
        asked: values of options, by argument.

    Raises:
        BocuError: the file is at fault, or there is no context or outcome.
    """
    from bocu.advice.settings import read_settings

    stated = _stated(context, asked)
    written = {} if settings is None else read_settings(settings)
    if "set" in stated and written.get("set") != stated["set"]:
        written["keys"] = {}  # those of another set
    if "outcome" in stated:
        written["weights"] = None  # those of other outcomes
    found = {**written, **stated}
    for part in ("keys", "constraints"):
        both = [one[part] for one in (written, stated) if one.get(part)]
        if len(both) == 2:
            found[part] = {**both[0], **both[1]} if part == "keys" else [*both[0], *both[1]]
    for key in ("contexts", "outcome"):
        if not found.get(key):
            where = f", and {settings}: {key}: found none" if settings else ""
            raise BocuError(f"--{key}: found none{where}; at least one column is wanted")
    if found.get("units"):
        found["units"] = {name: unit for name, unit in found["units"].items() if name in _columns(found)}
    return found


def _columns(found: dict[str, Any]) -> list[str]:
    """Return the columns that are asked for, where decisions are stated."""
    from bocu.advice.choices import read_decisions
    from bocu.advice.outcomes import read_outcomes

    decided = found.get("decisions")
    decisions = read_decisions(decided) if isinstance(decided, str) else decided
    outcomes = read_outcomes(found["outcome"], False, None)
    return [*(decisions.names if decisions else ()), *found["contexts"], *(one.name for one in outcomes)]


def _stated(context: typer.Context, asked: dict[str, Any]) -> dict[str, Any]:
    """Return what the command line states of what is asked."""

    def given(key: str) -> bool:
        source = context.get_parameter_source(_CALLED.get(key, key))
        return bool(context.args) if key == "keys" else source is not None and source.name == "COMMANDLINE"

    return {key: value for key, value in asked.items() if given(key)}
