"""What turning two turbines out of the wind gains at a third behind them: FLORIS 4.7, its Gauss-curl hybrid model.

Three NREL 5 MW turbines stand in a row, seven rotor diameters apart, in a turbulence intensity of 6 %. A decision is
the yaw of the first two, a situation the wind's direction, relative to the row, and its speed. The payoff is the gain
in kW over no yaw in the same wind: with raw power an adversary chooses wind along the row and a robust decision keeps
full yaw. Nearest published setting: Rott et al. (2018), robust active wake control under a varying direction.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.loading import naming_extras
from bocu.problems.data.prepare import variable
from bocu.problems.data.simulators.tables import SITUATION, TableSimulator

if TYPE_CHECKING:
    import xarray as xr

YAWS = np.linspace(-30.0, 30.0, 31)  #: Degrees, counterclockwise; zero, which does nothing, is one of them.

DIRECTIONS = np.linspace(-15.0, 15.0, 16)  #: Degrees from the row, clockwise.

SPEEDS = np.linspace(6.0, 11.0, 4)  #: Metres a second at hub height.

ROTOR, SPACING, TURBULENCE = 126.0, 7.0, 0.06
"""The rotor's diameter in metres, distances in diameters, and turbulence intensity."""

_ALONG = 270.0  # the direction, in degrees from north, of wind along the row


class WakeSimulator(TableSimulator):
    """Gain in kW over yaw of two turbines, and direction and speed of the wind."""

    package = "floris"

    def situations(self) -> int:
        return len(DIRECTIONS) * len(SPEEDS)

    def compute(self, situations: Sequence[int]) -> "xr.Dataset":
        import xarray as xr

        winds = np.array([(direction, speed) for direction in DIRECTIONS for speed in SPEEDS])[list(situations)]
        yaws = np.array([(first, second) for first in YAWS for second in YAWS])
        gains = np.stack([gains_of(yaws, *wind) for wind in winds], axis=1)
        return xr.Dataset(
            {
                "gain": variable(("decision", SITUATION), gains.astype(np.float32), "gain in power over no yaw", "kW"),
                "yaw": variable(
                    ("decision", "decision_dim"), yaws, "yaw of the first and of the second turbine", "degree"
                ),
                "wind": variable((SITUATION, "context_dim"), winds, "direction from the row in degrees, speed in m/s"),
            }
        )


def gains_of(yaws: np.ndarray, direction: float, speed: float) -> np.ndarray:
    """Return the gain of yaws (n, 2), in degrees, over none, in kW, shape (n,).

    Args:
        yaws: of the first and second turbine.
        direction: of the wind from the row, degrees.
        speed: of the wind, m/s.

    Raises:
        BocuError: FLORIS is not installed.
    """
    with naming_extras():
        from floris import FlorisModel
    angles = np.zeros((len(yaws) + 1, 3))
    angles[1:, :2] = yaws
    farm = FlorisModel("defaults")
    farm.set(
        layout_x=[place * SPACING * ROTOR for place in range(3)],
        layout_y=[0.0] * 3,
        wind_directions=[_ALONG + direction] * len(angles),
        wind_speeds=[speed] * len(angles),
        turbulence_intensities=[TURBULENCE] * len(angles),
        yaw_angles=angles,
    )
    farm.run()
    power = farm.get_farm_power() / 1000.0
    return power[1:] - power[0]
