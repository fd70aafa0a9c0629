"""Seasons of daily weather that AquaCrop-OSPy 3.1 brings along: observed, and of climate models.

Suffolk: `suffolk_climate.txt`, observed 1991 to 2021, and `cmip6_woolpit`, three climate models of CMIP6, twenty years
a file, with reference evapotranspiration. Champion, Nebraska: `champion_climate.txt`, observed 1982 to 2018, and years
that a weather generator drew for EC-EARTH under RCP 8.5, whose files hold radiation: their reference
evapotranspiration is FAO Penman-Monteith (Allen et al. 1998, FAO irrigation and drainage paper 56, equations 6 to 39),
computed here, for the formula that comes with the package (`aquacrop.utils.lars`) lacks the parentheses around its
numerator.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bocu.core.loading import naming_extras

if TYPE_CHECKING:
    import pandas as pd

MODELS = ("CanESM5", "MIROC6", "NorESM2-LM")
PERIODS = {
    "historical": "historical_1995_2014",
    "ssp585-2040-59": "ssp585_2040_2059",
    "ssp585-2080-99": "ssp585_2080_2099",
}
"""Laws of the climate models in Suffolk, and what their files are called."""

SCENARIO_STEP = 2
"""Of the years of a scenario every second one is taken: a table then takes three quarters of an hour of one core."""

SCENARIOS = {
    "rcp85-2021-40": "CP_EC-EARTH[CP,RCP85,2021-2040]WG.dat",
    "rcp85-2041-60": "CP_EC-EARTH[CP,RCP85,2041-2060]WG.dat",
    "rcp85-2061-80": "CP_EC-EARTH[CP,RCP85,2061-2080]WG.dat",
}
"""Laws of the generated years in Nebraska, and their files; they share their rainy days, so few years are used."""

GENERATED_YEARS = 15  #: Years taken of each file of a hundred.

LATITUDE, ALTITUDE, WIND = np.deg2rad(40.4), 1072.0, 3.4
"""Of Champion: radians, metres above the sea (`CP.st`), and metres a second (`aquacrop.utils.lars`)."""

_COMMON_YEAR = 2001  # generated years have 365 days: a leap year's label would leave the last one empty


class SeasonWeather(NamedTuple):
    """One year of daily weather."""

    law: str  #: the collection that it belongs to, such as `observed`.
    origin: str  #: the station, or the climate model.
    year: int  #: of the calendar, or the number of a generated year.
    label: int  #: the calendar year that its dates carry.
    weather: "pd.DataFrame"  #: columns as AquaCrop names them: degrees Celsius and mm a day.

    def total(self, column: str, months: tuple[int, ...]) -> float:
        """Sum a column over months of the year."""
        return float(self.weather.loc[self.weather["Date"].dt.month.isin(months), column].sum())


def suffolk() -> list[SeasonWeather]:
    """Return the observed seasons, then those of each law and climate model."""
    import pandas as pd

    seasons = list(_years("observed", "Suffolk", _station("suffolk_climate.txt")))
    for law, period in PERIODS.items():
        for model in MODELS:
            (path,) = sorted(_folder().joinpath("cmip6_woolpit", model).glob(f"{model}_{period}_*.csv"))
            weather = pd.read_csv(path, parse_dates=["Date"])
            weather["ReferenceET"] = weather["ReferenceET"].clip(lower=0.1)
            years = list(_years(law, model, weather))
            seasons.extend(years if law == "historical" else years[1::SCENARIO_STEP])
    return seasons


def nebraska() -> list[SeasonWeather]:
    """Return the observed seasons, then the generated ones of each scenario."""
    seasons = list(_years("observed", "Champion", _station("champion_climate.txt")))
    for law, file in SCENARIOS.items():
        seasons.extend(_generated(law, _folder() / file))
    return seasons


def _generated(law: str, path: Path) -> Iterator[SeasonWeather]:
    """Read what the weather generator wrote: year, day, lowest and highest temperature, rain, radiation (MJ/m2)."""
    import pandas as pd

    table = pd.read_csv(path, sep=r"\s+", header=None, names=["year", "day", "MinTemp", "MaxTemp", "rain", "radiation"])
    table["ReferenceET"] = penman_monteith(*table[["day", "MinTemp", "MaxTemp", "radiation"]].to_numpy().T)
    table["Date"] = pd.Timestamp(_COMMON_YEAR, 1, 1) + pd.to_timedelta(table["day"] - 1, unit="D")
    for year, weather in table.rename(columns={"rain": "Precipitation"}).groupby("year"):
        if int(year) <= GENERATED_YEARS:
            yield SeasonWeather(law, "EC-EARTH", int(year), _COMMON_YEAR, _columns(weather))


def _years(law: str, origin: str, weather: "pd.DataFrame") -> Iterator[SeasonWeather]:
    for year, days in weather.groupby(weather["Date"].dt.year):
        yield SeasonWeather(law, origin, int(year), int(year), _columns(days))


def _columns(weather: "pd.DataFrame") -> "pd.DataFrame":
    return weather[["MinTemp", "MaxTemp", "Precipitation", "ReferenceET", "Date"]].reset_index(drop=True)


def _station(file: str) -> "pd.DataFrame":
    # From where it stands, as in `farm`: AquaCrop's packages export nothing to a program that has an option -m.
    from aquacrop.utils.prepare_weather import prepare_weather

    return prepare_weather(str(_folder() / file))


def _folder() -> Path:
    with naming_extras():
        from aquacrop import data
    return Path(next(iter(data.__path__)))


def penman_monteith(day: np.ndarray, low: np.ndarray, high: np.ndarray, radiation: np.ndarray) -> np.ndarray:
    """Return the reference evapotranspiration of Champion, mm a day, at least 0.1.

    Against the station's own, 13,514 days: correlation 0.998, mean 0.1 % above.

    Args:
        day: of the year, from 1.
        low: lowest temperature, degrees Celsius; the dew point is taken to be there.
        high: highest temperature.
        radiation: solar, MJ a square metre and day.
    """
    psychrometric = 0.000665 * 101.3 * ((293.0 - 0.0065 * ALTITUDE) / 293.0) ** 5.26
    middle = 0.5 * (low + high)
    saturated, actual = 0.5 * (_vapour_pressure(low) + _vapour_pressure(high)), _vapour_pressure(low)
    slope = 4098.0 * _vapour_pressure(middle) / (middle + 237.3) ** 2
    clear = (0.75 + 2e-5 * ALTITUDE) * _extraterrestrial(day)
    emitted = 0.5 * 4.903e-9 * ((low + 273.16) ** 4 + (high + 273.16) ** 4)
    lost = emitted * (0.34 - 0.14 * np.sqrt(actual)) * (1.35 * np.clip(radiation / clear, 0.0, 1.0) - 0.35)
    net = 0.77 * radiation - lost
    wind = psychrometric * 900.0 / (middle + 273.0) * WIND * (saturated - actual)
    needed = (0.408 * slope * net + wind) / (slope + psychrometric * (1.0 + 0.34 * WIND))
    return np.maximum(needed, 0.1)


def _vapour_pressure(celsius: np.ndarray) -> np.ndarray:
    """Return the saturation vapour pressure, kPa."""
    return 0.6108 * np.exp(17.27 * celsius / (celsius + 237.3))


def _extraterrestrial(day: np.ndarray) -> np.ndarray:
    """Return the radiation above the atmosphere at Champion, MJ a square metre and day."""
    angle = 2.0 * np.pi / 365.0 * day
    declination = 0.409 * np.sin(angle - 1.39)
    sunset = np.arccos(-np.tan(LATITUDE) * np.tan(declination))
    vertical = sunset * np.sin(LATITUDE) * np.sin(declination)
    slanted = np.cos(LATITUDE) * np.cos(declination) * np.sin(sunset)
    return 24.0 * 60.0 / np.pi * 0.0820 * (1.0 + 0.033 * np.cos(angle)) * (vertical + slanted)
