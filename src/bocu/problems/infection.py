"""Which groups to test while who falls ill first and how fast it spreads is unknown (Tay et al. 2024, section 5).

The payoff is minus the cases, standardised: the Gaussian-process mean through the runs of the simulator of Frazier et
al. (2022). The published grid is the full cube, although shares sum to at most 1: beyond that the mean falls to 0,
which beats what is possible, so that robust objectives choose impossible decisions. `feasible` leaves these out.
"""

from typing import ClassVar

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count
from bocu.problems.prepared_mean import PreparedMeanParameters, PreparedMeanProblem

ROUNDING = 1e-9
"""Shares on a grid that sum to 1 may miss it by rounding."""


class InfectionParameters(PreparedMeanParameters):
    """Parameters of the infection. Shares and the transmission probability are in [0, 1] (the latter scaled)."""

    dataset: ClassVar[str] = "infection"
    record: ClassVar[str] = "runs"
    decision_inputs: ClassVar[tuple[str, ...]] = ("test_share_1", "test_share_2")
    context_inputs: ClassVar[tuple[str, ...]] = ("case_share_1", "case_share_2", "transmission")

    decision_points: list[Count] = Field([32, 32], description="points a share of test kits, evenly spaced over [0, 1]")
    context_points: list[Count] = Field(
        [4, 4, 4], description="points a share of initial cases, and of the transmission probability, evenly spaced"
    )
    feasible: bool = Field(
        False, description="leave out decisions and contexts whose shares sum to more than 1; false: as published"
    )


class Infection(PreparedMeanProblem[InfectionParameters]):
    """Minus the cases over the shares of kits of two of three groups, and the shares of cases and the transmission."""

    about = About(
        title="Infection control",
        summary="shares of test kits against an epidemic of unknown origin and speed",
        paper="Tay et al. 2024",
    )
    Parameters = InfectionParameters
    units = "1"
    decision_names = ("test kits of group 1, share", "test kits of group 2, share")
    decision_units = ("1", "1")
    context_names = ("initial cases in group 1, share", "initial cases in group 2, share", "transmission, scaled")
    context_units = ("1", "1", "1")

    def feasible(self, kind: str, points: np.ndarray) -> np.ndarray | None:
        """Keep shares that sum to at most 1, where the parameters ask for it."""
        return points[:, :2].sum(axis=1) <= 1.0 + ROUNDING if self.parameters.feasible else None
