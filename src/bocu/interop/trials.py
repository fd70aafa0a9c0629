"""What adapters to other optimisers share: their parameters as decisions, their finished trials as a log.

`bocu.suggest` then has the next decision. No other optimiser is imported here.
"""

import inspect
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bocu.advice.asked import objective_of, read_radius, refuse_mixed_up, stated_set
from bocu.advice.choices import Decisions, OneOfNames, Range
from bocu.advice.logs import FEWEST_ROWS, LogTable, is_missing
from bocu.advice.suggesting import suggest
from bocu.advice.suggestion import Suggestion
from bocu.core.errors import BocuError, shown
from bocu.core.parameters import nearest
from bocu.core.plain import Plain

#: Arguments of `bocu.suggest` that an adapter fills in itself, or has no use for; all others it hands on.
_FILLED = {
    "log",
    "contexts",
    "outcome",
    "decisions",
    "forecast",
    "minimise",
    "explore",
    "time",
    "alternatives",
    "weights",
}
_DEFAULTS = {name: one.default for name, one in inspect.signature(suggest).parameters.items() if name not in _FILLED}
OPTIONS = sorted(_DEFAULTS)


@dataclass(frozen=True)
class Stepped(Range):
    """A number that lies whole steps above the lower bound."""

    step: float = 1.0  #: between two values that follow each other; it divides the range.

    def tidied(self, values: np.ndarray) -> np.ndarray:
        """Round values to whole steps, within the bounds."""
        steps = np.round((np.clip(values, self.low, self.high) - self.low) / self.step)
        return np.minimum(self.low + steps * self.step, self.high)

    def moved(self, value: float, share: float) -> np.ndarray:
        """Return the values either way: a share of the range, but at least one step."""
        return self.tidied(value + max(share * self.span, self.step) * np.array([-1.0, 1.0]))


@dataclass(frozen=True)
class NumberParameter:
    """A parameter that is a number between two bounds."""

    name: str
    low: float
    high: float
    whole: bool = False  #: whether its values are whole numbers.
    log: bool = False  #: whether it acts by its order of magnitude: what is decided is then its decimal logarithm.
    step: float | None = None  #: its values lie whole steps above the lower bound; None where they need not.

    @property
    def part(self) -> Range:
        """The part of a decision that it is."""
        if self.log:
            return Range(f"log10({self.name})", math.log10(self.low), math.log10(self.high))
        if self.step is not None and not (self.whole and self.step == 1):
            return Stepped(self.name, float(self.low), float(self.high), step=float(self.step))
        return Range(self.name, float(self.low), float(self.high), self.whole)

    def entry(self, value: Any) -> float | None:
        """Return what a log holds of a value, nothing of nothing."""
        if value is None:
            return None
        return math.log10(value) if self.log else float(value)

    def value(self, entry: Any) -> float | int:
        """Return the value of what was decided, within the bounds."""
        found = min(max(10.0**entry if self.log else float(entry), self.low), self.high)
        return round(found) if self.whole else float(found)


@dataclass(frozen=True)
class TrialNames:
    """A parameter that takes one of several values which are only told apart, of any type."""

    name: str
    values: tuple[Any, ...]  #: different ones, two or more.

    @property
    def part(self) -> OneOfNames:
        """The part of a decision that it is: values as text where that tells them apart, else numbered."""
        texts = tuple(map(str, self.values))
        if len(set(texts)) < len(texts) or any(is_missing(text) or text != text.strip() for text in texts):
            texts = tuple(f"{i}: {value!r}" for i, value in enumerate(self.values))
        return OneOfNames(self.name, texts)

    def entry(self, value: object) -> str:
        """Return what a log holds of a value, text of one that is not among them."""
        return self.part.levels[self.values.index(value)] if value in self.values else str(value)

    def value(self, entry: object) -> Any:
        """Return the value of what was decided."""
        return self.values[self.part.levels.index(entry)]


Parameter = NumberParameter | TrialNames


def of_values(name: str, values: Sequence[Any]) -> Parameter:
    """Return a parameter that takes one of several values in order: a number where they are evenly spaced ones."""
    if len(values) > 2 and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        steps = np.diff(values)
        if steps[0] > 0.0 and np.allclose(steps, steps[0]):
            whole = all(isinstance(value, int) for value in values)
            return NumberParameter(name, values[0], values[-1], whole, step=float(steps[0]))
    return TrialNames(name, tuple(values))


