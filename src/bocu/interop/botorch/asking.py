"""Algorithms whose next decision maximises a BoTorch acquisition function by `optimize_acqf`.

Source: Balandat et al. (2020). A model is fitted to all observations, contexts among its inputs, and an acquisition
function of decisions is made from it over n_w contexts: drawn from a kernel density estimate of those met, or these
themselves, or drawn from the reference that is announced. Everything that torch draws is seeded from the algorithm's
stream, and nothing but the observations is kept: a run that is killed goes on bit for bit, on one thread.

How a model of decisions and contexts becomes one of decisions alone is by BoTorch's own parts (Cakmak et al., 2020): it
appends every one of n_w contexts to a decision (`AppendFeatures`), and a `RiskMeasureMCObjective`, or for the
expectation of one payoff a posterior transform, makes one number of the n_w payoffs. All contexts count alike. Payoffs
are maximised: `alpha` is the fraction of the worst outcomes, 1 - alpha of BoTorch's, whose CVaR averages the
n_w - ceil(n_w (1 - alpha)) + 1 worst.
"""

import copy
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.about import Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.loading import naming_extras
from bocu.core.parameters import Integer, Number, Parameters
from bocu.core.plain import State
from bocu.core.rounds import Context, Decision, Description, FiniteDomain, Round
from bocu.core.ties import first_best
from bocu.interop.botorch.models import compile_nothing, draw_seed, fitted, moments, seeded
from bocu.learners.acquisition.multistart import SearchParameters
from bocu.learners.algorithms.base import Algorithm, announced, plain_round
from bocu.learners.algorithms.botorch_model import TORCH_NUMBERS, BotorchModelParameters
from bocu.learners.algorithms.continuous_base import Scaling
from bocu.robust.contexts.estimates import KernelDensity, draw

if TYPE_CHECKING:
    from botorch.acquisition import AcquisitionFunction
    from botorch.acquisition.objective import MCAcquisitionObjective, PosteriorTransform
    from botorch.models.model import Model
    from torch import Tensor


Risk = Literal["expectation", "var", "cvar", "worst-case", "ignored"]


@dataclass(frozen=True)
class Scoring:
    """What one number of a decision is."""

    #: of samples of the payoffs, (..., q n_w, outputs) -> (..., q); None where the transform suffices.
    objective: "MCAcquisitionObjective | None" = None
    posterior_transform: "PosteriorTransform | None" = None  #: of the posterior itself; None beside an objective.

    def of_mean(self, model: "Model", decisions: "Tensor") -> "Tensor":
        """Return the number (t,) of the posterior mean of decisions (t, Dx)."""
        import torch

        with torch.no_grad():
            # Decision by decision: jointly their covariances would be worked out, too.
            posterior: Any = model.posterior(decisions[:, None, :], posterior_transform=self.posterior_transform)
            mean = moments(posterior)[0]
            found: Tensor = mean[..., 0] if self.objective is None else self.objective(mean)
        return found[:, 0]


def over(model: "Model", contexts: np.ndarray) -> None:
    """Let a fitted model of decisions and contexts take decisions alone, each in all contexts (n_w, Dc)."""
    import torch
    from botorch.models.model import ModelList
    from botorch.models.transforms.input import AppendFeatures, ChainedInputTransform

    for part in model.models if isinstance(model, ModelList) else [model]:
        append = AppendFeatures(feature_set=torch.tensor(contexts))
        own = getattr(part, "input_transform", None)
        append.eval()
        # What the model itself does to its inputs comes after.
        part.input_transform = append if own is None else ChainedInputTransform(contexts=append, own=own)


