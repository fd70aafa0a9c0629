"""A stand-in for the OPSD table: a seasonal autoregressive wind speed, offshore and onshore, through a power curve.

The speed's logarithm is a seasonal and daily mean plus an autoregressive process of second order, shared in part by the
two fleets; a fleet's output is a smoothed turbine curve of it; capacities grow. The table has the columns of the real
one's German wind, from 2013 to 2019, with a few empty hours, and a column `simulated`.
"""

import os

import numpy as np
import pandas as pd

from bocu.core.io.files import atomic_path

_SEED = 20190605
FIRST, LAST = "2013-01-01", "2019-12-31 23:00"
HOURS_A_YEAR = 24 * 365.25
CUT_IN, RATED = 3.0, 13.0  # m/s at hub height
EMPTY_HOURS = 6
FLEETS = {"offshore": (500.0, 7500.0, 2.15), "onshore": (31000.0, 53000.0, 1.72)}  # MW at first, at last; log of m/s


def simulate(path: str | os.PathLike[str]) -> None:
    """Write `time_series_60min_singleindex.csv`."""
    with atomic_path(path) as temporary:
        _table().to_csv(temporary, index=False, lineterminator="\n")


def _table() -> pd.DataFrame:
    rng = np.random.default_rng(_SEED)
    times = pd.date_range(FIRST, LAST, freq="h")
    hours = np.arange(times.size)
    shared = _autoregressive(hours.size, rng)
    columns: dict[str, np.ndarray] = {}
    for fleet, (first, last, level) in FLEETS.items():
        own = 0.85 * shared + np.sqrt(1 - 0.85**2) * _autoregressive(hours.size, rng)
        season = 0.18 * np.cos(2 * np.pi * (hours / HOURS_A_YEAR - 0.04))
        daily = (0.05 if fleet == "onshore" else 0.01) * np.cos(2 * np.pi * (hours % 24 - 14) / 24)
        speed = np.exp(level + season + daily + 0.34 * own)
        capacity = np.round(np.linspace(first, last, hours.size))
        columns[f"{fleet}_capacity"] = capacity
        columns[f"{fleet}_generation_actual"] = np.round(capacity * _power_curve(speed))
    table = pd.DataFrame({"utc_timestamp": times.strftime("%Y-%m-%dT%H:%M:%SZ")})
    for part in ("capacity", "generation_actual"):
        columns[part] = columns[f"offshore_{part}"] + columns[f"onshore_{part}"]
    empty = rng.choice(hours.size, EMPTY_HOURS, replace=False)
    for prefix in ("", "offshore_", "onshore_"):
        capacity, generation = columns[f"{prefix}capacity"], columns[f"{prefix}generation_actual"]
        generation[empty] = np.nan
        table[f"DE_wind_{prefix}capacity"] = capacity
        table[f"DE_wind_{prefix}generation_actual"] = generation
        table[f"DE_wind_{prefix}profile"] = np.round(generation / capacity, 4)
    return table.assign(simulated="yes")


def _autoregressive(size: int, rng: np.random.Generator) -> np.ndarray:
    """A process of second order, hour by hour, with a memory of about a day and unit variance (size,)."""
    first, second = 1.57, -0.582
    noise = rng.standard_normal(size)
    values = np.zeros(size)
    for index in range(2, size):
        values[index] = first * values[index - 1] + second * values[index - 2] + noise[index]
    return (values - values.mean()) / values.std()


def _power_curve(speed: np.ndarray) -> np.ndarray:
    """Share of capacity (n,) that a spread-out fleet yields at a wind speed (n,): a smoothed cubic, 0.97 at most."""
    share = np.clip((speed - CUT_IN) / (RATED - CUT_IN), 0, 1)
    return 0.97 * share**2 * (3 - 2 * share)
