"""Problems whose payoff is a Gaussian-process mean that a data set prepares (see `bocu.problems.data.means`)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.randomness import Streams
from bocu.problems.candidates import Lengthscale
from bocu.problems.finite import LENGTHSCALE, FiniteParameters, FiniteProblem
from bocu.problems.prepared_data import PreparedDataParameters


class PreparedMeanParameters(PreparedDataParameters, FiniteParameters):
    """Parameters of a problem on a grid whose payoff comes from a data set.

    Its `decision_inputs` and `context_inputs` are the data set's inputs that decide, and that the context sets, each in
    the order of the grid's coordinates.
    """

    read_rows: ClassVar[str] = "bocu.problems.priors.observations:prepared_rows"

    lengthscale: Lengthscale = Field(0.1, description=LENGTHSCALE)


PreparedMeanType = TypeVar("PreparedMeanType", bound=PreparedMeanParameters)


class PreparedMeanProblem(FiniteProblem[PreparedMeanType]):
    """The mean over the grid, whose coordinates are scaled to [0, 1] from the domain that the data set states.

    Raises:
        BocuError: the prepared file is unusable.
    """

    def __init__(self, parameters: PreparedMeanType, inputs: Mapping[str, Any]) -> None:
        super().__init__(parameters, inputs)
        self._cite(read_netcdf(inputs["data"]).attrs)
        self._table = self._evaluate(inputs["data"])

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return the same table to every seed."""
        return self._table

    def _evaluate(self, path: str) -> np.ndarray:
        from bocu.problems.data.means import load_mean

        mean = load_mean(path)
        prepared = read_netcdf(path)
        lower, upper = prepared["lower"].values, prepared["upper"].values
        scaled = np.empty((len(self.decisions), len(self.contexts), len(mean.names)))
        scaled[..., _columns(path, mean.names, self.parameters.decision_inputs)] = self.decisions[:, None, :]
        scaled[..., _columns(path, mean.names, self.parameters.context_inputs)] = self.contexts[None, :, :]
        table = mean(lower + (upper - lower) * scaled)
        table.setflags(write=False)
        return table


def _columns(path: str, names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise BocuError(f"{path}: no input '{lacking[0]}'; found {', '.join(names)}")
    return [names.index(name) for name in wanted]
