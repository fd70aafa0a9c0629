"""Optuna: a sampler whose trials are decisions, after which a context is met that nobody controls.

The objective decides by `trial.suggest_...`, meets the contexts and reports them by `trial.set_user_attr`, and returns
what it earned or cost. Needs the extra `optuna`; imported only when asked for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from optuna import Study
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import intersection_search_space
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from bocu.advice.suggestion import Suggestion
from bocu.core.errors import BocuError, shown
from bocu.core.plain import Plain
from bocu.interop.trials import NumberParameter, Parameter, Question, Trial, TrialNames, values_of

OUTCOME = "objective value"


class RobustSampler(BaseSampler):
    """Samples what `bocu.suggest` says of the finished trials; before there are enough, at random.

    Parameters that only some trials have are sampled at random, too. The same finished trials lead to the same
    decision, so that trials side by side may repeat each other.

    Args:
        contexts: names of the user attributes that hold what was met after deciding.
        forecast: of contexts, as `bocu.suggest` takes it; left out, the contexts of the trials. The attribute of that
            name may be set anew between trials.
        explore: whether to try what may yet turn out best, rather than what is best as far as is known.
        startup: finished trials with all contexts before which decisions are random; at least three.
        seed: of the random decisions.
        options: `objective`, `set`, `radius` and others of `bocu.suggest`.

    Raises:
        BocuError: there is no context, an option is unknown, the objective lacks its radius.
    """

    def __init__(
        self,
        contexts: Sequence[str],
        *,
        forecast: object = None,
        explore: bool = True,
        startup: int = 5,
        seed: int | None = None,
        **options: object,
    ) -> None:
        self.forecast = forecast
        self._question = Question(contexts, options)
        self._explore = explore
        self._startup = startup
        self._random = RandomSampler(seed=seed)

    def reseed_rng(self) -> None:
        self._random.reseed_rng()

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        if len(study.directions) > 1:
            raise BocuError(f"study: found {len(study.directions)} objectives; one is wanted")

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        return _decided(study)

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]) -> Plain:
        trials = self._finished(study)
        if not search_space or not self._question.answerable(trials, self._startup):
            return {}
        parameters = _parameters(search_space)
        return values_of(self._suggestion(study, parameters, trials, self._explore), parameters)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def recommend(self, study: Study) -> Suggestion:
        """Return the best decision as far as is known, which the best single trial is not: it met a lucky context.

        Of parameters on a log scale `decision` holds decimal logarithms, as `log10(NAME)`.

        Raises:
            BocuError: trials are too few, or hold what they must not.
        """
        return self._suggestion(study, _parameters(_decided(study)), self._finished(study), explore=False)

    def _suggestion(self, study: Study, parameters: list[Parameter], trials: list[Trial], explore: bool) -> Suggestion:
        minimise = study.direction == StudyDirection.MINIMIZE
        return self._question.answered(parameters, trials, OUTCOME, minimise, self.forecast, explore)

    @staticmethod
    def _finished(study: Study) -> list[Trial]:
        return [
            Trial(f"trial {trial.number}", trial.params, trial.user_attrs, trial.value)
            for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        ]


def _decided(study: Study) -> dict[str, BaseDistribution]:
    """Return the parameters that all finished trials have, without those of one value."""
    common = intersection_search_space(study.get_trials(deepcopy=False))
    return {name: distribution for name, distribution in common.items() if not distribution.single()}


def _parameters(distributions: Mapping[str, BaseDistribution]) -> list[Parameter]:
    return [_parameter(name, distribution) for name, distribution in distributions.items()]


def _parameter(name: str, distribution: BaseDistribution) -> Parameter:
    if isinstance(distribution, CategoricalDistribution):
        return TrialNames(name, distribution.choices)
    if isinstance(distribution, IntDistribution):
        return NumberParameter(name, distribution.low, distribution.high, True, distribution.log, distribution.step)
    if isinstance(distribution, FloatDistribution):
        return NumberParameter(name, distribution.low, distribution.high, False, distribution.log, distribution.step)
    raise BocuError(f"parameter '{name}': found {shown(distribution)}; allowed: floats, integers and categories")
