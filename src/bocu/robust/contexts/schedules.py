"""The law of contexts round by round: a stated law, and the shift that changes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import canonical_json
from bocu.robust.contexts.laws import JointLaw
from bocu.robust.contexts.shifts import Shift, ShiftParameters
from bocu.robust.contexts.stated_laws import LawParameters

MOST_OUTSIDE = 0.5
"""Share of a shifted law's mass beyond one end of the box in a coordinate: where more is, it has left the box."""

_CHECKED = 100
"""Rounds that are looked at before a sweep starts, evenly spread where there are more."""

Made = TypeVar("Made")


class Schedule:
    """The laws of all rounds. What two rounds share is made once, and is the same object in both.

    Args:
        base: the law that is stated.
        shift: what changes it.
        dimension: number of coordinates of a context, Dc.
    """

    def __init__(self, base: LawParameters, shift: ShiftParameters, dimension: int) -> None:
        self.base = base
        self.dimension = dimension
        self._stated = shift
        self._base_text = _text(base)
        self._rounds: dict[int, tuple[LawParameters, str]] = {}
        self._laws: dict[str, JointLaw] = {}
        self._weights: dict[tuple[str, int], np.ndarray] = {}

    @cached_property
    def shift(self) -> Shift:
        """What changes the law."""
        made: Shift = self._stated.made()
        return made

    def stated(self, t: int) -> LawParameters:
        """Return the law that the context of round `t` comes from, as a file would state it."""
        return self._round(t)[0]

    def key(self, t: int) -> str:
        """Return what two rounds share if their laws are equal."""
        return self._round(t)[1]

    def stands(self, t: int) -> bool:
        """Say whether the law of round `t` is the one that is stated."""
        return self.key(t) == self._base_text

    def law(self, t: int) -> JointLaw:
        """Return the law that the context of round `t` comes from.

        Raises:
            BocuError: there is none, it has another number of coordinates, or it leaves the box.
        """
        return self._law(*self._round(t), t)

    def weights(self, t: int, points: np.ndarray) -> np.ndarray:
        """Return its weights `(contexts,)` on the context points `(contexts, Dc)`.

        Raises:
            BocuError: as `law`, or it has no mass at any of them.
        """
        return self._weighed(*self._round(t), t, points)

    def announced(self, t: int, points: np.ndarray) -> np.ndarray:
        """Return the weights `(contexts,)` of the law that is told before round `t`.

        Raises:
            BocuError: as `weights`.
        """
        told = self.shift.announced(self.base, t)
        return self._weighed(told, _text(told), t, points)

    def check(self, iterations: int) -> None:
        """Refuse a shift that does not go with so many rounds.

        Raises:
            BocuError: it begins after the last round, or there is no law for some round.
        """
        if reason := self.shift.unfit(iterations):
            raise BocuError(f"shift: '{self._stated.name}': {reason}")
        for t in np.unique(np.linspace(1, iterations, min(iterations, _CHECKED)).astype(int)):
            self.law(int(t))

    def _round(self, t: int) -> tuple[LawParameters, str]:
        if t not in self._rounds:
            stated = self.shift.law(self.base, t)
            self._rounds[t] = stated, _text(stated)
        return self._rounds[t]

    def _law(self, stated: LawParameters, text: str, t: int) -> JointLaw:
        if text not in self._laws:
            law = _said(t, lambda: stated.over(self.dimension))
            if text != self._base_text:
                _refuse_outside(law, t)
            self._laws[text] = law
        return self._laws[text]

    def _weighed(self, stated: LawParameters, text: str, t: int, points: np.ndarray) -> np.ndarray:
        self._law(stated, text, t)
        key = text, len(points)
        if key not in self._weights:
            self._weights[key] = _said(t, lambda: stated.weights_on(points))
        return self._weights[key]


def _refuse_outside(law: JointLaw, t: int) -> None:
    outside = law.atoms()
    coordinate, end = np.unravel_index(int(outside.argmax()), outside.shape)
    share = outside[coordinate, end]
    if share > MOST_OUTSIDE:
        place = f"{'above 1' if end else 'below 0'} in coordinate {coordinate + 1}"
        raise BocuError(f"shift: in round {t} the law leaves the box: {100 * share:.0f} % of it lie {place}")


def _said(t: int, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except BocuError as error:
        raise BocuError(f"shift: round {t}: {error}") from None


def _text(stated: LawParameters) -> str:
    return canonical_json(stated.model_dump(mode="json"))
