"""The problem itself: payoffs as one seed meets them, and what candidate priors say of them before any data.

For one decision and one context on a grid it is drawn before any run: the payoff with reference and true distribution
as figure 1 of Kirschner et al. (2020), and its contours as figure 4a; in both the best decisions under the stochastic,
the worst-case and the distributionally robust objective.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import LARGEST_SEED, Integer
from bocu.core.rounds import CONTEXTUAL, TIME_VARYING, FiniteDomain, Situation
from bocu.core.written import spoken
from bocu.learners.surrogates.time_varying import TimeVaryingPrior
from bocu.pages.figures import marks
from bocu.pages.figures.base import Drawing, Figure, Inputs, nothing_to_show, said_only
from bocu.pages.figures.realised import (
    ArmAxis,
    OneSeedParameters,
    ProblemFigureParameters,
    arm_axis,
    problem_of,
    realise,
)
from bocu.pages.figures.results import Digest, shown_unit, with_unit
from bocu.robust.ambiguity.parameters import StatedSet, by_default
from bocu.robust.objectives.functions import UncertaintyObjective

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from bocu.problems.base import Problem, Realisation

CROWDED = 100  #: Rounds beyond which the dots get smaller.


class Landscape(Figure[OneSeedParameters]):
    """Payoff by decision and round, with the best available decision of each round."""

    about = About(
        title="Landscape",
        summary="the problem itself: payoff by decision and round",
    )
    protocols = TIME_VARYING
    finite_decisions = True
    Parameters = OneSeedParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd

        cube = Digest(inputs["digest"])
        seed = cube.seeds[0] if self.parameters.seed is None else self.parameters.seed
        realisation = realise(cube, inputs, seed)
        axis = arm_axis(realisation.description.decisions)
        rounds = cube.iterations[cube.iterations >= 1]
        payoffs, available = payoff_map(realisation, rounds)
        order = np.arange(len(payoffs)) if axis.continuous else np.argsort(payoffs.mean(axis=1), kind="stable")
        payoffs, available = payoffs[order], available[order]
        heights = axis.positions if axis.continuous else np.arange(len(order), dtype=float)
        best = np.where(available, payoffs, -np.inf).argmax(axis=0)

        picture, axes = style.single(2.7)
        marks.field(axes, rounds, heights, np.ma.masked_array(payoffs, ~available), with_unit("payoff", cube.units))
        axes.plot(
            rounds,
            heights[best],
            linestyle="none",
            marker="o",
            markersize=2.2 if len(rounds) <= CROWDED else 1.4,
            markerfacecolor=style.VERMILLION,
            markeredgewidth=0.0,
            clip_on=False,
            label="best available decision",
        )
        axes.set_xlabel("round")
        axes.margins(y=0.02)  # so that dots at the ends are seen whole
        axes.set_ylabel(
            axis.label if axis.continuous else f"{realisation.description.decisions.names[0]}, by mean payoff"
        )
        style.legend_below(picture)

        closed = not available.all()
        caption = (
            f"The payoff of every decision of {cube.title} in every round, without noise, as seed {seed} meets it; "
            f"dots mark the best available decision.{' Grey: not available in that round.' if closed else ''}"
        )
        span = f"{payoffs.min():.4g} to {payoffs.max():.4g}" + f" {shown_unit(cube.units)}".rstrip()
        alternative = (
            f"Heat map of payoffs, {len(payoffs)} decisions by {len(rounds)} rounds, from {span}. The best available "
            f"decision changes {int((np.diff(best) != 0).sum())} times."
        )
        decision, at = (grid.ravel() for grid in np.meshgrid(heights, rounds, indexing="ij"))
        seen = {"decision": decision, "round": at, "payoff": payoffs.ravel(), "available": available.ravel()}
        return Drawing(picture, "The problem", caption, alternative, cube.problem, cube.data_label, pd.DataFrame(seen))


def payoff_map(realisation: "Realisation", rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected payoff of every decision in every round, and whether it is available, (decisions, rounds)."""
    columns, open_columns = [], []
    for t in rounds:
        expected = realisation.payoffs(int(t)) @ realisation.reference(int(t))
        announced = realisation.available(int(t))
        is_open = np.ones(len(expected), dtype=bool)
        if announced is not None:
            is_open[:] = False
            is_open[announced] = True
        columns.append(expected)
        open_columns.append(is_open)
    return np.stack(columns, axis=1), np.stack(open_columns, axis=1)


