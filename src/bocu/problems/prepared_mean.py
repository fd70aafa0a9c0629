"""Problems whose payoff is a Gaussian-process mean that a data set prepares (see `bocu.problems.data.means`).

- Plant: how acid a medium should be while its ammonia varies (Tay et al. 2024, section 5). The payoff is the
  standardised leaf area of Marchantia, the mean of the Gaussian process of Tay et al. (2022).
- Infection: which groups to test while who falls ill first and how fast it spreads is unknown (likewise). The payoff is
  minus the cases, standardised: the mean through the runs of the simulator of Frazier et al. (2022). The published grid
  is the full cube, although shares sum to at most 1: beyond that the mean falls to 0, which beats what is possible, so
  that robust objectives choose impossible decisions. `feasible` leaves these out.
- Portfolio on a grid: how to trade while bid-ask spread and borrowing cost vary; the payoff of Huang et al. (2024),
  appendix B.2. The grid, its distributions and the model are ours: it stands for problems with candidate priors.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.parameters import Count, Positive
from bocu.core.randomness import Streams
from bocu.problems.candidates import Lengthscale
from bocu.problems.finite import LENGTHSCALE, FiniteParameters, FiniteProblem
from bocu.problems.portfolio import PortfolioData
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


class PlantParameters(PreparedMeanParameters):
    """Parameters of the plants. pH is scaled from 2.5-6.5, NH3 from 0-30,000 micromolar."""

    dataset: ClassVar[str] = "plant"
    record: ClassVar[str] = "svgp"
    decision_inputs: ClassVar[tuple[str, ...]] = ("ph",)
    context_inputs: ClassVar[tuple[str, ...]] = ("nh3",)

    decision_points: list[Count] = Field([1024], description="points of pH, evenly spaced over its range")
    context_points: list[Count] = Field([64], description="points of the NH3 concentration, evenly spaced")


class Plant(PreparedMeanProblem[PlantParameters]):
    """Leaf area over pH, which decides, and NH3, which is the context."""

    about = About(
        title="Plant growth",
        summary="leaf area over pH, which decides, and ammonia, the context",
        paper="Tay et al. 2024",
    )
    Parameters = PlantParameters
    decision_names = ("pH, scaled",)
    context_names = ("NH3 concentration, scaled",)


ROUNDING = 1e-9  #: Shares on a grid that sum to 1 may miss it by rounding.


class InfectionParameters(PreparedMeanParameters):
    """Parameters of the infection. Shares and the transmission probability are in [0, 1] (the latter scaled)."""

    dataset: ClassVar[str] = "infection"
    record: ClassVar[str] = "runs"
    decision_inputs: ClassVar[tuple[str, ...]] = ("test_share_1", "test_share_2")
    context_inputs: ClassVar[tuple[str, ...]] = ("case_share_1", "case_share_2", "transmission")

    decision_points: list[Count] = Field([32, 32], description="points a share of test kits, evenly spaced over [0, 1]")
    context_points: list[Count] = Field(
        [4, 4, 4], description="points a share of initial cases, and of the transmission probability, evenly spaced"
    )
    feasible: bool = Field(
        False, description="leave out decisions and contexts whose shares sum to more than 1; false: as published"
    )


class Infection(PreparedMeanProblem[InfectionParameters]):
    """Minus the cases over the shares of kits of two of three groups, and the shares of cases and the transmission."""

    about = About(
        title="Infection control",
        summary="shares of test kits against an epidemic of unknown origin and speed",
        paper="Tay et al. 2024",
    )
    Parameters = InfectionParameters
    decision_names = ("test kits of group 1, share", "test kits of group 2, share")
    context_names = ("initial cases in group 1, share", "initial cases in group 2, share", "transmission, scaled")

    def feasible(self, kind: str, points: np.ndarray) -> np.ndarray | None:
        """Keep shares that sum to at most 1, where the parameters ask for it."""
        return points[:, :2].sum(axis=1) <= 1.0 + ROUNDING if self.parameters.feasible else None


class PortfolioTableParameters(PreparedMeanParameters):
    """Parameters of the portfolio on a grid. All coordinates are in [0, 1], as published."""

    dataset: ClassVar[str] = "portfolio"
    record: ClassVar[str] = "samples"
    decision_inputs: ClassVar[tuple[str, ...]] = ("risk_aversion", "trade_aversion", "holding_multiplier")
    context_inputs: ClassVar[tuple[str, ...]] = ("bid_ask_spread", "borrowing_cost")

    decision_points: list[Count] = Field([6, 6, 6], description="points a decision coordinate, evenly spaced")
    context_points: list[Count] = Field([5, 5], description="points a context coordinate, evenly spaced")
    lengthscale: Lengthscale = Field(0.5, description=LENGTHSCALE)
    variance: Positive = Field(40.0, description="variance of that kernel, in squared units of the payoff")
    noise: Positive = Field(0.5, description="standard deviation of the observation noise, which algorithms know")


class PortfolioTable(PreparedMeanProblem[PortfolioTableParameters]):
    """Return over three trading parameters, which decide, and two costs, the contexts."""

    about = About(
        title="Portfolio on a grid",
        summary="multi-period portfolio, 3 + 2, on a grid of decisions and contexts",
        paper="Huang et al. 2024",
    )
    Parameters = PortfolioTableParameters
    units = PortfolioData.units
    decision_names = ("risk aversion", "trade aversion", "holding-cost multiplier")
    context_names = ("bid-ask spread, scaled", "borrowing cost, scaled")