def scoring(risk: Risk, alpha: float, contexts: int, weights: np.ndarray) -> Scoring:
    """Return how decisions are scored.

    Args:
        risk: the measure over contexts; "ignored": the model knows of none.
        alpha: fraction of the worst outcomes, of `var` and `cvar`.
        contexts: their number n_w.
        weights: of the outputs, which are summed by them, shape (outputs,).
    """
    import torch
    from botorch.acquisition.objective import ExpectationPosteriorTransform, LinearMCObjective
    from botorch.acquisition.risk_measures import CVaR, Expectation, VaR, WorstCase

    summed = LinearMCObjective(torch.tensor(weights)) if len(weights) > 1 else None
    if risk == "ignored":
        return Scoring(summed)
    if risk == "expectation" and summed is None:
        return Scoring(posterior_transform=ExpectationPosteriorTransform(contexts))
    if risk == "expectation":
        return Scoring(Expectation(contexts, summed))
    if risk == "worst-case":
        return Scoring(WorstCase(contexts, summed))
    kind = {"var": VaR, "cvar": CVaR}[risk]
    return Scoring(kind(1.0 - alpha, contexts, summed) if alpha < 1.0 else Expectation(contexts, summed))


#: Decisions that are valued together, as covariances with all that were tried, in all contexts, take memory; and the
#: most steps of an ascent. Those of MARS's published code, for all.
BATCHES: Mapping[str, Any] = {"init_batch_limit": 32, "batch_limit": 5, "maxiter": 200}


class BotorchParameters(Parameters):
    """Model, contexts and search."""

    model: BotorchModelParameters = Field(
        "botorch-default",  # type: ignore[assignment]  # validated as what stands in a file
        description="the BoTorch model of payoffs: `botorch-default`, or `{botorch: ...}`",
    )
    contexts: Annotated[Integer, Field(ge=1, le=10_000)] = Field(
        10, description="number n_w of contexts that a decision is judged over, new ones in every round"
    )
    estimate: Literal["kde", "empirical"] = Field(
        "kde",
        description="where they come from in a box: a kernel density estimate of the contexts met, or these "
        "themselves (without replacement, all where there are fewer); on a finite set: the reference announced",
    )
    search: SearchParameters = Field(
        SearchParameters(raw=512, restarts=10), description="how `optimize_acqf` maximises the acquisition function"
    )

    @property
    def ignores_contexts(self) -> bool:
        """Whether the model is of decisions alone."""
        return False

    def scoring(self, contexts: int, weights: np.ndarray) -> Scoring:
        """Return what one number of a decision is, over so many contexts, at weights of the outputs (outputs,)."""
        return scoring("expectation", 1.0, contexts, weights)


class RiskParameters(BotorchParameters):
    """Model, contexts, search, and a risk measure over the contexts."""

    risk: Risk = Field(
        "expectation",
        description="measure over contexts that is optimised: `expectation`, `var` (value at risk), `cvar`, "
        "`worst-case`; `ignored`: the model is of decisions alone, the context is noise to it",
    )
    alpha: Annotated[Number, Field(gt=0.0, le=1.0)] = Field(
        0.3, description="fraction of the worst outcomes, of `var` and `cvar`; BoTorch's alpha is 1 less this"
    )

    def unused(self) -> Mapping[str, str]:
        if self.ignores_contexts:
            return dict.fromkeys(("alpha", "contexts", "estimate"), "the context is ignored")
        return {} if self.risk in ("var", "cvar") else {"alpha": f"the measure is '{self.risk}'"}

    @property
    def ignores_contexts(self) -> bool:
        return self.risk == "ignored"

    def scoring(self, contexts: int, weights: np.ndarray) -> Scoring:
        return scoring(self.risk, self.alpha, contexts, weights)


@dataclass(frozen=True)
class AcquisitionInputs:
    """What an acquisition function is made from; decisions lie in the unit cube, tensors are float64."""

    model: "Model"  #: fitted; takes decisions alone, each in all n_w contexts, unless these are ignored.
    tried: "Tensor"  #: decisions told, shape (t, Dx).
    payoffs: "Tensor"  #: told, shape (t, outputs).
    contexts: "Tensor | None"  #: shape (n_w, Dc); None where they are ignored.
    weights: "Tensor"  #: of the outputs, shape (outputs,).
    scoring: Scoring  #: the measure over contexts of the weighted sum.
    bounds: "Tensor"  #: lower and upper corners, shape (2, Dx).


