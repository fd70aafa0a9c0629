"""A BoTorch model of decisions and contexts as one of decisions alone, by a risk measure over a few contexts.

BoTorch's own parts (Cakmak et al., 2020): the model appends every one of n_w contexts to a decision (`AppendFeatures`),
and a `RiskMeasureMCObjective`, or for the expectation of one payoff a posterior transform, makes one number of the n_w
payoffs. All contexts count alike. Payoffs are maximised: `alpha` is the fraction of the worst outcomes, 1 - alpha of
BoTorch's, whose CVaR averages the n_w - ceil(n_w (1 - alpha)) + 1 worst.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bocu.core.rounds import Round
from bocu.interop.botorch.models import moments

if TYPE_CHECKING:
    from botorch.acquisition.objective import MCAcquisitionObjective, PosteriorTransform
    from botorch.models.model import Model
    from torch import Tensor

Risk = Literal["expectation", "var", "cvar", "worst-case", "ignored"]


@dataclass(frozen=True)
class Scoring:
    """What one number of a decision is.

    Attributes:
        objective: of samples of the payoffs, (..., q n_w, outputs) -> (..., q); None where the transform suffices.
        posterior_transform: of the posterior itself; None beside an objective.
    """

    objective: "MCAcquisitionObjective | None" = None
    posterior_transform: "PosteriorTransform | None" = None

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


def announced_weights(round: Round, outputs: int) -> np.ndarray:
    """Return the weights announced, shape (outputs,); all alike where there are none."""
    return np.full(outputs, 1.0 / outputs) if round.weights is None else round.weights
