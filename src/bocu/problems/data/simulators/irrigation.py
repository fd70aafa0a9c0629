"""What plans of irrigation come to, season by season: dry yield and water, which prices turn into a profit.

A decision is two numbers: mm a week early and late in the season, or the thresholds of the soil's moisture below which
water is given. Grids and sites are ours, the seasons those of `bocu.problems.data.simulators.weather`.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bocu.problems.data.prepare import variable
from bocu.problems.data.simulators import weather
from bocu.problems.data.simulators.farm import MAIZE, POTATOES, Field, Harvest
from bocu.problems.data.simulators.tables import SITUATION, TableSimulator
from bocu.problems.data.simulators.weather import SeasonWeather

if TYPE_CHECKING:
    import xarray as xr


class IrrigationSimulator(TableSimulator):
    """Plans of two numbers on one field, over seasons."""

    package = "aquacrop"
    field: ClassVar[Field]  #: crop, soil and days.
    early: ClassVar[tuple[float, ...]]  #: the first number of a plan, ascending.
    late: ClassVar[tuple[float, ...]]  #: the second.
    names: ClassVar[tuple[str, str]] = ("early water", "late water")  #: of the two, with their units.
    unit: ClassVar[str] = "mm/week"

    def __init__(self) -> None:
        self.seasons = self.weather()

    @abstractmethod
    def weather(self) -> list[SeasonWeather]:
        """Return all seasons."""

    def harvests(self, season: SeasonWeather, early: Sequence[float], late: Sequence[float]) -> list[list[Harvest]]:
        """Return what plans end with, early ones as rows."""
        return self.field.committed(season, early, late)

    def situations(self) -> int:
        return len(self.seasons)

    def compute(self, situations: Sequence[int]) -> "xr.Dataset":
        import xarray as xr

        seasons = [self.seasons[number] for number in situations]
        found = np.array([self.harvests(season, self.early, self.late) for season in seasons])
        found = found.reshape(len(seasons), -1, 2).transpose(1, 0, 2)
        plans = np.array([(early, late) for early in self.early for late in self.late])
        both = ("decision", SITUATION)
        return xr.Dataset(
            {
                "dry_yield": variable(both, found[..., 0].astype(np.float32), "dry yield", "t/ha"),
                "water": variable(both, found[..., 1].astype(np.float32), "irrigation of the season", "mm"),
                "plan": variable(("decision", "decision_dim"), plans, " and ".join(self.names), self.unit),
                "rain": variable(SITUATION, self._totals(seasons, "Precipitation"), "rain of three months", "mm"),
                "evapotranspiration": variable(
                    SITUATION,
                    self._totals(seasons, "ReferenceET"),
                    "reference evapotranspiration of three months",
                    "mm",
                ),
                "law": variable(SITUATION, [season.law for season in seasons], "collection of seasons"),
                "origin": variable(SITUATION, [season.origin for season in seasons], "station or climate model"),
                "year": variable(SITUATION, [season.year for season in seasons], "year, or number of it"),
            }
        )

    def _totals(self, seasons: Sequence[SeasonWeather], column: str) -> list[float]:
        return [season.total(column, self.field.months) for season in seasons]


class SuffolkPotatoes(IrrigationSimulator):
    """Potatoes in Suffolk under water that is committed before the season."""

    field = POTATOES
    early = tuple(float(amount) for amount in range(0, 36, 3))
    late = tuple(float(amount) for amount in range(0, 48, 4))

    def weather(self) -> list[SeasonWeather]:
        return weather.suffolk()


class SuffolkThresholds(SuffolkPotatoes):
    """Potatoes in Suffolk, watered as soon as the soil falls below thresholds."""

    early = late = (30.0, 50.0, 70.0)
    laws = ("historical", "ssp585-2080-99")
    names = ("early threshold", "late threshold")
    unit = "% of the available water"

    def weather(self) -> list[SeasonWeather]:
        return [season for season in super().weather() if season.law in self.laws]

    def harvests(self, season: SeasonWeather, early: Sequence[float], late: Sequence[float]) -> list[list[Harvest]]:
        return self.field.by_thresholds(season, early, late)


class NebraskaMaize(IrrigationSimulator):
    """Maize in Nebraska under water that is committed before the season."""

    field = MAIZE
    early = tuple(float(amount) for amount in range(0, 42, 6))
    late = tuple(float(amount) for amount in range(0, 56, 8))

    def weather(self) -> list[SeasonWeather]:
        return weather.nebraska()