Stated = TypeVar("Stated", bound=Parameters)
Asking = TypeVar("Asking", bound=BotorchParameters)


class RebuiltAlgorithm(Algorithm[Stated]):
    """An algorithm that is rebuilt in each round from all observations, in the unit cube.

    Attributes:
        decisions: the space of decisions and the unit cube.
        contexts: likewise.
        inputs: decisions told, then contexts met, shape (t, Dx + Dc).
        payoffs: shape (t, outputs).

    Raises:
        BocuError: decisions or contexts are neither finite nor in a bounded box.
    """

    def __init__(
        self, description: Description, objective: Any, parameters: Stated, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        for kind, domain in (("decisions", description.decisions), ("contexts", description.contexts)):
            if isinstance(domain, FiniteDomain):
                continue
            if not np.isfinite([domain.lower, domain.upper]).all():
                raise BocuError(f"{kind} in a bounded box are wanted; found one that is not bounded")
        self.decisions, self.contexts = Scaling(description.decisions), Scaling(description.contexts)
        self.inputs = np.empty((0, description.decisions.dimension + description.contexts.dimension))
        self.payoffs = np.empty((0, description.outputs))
        self._round: Round | None = None

    def ask(self, round: Round) -> Decision:
        """Choose the next decision, of finitely many the one nearest to what is found in their box.

        Before any observation it is a uniform draw.
        """
        self._round = round
        if len(self.payoffs):
            with naming_extras():
                point = self._proposed(round)
        else:
            point = self.generator.random(self.description.decisions.dimension)
        return self.decisions.member(np.clip(point, 0.0, 1.0), round.available)

    def tell(self, decision: Decision, context: Context, value: Any) -> None:
        row = np.concatenate([self.decisions.inwards(decision), self.contexts.inwards(context)])
        payoff = np.atleast_1d(np.asarray(value, dtype=float))
        if not (np.isfinite(row).all() and np.isfinite(payoff).all()):
            raise BocuError(f"observation: found {row.tolist()} with value {value}; finite numbers are wanted")
        self.inputs = np.concatenate([self.inputs, row[None]])
        self.payoffs = np.concatenate([self.payoffs, payoff[None]])

    def recommend(self) -> Decision:
        """Return the decision to deploy, at what was announced last; before any observation the lower corner."""
        round, best = self._round or Round(t=1), np.zeros(self.description.decisions.dimension)
        if len(self.payoffs):
            with naming_extras():  # looking at what is known leaves the next decision as it is
                best = np.clip(self._best(round, copy.deepcopy(self.generator)), 0.0, 1.0)
        return self.decisions.member(best, round.available)

    @abstractmethod
    def _proposed(self, round: Round) -> np.ndarray:
        """Return what is tried next, shape (Dx,)."""

    @abstractmethod
    def _best(self, round: Round, generator: np.random.Generator) -> np.ndarray:
        """Return the decision to deploy, shape (Dx,)."""

    def state(self) -> State:
        state: State = {"inputs": self.inputs.copy(), "payoffs": self.payoffs.copy()}
        return state if self._round is None else {**state, "round": plain_round(self._round)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.inputs = np.array(state["inputs"], dtype=float).reshape(-1, self.inputs.shape[1])
        self.payoffs = np.array(state["payoffs"], dtype=float).reshape(-1, self.payoffs.shape[1])
        self._round = announced(state.get("round"))

    def reinstate(self, report: Mapping[str, object], round: Round) -> None:
        self._round = round


class BotorchAlgorithm(RebuiltAlgorithm[Asking]):
    """The largest value of an acquisition function, which subclasses make.

    It recommends the best of the decisions tried, by the measure of the posterior mean over such contexts as the next
    decision would be chosen over.
    """

    _latest: "tuple[tuple[int, int], Model] | None" = None

    @classmethod
    @planning_only
    def work(cls, parameters: Any, size: Size, rounds: int) -> Work:
        points = 1 if parameters.ignores_contexts else parameters.contexts
        ascents = 0.3 + 0.7 * parameters.search.restarts / 10
        joint = (points * rounds) ** 2 * rounds / 3  # of the decisions tried, in all contexts
        held = TORCH_NUMBERS + 10 * (points * rounds) ** 2
        return Work({"round": ascents * rounds, "joint": joint}, numbers=held)

    def _proposed(self, round: Round) -> np.ndarray:
        situation, seed = self._situation(round, self.generator)
        with seeded(seed):
            return self._maximise(self._acquisition(situation), situation)

    @abstractmethod
    def _acquisition(self, situation: AcquisitionInputs) -> "AcquisitionFunction":
        """Make the acquisition function; what torch draws is seeded."""

    def _maximise(self, acquisition: "AcquisitionFunction", situation: AcquisitionInputs) -> np.ndarray:
        from botorch.optim import optimize_acqf

        search = self.parameters.search
        best, _ = optimize_acqf(
            acquisition,
            situation.bounds,
            q=1,
            num_restarts=search.restarts,
            raw_samples=search.raw,
            options=dict(self._search_options()),
        )
        return best[0].numpy()

    def _search_options(self) -> Mapping[str, Any]:
        """Return what `optimize_acqf` is told besides, of how starts are found and how many climb together."""
        return BATCHES

    def _best(self, round: Round, generator: np.random.Generator) -> np.ndarray:
        situation, seed = self._situation(round, generator)
        with seeded(seed):
            values = self._deployed(situation).of_mean(situation.model, situation.tried)
        return situation.tried[first_best(values.detach().numpy())].numpy()

    def _deployed(self, situation: AcquisitionInputs) -> Scoring:
        """Return what the decision to deploy is the best by."""
        return situation.scoring

    def _situation(self, round: Round, generator: np.random.Generator) -> tuple[AcquisitionInputs, int]:
        """Draw contexts and seeds, fit the model, and return what is known, with the seed of all that follows."""
        import torch

        compile_nothing()
        fit_seed, seed = draw_seed(generator), draw_seed(generator)
        ignored = self.parameters.ignores_contexts
        contexts = None if ignored else self._contexts(round, generator)
        key = len(self.payoffs), fit_seed
        width = self.description.decisions.dimension
        if self._latest is None or self._latest[0] != key:
            with seeded(fit_seed):
                inputs = self.inputs[:, :width] if ignored else self.inputs
                self._latest = key, fitted(self.parameters.model, inputs, self.payoffs)
        model = copy.deepcopy(self._latest[1])  # which contexts it is over changes with the round
        outputs = self.payoffs.shape[1]
        weights = np.full(outputs, 1.0 / outputs) if round.weights is None else round.weights
        if contexts is not None:
            over(model, contexts)
        known = AcquisitionInputs(
            model=model,
            tried=torch.tensor(self.inputs[:, :width]),
            payoffs=torch.tensor(self.payoffs),
            contexts=None if contexts is None else torch.tensor(contexts),
            weights=torch.tensor(weights),
            scoring=self.parameters.scoring(1 if contexts is None else len(contexts), weights),
            bounds=torch.tensor([[0.0] * width, [1.0] * width], dtype=torch.float64),
        )
        return known, seed

    def _contexts(self, round: Round, generator: np.random.Generator) -> np.ndarray:
        """Return the contexts that the measure is taken over, in the unit cube (n_w, Dc)."""
        wanted = self.parameters.contexts
        space = self.description.contexts
        if isinstance(space, FiniteDomain):
            reference = np.full(space.size, 1.0 / space.size) if round.reference is None else round.reference
            # Equally spaced uniforms: every context comes as often as its probability says, but for one.
            indices = draw(reference, (np.arange(wanted) + generator.random()) / wanted)
            return np.stack([self.contexts.inwards(int(index)) for index in indices])
        met = self.inputs[:, self.description.decisions.dimension :]
        if self.parameters.estimate == "empirical":
            return met[generator.permutation(len(met))[:wanted]]
        return KernelDensity.fit(met, np.zeros(met.shape[1]), np.ones(met.shape[1])).sample(generator, wanted)
