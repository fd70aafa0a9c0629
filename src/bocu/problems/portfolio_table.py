"""How to trade while bid-ask spread and borrowing cost vary, on a grid of decisions and contexts.

The payoff of Huang et al. (2024), appendix B.2, see `bocu.problems.portfolio`; there decisions and contexts are
continuous. The grid, its distributions and the model are ours: it stands for problems with candidate priors.
"""

from typing import ClassVar

from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count, Positive
from bocu.problems.candidates import Lengthscale
from bocu.problems.finite import LENGTHSCALE
from bocu.problems.portfolio import PortfolioData
from bocu.problems.prepared_mean import PreparedMeanParameters, PreparedMeanProblem


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
    decision_units = ("1", "1", "1")
    context_names = ("bid-ask spread, scaled", "borrowing cost, scaled")
    context_units = ("1", "1")
