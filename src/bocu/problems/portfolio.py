"""Portfolio: the payoff of Huang et al. (2024), appendix B.2, the posterior mean of a Gaussian process.

Three decisions (risk aversion, trade aversion, holding-cost multiplier) and two contexts (bid-ask spread, borrowing
cost), all in [0, 1]; the payoff is a return in percent a year. The mean runs through 3,000 evaluations of Cakmak et al.
(2020); its weights are worked out once, when the data are prepared (`bocu.problems.data.portfolio`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.problems.base import Problem
from bocu.problems.prepared_data import PreparedDataParameters
from bocu.robust.ambiguity.checks import Floats

if TYPE_CHECKING:
    import xarray as xr

    from bocu.problems.data.means import Mean

DECISION_DIM, CONTEXT_DIM = 3, 2


class PortfolioDataParameters(PreparedDataParameters):
    """Which surrogate of the simulator."""

    dataset: ClassVar[str] = "portfolio"
    record: ClassVar[str] = "samples"

    fit: Literal["published", "refitted"] | None = Field(
        None, description="hyper-parameters of the surrogate; left out: published for real data, else refitted"
    )

    def read_of(self, data: xr.Dataset) -> xr.Dataset:
        from bocu.problems.data.means import of_fit  # brings xarray

        return of_fit(data, self.fit)  # the other set, where torch fits it, has last digits of a type of processor


@dataclass(frozen=True)
class PortfolioPayoff:
    """Payoff of decisions (..., 3) and contexts (..., 2)."""

    mean: Mean  #: over the five inputs, decisions first.

    @classmethod
    def load(cls, path: str | os.PathLike[str], fit: str | None = None) -> Self:
        """Read the prepared data set.

        Args:
            path: the prepared file.
            fit: "published" or "refitted" hyper-parameters; left out, the file's own choice: published for real data.

        Raises:
            BocuError: the file holds no such mean.
        """
        from bocu.problems.data.means import load_mean  # brings xarray

        mean = load_mean(path, fit)
        if len(mean.names) != DECISION_DIM + CONTEXT_DIM:
            raise BocuError(f"{path}: a mean of {', '.join(mean.names)}; allowed: prepared portfolio data")
        return cls(mean)

    def __call__(self, decisions: ArrayLike, contexts: ArrayLike) -> Floats:
        """Payoffs `(...,)`; leading axes broadcast. 65,536 pairs take about 2 s."""
        x, c = np.asarray(decisions, dtype=np.float64), np.asarray(contexts, dtype=np.float64)
        leading = np.broadcast_shapes(x.shape[:-1], c.shape[:-1])
        inputs = [np.broadcast_to(part, (*leading, part.shape[-1])) for part in (x, c)]
        return self.mean(np.concatenate(inputs, axis=-1))


PortfolioType = TypeVar("PortfolioType", bound=PortfolioDataParameters)


class PortfolioData(Problem[PortfolioType]):
    """A problem with this payoff, over whatever decisions and contexts."""

    units = "percent year-1"

    def __init__(self, parameters: PortfolioType, inputs: Mapping[str, Any]) -> None:
        from bocu.core.io.files import read_netcdf

        super().__init__(parameters, inputs)
        self._cite(read_netcdf(inputs["data"]).attrs)

    @cached_property
    def payoff(self) -> PortfolioPayoff:
        """The payoff of decisions (..., 3) and contexts (..., 2)."""
        return PortfolioPayoff.load(self.inputs["data"], self.parameters.fit)
