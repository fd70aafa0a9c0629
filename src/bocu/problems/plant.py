"""How acid a medium should be for plants to grow while its ammonia varies (Tay et al. 2024, section 5).

The payoff is the standardised leaf area of Marchantia, the mean of the Gaussian process of Tay et al. (2022).
"""

from typing import ClassVar

from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count
from bocu.problems.prepared_mean import PreparedMeanParameters, PreparedMeanProblem


class PlantParameters(PreparedMeanParameters):
    """Parameters of the plants. pH is scaled from 2.5-6.5, NH3 from 0-30,000 micromolar."""

    dataset: ClassVar[str] = "plant"
    record: ClassVar[str] = "svgp"
    decision_inputs: ClassVar[tuple[str, ...]] = ("ph",)
    context_inputs: ClassVar[tuple[str, ...]] = ("nh3",)

    decision_points: list[Count] = Field([1024], description="points of pH, evenly spaced over its range")
    context_points: list[Count] = Field([64], description="points of the NH3 concentration, evenly spaced")


class Plant(PreparedMeanProblem[PlantParameters]):
    """Leaf area over pH, which decides, and NH3, which is the context."""

    about = About(
        title="Plant growth",
        summary="leaf area over pH, which decides, and ammonia, the context",
        paper="Tay et al. 2024",
    )
    Parameters = PlantParameters
    units = "1"
    decision_names = ("pH, scaled",)
    decision_units = ("1",)
    context_names = ("NH3 concentration, scaled",)
    context_units = ("1",)
