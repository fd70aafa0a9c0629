"""Write the log of a kiosk and tomorrow's forecast, for the page on `bocu suggest`.

    python docs/make_newsvendor_log.py

writes newsvendor.csv and tomorrow.csv into the folder at hand, and the settings kiosk.yaml, the list bundles.csv of
numbers of papers that can be ordered, and forecasts.csv of what was forecast for the days of the log. The data are
simulated: the log holds 60 days, on which the kiosk ordered papers in the morning, met the weather, and sold what it
had while customers came.
"""

import csv
from pathlib import Path

import numpy as np

PRICE, COST = 3.0, 1.0
DAYS, DRY = 60, 0.6
"""Days of a season, and the share of them without rain."""

SETTINGS = """\
decisions:
  order: {low: 20, high: 90, whole: true, unit: papers}
contexts:
  temperature: {unit: °C}
  rain: {unit: mm}
outcome:
  profit: {unit: €}
forecast: tomorrow.csv
set: {name: tv, radius: 0.2}
"""


def season(world: np.random.Generator, dry: float = DRY) -> dict[str, np.ndarray]:
    """Return what is decided and met on each day of a season, shapes (DAYS,); `demand` is not logged."""
    temperature = world.normal(16.0, 5.0, DAYS).round(1)
    rain = np.where(world.random(DAYS) < dry, 0.0, world.exponential(5.0, DAYS)).round(1)
    order = world.integers(20, 91, DAYS)
    demand = 40.0 + 1.5 * temperature - 3.0 * rain + world.normal(0.0, 4.0, DAYS)
    return {"order": order, "temperature": temperature, "rain": rain, "demand": np.maximum(demand, 0.0)}


def profits(order: np.ndarray | float, demand: np.ndarray) -> np.ndarray:
    """Return what orders of papers earn, shapes that broadcast."""
    return PRICE * np.minimum(order, demand) - COST * order


def main() -> None:
    """Write all files."""
    world = np.random.default_rng(7)
    day = [str(np.datetime64("2024-05-01") + i) for i in range(DAYS)]
    met = season(world)
    demand = met.pop("demand")
    profit, unsold = profits(met["order"], demand), np.maximum(met["order"] - demand, 0.0)
    columns = {"day": day, **met, "profit": profit.round(2)}
    _write("newsvendor.csv", (*columns, "unsold"), *columns.values(), unsold.round(1))

    shift, likely = np.array([-1.0, -0.5, 0.0, 0.5, 1.0]), np.array([1, 2, 3, 2, 1])
    forecast = {
        "day": np.repeat(day, len(shift)),
        "temperature": (met["temperature"][:, None] + 3.0 * shift).round(1).ravel(),
        "rain": (met["rain"][:, None] * (1.0 + 0.5 * shift)).round(2).ravel(),
        "weight": np.tile(likely, DAYS),
    }
    _write("forecasts.csv", tuple(forecast), *forecast.values())

    members = 8
    warm = (18.0 + world.normal(0.0, 2.0, members)).round(1)
    wet = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 3.0, 6.0, 10.0])
    weight = np.array([3, 3, 2, 2, 2, 2, 1, 1])
    _write("tomorrow.csv", ("temperature", "rain", "weight"), warm, wet, weight)

    _write(
        "bundles.csv", ("order", "supplier"), np.array([40, 55, 70, 85]), np.array(["north", "north", "south", "east"])
    )
    Path("kiosk.yaml").write_text(SETTINGS, encoding="utf-8")


def _write(name: str, head: tuple[str, ...], *columns: np.ndarray | list[str]) -> None:
    with Path(name).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in columns), strict=True))


if __name__ == "__main__":
    main()
