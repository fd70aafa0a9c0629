"""Acquisitions of ours that BoTorch's optimisers take."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch
from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.objective import PosteriorTransform
from botorch.acquisition.risk_measures import RiskMeasureMCObjective
from botorch.models.model import Model
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from bocu.core.errors import BocuError

if TYPE_CHECKING:
    from botorch.posteriors.gpytorch import GPyTorchPosterior


class RobustUpperConfidenceBound(AnalyticAcquisitionFunction):
    """A risk measure of the upper confidence bounds of a candidate's payoffs, `mu + sqrt_beta sigma`, over contexts.

    The rule of UCB-BOCU-2 (Tay et al., 2024) and, over an MMD set, of DRBO (Kirschner et al., 2020), for any decisions
    that `optimize_acqf` can search. Free of sampling: one posterior of `n_w` points and one solve a candidate.

    Args:
        model: one whose input transform spreads each candidate over the measure's contexts, such as
            `AppendFeatures(feature_set=contexts)`.
        measure: a `RobustMeasure`, or any other of BoTorch.
        sqrt_beta: multiplies the standard deviation (BoTorch's `beta` is its square); below 0 for lower bounds.
        posterior_transform: makes one output of several.

    Raises:
        UnsupportedError: a model of several outputs without a transform.
    """

    sqrt_beta: Tensor

    def __init__(
        self,
        model: Model,
        measure: RiskMeasureMCObjective,
        sqrt_beta: float | Tensor,
        posterior_transform: PosteriorTransform | None = None,
    ) -> None:
        super().__init__(model=model, posterior_transform=posterior_transform)
        self.measure = measure
        self.register_buffer("sqrt_beta", torch.as_tensor(sqrt_beta))

    @t_batch_mode_transform(expected_q=1)  # type: ignore[arg-type]
    def forward(self, X: Tensor) -> Tensor:
        """Values of candidates.

        Args:
            X: (batch_shape, 1, d) decisions.

        Returns:
            (batch_shape,).

        Raises:
            BocuError: the model does not spread a candidate over as many contexts as the measure has.
        """
        posterior = cast("GPyTorchPosterior", self.model.posterior(X, posterior_transform=self.posterior_transform))
        mean = posterior.mean
        if mean.shape[-2] != self.measure.n_w:
            raise BocuError(
                f"the model's posterior of one candidate has {mean.shape[-2]} points, the measure {self.measure.n_w} "
                "contexts: give the model the input transform AppendFeatures(feature_set=contexts)"
            )
        upper = mean + self.sqrt_beta * posterior.variance.clamp_min(1e-12).sqrt()
        return self.measure(upper, X).squeeze(-1)
