"""Logs of a kiosk, for tests of advice."""

import numpy as np
import pandas as pd

#: Standard deviation of a profit around its expectation.
NOISE = 4.0


def kiosk(rows: int, seed: int = 3) -> pd.DataFrame:
    """Return a log of orders that are sold up to a demand which falls with rain; nothing changes in time."""
    world = np.random.default_rng(seed)
    order, rain = world.uniform(10.0, 90.0, rows), world.uniform(0.0, 10.0, rows)
    return pd.DataFrame({"order": order, "rain": rain, "profit": sold(order, rain) + world.normal(0.0, NOISE, rows)})


def drifting(rows: int, seed: int = 3, *, wetter: float = 0.0, busier: float = 0.0) -> pd.DataFrame:
    """Return such a log with a column of dates, a day a row, along which it gets wetter or more customers come."""
    log = kiosk(rows, seed)
    part = np.linspace(0.0, 1.0, rows)
    rain = log.rain + wetter * part
    when = pd.date_range("2024-01-01", periods=rows).strftime("%d.%m.%Y")
    noise = log.profit - sold(log.order, log.rain)
    return log.assign(rain=rain, profit=sold(log.order, rain, busier * part) + noise, when=when)


def sold(order: np.ndarray, rain: np.ndarray, more: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the profit of orders (n,) in rain (n,), with more customers (n,) than usual."""
    return 3.0 * np.minimum(order, 70.0 - 4.0 * rain + more) - order
