"""The price of robustness, and what it buys: a property of a problem and an ambiguity set, whatever was run.

With x_so the decision of the best expectation under the reference, x_r that of the best worst case over the set of
radius r: the price is `E f(x_so) - E f(x_r)`; it buys `v_r(x_r) - v_r(x_so)`, v_r the worst expectation over the set.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from bocu.ambiguity.parameters import StatedSet, by_default
from bocu.core.about import About
from bocu.core.domains import FiniteDomain
from bocu.core.parameters import LARGEST_SEED, Integer, NotNegative
from bocu.core.protocols import CONTINUOUS, GRID, SCALARISED
from bocu.core.rounds import Situation
from bocu.evaluation.discretised import is_continuous, on_cells
from bocu.evaluation.metrics import (
    ExpectedPayoff,
    ExpectedPayoffParameters,
    Metric,
    ObjectiveMetric,
    ObjectiveMetricParameters,
)
from bocu.figures import style
from bocu.figures.base import Drawing, Figure, Inputs, said_only
from bocu.figures.reading import shown_unit, with_unit
from bocu.figures.realised import ProblemFigureParameters, problem_inputs
from bocu.io.provenance import SIMULATED_LABEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bocu.problems.base import Realisation

TITLE = "Price of robustness"
MOST_RADII = 50
_ROUNDING = 1e-9
"""Of searches, relative to 1 + |value|."""


class PriceOfRobustnessParameters(ProblemFigureParameters):
    """Parameters of `PriceOfRobustness`."""

    seed: Integer = Field(0, ge=0, le=LARGEST_SEED, description="The seed whose problem is drawn, where seeds differ.")
    set: StatedSet = Field(by_default("tv"), description="The ambiguity set; its radius does not matter.")
    radii: Annotated[list[NotNegative], Field(min_length=2, max_length=MOST_RADII)] = Field(
        [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0], description="Radii of the set, ascending."
    )


@dataclass(frozen=True)
class Prices:
    """What decisions are worth at radii, each of shape (radii,).

    Attributes:
        expected: of the robust decision, in expectation.
        worst: of the robust decision, at the worst of the set.
        plain_expected: of the decision of the best expectation, likewise.
        plain_worst: likewise.
    """

    expected: np.ndarray
    worst: np.ndarray
    plain_expected: np.ndarray
    plain_worst: np.ndarray

    @property
    def price(self) -> np.ndarray:
        """What the robust decision costs in expectation."""
        return self.plain_expected - self.expected

    @property
    def bought(self) -> np.ndarray:
        """What it gains at the worst of the set."""
        return self.worst - self.plain_worst


def prices(realisation: "Realisation", parameters: PriceOfRobustnessParameters) -> Prices:
    """Work out price and gain at every radius, in the first round's reference.

    Args:
        realisation: a problem of one output; continuous contexts are discretised.
        parameters: those of the figure.
    """
    unknown = np.empty(0)
    known = is_continuous(realisation)
    first = Situation(1, unknown if known else realisation.reference(1), unknown if known else realisation.truth(1), 0)
    shown, (situation,) = on_cells(realisation, [first])
    plain = ExpectedPayoff(ExpectedPayoffParameters())
    best = _best_payoffs(shown, situation, plain)
    expected, worst, plain_worst = [], [], []
    for radius in parameters.radii:
        stated = {**parameters.set.model_dump(mode="json"), "radius": radius}
        robust = ObjectiveMetricParameters(
            objective={
                "class": "bocu.objectives.stated:DistributionallyRobust",
                "parameters": {"set": stated},
            }
        )
        metric = ObjectiveMetric(robust)
        found = _best_payoffs(shown, situation, metric)
        # A search may end no higher than another one: then robustness changes nothing.
        values = metric.values(np.stack([found, best]), situation)
        same = values[1] >= values[0] - _ROUNDING * (1.0 + abs(values[1]))
        chosen = best if same else found
        expected.append(float(plain.values(chosen[None], situation)[0]))
        worst.append(float(values[1] if same else values[0]))
        plain_worst.append(float(values[1]))
    plain_expected = np.full(len(expected), float(plain.values(best[None], situation)[0]))
    return Prices(np.array(expected), np.array(worst), plain_expected, np.array(plain_worst))


def _best_payoffs(shown: "Realisation", situation: Situation, metric: Metric) -> np.ndarray:
    """Return the payoffs (contexts,) of the best decision under a metric."""
    metric.meet(shown)
    if isinstance(shown.description.decisions, FiniteDomain) and shown.description.protocol not in SCALARISED:
        payoffs = shown.payoffs(1)
        available = shown.available(1)
        rows = np.arange(len(payoffs)) if available is None else available
        chosen: np.ndarray = payoffs[rows[int(np.argmax(metric.values(payoffs, situation)[rows]))]]
        return chosen
    _, decisions = metric.best(shown, [situation])
    table: np.ndarray = shown.table(decisions)[0, :, 0]
    return table


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
        from bocu.runs.seed_run import build_problem

        described = inputs["problem"]
        problem = build_problem(described["specification"], problem_inputs(inputs))
        label, data_label = described["label"], SIMULATED_LABEL if problem.simulated else ""
        realisation = problem.realise(Streams(self.parameters.seed))
        if realisation.description.outputs > 1:
            return said_only(TITLE, "the problem has several outputs", label)
        found = prices(realisation, self.parameters)
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
            axes.set_xlabel(f"radius ({name})")
            axes.set_ylabel(with_unit(quantity, problem.units))
        told = [axes.get_legend_handles_labels() for axes in (left, right)]
        handles, labels = ([each for pair in told for each in pair[which]] for which in (0, 1))
        picture.legend(handles, labels, loc="outside lower center", ncols=2)
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