@dataclass(frozen=True)
class Trial:
    """One that is finished."""

    label: str  #: what error lines call it.
    values: Mapping[str, Any]  #: of parameters, by name.
    contexts: Mapping[str, Any]  #: that were met after deciding, by name; None or nothing where one was not reported.
    payoff: float  #: what it earned or cost.


@dataclass(frozen=True)
class Question:
    """What is asked of trials again and again.

    Raises:
        BocuError: there is no context, an option is unknown, the objective lacks its radius.
    """

    contexts: Sequence[str]  #: names of what is met after deciding.
    #: further arguments of `bocu.suggest`, of those that `OPTIONS` names.
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.contexts, str):
            raise BocuError(f"contexts: found {shown(self.contexts)}; a list of names is wanted")
        for name in self.options:
            if name not in OPTIONS:
                raise BocuError(f"{name}: no option of an adapter; {nearest(name, OPTIONS)}")
        stated = {**_DEFAULTS, **self.options}
        radius = read_radius(stated["radius"])
        objective = objective_of(stated["objective"], radius)
        refuse_mixed_up(Decisions(()), tuple(self.contexts), (), objective)
        stated_set(objective, stated["set"], radius, stated["keys"] or {}, stated["alpha"])

    def answerable(self, trials: Sequence[Trial], startup: int) -> bool:
        """Whether trials are enough: `startup` or more with all contexts, three at least, and not all of one payoff.

        Warns where there are as many and none reports one of the contexts; of equal warnings Python shows the first.
        """
        enough = max(startup, FEWEST_ROWS)
        for name in self._unreported(trials) if len(trials) >= enough else ():
            warnings.warn(f"no trial reports the context '{name}': decisions are random until one does", stacklevel=2)
        whole = [t for t in trials if not any(is_missing(t.contexts.get(name)) for name in self.contexts)]
        return len(whole) >= enough and len({trial.payoff for trial in whole}) > 1

    def answered(
        self,
        parameters: Sequence[Parameter],
        trials: Sequence[Trial],
        outcome: str,
        minimise: bool,
        forecast: object = None,
        explore: bool = False,
        constraints: Sequence[str] = (),
    ) -> Suggestion:
        """Return the suggestion that finished trials lead to.

        Args:
            parameters: what is decided.
            trials: what was tried, in the order of time.
            outcome: what the payoff is called.
            minimise: whether it is a cost.
            forecast: of contexts, as `bocu.suggest` takes it; left out, the contexts of the trials.
            explore: whether to try what may yet turn out best.
            constraints: beside those of the options.

        Raises:
            BocuError: trials are too few, or hold what they must not.
        """
        if missing := self._unreported(trials):
            raise BocuError(f"trials: none of {len(trials)} reports the context '{missing[0]}'")
        stated = (*self.options.get("constraints", ()), *constraints)
        parts = tuple(parameter.part for parameter in parameters)
        if stated and any(isinstance(part, Stepped) for part in parts):
            raise BocuError(f"constraints: found {shown(stated[0])}; allowed: none where a parameter has steps")
        columns = {
            parameter.part.name: [parameter.entry(trial.values.get(parameter.name)) for trial in trials]
            for parameter in parameters
        }
        columns |= {name: [trial.contexts.get(name) for trial in trials] for name in self.contexts}
        columns[outcome] = [trial.payoff for trial in trials]
        asked = {**self.options, "constraints": stated}
        return suggest(
            LogTable("trials", columns, [trial.label for trial in trials]),
            decisions=Decisions(parts),
            contexts=self.contexts,
            outcome=[outcome],
            minimise=minimise,
            forecast=forecast,
            explore=explore,
            **asked,
        )

    def _unreported(self, trials: Sequence[Trial]) -> list[str]:
        return [name for name in self.contexts if all(is_missing(trial.contexts.get(name)) for trial in trials)]


def values_of(suggestion: Suggestion, parameters: Sequence[Parameter]) -> Plain:
    """Return the values of parameters, by name, that are suggested."""
    return {one.name: one.value(suggestion.decision[one.part.name]) for one in parameters}


def random_values(parameters: Sequence[Parameter], generator: np.random.Generator) -> Plain:
    """Return values of parameters, by name, drawn uniformly, on a log scale by orders of magnitude."""
    return {one.name: one.value(one.part.shown(one.part.at(generator.random(1))[0])) for one in parameters}
