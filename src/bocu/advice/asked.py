"""What is asked of a log, checked before anything is learnt: decisions, what may be suggested, the set, units."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bocu.advice.allowed import Allowed, Constrained, Free, Listed
from bocu.advice.alternatives import Alternatives, decisions_of, read_alternatives
from bocu.advice.choices import Decisions, OneOfNames, read_decisions
from bocu.advice.constraints import read_constraints
from bocu.advice.logs import Log
from bocu.advice.names import HAMMING
from bocu.advice.outcomes import Outcome
from bocu.advice.tables import LogTable, read_log_table
from bocu.advice.time import ESTIMATE
from bocu.core.errors import BocuError, shown
from bocu.core.loading import from_registry
from bocu.core.parameters import Reading, nearest, validate
from bocu.robust.ambiguity.conditional_value_at_risk import ConditionalValueAtRisk
from bocu.robust.ambiguity.parameters import SetParameters

OBJECTIVES = {
    "dro": "the worst expectation over the set",
    "so": "the expectation under the forecast",
    "ro": "the worst context of the forecast",
    "cvar": "the mean over the worst share `alpha` of contexts",
}


def what_is_decided(
    decisions: str | Decisions | None, alternatives: Any, log: LogTable, others: Sequence[str]
) -> tuple[Decisions, Alternatives | None]:
    """Return what is decided and, where they are listed, the alternatives."""
    if decisions is None and alternatives is None:
        raise BocuError("--decisions: found none; what is decided is wanted, or a list of --alternatives")
    chosen = read_decisions(decisions) if isinstance(decisions, str) else decisions
    if alternatives is None:
        assert chosen is not None
        return chosen, None
    table = read_log_table(alternatives, "alternatives")
    chosen = chosen or decisions_of(table, log, others)
    return chosen, read_alternatives(table, chosen)


def what_is_allowed(
    decisions: Decisions, offered: Alternatives | None, constraints: Sequence[str]
) -> tuple[Allowed, Callable[[Log], list[str]]]:
    """Return what may be suggested, and what there is to say of a log under the constraints."""
    if not constraints:
        return Listed(offered.values) if offered else Free(decisions), lambda log: []
    stated = read_constraints(constraints, decisions)

    def broken(log: Log) -> list[str]:
        kept = stated.met(log.decisions)
        return [
            f"{(~kept[:, k]).sum()} of {len(kept)} logged decisions do not keep '{text}'; learnt from, never suggested"
            for k, text in enumerate(stated.texts)
            if not kept[:, k].all()
        ]

    if offered is None:
        return Constrained(stated), broken
    left = offered.values[stated.met(offered.values).all(axis=1)]
    if not len(left):
        raise BocuError(f"--alternatives: none of {len(offered.values)} keeps {' and '.join(map(shown, constraints))}")
    return Listed(left), broken


def how_coded(decisions: Decisions, code: str) -> list[str]:
    """Say how names to choose from are told apart, where there are any."""
    names = [part.name for part in decisions.parts if isinstance(part, OneOfNames)]
    if not names:
        return []
    how = (
        "different or not, however they differ (Hamming kernel)"
        if code == HAMMING
        else "one-hot, each with a length-scale of its own"
    )
    return [f"names of {', '.join(names)} are told apart {how}"]


def how_weighed(outcomes: Sequence[Outcome], weights: Mapping[str, float] | None) -> list[str]:
    """Say what outcomes count, where there are several."""
    if len(outcomes) == 1:
        return []
    told = ", ".join(f"{one.name} {one.weight:.4g}" for one in outcomes)
    stated = "as stated" if weights else "none were stated: one over the spread of each in the log"
    return [f"weights of outcomes: {told} ({stated}); what is not known of one is taken as independent of another"]


def checked_units(units: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    """Return the units of columns.

    Raises:
        BocuError: one is of no column that was asked for.
    """
    for name in units:
        if name not in columns:
            raise BocuError(f"units: found {shown(name)}, which is no column asked for; {nearest(name, columns)}")
    return dict(units)


def refuse_mixed_up(
    decisions: Decisions, contexts: tuple[str, ...], outcomes: Sequence[Outcome], objective: str
) -> None:
    """Refuse columns with two roles or none, and objectives that there are not.

    Raises:
        BocuError: there is one.
    """
    if not contexts:
        raise BocuError("--contexts: found none; at least one column is wanted")
    columns = [*decisions.names, *contexts, *(one.name for one in outcomes)]
    for name in columns:
        if columns.count(name) > 1:
            raise BocuError(f"column '{name}' has two roles; a column is a decision, a context or the outcome, once")
    if objective not in OBJECTIVES:
        raise BocuError(f"--objective: found {shown(objective)}; {nearest(objective, OBJECTIVES)}")


def extrapolated(names: tuple[str, ...], seen: np.ndarray, asked: np.ndarray) -> list[str]:
    """Return a line for each context that the forecast has outside the log's range."""
    notes = []
    for i, name in enumerate(names):
        outside = int(((asked[:, i] < seen[:, i].min()) | (asked[:, i] > seen[:, i].max())).sum())
        if outside:
            notes.append(
                f"the forecast has '{name}' outside the log's {seen[:, i].min():g} to {seen[:, i].max():g} in "
                f"{outside} of {len(asked)} contexts: there the model extrapolates"
            )
    return notes


def stated_set(
    objective: str, name: str, radius: float | str | None, keys: Mapping[str, Any], alpha: float
) -> SetParameters | ConditionalValueAtRisk | None:
    """Return what states the set that worst cases are told for, or None where there is none."""
    has_set = objective in ("dro", "so") and (radius is not None or objective == "dro")
    if keys and not has_set:
        raise BocuError(
            f"--{next(iter(keys))}: nothing takes it: there is no set without --radius, nor under ro or cvar"
        )
    if objective == "cvar":
        if not 0.0 < alpha <= 1.0:
            raise BocuError(f"--alpha: found {alpha:g}; allowed: more than 0 and at most 1")
        return ConditionalValueAtRisk(alpha)
    if objective == "ro":
        return None
    family = from_registry("find")("set", name, "--set: ", Path()).load()
    if radius is None:
        if objective == "dro":
            raise BocuError(f"--radius: the objective 'dro' over the set '{name}' needs one, or estimate")
        return None
    if not isinstance(radius, str) and math.isinf(radius):
        raise BocuError("--radius: found inf; allowed: a finite number, or --objective ro, which trusts no forecast")
    if not family.has_radius:
        raise BocuError(f"--set: '{name}' has no radius; allowed here: a set that has one, or --objective cvar")
    return validate(SetParameters, {**keys, "name": name}, "--", Reading(Path()))


def read_radius(radius: float | str | None) -> float | str | None:
    """Return a number, `ESTIMATE` or None."""
    if radius is None or radius == ESTIMATE:
        return radius
    try:
        return float(radius)
    except ValueError:
        raise BocuError(f"--radius: found {shown(radius)}; allowed: a number, or {ESTIMATE}") from None