class PriorMeans(Figure[OneSeedParameters]):
    """Means of the candidate priors over the decisions; their standard deviations where all means agree."""

    about = About(
        title="Prior means",
        summary="what the candidate priors say before any data",
        paper="Ziomek et al. 2025, figure 3",
    )
    protocols = TIME_VARYING
    finite_decisions = True
    Parameters = OneSeedParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd

        cube = Digest(inputs["digest"])
        seed = cube.seeds[0] if self.parameters.seed is None else self.parameters.seed
        description = realise(cube, inputs, seed).description
        if not description.priors:
            return nothing_to_show(cube, "Prior means", "the problem has no candidate priors")
        axis = arm_axis(description.decisions)
        means = np.stack([prior.mean for prior in description.priors if isinstance(prior, TimeVaryingPrior)])
        best = next((place for place, prior in enumerate(description.priors) if prior is description.best_prior), None)
        if not axis.continuous or np.ptp(means, axis=0).max() == 0:
            return self._deviations(cube, axis, description.priors, best, seed)
        labels = [prior.label for prior in description.priors]
        picture, axes = style.single(2.5)
        for place, (label, mean) in enumerate(zip(labels, means, strict=True)):
            true = place == best
            look = style.BEST_PRIOR if true else {"color": style.GREY, "linewidth": 0.9}
            axes.plot(axis.positions, mean, zorder=2.5 if true else 2, **look)
            top = int(np.argmax(mean))
            axes.annotate(f"{label} (true)" if true else label, (axis.positions[top], mean[top]), (0, 2),
                          textcoords="offset points", ha="center", va="bottom", fontsize=7,
                          fontweight="bold" if true else "normal")  # fmt: skip
        axis.tick(axes)
        axes.set_ylabel(with_unit("prior mean of the payoff", cube.units))
        axes.margins(x=0.03, y=0.12)
        style.grid(axes)
        drawn = "" if best is None else f" Solid black: prior {labels[best]}, the one that the payoff is drawn from."
        caption = (
            f"Means of the {len(labels)} candidate priors of {cube.title} over the decisions, each named at its peak."
            f"{drawn}"
        )
        peaks = [
            f"{label} at {axis.positions[int(np.argmax(mean))]:.3g}" for label, mean in zip(labels, means, strict=True)
        ]
        alternative = f"Line chart of {len(labels)} prior means over the decisions. Highest points: {spoken(peaks)}."
        table = pd.concat(
            [pd.DataFrame({"prior": label, "decision": axis.positions, "mean": mean})
             for label, mean in zip(labels, means, strict=True)]
        )  # fmt: skip
        return Drawing(picture, "Prior means", caption, alternative, cube.problem, cube.data_label, table)

    def _deviations(self, cube: Digest, axis: ArmAxis, priors: Sequence[Any], best: int | None, seed: int) -> Drawing:
        import pandas as pd

        labels = [prior.label for prior in priors]
        deviations = np.sqrt(np.stack([np.diag(prior.covariance) for prior in priors]))
        picture = self._map(cube, axis, priors, deviations)
        true = "" if best is None else f" The best prior is {labels[best]}."
        rates = [f"{prior.label} {prior.forgetting:.3g}" for prior in priors]
        caption = (
            f"The candidate priors of {cube.title}. Colour: prior standard deviation of each decision (decisions of "
            f"seed {seed}); at the right the prior mean and the rate at which the prior forgets in a round.{true}"
        )
        alternative = (
            f"Heat map of prior standard deviations, {len(labels)} priors by {deviations.shape[1]} decisions, from "
            f"{deviations.min():.3g} to {deviations.max():.3g}. Forgetting rates: {spoken(rates)}."
        )
        table = pd.concat(
            [pd.DataFrame({"prior": label, "decision": axis.positions, "standard_deviation": deviation})
             for label, deviation in zip(labels, deviations, strict=True)]
        )  # fmt: skip
        return Drawing(picture, "Candidate priors", caption, alternative, cube.problem, cube.data_label, table)

    @staticmethod
    def _map(cube: Digest, axis: ArmAxis, priors: Sequence[Any], deviations: np.ndarray) -> "Picture":
        picture, axes = style.single(0.9 + 0.2 * len(priors))
        label = with_unit("prior standard deviation", cube.units)
        marks.field(
            axes, axis.positions, np.arange(len(priors)), deviations, label, location="top", aspect=40, pad=0.02
        )
        axes.set_yticks(range(len(priors)), [prior.label for prior in priors])
        axes.invert_yaxis()
        axis.tick(axes)
        axes.set_ylabel("candidate prior")
        for place, prior in enumerate(priors):
            flat = np.ptp(prior.mean) == 0
            told = (f"mean {prior.mean[0]:.4g}, " if flat else "") + f"forgets {prior.forgetting:.2g}"
            axes.text(1.01, place, told, transform=axes.get_yaxis_transform(), va="center", fontsize=6.5)
        return picture


LEVELS = 12  #: Contours between the lowest and the highest payoff, about.


class FiniteLandscapeParameters(ProblemFigureParameters):
    """Parameters of `FunctionAndDistributions` and `Contour`."""

    seed: Integer = Field(0, ge=0, le=LARGEST_SEED, description="The seed whose problem is drawn, where seeds differ.")
    set: StatedSet = Field(by_default("mmd"), description="Ambiguity set of the distributionally robust optimum.")


