"""Ax: a generation node whose arms are decisions, after which a context is met that nobody controls.

The contexts are reported as metrics beside the objective's: ``client.complete_trial(3, {"profit": 2.1, "rain": 7})``.
Needs the extra `ax`; imported only when asked for. Acquisitions for BoTorch alone are in `bocu.interop.botorch`.
"""

from collections.abc import Sequence
from typing import Any

from ax.adapter.registry import Generators
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.parameter import ChoiceParameter, DerivedParameter, ParameterType, RangeParameter
from ax.core.parameter import Parameter as AxParameter
from ax.core.search_space import SearchSpace
from ax.core.trial_status import TrialStatus
from ax.core.types import TParameterization
from ax.generation_strategy.external_generation_node import ExternalGenerationNode
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.generation_strategy.generator_spec import GeneratorSpec
from ax.generation_strategy.transition_criterion import MinTrials

from bocu.advice.logs import FEWEST_ROWS
from bocu.advice.suggestion import Suggestion
from bocu.core.errors import BocuError, shown
from bocu.interop.trials import NumberParameter, Parameter, Question, Trial, TrialNames, of_values, values_of


class RobustNode(ExternalGenerationNode):
    """Generates what `bocu.suggest` says of the completed trials.

    Linear constraints between parameters are kept. The same completed trials lead to the same decision, which is no
    fault where it meets another context: duplicates are not refused, and candidates asked for at once are all alike.

    Args:
        contexts: names of the metrics that hold what was met after deciding.
        forecast: of contexts, as `bocu.suggest` takes it; left out, the contexts of the trials. The attribute of that
            name may be set anew between trials.
        explore: whether to try what may yet turn out best, rather than what is best as far as is known.
        name: of the node.
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
        name: str = "bocu",
        **options: object,
    ) -> None:
        super().__init__(name=name, should_deduplicate=False)
        self.forecast = forecast
        self._question = Question(contexts, options)
        self._explore = explore
        self._next: TParameterization = {}

    def update_generator_state(self, experiment: Experiment, data: Data) -> None:
        found = self._suggestion(experiment, data, self._explore)
        self._next = _completed(experiment.search_space, values_of(found, _parameters(experiment.search_space)))

    def get_next_candidate(self, pending_parameters: list[TParameterization]) -> TParameterization:
        return dict(self._next)

    def recommend(self) -> Suggestion:
        """Return the best decision as far as is known, which the best single trial is not: it met a lucky context.

        Of parameters on a log scale `decision` holds decimal logarithms, as `log10(NAME)`.

        Raises:
            BocuError: trials are too few, or hold what they must not.
        """
        return self._suggestion(self.experiment, self.experiment.lookup_data(), explore=False)

    def _suggestion(self, experiment: Experiment, data: Data, explore: bool) -> Suggestion:
        outcome, minimise = _objective(experiment)
        return self._question.answered(
            _parameters(experiment.search_space),
            _trials(experiment, data, outcome),
            outcome,
            minimise,
            self.forecast,
            explore,
            _constraints(experiment.search_space),
        )


def robust_strategy(node: RobustNode, *, startup: int = 5, seed: int | None = None) -> GenerationStrategy:
    """Return a strategy of Sobol points first and a node from then on.

    Args:
        node: what generates once there are trials to learn from.
        startup: completed trials before which decisions are Sobol points; at least three.
        seed: of the Sobol points.

    Raises:
        BocuError: `startup` is too small.
    """
    if startup < FEWEST_ROWS:
        raise BocuError(f"startup: found {startup}; allowed: {FEWEST_ROWS} or more")
    first = GenerationNode(
        name="Sobol",
        generator_specs=[GeneratorSpec(Generators.SOBOL, generator_kwargs={"seed": seed})],
        transition_criteria=[
            MinTrials(
                startup,
                transition_to=node.name,
                only_in_statuses=[TrialStatus.COMPLETED],
                use_all_trials_in_exp=True,
            )
        ],
    )
    return GenerationStrategy(name=f"Sobol+{node.name}", nodes=[first, node])


def _objective(experiment: Experiment) -> tuple[str, bool]:
    """Return the metric that is pursued, and whether it is minimised."""
    stated = experiment.optimization_config
    if stated is None or not stated.objective.is_single_objective or stated.all_constraints:
        raise BocuError(f"experiment: found {shown(stated)}; one metric is wanted as objective, without constraints")
    return stated.objective.metric_names[0], stated.objective.minimize


def _trials(experiment: Experiment, data: Data, outcome: str) -> list[Trial]:
    """Return the arms of completed trials that have a payoff, in the order of trials."""
    met: dict[tuple[int, str], dict[str, float]] = {}
    for row in data.df.itertuples():
        if experiment.trials[row.trial_index].status == TrialStatus.COMPLETED:
            met.setdefault((row.trial_index, row.arm_name), {})[row.metric_name] = row.mean
    return [
        Trial(f"trial {index}", experiment.arms_by_name[arm].parameters, metrics, metrics[outcome])
        for (index, arm), metrics in sorted(met.items())
        if outcome in metrics
    ]


def _parameters(space: SearchSpace) -> list[Parameter]:
    """Return what is decided.

    Raises:
        BocuError: some parameters depend on what others are.
    """
    if space.is_hierarchical:
        raise BocuError("search space: found parameters that depend on others; allowed: none")
    return [_parameter(one) for one in space.tunable_parameters.values() if not one.is_disabled]


def _parameter(stated: RangeParameter | ChoiceParameter) -> Parameter:
    if isinstance(stated, RangeParameter):
        whole = stated.parameter_type == ParameterType.INT
        return NumberParameter(stated.name, stated.lower, stated.upper, whole, stated.log_scale)
    if stated.is_ordered:  # a range with a step, among others
        return of_values(stated.name, stated.values)
    return TrialNames(stated.name, tuple(stated.values))


def _completed(space: SearchSpace, decided: TParameterization) -> TParameterization:
    """Return the values of all parameters: those decided, fixed, disabled and derived."""
    found: TParameterization = {}
    for name, parameter in space.parameters.items():
        if not isinstance(parameter, DerivedParameter):
            found[name] = parameter.cast(decided[name] if name in decided else _given(parameter))
    for name, parameter in space.parameters.items():
        if isinstance(parameter, DerivedParameter):
            found[name] = parameter.compute(parameters=found)
    return found


def _given(parameter: AxParameter) -> Any:
    return parameter.default_value if parameter.is_disabled else parameter.value


def _constraints(space: SearchSpace) -> list[str]:
    """Return the linear constraints between parameters as `bocu.suggest` reads them."""
    return [
        f"{' '.join(f'{weight:+.17g} * {name}' for name, weight in one.constraint_dict.items())} "
        f"{'=' if one.is_equality else '<='} {one.bound:.17g}"
        for one in space.parameter_constraints
    ]
