"""Pictures of a problem with one decision and one context on a grid, drawn from the problem itself, before any run.

The payoff with reference and true distribution as figure 1 of Kirschner et al. (2020), and its contours as figure 4a;
in both the best decisions under the stochastic, the worst-case and the distributionally robust objective.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import LARGEST_SEED, Integer
from bocu.core.rounds import CONTEXTUAL, FiniteDomain, Situation
from bocu.pages.figures import marks
from bocu.pages.figures.base import Drawing, Figure, Inputs, said_only
from bocu.pages.figures.realised import ProblemFigureParameters, problem_of
from bocu.pages.figures.results import shown_unit, with_unit
from bocu.robust.ambiguity.parameters import StatedSet, by_default
from bocu.robust.objectives.functions import UncertaintyObjective

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

LEVELS = 12
"""Contours between the lowest and the highest payoff, about."""


class FiniteLandscapeParameters(ProblemFigureParameters):
    """Parameters of `FunctionAndDistributions` and `Contour`."""

    seed: Integer = Field(0, ge=0, le=LARGEST_SEED, description="The seed whose problem is drawn, where seeds differ.")
    set: StatedSet = Field(by_default("mmd"), description="Ambiguity set of the distributionally robust optimum.")


@dataclass(frozen=True)
class ObjectiveOptimum:
    """The best decision under one objective.

    Attributes:
        name: the objective, for people.
        index: the decision.
        position: its coordinate.
        look: how its mark is drawn.
    """

    name: str
    index: int
    position: float
    look: dict[str, Any]


@dataclass(frozen=True)
class Terrain:
    """A problem of one decision and one context, as one seed meets it in its first round.

    Attributes:
        label, title, units, data_label: of the problem.
        decisions, contexts: coordinates, ascending, shapes (decisions,) and (contexts,).
        decision_label, context_label: for axes.
        payoffs: shape (decisions, contexts).
        reference, truth: distributions over the contexts, shape (contexts,).
        epsilon: radius of the ambiguity set.
        optima: the best decisions: stochastic, worst-case, distributionally robust.
    """

    label: str
    title: str
    units: str
    data_label: str
    decisions: np.ndarray
    contexts: np.ndarray
    decision_label: str
    context_label: str
    payoffs: np.ndarray
    reference: np.ndarray
    truth: np.ndarray
    epsilon: float
    optima: tuple[ObjectiveOptimum, ...]

    @property
    def span(self) -> str:
        """The range of payoffs, in words."""
        return f"{self.payoffs.min():.3g} to {self.payoffs.max():.3g} {shown_unit(self.units)}".rstrip()

    @property
    def table(self) -> "pd.DataFrame":
        """A row for every decision and context; which objectives hold the decision best, separated by semicolons."""
        import pandas as pd

        best = ["; ".join(o.name for o in self.optima if o.index == place) for place in range(len(self.decisions))]
        decision, context = (grid.ravel() for grid in np.meshgrid(*map(np.arange, self.payoffs.shape), indexing="ij"))
        return pd.DataFrame(
            {
                "decision": self.decisions[decision],
                "context": self.contexts[context],
                "payoff": self.payoffs.ravel(),
                "reference": self.reference[context],
                "truth": self.truth[context],
                "best": np.array(best)[decision],
            }
        )

    @property
    def told(self) -> str:
        """Where the optima lie, in words."""
        if len({optimum.index for optimum in self.optima}) == 1:
            return f"All three optima lie at decision {self.optima[0].position:.3g}."
        return "Best decisions: " + ", ".join(f"{o.name} {o.position:.3g}" for o in self.optima) + "."

    @property
    def at_stake(self) -> str:
        """What robustness gives up under the reference, and gains under the truth, in words."""
        stochastic, robust = self.optima[0], self.optima[-1]
        radius = f"radius {self.epsilon:.3g}"
        if stochastic.index == robust.index:
            return (
                f"At {radius} robustness changes nothing: the distributionally robust decision is the stochastic one."
            )
        under = [
            " and ".join(f"{self.payoffs[o.index] @ weights:.3g}" for o in (stochastic, robust))
            for weights in (self.reference, self.truth)
        ]
        return (
            f"The stochastic and the distributionally robust one ({radius}) expect {under[0]} under the reference, "
            f"{under[1]} under the truth."
        )


MARKS: dict[str, dict[str, Any]] = {
    "stochastic": {"color": style.BLUE, "marker": "^"},
    "worst-case": {"color": style.BLACK, "marker": "s"},
    "distributionally robust": {"color": style.VERMILLION, "marker": "*"},
}
REFERENCE_LINE: dict[str, Any] = {"color": style.BLUE, "linestyle": style.SOLID}
TRUTH_LINE: dict[str, Any] = {"color": style.ORANGE, "linestyle": style.DASHED}


class TerrainFigure(Figure[FiniteLandscapeParameters]):
    """A picture of a terrain with its optima."""

    protocols = CONTEXTUAL
    Parameters = FiniteLandscapeParameters

    def compose(self, inputs: Inputs) -> Drawing:
        terrain = survey(inputs, self.parameters)
        if isinstance(terrain, Drawing):
            return terrain
        picture, title, caption, alternative = self.shown(terrain)
        picture.legend(loc="outside lower center", ncols=3)
        return Drawing(picture, title, caption, alternative, terrain.label, terrain.data_label, terrain.table)

    @abstractmethod
    def shown(self, terrain: Terrain) -> tuple["Picture", str, str, str]:
        """Return the picture, its title, its caption and its alternative."""


class FunctionAndDistributions(TerrainFigure):
    """The payoff over context and decision as an image, the distributions of the context above it."""

    about = About(
        title="Function and distributions",
        summary="payoff by context and decision, reference and truth, the optima",
        paper="Kirschner et al. 2020, figure 1",
    )

    def shown(self, terrain: Terrain) -> tuple["Picture", str, str, str]:
        picture = style.new_figure(3.6)
        above, below = picture.subplots(2, 1, sharex=True, height_ratios=(1, 2.6))
        above.plot(terrain.contexts, terrain.reference, label="reference", **REFERENCE_LINE)
        above.plot(terrain.contexts, terrain.truth, label="true distribution", **TRUTH_LINE)
        above.set_ylabel("probability")
        above.set_ylim(bottom=0.0)
        style.grid(above)
        label = with_unit("payoff", terrain.units)
        marks.field(below, terrain.contexts, terrain.decisions, terrain.payoffs, label)
        _mark(below, terrain)
        caption = (
            f"{terrain.title}: payoff without noise by context and decision; above, the reference and the true "
            f"distribution of the context; dashed lines: the best decisions. {terrain.told} {terrain.at_stake}"
        )
        alternative = (
            f"Heat map of payoffs, {len(terrain.decisions)} decisions by {len(terrain.contexts)} contexts, from "
            f"{terrain.span}, below two curves: the reference peaks at context "
            f"{terrain.contexts[terrain.reference.argmax()]:.3g}, the truth at "
            f"{terrain.contexts[terrain.truth.argmax()]:.3g}. {terrain.told}"
        )
        return picture, "Function and distributions", caption, alternative


class Contour(TerrainFigure):
    """Contours of the payoff over context and decision."""

    about = About(
        title="Contour",
        summary="contours of the payoff with the optima",
        paper="Kirschner et al. 2020, figure 4a",
    )

    def shown(self, terrain: Terrain) -> tuple["Picture", str, str, str]:
        picture, axes = style.single(3.0)
        place = (terrain.contexts, terrain.decisions, terrain.payoffs)
        filled = axes.contourf(*place, levels=LEVELS, cmap=style.SEQUENTIAL)
        axes.contour(*place, levels=filled.levels, colors="white", linewidths=0.5, linestyles="solid")
        _mark(axes, terrain)
        picture.colorbar(filled, ax=axes, aspect=25, pad=0.015).set_label(with_unit("payoff", terrain.units))
        caption = (
            f"{terrain.title}: contours of the payoff without noise; dashed lines: the best decisions. {terrain.told} "
            f"The radius of the distributionally robust one is {terrain.epsilon:.3g}."
        )
        alternative = (
            f"Contour plot of payoffs over {len(terrain.contexts)} contexts and {len(terrain.decisions)} decisions, "
            f"from {terrain.span}. {terrain.told}"
        )
        return picture, "Contours", caption, alternative


def survey(inputs: Inputs, parameters: FiniteLandscapeParameters) -> Terrain | Drawing:
    """Build the problem of `inputs` and find its optima, or say in a picture why there is nothing to show."""
    from bocu.core.randomness import Streams

    problem, label, data_label = problem_of(inputs)
    realisation = problem.realise(Streams(parameters.seed))
    decisions, contexts = realisation.description.decisions, realisation.description.contexts
    if not (
        isinstance(decisions, FiniteDomain)
        and isinstance(contexts, FiniteDomain)
        and decisions.dimension == contexts.dimension == 1
    ):
        return said_only("The problem", "the problem has not one decision and one context on a grid", label)
    payoffs, reference, truth = realisation.payoffs(1), realisation.reference(1), realisation.truth(1)
    ambiguity_set = parameters.set.over(contexts.points)
    epsilon = parameters.set.epsilon(Situation(1, reference, truth, 0, margin=realisation.margin(1)), ambiguity_set)
    objectives = {
        "stochastic": UncertaintyObjective.so(),
        "worst-case": UncertaintyObjective.ro(),
        "distributionally robust": UncertaintyObjective.dro(ambiguity_set.with_epsilon(epsilon)),
    }
    best = {name: objective.argmax(payoffs, reference).index for name, objective in objectives.items()}
    return Terrain(
        label,
        problem.title,
        problem.units,
        data_label,
        decisions.points[:, 0],
        contexts.points[:, 0],
        with_unit(decisions.names[0], decisions.units[0]),
        with_unit(contexts.names[0], contexts.units[0]),
        payoffs,
        reference,
        truth,
        epsilon,
        tuple(ObjectiveOptimum(name, i, float(decisions.points[i, 0]), MARKS[name]) for name, i in best.items()),
    )


def _mark(axes: "Axes", terrain: Terrain) -> None:
    """Draw the optima as lines across all contexts; marks at the reference's mean, beside it where they coincide."""
    start, end = terrain.contexts[[0, -1]]
    middle = float(terrain.reference @ terrain.contexts)
    apart = 0.08 * (end - start) if len({optimum.index for optimum in terrain.optima}) < len(terrain.optima) else 0.0
    for place, optimum in enumerate(terrain.optima):
        colour, marker = optimum.look["color"], optimum.look["marker"]
        axes.plot([start, end], [optimum.position] * 2, color="white", linewidth=0.8, linestyle=style.DASHED)
        axes.plot(
            middle + apart * (place - 1),
            optimum.position,
            linestyle="none",
            marker=marker,
            markersize=11 if marker == "*" else 7,
            markerfacecolor=colour,
            markeredgecolor="white",
            markeredgewidth=0.8,
            label=f"{optimum.name} optimum",
        )
    axes.set(xlabel=terrain.context_label, ylabel=terrain.decision_label)
    axes.margins(0.0)
