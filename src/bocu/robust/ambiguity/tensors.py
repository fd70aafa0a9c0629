"""Torch in, torch out: worst cases with envelope gradients. Imported only once a tensor has come in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from bocu.core.errors import BocuError
from bocu.robust.ambiguity.base import AmbiguitySet, WorstCase, worst_case
from bocu.robust.ambiguity.checks import Floats, real_tensor
from bocu.robust.ambiguity.derivatives import In, value_and_slope
from bocu.robust.ambiguity.sampled import SampledWorstCase, sampled_worst_case

if TYPE_CHECKING:
    from bocu.robust.objectives.functions import SetObjective


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


def solved(
    objective: SetObjective, payoffs: torch.Tensor, reference: object, radius: torch.Tensor | None = None
) -> torch.Tensor:
    """Values of an objective `(...)`, float64 on the payoffs' device, differentiable once in what requires it.

    Args:
        objective: one with an ambiguity set.
        payoffs: (..., n).
        reference: (n,) or (..., n), array or tensor; only a tensor may require a gradient.
        radius: () in place of the set's own.

    Raises:
        BocuError: as the objective does of arrays; under `torch.vmap` over radii.
    """
    p = reference if isinstance(reference, torch.Tensor) else like(np.asarray(reference, dtype=float), payoffs)
    value, *_ = _Solved.apply(payoffs, p, radius, objective, _followed(payoffs, p, radius))
    return value


def _followed(*tensors: torch.Tensor | None) -> In:
    """In which of payoffs, reference and radius gradients will be asked for."""
    recording = torch.is_grad_enabled()
    return In(*(recording and tensor is not None and tensor.requires_grad for tensor in tensors))


class _Solved(torch.autograd.Function):
    """The value `(...)` and its derivatives by row, which the backward pass multiplies."""

    @staticmethod
    def forward(
        payoffs: torch.Tensor,
        reference: torch.Tensor,
        radius: torch.Tensor | None,
        objective: SetObjective,
        wanted: In,
    ) -> tuple[torch.Tensor, ...]:
        here = objective if radius is None else objective.with_epsilon(float(radius))
        found = here.differential(array_of(payoffs), array_of(reference), wanted)
        nothing = payoffs.new_empty(0)
        parts = (found.payoffs, found.reference, found.radius)
        return like(found.value, payoffs), *(nothing if part is None else like(part, payoffs) for part in parts)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:])
        ctx.inputs = [None if tensor is None else (tensor.shape, tensor.dtype) for tensor in inputs[:3]]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, along: torch.Tensor, *_: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        rows = (along[..., None], along[..., None], along)
        found = (
            (row * part).sum_to_size(given[0]).to(given[1]) if needed else None
            for row, part, given, needed in zip(rows, ctx.saved_tensors, ctx.inputs, ctx.needs_input_grad, strict=False)
        )
        return *found, None, None

    @staticmethod
    def vmap(
        info: Any,
        in_dims: tuple[int | None, ...],
        payoffs: torch.Tensor,
        reference: torch.Tensor,
        radius: torch.Tensor | None,
        objective: SetObjective,
        wanted: In,
    ) -> tuple[tuple[torch.Tensor, ...], tuple[int | None, ...]]:
        if in_dims[2] is not None:
            raise BocuError("torch.vmap over radii: a set has one radius; loop over the radii")
        if in_dims[0] is None:
            payoffs = payoffs.expand(info.batch_size, *payoffs.shape)
        else:
            payoffs = payoffs.movedim(in_dims[0], 0)
        if in_dims[1] is not None:
            reference = reference.movedim(in_dims[1], 0)
            between = payoffs.dim() - reference.dim()
            reference = reference.reshape(len(reference), *(1,) * between, *reference.shape[1:])
        # Only here, without their wrapping, do tensors say whether they are followed.
        wanted = In(*map(any, zip(wanted, _followed(payoffs, reference, radius), strict=True)))
        answer = _Solved.apply(payoffs, reference, radius, objective, wanted)
        return answer, tuple(0 if part.numel() else None for part in answer)
