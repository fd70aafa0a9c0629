"""Torch in, torch out: worst cases with envelope gradients. Imported only once a tensor has come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from bocu.robust.ambiguity.base import AmbiguitySet, WorstCase, worst_case
from bocu.robust.ambiguity.checks import Floats, real_tensor
from bocu.robust.ambiguity.derivatives import In, value_and_slope
from bocu.robust.ambiguity.sampled import SampledWorstCase, sampled_worst_case


def worst_case_of_tensor(payoffs: torch.Tensor, reference: object, ambiguity_set: AmbiguitySet) -> WorstCase:
    """`worst_case` for a tensor of payoffs `(..., n)`, in float64 on the payoffs' device.

    The gradient of `value` is the worst distribution (where it is not unique, one of them), that of `slope` the rate at
    which the distribution moves with epsilon. A reference that requires a gradient gets one, too.
    """
    answer = worst_case(array_of(payoffs), array_of(reference), ambiguity_set, rate=True)
    exact = payoffs.double()
    distribution = like(answer.distribution, payoffs)
    rate = like(answer.rate, payoffs)
    constant = exact.detach()
    # Adding an exact zero keeps the solver's digits and attaches the gradient.
    zero = exact - constant
    value = like(answer.value, payoffs) + (distribution * zero).sum(-1)
    slope = like(answer.slope, payoffs) + (rate * zero).sum(-1)
    if isinstance(reference, torch.Tensor) and reference.requires_grad and torch.is_grad_enabled():
        in_reference = In(payoffs=False, reference=True, radius=False)
        found = value_and_slope(ambiguity_set, array_of(payoffs), array_of(reference), in_reference, with_slope=True)
        still = (reference - reference.detach()).to(payoffs.device).double()
        value, slope = (
            number + (like(part.reference, payoffs) * still).sum(-1)
            for number, part in zip((value, slope), found, strict=True)
            if part is not None and part.reference is not None
        )
    return WorstCase(
        value=value,
        distribution=distribution,
        slope=slope,
        gap=like(answer.gap, payoffs),
        rate=rate,
    )


def sampled_worst_case_of_tensor(samples: torch.Tensor, infimum: object, epsilon: float) -> SampledWorstCase:
    """`sampled_worst_case` for tensors: `value` carries the gradient through the samples and through the infimum."""
    answer = sampled_worst_case(array_of(samples), array_of(infimum), epsilon)
    weights = like(answer.weights, samples)
    moved = like(answer.floor_weight, samples)
    exact = samples.double()
    floor = torch.as_tensor(infimum, dtype=torch.float64, device=samples.device)
    floor = torch.minimum(floor.expand(exact.shape[:-1]), exact.min(dim=-1).values)
    return SampledWorstCase(
        value=(weights * exact).sum(-1) + moved * floor,
        weights=weights,
        floor_weight=moved,
        slope=like(answer.slope, samples),
    )


def array_of(values: object) -> Any:
    """A tensor as a float64 numpy array without its graph; anything else as it is."""
    if not isinstance(values, torch.Tensor):
        return values
    return real_tensor("a tensor", values).detach().cpu().double().numpy()


def like(values: Floats, tensor: torch.Tensor) -> torch.Tensor:
    """A numpy array as a float64 tensor where `tensor` lives."""
    return torch.as_tensor(np.ascontiguousarray(values), dtype=torch.float64, device=tensor.device)
