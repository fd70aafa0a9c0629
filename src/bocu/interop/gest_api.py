"""gest-api: a generator of decisions after which a context is met that nobody controls, for Xopt and whoever asks so.

Contexts are the `ContextualVariable`s of the VOCS, and stand in the results that are ingested; points have none. Needs
the package `gest-api`, which the extra `xopt` brings; imported only when asked for.
"""

import math
from typing import Any

import numpy as np
from gest_api import Generator
from gest_api.vocs import VOCS, BaseVariable, ContextualVariable, DiscreteVariable, MaximizeObjective, MinimizeObjective

from bocu.advice.logs import is_missing
from bocu.advice.suggestion import Suggestion
from bocu.core.errors import shown
from bocu.interop.trials import NumberParameter, Parameter, Question, Trial, of_values, random_values, values_of


class RobustGenerator(Generator):
    """Suggests what `bocu.suggest` says of the results; before there are enough, uniform draws.

    The same results lead to the same decision, so that points asked for at once are all alike, which is no fault where
    they meet other contexts. Results without a payoff do not count.

    Args:
        vocs: continuous variables within bounds and discrete ones, contextual ones, and one objective.
        forecast: of contexts, as `bocu.suggest` takes it; left out, the contexts of the results. The attribute of that
            name may be set anew between points.
        explore: whether to try what may yet turn out best, rather than what is best as far as is known.
        startup: results with all contexts before which decisions are random; at least three.
        seed: of the random decisions.
        options: `objective`, `set`, `radius` and others of `bocu.suggest`.

    Raises:
        ValueError: the VOCS asks for something else.
        BocuError: there is no context, an option is unknown, the objective lacks its radius.
    """

    def __init__(
        self,
        vocs: VOCS,
        *,
        forecast: object = None,
        explore: bool = True,
        startup: int = 5,
        seed: int | None = None,
        **options: object,
    ) -> None:
        super().__init__(vocs)
        self.vocs = vocs
        self.forecast = forecast
        contexts = [name for name, one in vocs.variables.items() if isinstance(one, ContextualVariable)]
        self._question = Question(contexts, options)
        self._parameters = [_parameter(name, one) for name, one in vocs.variables.items() if name not in contexts]
        self._explore = explore
        self._startup = startup
        self._world = np.random.default_rng(seed)
        self._trials: list[Trial] = []

    def _validate_vocs(self, vocs: VOCS) -> None:
        pursued = list(vocs.objectives.values())
        if len(pursued) != 1 or not isinstance(pursued[0], MinimizeObjective | MaximizeObjective) or vocs.constraints:
            raise ValueError(
                f"VOCS: found {shown(vocs)}; one objective is wanted, to minimise or maximise, no constraints"
            )
        for name, one in vocs.variables.items():
            if not isinstance(one, DiscreteVariable | ContextualVariable) and not all(map(math.isfinite, one.domain)):
                raise ValueError(f"variable '{name}': found bounds {one.domain}; allowed: finite ones")

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        count = 1 if num_points is None else num_points
        if self._question.answerable(self._trials, self._startup):
            points = [values_of(self._suggestion(self._explore), self._parameters)] * count
        else:
            points = [random_values(self._parameters, self._world) for _ in range(count)]
        constants = {name: one.value for name, one in self.vocs.constants.items()}
        return [{**point, **constants} for point in points]

    def ingest(self, results: list[dict[str, Any]]) -> None:
        (outcome,) = self.vocs.objectives
        for one in results:
            if not is_missing(one.get(outcome)):
                self._trials.append(Trial(f"result {len(self._trials)}", one, one, one[outcome]))

    def recommend(self) -> Suggestion:
        """Return the best decision as far as is known, which the best single result is not: it met a lucky context.

        Raises:
            BocuError: results are too few, or hold what they must not.
        """
        return self._suggestion(explore=False)

    def _suggestion(self, explore: bool) -> Suggestion:
        ((outcome, pursued),) = self.vocs.objectives.items()
        minimise = isinstance(pursued, MinimizeObjective)
        return self._question.answered(self._parameters, self._trials, outcome, minimise, self.forecast, explore)


def _parameter(name: str, stated: BaseVariable) -> Parameter:
    if isinstance(stated, DiscreteVariable):
        return of_values(name, sorted(stated.values, key=lambda value: (isinstance(value, str), value)))
    whole = np.issubdtype(np.dtype(stated.dtype), np.integer)
    low, high = stated.domain
    return NumberParameter(name, low, high, whole)
