"""Our sets and objectives as BoTorch's risk measures, for its Monte Carlo acquisitions and for one in closed form.

A model's input transform (`AppendFeatures`, `InputPerturbation`) spreads each of q candidates over `n_w` contexts; a
risk measure turns the posterior samples of their payoffs into one number a candidate. BoTorch weighs its contexts
equally: its `Expectation` is SO under the uniform reference, `WorstCase` is RO, and `CVaR(alpha, n_w)` averages the
`k = n_w - ceil(n_w alpha) + 1` smallest samples. That is the CVaR of level `k / n_w`: more than `1 - alpha`, by
`1 / n_w` where `n_w alpha` is whole (`CVaR(0.9)` of 1 to 10 is 1.5, where the mean of the worst tenth is 1).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, cast

import torch
from botorch.acquisition.analytic import AnalyticAcquisitionFunction
from botorch.acquisition.objective import ExpectationPosteriorTransform, PosteriorTransform
from botorch.acquisition.risk_measures import RiskMeasureMCObjective
from botorch.models.model import Model
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from bocu.core.errors import BocuError
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.objectives.functions import Expectation, UncertaintyObjective

if TYPE_CHECKING:
    from botorch.posteriors.gpytorch import GPyTorchPosterior


class RobustMeasure(RiskMeasureMCObjective):
    """An uncertainty objective of `n_w` contexts, or the worst case over a set, as an objective of acquisitions.

    Solved in double precision whatever the samples' type; gradients reach the samples and, where they are asked for,
    the reference and the radius. Differentiable once. `torch.vmap` may batch samples and references, not radii.

    Args:
        objective: what to make of payoffs over contexts; a set stands for its worst-case expectation.
        reference: (n_w,) probabilities of the contexts, a tensor (a module's parameter or not); else give `n_w`, for
            equal ones. In single precision its sum is corrected for rounding.
        n_w: number of contexts.
        radius: () in place of the set's own, to be differentiated or learnt.
        preprocessing_function: from samples `(..., q n_w, m)` to payoffs `(..., q n_w)`; needed where m is more than 1.

    Raises:
        BocuError: neither or both of `reference` and `n_w`, a reference that is no distribution, a number of contexts
            that the set is not made for, a radius that the objective does not have.

    Examples:
        >>> from bocu.robust.ambiguity import TotalVariation
        >>> measure = RobustMeasure(TotalVariation(0.5), n_w=4)
        >>> measure(torch.tensor([[0.0], [1.0], [2.0], [3.0]]))
        tensor([0.7500])
    """

    reference: Tensor
    radius: Tensor | None

    def __init__(
        self,
        objective: UncertaintyObjective | AmbiguitySet,
        *,
        reference: Tensor | None = None,
        n_w: int | None = None,
        radius: Tensor | float | None = None,
        preprocessing_function: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        if reference is None:
            if n_w is None or n_w < 1:
                raise BocuError(f"n_w is {n_w}: give a number of contexts, 1 or more, or a reference")
            reference = torch.full((n_w,), 1.0 / n_w, dtype=torch.float64)
        elif (
            n_w is not None
            or not isinstance(reference, Tensor)  # type: ignore[redundant-expr]
            or reference.dim() != 1
        ):
            raise BocuError(f"reference is {reference!r}: it must be a tensor (n_w,), and n_w left out")
        super().__init__(n_w=len(reference), preprocessing_function=preprocessing_function)
        self.objective = UncertaintyObjective.dro(objective) if isinstance(objective, AmbiguitySet) else objective
        self._register("reference", reference)
        if radius is not None:
            if not self.objective.has_radius:
                raise BocuError(f"radius is {float(radius):g}: the values of {self.objective} depend on none")
            self._register("radius", torch.as_tensor(radius))
        else:
            self.radius = None
        self.objective(reference.new_zeros(self.n_w), _double(self.reference))  # whatever is wrong is told now

    def forward(self, samples: Tensor, X: Tensor | None = None) -> Tensor:
        """Values of the candidates.

        Args:
            samples: (sample_shape, batch_shape, q n_w, m) payoffs, the contexts of a candidate side by side.
            X: ignored.

        Returns:
            (sample_shape, batch_shape, q) in the samples' dtype, on their device.

        Raises:
            BocuError: samples that are not finite.
        """
        payoffs = self._prepare_samples(samples)
        reference = _double(self.reference)
        return self.objective.of_tensors(payoffs, reference, self.radius).to(samples.dtype)

    def posterior_transform(self) -> ExpectationPosteriorTransform:
        """The objective as a transform of posteriors, for acquisitions in closed form.

        Raises:
            BocuError: it is not linear in the payoffs, so that what it makes of a Gaussian is none.
        """
        if not isinstance(self.objective, Expectation):
            raise BocuError(f"{self.objective} is not linear in the payoffs: only SO has a posterior transform")
        return ExpectationPosteriorTransform(self.n_w, weights=_double(self.reference).detach()[:, None])

    def _register(self, name: str, value: Tensor) -> None:
        if isinstance(value, torch.nn.Parameter):
            self.register_parameter(name, value)
        else:
            self.register_buffer(name, value)


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


def tail_level(alpha: float, n_w: int) -> float:
    """Level of our CVaR that equals BoTorch's `CVaR(alpha, n_w)`: the share of samples that it averages.

    Raises:
        BocuError: alpha outside (0, 1].
    """
    if not 0.0 < alpha <= 1.0:
        raise BocuError(f"alpha is {alpha}: it must lie in (0, 1]")
    return (n_w - ceil(n_w * alpha) + 1) / n_w


def _double(reference: Tensor) -> Tensor:
    """A reference in double precision; one in a lower has lost digits of its sum, which it gets back."""
    if reference.dtype == torch.float64:
        return reference
    exact = reference.double()
    total = exact.sum()
    rounding = len(reference) * torch.finfo(reference.dtype).eps
    return torch.where((total - 1.0).abs() <= rounding, exact / total, exact)
