"""Tables of payoffs over decisions and single situations, from what simulators computed (`data.simulators`).

What a season earns, a hectare: a price a tonne of dry yield, less a price a mm of water, less fixed costs; all ours.
"""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from bocu.core.errors import BrokenFileError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.problems.data.prepare import attributes, variable

DEVIATIONS = 6.0
"""Width of a scaled coordinate's unit interval, in standard deviations of all seasons; its middle is their mean."""

SEASON_INPUTS = ("rain", "evapotranspiration")
PLAN_INPUTS = ("early", "late")
WIND_INPUTS = ("direction", "speed")
YAW_INPUTS = ("first_yaw", "second_yaw")


class FarmPrices(NamedTuple):
    """What makes a profit of yield and water."""

    yields: float  #: for a tonne of dry yield.
    water: float  #: of a mm on a hectare.
    fixed: float  #: costs of a hectare.
    currency: str  #: the unit of all three.


POTATOES = FarmPrices(1000.0, 8.0, 6000.0, "GBP")
MAIZE = FarmPrices(180.0, 1.0, 1728.0, "USD")


PRICES = {"suffolk": POTATOES, "suffolk-thresholds": POTATOES, "nebraska": MAIZE}  #: By the record of the data set.


def prepare_wakes(
    raw: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str], origin: Mapping[str, str]
) -> None:
    """Take over the gains of yaws, and scale yaws and winds to the unit interval by their ends.

    Raises:
        BocuError: the file is not such a table.
    """
    table = _read(raw[0], ("gain", "yaw", "wind"))
    data = _laid_out(table["gain"].values, _by_ends(table["yaw"].values), _by_ends(table["wind"].values))
    data = data.assign(
        situation_values=variable(("situation", "context_dim"), table["wind"].values, "direction and speed")
    )
    notes = ["Gain in power over no yaw in the same wind."]
    _write(data, table, raw, output, origin, YAW_INPUTS, WIND_INPUTS, "kW", notes)


def prepare_seasons(
    raw: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str], origin: Mapping[str, str]
) -> None:
    """Turn yields and water of plans, season by season, into profits at the prices of the record.

    Raises:
        BocuError: the file is not such a table.
    """
    prices = PRICES[origin["record"]]
    table = _read(raw[0], ("dry_yield", "water", "plan", "law", "origin", "year", *SEASON_INPUTS))
    profit = prices.yields * table["dry_yield"].values.astype(float) - prices.water * table["water"].values
    weather = np.stack([table[name].values for name in SEASON_INPUTS], axis=1)
    scaled = 0.5 + (weather - weather.mean(axis=0)) / (DEVIATIONS * weather.std(axis=0))
    data = _laid_out(profit - prices.fixed, _by_ends(table["plan"].values), scaled)
    data = data.assign(
        {
            **{name: table[name] for name in ("law", "origin", "year")},
            "situation_values": variable(("situation", "context_dim"), weather, " and ".join(SEASON_INPUTS), "mm"),
        }
    )
    notes = [
        f"Profit: {prices.yields:g} {prices.currency} a tonne of dry yield, less {prices.water:g} a mm of water, less "
        f"{prices.fixed:g}, a hectare."
    ]
    _write(data, table, raw, output, origin, PLAN_INPUTS, SEASON_INPUTS, f"{prices.currency}/ha", notes)


def _laid_out(payoffs: np.ndarray, decisions: np.ndarray, features: np.ndarray) -> xr.Dataset:
    return xr.Dataset(
        {
            "payoff": variable(("decision", "situation"), payoffs.astype(float), "payoff"),
            "decisions": variable(("decision", "decision_dim"), decisions, "decisions, scaled to [0, 1]"),
            "features": variable(("situation", "context_dim"), features, "what stands for a situation, scaled"),
        }
    )


def _write(
    data: xr.Dataset,
    table: xr.Dataset,
    raw: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    origin: Mapping[str, str],
    decision_inputs: Sequence[str],
    context_inputs: Sequence[str],
    units: str,
    notes: Sequence[str],
) -> None:
    data["payoff"].attrs["units"] = units
    told = {
        "decision_inputs": " ".join(decision_inputs),
        "context_inputs": " ".join(context_inputs),
        "simulator": str(table.attrs["simulator"]),
        "payoff_units": units,
    }
    write_netcdf(data.assign_attrs(attributes(origin, raw, {}, notes), **told), output)


def _read(path: str | os.PathLike[str], names: Sequence[str]) -> xr.Dataset:
    table = read_netcdf(path)
    lacking = [name for name in names if name not in table]
    if lacking or "simulator" not in table.attrs:
        raise BrokenFileError(path, f"no table of a simulator: no '{(*lacking, 'simulator')[0]}'")
    return table


def _by_ends(points: np.ndarray) -> np.ndarray:
    """Scale each coordinate to [0, 1]."""
    low, high = points.min(axis=0), points.max(axis=0)
    return (points - low) / (high - low)