@dataclass(frozen=True)
class Terrain:
    """A problem of one decision and one context, as one seed meets it in its first round."""

    # problem, label, data_label: the problem.
    problem: "Problem"
    label: str
    data_label: str
    # decisions, contexts: coordinates, ascending, shapes (decisions,) and (contexts,).
    decisions: np.ndarray
    contexts: np.ndarray
    axes: tuple[str, ...]  #: what they are, for axes.
    payoffs: np.ndarray  #: shape (decisions, contexts).
    # reference, truth: distributions over the contexts, shape (contexts,).
    reference: np.ndarray
    truth: np.ndarray
    epsilon: float  #: radius of the ambiguity set.
    #: index of the best decision by objective: stochastic, worst-case, distributionally robust.
    best: Mapping[str, int]

    @property
    def span(self) -> str:
        """The range of payoffs, in words."""
        return f"{self.payoffs.min():.3g} to {self.payoffs.max():.3g} {shown_unit(self.problem.units)}".rstrip()

    @property
    def table(self) -> "pd.DataFrame":
        """A row for every decision and context; which objectives hold the decision best, separated by semicolons."""
        import pandas as pd

        best = [
            "; ".join(name for name, index in self.best.items() if index == place)
            for place in range(len(self.decisions))
        ]
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
        places = {name: f"{self.decisions[index]:.3g}" for name, index in self.best.items()}
        if len(set(self.best.values())) == 1:
            return f"All three optima lie at decision {places['stochastic']}."
        return "Best decisions: " + ", ".join(f"{name} {place}" for name, place in places.items()) + "."

    @property
    def at_stake(self) -> str:
        """What robustness gives up under the reference, and gains under the truth, in words."""
        stochastic, _, robust = self.best.values()
        radius = f"radius {self.epsilon:.3g}"
        if stochastic == robust:
            return (
                f"At {radius} robustness changes nothing: the distributionally robust decision is the stochastic one."
            )
        under = [
            " and ".join(f"{self.payoffs[index] @ weights:.3g}" for index in (stochastic, robust))
            for weights in (self.reference, self.truth)
        ]
        return (
            f"The stochastic and the distributionally robust one ({radius}) expect {under[0]} under the reference, "
            f"{under[1]} under the truth."
        )


MARKS = {
    "stochastic": (style.BLUE, "^", 7),
    "worst-case": (style.BLACK, "s", 7),
    "distributionally robust": (style.VERMILLION, "*", 11),
}
"""Colour, marker and size of the optimum under each objective."""


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
        above.plot(terrain.contexts, terrain.reference, label="reference", color=style.BLUE)
        above.plot(
            terrain.contexts, terrain.truth, label="true distribution", color=style.ORANGE, linestyle=style.DASHED
        )
        above.set_ylabel("probability")
        above.set_ylim(bottom=0.0)
        style.grid(above)
        label = with_unit("payoff", terrain.problem.units)
        marks.field(below, terrain.contexts, terrain.decisions, terrain.payoffs, label)
        _mark(below, terrain)
        caption = (
            f"{terrain.problem.title}: payoff without noise by context and decision; above, the reference and the true "
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
        picture.colorbar(filled, ax=axes, aspect=25, pad=0.015).set_label(with_unit("payoff", terrain.problem.units))
        caption = (
            f"{terrain.problem.title}: contours of the payoff without noise; dashed lines: the best decisions. "
            f"{terrain.told} The radius of the distributionally robust one is {terrain.epsilon:.3g}."
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
    axes = tuple(with_unit(domain.names[0], domain.units[0]) for domain in (decisions, contexts))
    places = (decisions.points[:, 0], contexts.points[:, 0])
    return Terrain(problem, label, data_label, *places, axes, payoffs, reference, truth, epsilon, best)


def _mark(axes: "Axes", terrain: Terrain) -> None:
    """Draw the optima as lines across all contexts; marks at the reference's mean, beside it where they coincide."""
    start, end = terrain.contexts[[0, -1]]
    middle = float(terrain.reference @ terrain.contexts)
    apart = 0.08 * (end - start) if len(set(terrain.best.values())) < len(terrain.best) else 0.0
    for place, (name, index) in enumerate(terrain.best.items()):
        (colour, marker, size), position = MARKS[name], terrain.decisions[index]
        axes.plot([start, end], [position] * 2, color="white", linewidth=0.8, linestyle=style.DASHED)
        axes.plot(
            middle + apart * (place - 1), position, linestyle="none", marker=marker, markersize=size,
            markerfacecolor=colour, markeredgecolor="white", markeredgewidth=0.8, label=f"{name} optimum",
        )  # fmt: skip
    axes.set(xlabel=terrain.axes[1], ylabel=terrain.axes[0])
    axes.margins(0.0)
