"""Water committed before the season, whose weather shifts with the climate: AquaCrop-OSPy 3.1.

A decision is the water of the early and of the late weeks; a context is a cell of seasons of like rain and reference
evapotranspiration; the payoff is the profit of a hectare. References and truths are collections of seasons by name.
Site, crop, grids and prices are ours: `data.simulators.irrigation` and `data.payoff_tables` say them.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import Count, Parameters, Positive
from bocu.problems.candidates import Lengthscale
from bocu.problems.distributions import Distribution
from bocu.problems.finite import LENGTHSCALE
from bocu.problems.simulated_table import SimulatedTable, SimulatedTableParameters, Situations
from bocu.robust.contexts.references import Estimate

UNIFORM = "uniform"
SuffolkName = Literal["historical", "observed", "ssp585-2040-59", "ssp585-2080-99"]
NebraskaName = Literal["observed", "rcp85-2021-40", "rcp85-2041-60", "rcp85-2061-80"]


class Seasons(Parameters):
    """The seasons of a collection, each as probable as the other; or some of them."""

    seasons: str = Field(description="name of the collection")
    origin: str | None = Field(None, description="station or climate model that they come from; null: all")
    driest: Count | None = Field(None, description="so many of them, those of the least rain; null: all")

    def weights(self, situations: Situations) -> np.ndarray:
        """Return the distribution over situations.

        Raises:
            BocuError: there is no such season.
        """
        kept = situations.told["law"] == self.seasons
        if self.origin is not None:
            origins = sorted(set(situations.told["origin"][kept].tolist()))
            if self.origin not in origins:
                raise BocuError(f"origin: found '{self.origin}'; '{self.seasons}' has {', '.join(origins)}")
            kept &= situations.told["origin"] == self.origin
        if self.driest is not None:
            if self.driest > kept.sum():
                raise BocuError(f"driest: found {self.driest}; allowed: up to {kept.sum()} seasons")
            rain = np.where(kept, situations.values[:, 0], np.inf)
            kept = np.zeros(len(kept), dtype=bool)
            kept[np.argsort(rain, kind="stable")[: self.driest]] = True
        return kept / kept.sum()


class SuffolkSeasons(Seasons):
    """Seasons of Suffolk."""

    seasons: SuffolkName = Field(description="name of the collection")


class NebraskaSeasons(Seasons):
    """Seasons of Champion, Nebraska."""

    seasons: NebraskaName = Field(description="name of the collection")


SuffolkLaw = SuffolkName | SuffolkSeasons | Distribution
NebraskaLaw = NebraskaName | NebraskaSeasons | Distribution


class IrrigationParameters(SimulatedTableParameters):
    """Parameters of the potatoes: plans of water in Suffolk."""

    dataset: ClassVar[str] = "irrigation"
    record: ClassVar[str] = "suffolk"
    decision_inputs: ClassVar[tuple[str, ...]] = ("early", "late")
    context_inputs: ClassVar[tuple[str, ...]] = ("rain", "evapotranspiration")

    decision_points: list[Count] = Field([12, 12], description="amounts of early and of late water; as computed")
    context_points: list[Count] = Field(
        [6, 6],
        description="cells by quantiles of rain and of reference evapotranspiration, of all seasons; empty ones are "
        "left out",
    )
    reference: SuffolkLaw | list[SuffolkLaw] | Literal["announced"] | Estimate = Field(  # type: ignore[assignment]
        "historical",
        description="reference distribution: seasons by name, `{seasons: NAME, "
        "origin: MODEL}`, `{seasons: NAME, driest: 10}`, or as in other problems; or a list of these over the rounds",
    )
    truth: SuffolkLaw | list[SuffolkLaw] = Field(  # type: ignore[assignment]
        "ssp585-2040-59", description="distribution that seasons come from, as `reference`"
    )
    lengthscale: Lengthscale = Field(0.4, description=LENGTHSCALE)
    variance: Positive = Field(9.0e6, description="variance of that kernel, in squared units of the payoff")
    noise: Positive = Field(
        50.0,
        description="standard deviation of what is measured wrongly; to it comes the difference between seasons of a "
        "cell, whose standard deviation algorithms are told cell by cell",
    )


class ThresholdParameters(IrrigationParameters):
    """Parameters of the control: potatoes in Suffolk that are watered as the soil asks for it."""

    record: ClassVar[str] = "suffolk-thresholds"
    decision_points: list[Count] = Field([3, 3], description="thresholds early and late; as computed")


class NebraskaParameters(IrrigationParameters):
    """Parameters of the maize: plans of water in Nebraska."""

    record: ClassVar[str] = "nebraska"

    decision_points: list[Count] = Field([7, 7], description="amounts of early and of late water; as computed")
    context_points: list[Count] = Field(
        [5, 5], description="cells by quantiles of rain and of reference evapotranspiration; empty ones are left out"
    )
    reference: NebraskaLaw | list[NebraskaLaw] | Literal["announced"] | Estimate = Field(  # type: ignore[assignment]
        "observed", description="reference distribution, as in `irrigation`"
    )
    truth: NebraskaLaw | list[NebraskaLaw] = Field(  # type: ignore[assignment]
        "rcp85-2041-60", description="distribution that seasons come from, as `reference`"
    )
    variance: Positive = Field(4.0e5, description="variance of that kernel, in squared units of the payoff")
    noise: Positive = Field(10.0, description="as in `irrigation`")


class IrrigationTable(SimulatedTable[IrrigationParameters]):
    """Profit over two numbers that settle the water, and seasons."""

    context_names = ("rain of three months, scaled", "reference evapotranspiration of three months, scaled")

    def cells(self, values: np.ndarray) -> np.ndarray:
        """Gather seasons by quantiles of rain and of evapotranspiration."""
        places = []
        for column, count in zip(values.T, self.parameters.context_points, strict=True):
            borders = np.quantile(column, np.arange(1, count) / count)
            places.append(np.searchsorted(borders, column, side="right"))
        return np.unique(np.stack(places, axis=1), axis=0, return_inverse=True)[1].ravel()

    def law(self, entry: object, situations: Situations) -> np.ndarray | None:
        """Return the distribution of seasons that are named."""
        if isinstance(entry, str) and entry != UNIFORM:
            entry = Seasons(seasons=entry)
        return entry.weights(situations) if isinstance(entry, Seasons) else None


class Irrigation(IrrigationTable):
    """Potatoes in Suffolk: climate models say that it gets drier."""

    about = About(
        title="Irrigation of potatoes",
        summary="water committed before the season, Suffolk, while the climate dries; AquaCrop",
    )
    Parameters = IrrigationParameters
    units = "GBP/ha"
    decision_names = ("early water, of 33 mm a week", "late water, of 44 mm a week")


class IrrigationThresholds(IrrigationTable):
    """The control: water is given as soon as the soil falls below a threshold, whatever the weather."""

    about = About(
        title="Irrigation by thresholds",
        summary="water as the soil asks for it, Suffolk: a control in which robustness buys nothing; AquaCrop",
    )
    Parameters = ThresholdParameters
    units = "GBP/ha"
    decision_names = ("early threshold, 30 to 70 % of the available water, scaled", "late threshold, likewise")


class IrrigationNebraska(IrrigationTable):
    """Maize in Nebraska: the scenarios say that it gets wetter."""

    about = About(
        title="Irrigation of maize",
        summary="water committed before the season, Nebraska, while the climate gets wetter; AquaCrop",
    )
    Parameters = NebraskaParameters
    units = "USD/ha"
    decision_names = ("early water, of 36 mm a week", "late water, of 48 mm a week")
