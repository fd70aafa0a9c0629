"""A field that is irrigated by a plan, simulated by AquaCrop-OSPy 3.1 (Kelly and Foster 2021) day by day.

The payoff of a plan in a season is settled by its dry yield and by the water that it took. Carbon dioxide is held at
369.41 ppm in all years: otherwise the payoff itself would change with the scenario, and not only the weather.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bocu.problems.data.simulators.weather import SeasonWeather

if TYPE_CHECKING:
    from aquacrop.core import AquaCropModel
    from aquacrop.entities.irrigationManagement import IrrigationManagement

CARBON_DIOXIDE = 369.41  #: Parts a million: the concentration of the year 2000, at which AquaCrop's crops are stated.

MOST_WATER = 100.0  #: mm that may be given on one day: AquaCrop's own limit of 25 would cut the plans short.


class Harvest(NamedTuple):
    """What a season ends with: dry yield in tonnes a hectare, and irrigation in mm."""

    dry_yield: float
    water: float


@dataclass(frozen=True)
class Field:
    """Crop and soil, at field capacity on the day of planting."""

    crop: str  #: AquaCrop's name of it.
    planting: tuple[int, int]  #: month and day.
    months: tuple[int, ...]  #: those whose rain and evapotranspiration stand for the season.
    early: range  #: days after planting on which the early amount is given.
    late: range  #: days after planting of the late amount, all after the early ones.
    options: Mapping[str, float]  #: parameters of the crop in place of AquaCrop's.
    soil: str = "SandyLoam"  #: AquaCrop's name of it.

    def committed(self, season: SeasonWeather, early: Sequence[float], late: Sequence[float]) -> list[list[Harvest]]:
        """Return the harvests of all plans of mm a time, early ones as rows, late ones as columns.

        Days before the first late one are simulated once for all plans that agree on them.
        """
        start = self._model(season, _schedule(season, self.planting))
        return [self._late(start, amount, late) for amount in early]

    def by_thresholds(
        self, season: SeasonWeather, early: Sequence[float], late: Sequence[float]
    ) -> list[list[Harvest]]:
        """Return the harvests where water is given as soon as the soil falls below a threshold.

        Args:
            season: the weather.
            early: thresholds of the first two growth stages, percent of the available water.
            late: thresholds of the last two.
        """
        start = self._model(season, _thresholds())
        return [[self._kept_above(start, first, second) for second in late] for first in early]

    def _late(self, start: "AquaCropModel", early: float, late: Sequence[float]) -> list[Harvest]:
        trunk = _copied(start)
        _amounts(trunk)[list(self.early)] = early
        trunk.run_model(num_steps=self.late.start, initialize_model=False)
        harvests = []
        for amount in late:
            branch = _copied(trunk)
            _amounts(branch)[list(self.late)] = amount
            harvests.append(_harvest(branch))
        return harvests

    def _kept_above(self, start: "AquaCropModel", early: float, late: float) -> Harvest:
        model = _copied(start)
        model._param_struct.IrrMngt.SMT = [early, early, late, late]
        return _harvest(model)

    def _model(self, season: SeasonWeather, irrigation: "IrrigationManagement") -> "AquaCropModel":
        """Return the season on the day of planting; its first day is that of the schedule too."""
        from aquacrop.core import AquaCropModel
        from aquacrop.entities.co2 import CO2
        from aquacrop.entities.crop import Crop
        from aquacrop.entities.inititalWaterContent import InitialWaterContent
        from aquacrop.entities.soil import Soil

        month, day = self.planting
        model = AquaCropModel(
            f"{season.label}/{month:02}/{day:02}",
            f"{season.label}/12/30",
            season.weather,
            Soil(self.soil),
            Crop(self.crop, planting_date=f"{month:02}/{day:02}", **self.options),
            InitialWaterContent(value=["FC"]),
            irrigation_management=irrigation,
            co2_concentration=CO2(constant_conc=True, current_concentration=CARBON_DIOXIDE),
        )
        model._initialize()
        return model


POTATOES = Field("Potato", (4, 15), (5, 6, 7), range(21, 63, 7), range(63, 108, 7), {"Zmax": 0.7})
"""In Suffolk. Roots down to 0.7 m are ours: with AquaCrop's 1.5 m early water is useless."""

MAIZE = Field("Maize", (5, 1), (6, 7, 8), range(28, 63, 7), range(63, 106, 7), {})  #: In Nebraska.


def _schedule(season: SeasonWeather, planting: tuple[int, int]) -> "IrrigationManagement":
    import pandas as pd
    from aquacrop.entities.irrigationManagement import IrrigationManagement

    nothing = pd.DataFrame({"Date": [pd.Timestamp(season.label, *planting)], "Depth": [0.0]})
    return IrrigationManagement(irrigation_method=3, Schedule=nothing, MaxIrr=MOST_WATER)


def _thresholds() -> "IrrigationManagement":
    from aquacrop.entities.irrigationManagement import IrrigationManagement

    return IrrigationManagement(irrigation_method=1, SMT=[0.0] * 4, MaxIrr=MOST_WATER)


def _copied(model: "AquaCropModel") -> "AquaCropModel":
    """Copy a model but for its weather, which nothing changes."""
    shared = (model._weather, model.weather_df)
    return copy.deepcopy(model, {id(each): each for each in shared})


def _amounts(model: "AquaCropModel") -> np.ndarray:
    """Return the water of every day of an initialised model, to be set in place: a new model takes half a season."""
    return model._param_struct.IrrMngt.Schedule


def _harvest(model: "AquaCropModel") -> Harvest:
    model.run_model(till_termination=True, initialize_model=False)
    end = model.get_simulation_results().iloc[0]
    return Harvest(float(end["Dry yield (tonne/ha)"]), float(end["Seasonal irrigation (mm)"]))
