"""A picture of the problem itself: the payoff of every decision in every round, as one seed meets it."""

from typing import TYPE_CHECKING

import numpy as np

from bocu.core import style
from bocu.core.about import About
from bocu.core.rounds import TIME_VARYING
from bocu.pages.figures import marks
from bocu.pages.figures.base import Drawing, Figure, Inputs
from bocu.pages.figures.realised import OneSeedParameters, arm_axis, realise
from bocu.pages.figures.results import results_of, shown_unit, with_unit

if TYPE_CHECKING:
    from bocu.problems.base import Realisation

CROWDED = 100
"""Rounds beyond which the dots get smaller."""


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

        cube = results_of(inputs)
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
