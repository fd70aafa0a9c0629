"""What robustness is to the decisions of one problem, by the radius of a set.

Its price, and what it buys: see `evaluation.robust_decisions`. And the worst expectation of one decision with what
every objective is of it, after Tay et al. (2024, figure 1), who draw a diagram; this is a decision of a problem. SO,
DRO, RO and MR are heights: of the curve at radius 0 and at the radius, of the least payoff of all contexts, and of the
tangent at 0, as far to the right as the weight of the slope. WCS and RS are the slopes of lines: of that tangent, and
of the least steep line from the aspiration that stays below the curve.
"""

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import LARGEST_SEED, Integer, NotNegative, Number, Positive
from bocu.core.rounds import CONTEXTUAL, CONTINUOUS, GRID, SCALARISED, FiniteDomain, Situation
from bocu.pages.figures.base import Drawing, Figure, Inputs, said_only
from bocu.pages.figures.realised import ProblemFigureParameters, problem_of
from bocu.pages.figures.results import shown_unit, with_unit
from bocu.robust.ambiguity.parameters import StatedSet, by_default
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.evaluation.robust_decisions import objectives_of, prices, reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "Price of robustness"
MOST_RADII = 50
NOTHING = 1e-9  #: Of what decisions are worth: no more than rounding.


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


RADII = 401  #: Points of the curve.


class WorstExpectationParameters(ProblemFigureParameters):
    """Parameters of `WorstExpectation`."""

    seed: Integer = Field(0, ge=0, le=LARGEST_SEED, description="The seed whose problem is drawn, where seeds differ.")
    set: StatedSet = Field(by_default("tv"), description="Ambiguity set, whose radius is that of DRO.")
    decision: Integer | None = Field(None, ge=0, description="Index of the decision; the best under DRO, if left out.")
    tau: Number | None = Field(
        None,
        description="Aspiration of RS; midway between the expectation and the worst one at the radius, if left out.",
    )
    beta: Positive | None = Field(None, description="Weight of the slope in MR; half the radius, if left out.")


class WorstExpectation(Figure[WorstExpectationParameters]):
    """The worst expectation over the radius, with the objectives as heights and slopes."""

    about = About(
        title="Objectives of a decision",
        summary="worst expectation of one decision against the radius, and the objectives on it",
        paper="Tay et al. 2024, figure 1",
    )
    protocols = CONTEXTUAL
    Parameters = WorstExpectationParameters

    def compose(self, inputs: Inputs) -> Drawing:
        from bocu.core.randomness import Streams

        settings = self.parameters
        problem, label, data_label = problem_of(inputs)
        realisation = problem.realise(Streams(settings.seed))
        contexts = realisation.description.contexts
        assert isinstance(contexts, FiniteDomain)
        table, reference = realisation.payoffs(1), realisation.reference(1)
        ambiguity_set = settings.set.over(contexts.points)
        situation = Situation(1, reference, realisation.truth(1), 0, margin=realisation.margin(1))
        radius = settings.set.epsilon(situation, ambiguity_set)
        if settings.decision is not None and settings.decision >= len(table):
            raise BocuError(f"decision: found {settings.decision}; allowed: 0 to {len(table) - 1}")
        best = UncertaintyObjective.dro(ambiguity_set.with_epsilon(radius)).argmax(table, reference).index
        decision = best if settings.decision is None else settings.decision
        payoffs = table[decision]
        found = objectives_of(payoffs, reference, ambiguity_set, radius, settings.tau, settings.beta)

        picture, axes = style.single(3.2)
        radii = np.linspace(0.0, reach(payoffs, reference, ambiguity_set, max(radius, found["beta"])), RADII)
        curve = ambiguity_set.values_at(payoffs[None], reference, list(radii))[0]
        axes.plot(radii, curve, color=style.BLACK, label="worst expectation")
        low, high = float(curve.min()), float(max(curve.max(), found["tau"]))
        for name, start, slope, colour, dash in (
            ("slope: WCS", found["so"], found["wcs"], style.BLUE, style.DOTTED),
            ("slope: RS", found["tau"], found["rs"], style.GREEN, style.DASH_DOT),
        ):
            if np.isfinite(slope):
                axes.plot(radii, start + slope * radii, color=colour, linestyle=dash, label=name)
        dots = {"SO": (0.0, found["so"]), "DRO": (radius, found["dro"]), "RO": (float(radii[-1]), found["ro"])}
        dots |= {"MR": (found["beta"], found["mr"])} if np.isfinite(found["mr"]) else {}
        for (name, (at, value)), colour in zip(
            dots.items(), (style.BLUE, style.VERMILLION, style.BLACK, style.PURPLE), strict=False
        ):
            axes.plot(at, value, linestyle="none", marker="o", color=colour, label=f"height: {name}", zorder=3)
        spare = 0.08 * max(high - low, 1e-12)
        axes.set_ylim(min(low, found["mr"]) - spare if np.isfinite(found["mr"]) else low - spare, high + spare)
        axes.set(xlabel=f"radius of {settings.set.family.about.title}", ylabel=with_unit("payoff", problem.units))
        style.grid(axes)
        picture.legend(loc="outside lower center", ncols=4)
        told = ", ".join(f"{name.upper()} {found[name]:.3g}" for name in ("so", "dro", "ro", "mr", "wcs", "rs"))
        caption = (
            f"{problem.title}, decision {decision}: the worst expectation over the set against its radius. Heights "
            f"of dots: SO, DRO at radius {radius:.3g}, RO, MR with weight {found['beta']:.3g}; slopes of broken lines: "
            f"WCS and RS at aspiration {found['tau']:.3g}. {told}."
        )
        alternative = (
            f"Line chart of the worst expectation, falling from {found['so']:.3g} at radius 0 to {found['ro']:.3g} at "
            f"{radii[-1]:.3g}, with four dots and two broken lines: {told}."
        )
        return Drawing(picture, "Objectives of a decision", caption, alternative, label, data_label)
