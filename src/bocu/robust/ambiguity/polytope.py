"""Sets that are polytopes, by their linear constraints: the form that linear programmes take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bocu.core.errors import BocuError
from bocu.robust.ambiguity.checks import Floats

_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True)
class Polytope:
    """Distributions q, the first n of the variables v: `upper @ v <= bounds`, `equal @ v = values`, `v >= 0`.

    Attributes:
        contexts: n.
    """

    contexts: int
    upper: Floats
    bounds: Floats
    equal: Floats
    values: Floats

    def minimise(
        self, cost: Floats, upper: Floats | None = None, bounds: Floats | None = None
    ) -> tuple[float, Floats] | None:
        """The least `cost @ q` and its q `(n,)` under further `upper @ q <= bounds`; None where there is no q."""
        from scipy.optimize import linprog

        rest = self.equal.shape[1] - self.contexts
        more = np.empty((0, self.contexts)) if upper is None else upper
        rows = np.vstack([self.upper, np.hstack([more, np.zeros((len(more), rest))])])
        limits = self.bounds if bounds is None else np.concatenate([self.bounds, bounds])
        found = linprog(
            np.append(cost, np.zeros(rest)), rows, limits, self.equal, self.values, method="highs", options=_EXACT
        )
        if found.status == 2:
            return None
        if not found.success:
            raise BocuError(f"linear programme: {found.message}")
        return float(found.fun), found.x[: self.contexts]
