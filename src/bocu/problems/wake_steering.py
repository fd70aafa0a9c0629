"""Yaw of two turbines in front of a third, under a wind that is forecast wrongly: FLORIS 4.7.

The payoff is the gain in kW over no yaw in the same wind, see `data.simulators.wakes`. Reference and truth are
normal distributions of the direction; speeds are uniform. The reference's mean is 2 degrees: at 0 there are two
mirrored optima, and luck decides.
"""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count, Number, Parameters, Positive
from bocu.problems.candidates import Lengthscale
from bocu.problems.distributions import Distribution
from bocu.problems.finite import LENGTHSCALE
from bocu.problems.simulated_table import SimulatedTable, SimulatedTableParameters, Situations
from bocu.robust.contexts.laws import LawParameters
from bocu.robust.contexts.references import Estimate
from bocu.robust.contexts.shifts import restated

FARTHEST = 15.0  #: Degrees from the row, to either side, that directions are scaled by.


class WindParameters(Parameters):
    """A normal distribution of the direction."""

    mean: Number = Field(2.0, description="mean of the direction, degrees from the row")
    sd: Positive = Field(3.0, description="its standard deviation, degrees")


class Wind(Parameters):
    """A wind whose direction is normal, evaluated on the grid and normalised, and whose speed is uniform."""

    wind: WindParameters = Field(description="mean and sd of the direction in degrees")

    def stated(self) -> LawParameters:
        """Return the same as a law of scaled direction and speed, which may shift."""
        direction = {"mean": (self.wind.mean + FARTHEST) / (2.0 * FARTHEST), "std": self.wind.sd / (2.0 * FARTHEST)}
        return restated("coordinates", {"of": [{"name": "normal", "parameters": direction}, {"name": "uniform"}]})


WindLaw = Wind | Distribution


class WakeSteeringParameters(SimulatedTableParameters):
    """Parameters of the row of three turbines."""

    dataset: ClassVar[str] = "wake-steering"
    record: ClassVar[str] = "row-of-three"
    decision_inputs: ClassVar[tuple[str, ...]] = ("first_yaw", "second_yaw")
    context_inputs: ClassVar[tuple[str, ...]] = ("direction", "speed")

    decision_points: list[Count] = Field([31, 31], description="yaws of the two turbines; as computed")
    context_points: list[Count] = Field([16, 4], description="directions and speeds; as computed")
    reference: WindLaw | list[WindLaw] | Literal["announced"] | Estimate = Field(  # type: ignore[assignment]
        Wind(wind=WindParameters(mean=2.0, sd=3.0)),
        description="reference distribution: `{wind: {mean, sd}}` of the direction in degrees, speeds uniform, or as "
        "in other problems; or a list of these over the rounds",
    )
    truth: WindLaw | list[WindLaw] = Field(  # type: ignore[assignment]
        Wind(wind=WindParameters(mean=2.0, sd=6.0)),
        description="distribution that winds come from, as `reference`",
    )
    lengthscale: Lengthscale = Field(0.25, description=LENGTHSCALE)
    variance: Positive = Field(3.6e5, description="variance of that kernel, in squared kW")
    noise: Positive = Field(20.0, description="standard deviation of the measured gain, in kW")


class WakeSteering(SimulatedTable[WakeSteeringParameters]):
    """Gain of a row of three turbines."""

    about = About(
        title="Wake steering",
        summary="yaw of two turbines in front of a third, wind direction and speed; FLORIS",
    )
    Parameters = WakeSteeringParameters
    units = "kW"
    decision_names = ("yaw of the first turbine, -30 to 30 degrees, scaled", "yaw of the second turbine, likewise")
    context_names = ("wind direction, -15 to 15 degrees, scaled", "wind speed, 6 to 11 m/s, scaled")

    def cells(self, values: np.ndarray) -> np.ndarray:
        """Take each wind for a cell of its own."""
        return np.arange(len(values))

    def law(self, entry: object, situations: Situations) -> np.ndarray | None:
        """Return the distribution of a normal direction and a uniform speed."""
        if not isinstance(entry, Wind):
            return None
        weights = np.exp(-0.5 * ((situations.values[:, 0] - entry.wind.mean) / entry.wind.sd) ** 2)
        return weights / weights.sum()
