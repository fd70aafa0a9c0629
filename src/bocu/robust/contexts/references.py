"""References on a grid that are estimated from the contexts seen: all of them, the last ones, the older the less."""

from typing import Annotated, Literal, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.parameters import Count, Number, Parameters, Positive
from bocu.robust.contexts.estimates import effective_number, shares, silverman_bandwidth
from bocu.robust.contexts.joint_laws import KernelLaw

_KEYS = {"empirical": (), "window": ("length",), "discounted": ("rate",), "kde": ("bandwidth", "length")}
_REQUIRED = {"window": "length", "discounted": "rate"}


class Estimate(Parameters):
    """A reference that is estimated from the contexts seen; uniform as long as there are none."""

    name: Literal["empirical", "window", "discounted", "kde"] = Field(
        description="`empirical`: the shares of all contexts seen; `window`: of the last `length`; `discounted`: each "
        "counts `rate` times the one after it; `kde`: their kernel density at the contexts of the grid"
    )
    length: Count | None = Field(None, description="of `window` and `kde`: contexts that count, the last ones")
    rate: Annotated[Number, Field(gt=0.0, lt=1.0)] | None = Field(
        None, description="of `discounted`: what a context counts beside the one after it"
    )
    bandwidth: Positive | None = Field(
        None, description="of `kde`: standard deviation of its kernels; null: Silverman's rule"
    )

    @pydantic.model_validator(mode="after")
    def _own_keys(self) -> Self:
        for key in ("length", "rate", "bandwidth"):
            if getattr(self, key) is not None and key not in _KEYS[self.name]:
                raise ValueError(f"'{key}' is no key of the reference '{self.name}'")
        needed = _REQUIRED.get(self.name)
        if needed is not None and getattr(self, needed) is None:
            raise ValueError(f"the reference '{self.name}' needs the key '{needed}'")
        return self

    def weights(self, seen: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the reference (contexts,).

        Args:
            seen: indices of the contexts seen, in their order, shape (t,).
            points: context points, shape (contexts, Dc).
        """
        count = len(points)
        if not len(seen):
            return np.full(count, 1.0 / count)
        last = seen if self.length is None else seen[-self.length :]
        if self.name == "kde":
            contexts = points[last]
            bandwidth = silverman_bandwidth(contexts) if self.bandwidth is None else self.bandwidth
            return KernelLaw(contexts, np.broadcast_to(bandwidth, (points.shape[1],))).weights_on(points)
        if self.name == "discounted":
            weighed = np.bincount(seen, weights=self._ages(len(seen)), minlength=count)
            return np.asarray(weighed / weighed.sum())
        return shares(last, count)

    def counted(self, seen: int) -> int:
        """Return how many of the contexts seen the reference is worth, for radii that shrink with them.

        Of discounted ones it is Kish's effective number, (sum w)^2 / sum w^2, rounded down.
        """
        if self.name == "discounted" and seen:
            weights = self._ages(seen)
            return int(effective_number(weights / weights.sum()) + 1e-9)
        return seen if self.length is None else min(self.length, seen)

    def _ages(self, seen: int) -> np.ndarray:
        assert self.rate is not None
        return np.power(self.rate, np.arange(seen - 1, -1, -1, dtype=np.float64))
