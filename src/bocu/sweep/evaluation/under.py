"""Scoring under another law than the one that was met: `under` of a metric.

The same runs, in the same situations, but with another distribution in the place of reference and truth: a law, or a
point of the path from one to another, `p_s = (1 - s) p_0 + s p_1` in weights on the contexts. Beyond `s = 1`, where a
weight would be negative, it is 0, and the others are scaled to sum to 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, get_args

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.errors import BocuError, shown
from bocu.core.parameters import Integer, NotNegative, Parameters, Positive, Reading, validate
from bocu.core.rounds import Situation
from bocu.problems.base import Realisation
from bocu.robust.contexts.laws import LawParameters
from bocu.sweep.evaluation.discretised import weights_of

Met = Literal["reference", "truth"]
MOST_STEPS = 101


class StatedLaw(Parameters):
    """A law, under the key by which fingerprints find its code."""

    law: LawParameters = Field(description="the law: `{name, parameters}`, or a name alone (see `bocu list laws`)")


End = Met | StatedLaw


class _Path(Parameters):
    model_config = pydantic.ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    origin: End = Field(
        "reference", alias="from", description="p_0, where the path starts: a law, or what was met in the round"
    )
    to: End = Field(description="p_1, the law at s = 1; or `truth`, of a problem whose reference is another")


class LawPath(_Path):
    """Several laws to score under, evenly spaced along a path."""

    steps: Annotated[Integer, Field(ge=2, le=MOST_STEPS)] = Field(5, description="laws along the path, ends included")
    until: Positive = Field(1.0, description="the largest s; beyond 1 the path goes on in its direction")

    def points(self) -> "list[PathPoint]":
        """Return the laws along the path."""
        places = np.linspace(0.0, self.until, self.steps)
        return [PathPoint(origin=self.origin, to=self.to, s=float(s)) for s in places]


class PathPoint(_Path):
    """One law to score under: that at `s` of a path."""

    s: NotNegative = Field(1.0, description="how far along the path; at 1 the law is `to`")

    def applied(self, realisation: Realisation, situations: Sequence[Situation]) -> list[Situation]:
        """Return the situations with this law in the place of reference and truth.

        Args:
            realisation: the problem, with a finite set of contexts, or discretised.
            situations: its own. Those that share their distributions still do.

        Raises:
            BocuError: the law has no mass on the contexts, or other coordinates.
        """
        stated = [None if isinstance(end, str) else weights_of(realisation, end.law) for end in (self.origin, self.to)]
        found: dict[tuple[int, int], np.ndarray] = {}
        applied = []
        for situation in situations:
            start, end = (
                getattr(situation, str(met)) if weights is None else weights
                for met, weights in zip((self.origin, self.to), stated, strict=True)
            )
            key = id(start), id(end)
            if key not in found:
                found[key] = moved(start, end, self.s)
            applied.append(replace(situation, reference=found[key], truth=found[key]))
        return applied


def moved(start: np.ndarray, end: np.ndarray, s: float) -> np.ndarray:
    """Return `(1 - s) p_0 + s p_1`, clipped from below at 0 and normalised, of weights `(n,)`; at 0 `start` itself.

    Raises:
        BocuError: nothing is left.
    """
    if s == 0.0:
        return start
    weights = np.maximum((1.0 - s) * start + s * end, 0.0)
    if not weights.sum() > 0.0:
        raise BocuError(f"under: no weight is left at s = {s:g}")
    return weights / weights.sum()


def read_under(stated: object, where: str, reading: Reading) -> list[PathPoint]:
    """Return the laws that `under` of a metric states.

    Args:
        stated: a law, a path `{from, to, steps, until}` or a point of one `{from, to, s}`, or a list of laws.
        where: file and key, for error lines; ends in a dot.
        reading: how laws from outside are found.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed.
    """
    if isinstance(stated, list):
        if not stated:
            raise BocuError(f"{where[:-1]}: found []; a list of laws holds one or more")
        return [point for place, law in enumerate(stated) for point in read_under(law, f"{where}{place}.", reading)]
    if isinstance(stated, Mapping) and "name" not in stated:
        if "to" not in stated:
            raise BocuError(f"{where[:-1]}: found {shown(dict(stated))}; a path of laws needs the key 'to', a law")
        # Ends by themselves first: of two kinds of ends, a fault would be told of the wrong one.
        ends = {key: _end(stated[key], f"{where}{key}.", reading) for key in ("from", "to") if key in stated}
        if "s" in stated:
            return [validate(PathPoint, {**stated, **ends}, where, reading)]
        return validate(LawPath, {**stated, **ends}, where, reading).points()
    if not isinstance(stated, str | Mapping):
        raise BocuError(f"{where[:-1]}: found {shown(stated)}; allowed: a law, a path of laws, or a list of laws")
    return [PathPoint(to=_end(stated, where, reading))]


def _end(stated: object, where: str, reading: Reading) -> Any:
    if isinstance(stated, str):
        return stated if stated in get_args(Met) else _end({"name": stated}, where, reading)
    if not isinstance(stated, Mapping):
        raise BocuError(f"{where[:-1]}: found {shown(stated)}; allowed: a law, {' or '.join(get_args(Met))}")
    return validate(StatedLaw, {"law": stated.get("law", stated)}, where, reading)


def several(stated: object) -> bool:
    """Say whether `under` may state more laws than one, so that each gets a label of its own."""
    return isinstance(stated, list) or (isinstance(stated, Mapping) and "name" not in stated and "s" not in stated)


def read_point(specification: Mapping[str, object] | None) -> PathPoint | None:
    """Return the law of a metric's specification; None where it scores under what was met."""
    return None if specification is None else PathPoint.model_validate(specification)
