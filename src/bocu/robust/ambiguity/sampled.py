"""Total variation around a continuous distribution known by samples: the inner problem of DRBO-KDE, in closed form.

`v = max_{t >= m} E min(u, t) - (epsilon / 2)(t - m)` with m the infimum of u over the whole context space (Huang et
al., 2024, Proposition 2, after substitution of the two-variable dual). With M equal weights: mass epsilon / 2 leaves
the largest samples and goes to the infimum, so that its gradient holds a term for the infimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import at_first, is_tensor, sorted_rows, unsorted


@dataclass(frozen=True, slots=True)
class SampledWorstCase:
    """A worst case over samples.

    Attributes:
        value: (...) worst-case expectation.
        weights: (..., M) what is left on each sample.
        floor_weight: (...) what has moved to the infimum: `grad value = sum weights grad u + floor_weight grad m`.
        slope: (...) right derivative of the value in epsilon.
    """

    value: Any
    weights: Any
    floor_weight: Any
    slope: Any


def sampled_worst_case(samples: Any, infimum: Any, epsilon: float) -> SampledWorstCase:
    """Worst-case expectation over an L1 set around the distribution of equally likely samples.

    Args:
        samples: (..., M) payoffs at M draws of the context; numpy array or torch tensor.
        infimum: (...) smallest payoff over the whole context space; lowered to the smallest sample where that is lower.
        epsilon: radius in the L1 convention, 0 to 2.

    Returns:
        of numpy arrays, or of tensors whose `value` carries the whole gradient to samples and infimum.

    Raises:
        BocuError: for payoffs that are not finite, shapes that do not match, a negative radius.
    """
    if is_tensor(samples):
        from bocu.robust.ambiguity.tensors import sampled_worst_case_of_tensor

        return sampled_worst_case_of_tensor(samples, infimum, epsilon)
    u = checks.payoffs(samples)
    floor = np.minimum(checks.matching("infimum", infimum, u.shape[:-1]), u.min(axis=-1))
    theta = min(checks.radius(epsilon) / 2.0, 1.0)
    leading, count = u.shape[:-1], u.shape[-1]
    rows = u.reshape(-1, count)
    low = floor.reshape(-1)
    order, payoff, mass = sorted_rows(rows, np.full((1, count), 1.0 / count), descending=True)
    before = np.arange(count) / count
    removed = np.clip(theta - before, 0.0, mass)
    weights = mass - removed
    moved = removed.sum(axis=1)
    value = np.einsum("bn,bn->b", weights, payoff) + moved * low
    level = at_first(np.broadcast_to(before + 1.0 / count > theta + 1e-15, rows.shape), payoff, low)
    return SampledWorstCase(
        value=value.reshape(leading),
        weights=unsorted(order, weights).reshape(u.shape),
        floor_weight=moved.reshape(leading),
        slope=(-0.5 * (level - low)).reshape(leading),
    )
