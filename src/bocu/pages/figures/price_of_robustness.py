"""The price of robustness, and what it buys, by the radius of a set: see `evaluation.price_of_robustness`."""

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import LARGEST_SEED, Integer, NotNegative
from bocu.core.rounds import CONTINUOUS, GRID, SCALARISED
from bocu.pages.figures.base import Drawing, Figure, Inputs, said_only
from bocu.pages.figures.realised import ProblemFigureParameters, problem_of
from bocu.pages.figures.results import shown_unit, with_unit
from bocu.robust.ambiguity.parameters import StatedSet, by_default
from bocu.sweep.evaluation.price_of_robustness import prices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "Price of robustness"
MOST_RADII = 50
NOTHING = 1e-9
"""Of what decisions are worth: no more than rounding."""


class PriceOfRobustnessParameters(ProblemFigureParameters):
    """Parameters of `PriceOfRobustness`."""

    seed: Integer = Field(0, ge=0, le=LARGEST_SEED, description="The seed whose problem is drawn, where seeds differ.")
    set: StatedSet = Field(by_default("tv"), description="The ambiguity set; its radius does not matter.")
    radii: Annotated[list[NotNegative], Field(min_length=2, max_length=MOST_RADII)] = Field(
        [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0], description="Radii of the set, ascending."
    )


class PriceOfRobustness(Figure[PriceOfRobustnessParameters]):
    """Left what decisions are worth, in expectation and at worst, right the price and what it buys, by the radius."""

    about = About(
        title="Price of robustness",
        summary="what the robust decision costs in expectation, and what it buys at the worst of a set, by its radius",
    )
    protocols = GRID + CONTINUOUS + SCALARISED
    by_default = False
    Parameters = PriceOfRobustnessParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd

        from bocu.core.randomness import Streams

        problem, label, data_label = problem_of(inputs)
        realisation = problem.realise(Streams(self.parameters.seed))
        if realisation.description.outputs > 1:
            return said_only(TITLE, "the problem has several outputs", label)
        found = prices(realisation, self.parameters.set, self.parameters.radii)
        if max(found.price.max(), found.bought.max()) <= NOTHING * max(1.0, abs(found.plain_expected).max()):
            reason = (
                "at every radius drawn the decision of the best expectation is the best at the worst as well, and "
                "robustness costs and buys nothing"
            )
            return said_only(f"{TITLE}: {self.parameters.set.family.about.title}", reason, label, data_label)
        picture = style.new_figure(2.4)
        left, right = picture.subplots(1, 2)
        radii = np.array(self.parameters.radii)
        _draw(left, radii, {
            "best expected decision, expected": (found.plain_expected, style.ORANGE, style.SOLID, 3.0),
            "best expected decision, at worst": (found.plain_worst, style.ORANGE, style.DOTTED, 3.0),
            "robust decision, expected": (found.expected, style.BLUE, style.SOLID, 1.2),
            "robust decision, at worst": (found.worst, style.BLUE, style.DASHED, 1.2),
        })  # fmt: skip
        _draw(right, radii, {
            "price: lost in expectation": (found.price, style.BLACK, style.SOLID, 1.5),
            "bought: gained at worst": (found.bought, style.GREEN, style.DASH_DOT, 1.5),
        })  # fmt: skip
        name = self.parameters.set.family.about.title
        for axes, quantity in ((left, "value"), (right, "difference")):
            axes.set(xlabel=f"radius ({name})", ylabel=with_unit(quantity, problem.units))
        style.legend_below(picture)
        units = f" {shown_unit(problem.units)}".rstrip()
        caption = (
            f"{problem.title}: the decision that is best at the worst of {name} sets of growing radius around the "
            "reference, beside that of the best expectation. Left: what both are worth, expected and at the worst of "
            "the set. Right: what robustness costs in expectation, and what it gains at the worst of the set."
        )
        by_radius = ", ".join(
            f"{radius:g}: {price:.3g} and {bought:.3g}"
            for radius, price, bought in zip(radii, found.price, found.bought, strict=True)
        )
        unit = units or " units of the payoff"
        alternative = f"Line charts by radius. Price and gain in{unit} at radius {by_radius}."
        table = pd.DataFrame(
            {"set": name, "radius": radii, **vars(found), "price": found.price, "bought": found.bought}
        )
        return Drawing(picture, f"{TITLE}: {name}", caption, alternative, label, data_label, table)


def _draw(axes: "Axes", radii: np.ndarray, lines: dict[str, tuple[np.ndarray, str, style.Dash, float]]) -> None:
    """Draw lines (values, colour, dash, width) by the radius, the first at the bottom."""
    import seaborn as sns

    for title, (values, colour, dash, width) in lines.items():
        sns.lineplot(
            x=radii, y=values, ax=axes, label=title, color=colour, linestyle=dash, marker="o", legend=False,
            linewidth=width, markersize=3, markeredgecolor="none",
        )  # fmt: skip
    style.grid(axes)
