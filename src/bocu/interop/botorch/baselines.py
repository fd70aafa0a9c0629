"""What a BoTorch user would take otherwise: qLogNEI, qKG, MARS and qNEHVI over contexts, made of BoTorch's own parts.

Sources: qLogNEI: Ament et al. (2023); qKG over risk measures: Cakmak et al. (2020); MARS: Daulton et al. (2022);
qNEHVI: Daulton et al. (2021). Settings are those of these papers or BoTorch's defaults; what they leave open is said.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look, Size, Work, planning_only
from bocu.core.parameters import Integer, Number
from bocu.core.rounds import CONTINUOUS, SCALARISED
from bocu.interop.botorch.asking import (
    BATCHES,
    AcquisitionInputs,
    BotorchAlgorithm,
    BotorchParameters,
    RiskParameters,
    Scoring,
    scoring,
)
from bocu.interop.botorch.models import moments
from bocu.learners.acquisition.multistart import SearchParameters

if TYPE_CHECKING:
    from botorch.acquisition import AcquisitionFunction


class QLogNEI(BotorchAlgorithm[RiskParameters]):
    """The largest logarithm of the noisy expected improvement of a risk measure over contexts."""

    about = About(
        title="qLogNEI",
        summary="BoTorch's noisy expected improvement, in logarithms, of a risk measure over contexts",
        paper="Ament et al. 2023",
        look=Look("sky", "dash-dot-dot", "D"),
    )
    protocols = ("general", "data-driven", *CONTINUOUS, *SCALARISED)
    Parameters = RiskParameters

    @classmethod
    @planning_only
    def work(cls, parameters: RiskParameters, size: Size, rounds: int) -> Work:
        found = super().work(parameters, size, rounds)
        sampled = 0.0 if parameters.risk in ("ignored", "expectation") else found.counts["joint"]
        return replace(found, counts={**found.counts, "sampled": sampled})  # from the joint posterior of all contexts

    def _acquisition(self, situation: AcquisitionInputs) -> "AcquisitionFunction":
        from botorch.acquisition.logei import qLogNoisyExpectedImprovement

        return qLogNoisyExpectedImprovement(
            situation.model,
            situation.tried,
            objective=situation.scoring.objective,
            posterior_transform=situation.scoring.posterior_transform,
        )


class QKGParameters(RiskParameters):
    """How the future is imagined."""

    fantasies: Annotated[Integer, Field(ge=1, le=10_000)] = Field(
        10, description="payoffs that the next decision may meet, each in a context of its own"
    )
    search: SearchParameters = Field(
        SearchParameters(raw=128, restarts=4),
        description="how `optimize_acqf` maximises the acquisition function; less than others do (ours), as a value "
        "takes a model for every fantasy",
    )


class QKG(BotorchAlgorithm[QKGParameters]):
    """The largest expected gain, by one observation, of the best risk measure over contexts.

    The context of the observation is not chosen, but one of those that the measure is taken over, drawn at random.
    """

    about = About(
        title="qKG",
        summary="BoTorch's knowledge gradient of a risk measure over contexts",
        paper="Cakmak et al. 2020",
        look=Look("green", "dash-dot-dot", "s"),
    )
    protocols = CONTINUOUS + SCALARISED
    Parameters = QKGParameters

    def _acquisition(self, situation: AcquisitionInputs) -> "AcquisitionFunction":
        import torch
        from botorch.acquisition.knowledge_gradient import qKnowledgeGradient

        from bocu.interop.botorch.knowledge_gradient import ContextualKnowledgeGradient

        scoring, contexts, fantasies = situation.scoring, situation.contexts, self.parameters.fantasies
        current = scoring.of_mean(situation.model, situation.tried).max()
        if contexts is None:
            return qKnowledgeGradient(
                situation.model, num_fantasies=fantasies, objective=scoring.objective, current_value=current
            )
        # All contexts equally often, but for one, and in no order.
        met = torch.arange(fantasies) % len(contexts)
        return ContextualKnowledgeGradient(
            situation.model,
            contexts[torch.randperm(len(contexts))][met],
            objective=scoring.objective,
            posterior_transform=scoring.posterior_transform,
            current_value=current,
        )

    def _search_options(self) -> Mapping[str, Any]:
        # The best decision as of now, which fantasies start from, is worth no more ascents than the next one.
        search = self.parameters.search
        return {**BATCHES, "num_inner_restarts": search.restarts, "raw_inner_samples": search.raw}


class MARSParameters(BotorchParameters):
    """Which fraction of outcomes a decision is robust to."""

    alpha: Annotated[Number, Field(gt=0.0, lt=1.0)] = Field(
        0.1, description="fraction of the worst outcomes; BoTorch's alpha is 1 less this, 0.9 in the paper"
    )
    contexts: Annotated[Integer, Field(ge=1, le=10_000)] = Field(
        32, description="number n_w of contexts that the value at risk is taken over, new ones in every round"
    )
    samples: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(256, description="draws from the posterior")
    search: SearchParameters = Field(
        SearchParameters(raw=128, restarts=4),
        description="how `optimize_acqf` maximises the acquisition function; the published code has 1024 and 20, for "
        "minutes a round",
    )

    def scoring(self, contexts: int, weights: np.ndarray) -> Scoring:
        return scoring("var", self.alpha, contexts, weights)


class MARS(BotorchAlgorithm[MARSParameters]):
    """The largest noisy expected improvement of the value at risk of a Chebyshev scalarisation.

    Its weights are those that the round announces, uniform on the simplex as the paper's own; payoffs are normalised by
    the multivariate values at risk of the decisions tried, whose lowest is the reference point (ours; the paper is told
    one). With a single output it is the value at risk of that.
    """

    about = About(
        title="MARS",
        summary="noisy expected improvement of the value at risk of a random Chebyshev scalarisation",
        paper="Daulton et al. 2022",
        look=Look("purple", "solid", "X"),
    )
    protocols = SCALARISED
    Parameters = MARSParameters

    def _acquisition(self, situation: AcquisitionInputs) -> "AcquisitionFunction":
        import torch
        from botorch.acquisition.logei import qLogNoisyExpectedImprovement
        from botorch.sampling.normal import SobolQMCNormalSampler

        return qLogNoisyExpectedImprovement(
            situation.model,
            situation.tried,
            sampler=SobolQMCNormalSampler(torch.Size([self.parameters.samples])),
            objective=self._deployed(situation).objective,
        )

    def _deployed(self, situation: AcquisitionInputs) -> Scoring:
        from botorch.acquisition.multi_objective.multi_output_risk_measures import MARS as Objective

        if situation.payoffs.shape[1] == 1 or situation.contexts is None:
            return situation.scoring
        objective = Objective(1.0 - self.parameters.alpha, len(situation.contexts), situation.weights)
        objective.set_baseline_Y(situation.model, situation.tried)
        return Scoring(objective)


class QNEHVIParameters(BotorchParameters):
    """How the improvement is computed."""

    samples: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(128, description="draws from the posterior")
    search: SearchParameters = Field(
        SearchParameters(raw=128, restarts=4), description="how `optimize_acqf` maximises the acquisition function"
    )
    logarithm: bool = Field(
        True, description="whether its logarithm is maximised, as BoTorch advises (Ament et al. 2023), or it itself"
    )


class QNEHVI(BotorchAlgorithm[QNEHVIParameters]):
    """The largest noisy expected hypervolume improvement of the outputs' expectations over contexts.

    The reference point is inferred from the expectations of the decisions tried, by BoTorch's `infer_reference_point`.
    With a single output the improvement is that of the expectation. What it recommends has the best expectation at the
    weights announced.
    """

    about = About(
        title="qNEHVI",
        summary="noisy expected hypervolume improvement of expectations over contexts",
        paper="Daulton et al. 2021",
        look=Look("sky", "solid", "v"),
    )
    protocols = SCALARISED
    Parameters = QNEHVIParameters

    def _acquisition(self, situation: AcquisitionInputs) -> "AcquisitionFunction":
        import torch
        from botorch.acquisition.logei import qLogNoisyExpectedImprovement
        from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
        from botorch.acquisition.multi_objective.monte_carlo import qNoisyExpectedHypervolumeImprovement
        from botorch.acquisition.multi_objective.multi_output_risk_measures import MultiOutputExpectation
        from botorch.sampling.normal import SobolQMCNormalSampler
        from botorch.utils.multi_objective.hypervolume import infer_reference_point
        from botorch.utils.multi_objective.pareto import is_non_dominated

        assert situation.contexts is not None
        sampler = SobolQMCNormalSampler(torch.Size([self.parameters.samples]))
        if situation.payoffs.shape[1] == 1:
            transform = situation.scoring.posterior_transform
            return qLogNoisyExpectedImprovement(
                situation.model, situation.tried, sampler=sampler, posterior_transform=transform
            )
        objective = MultiOutputExpectation(len(situation.contexts))
        with torch.no_grad():
            expected = objective(moments(situation.model.posterior(situation.tried[:, None, :]))[0])[:, 0]
        improvement: Any = qNoisyExpectedHypervolumeImprovement
        if self.parameters.logarithm:
            improvement = qLogNoisyExpectedHypervolumeImprovement
        return improvement(
            situation.model,
            infer_reference_point(expected[is_non_dominated(expected)]),
            situation.tried,
            sampler=sampler,
            objective=objective,
            prune_baseline=True,
        )
