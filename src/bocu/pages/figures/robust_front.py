"""Robust fronts: what the decisions that runs tried guarantee, beside the best there is, and its hypervolume.

Beyond the DRMOBO paper: `evaluation.robust_front` says what is drawn. Scoring worked it out, under each metric.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Integer
from bocu.core.rounds import SCALARISED
from bocu.pages.figures.base import Algorithms, Drawing, Figure, FigureParameters, Inputs, Naming, nothing_to_show
from bocu.pages.figures.regret import curves_over_seeds, draw_curves
from bocu.pages.figures.results import HYPERVOLUME_SHARE, Cube, CubeBranch, seed_counts, with_unit
from bocu.sweep.evaluation.robust_front import MARGIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

TITLE = "Robust front"
BEST = "best there is"
Front = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Weights of the first output (weights,); what the weighted sum is worth (weights,); what is guaranteed of each output
by the points that no other dominates, ordered by the first, (points, 2)."""


class RobustFrontParameters(FigureParameters):
    """Parameters of `RobustFront`."""

    metric: Annotated[str | None, Naming("metric")] = Field(
        None, description="Label of the metric that values payoffs; the first, if left out."
    )
    objective: Annotated[str | None, Naming("objective")] = Field(
        None,
        description="Label of the objective pursued, whose runs are drawn beside those that pursue none; left out, the "
        "one with the metric's label, else the first.",
    )
    algorithms: Algorithms = Field(None, description="Labels of what is drawn; all, if left out.")
    seed: Annotated[Integer | None, Naming("seed")] = Field(
        None, description="The seed whose front is drawn; the first finished, if left out."
    )


@dataclass(frozen=True)
class Tried:
    """What the runs of one algorithm tried.

    Attributes:
        branch: the runs.
        seeds: those that are finished, in the order of `share`.
        share: hypervolume after each round as a share of the best front's, shape (seeds, rounds).
    """

    branch: CubeBranch
    title: str
    look: style.Stroke
    seeds: Sequence[int]
    share: np.ndarray


class RobustFront(Figure[RobustFrontParameters]):
    """Guaranteed payoffs of the fronts of one seed, and hypervolume over the rounds; for two outputs."""

    about = About(
        title="Robust front",
        summary="guaranteed payoffs of two outputs and their hypervolume, of runs and the best there is",
    )
    protocols = SCALARISED
    Parameters = RobustFrontParameters

    def compose(self, inputs: Inputs) -> Drawing:
        import pandas as pd

        cube = Cube(inputs["cube"])
        if cube.outputs != 2:
            return nothing_to_show(cube, TITLE, f"a front has two outputs, this problem has {cube.outputs}")
        metric = cube.metric(self.parameters.metric)
        tried = self._tried(cube, metric)
        if not tried:
            return nothing_to_show(cube, TITLE, "no run is finished")
        seed = self.parameters.seed if self.parameters.seed is not None else min(tried[0].seeds)
        met = next((each for each in tried if seed in each.seeds), tried[0])
        fronts = {BEST: _front(cube, met.branch, metric, seed if seed in met.seeds else min(met.seeds), "best_front")}
        fronts |= {each.title: _front(cube, each.branch, metric, seed) for each in tried if seed in each.seeds}
        weighed = [(title, *pair) for title, front in fronts.items() for pair in zip(*front[:2], strict=True)]
        points = [(title, *point) for title, front in fronts.items() for point in front[2]]
        shares = [
            (each.title, *point, seed)
            for each in tried
            for seed, own in zip(each.seeds, each.share, strict=True)
            for point in enumerate(own, 1)
        ]
        tables = {
            "value by weight of output 1": pd.DataFrame(weighed, columns=["algorithm", "x", "y"]),
            "guaranteed outputs 1 and 2": pd.DataFrame(points, columns=["algorithm", "x", "y"]),
            "share of hypervolume by round": pd.DataFrame(shares, columns=["algorithm", "x", "y", "seed"]),
        }
        looks = {BEST: style.Stroke(style.BLACK, style.SOLID, "."), **{each.title: each.look for each in tried}}
        picture = style.new_figure(4.1)
        places = picture.subplot_mosaic([["values", "fronts"], ["shares", "shares"]])
        first, second, summed = (with_unit(what, cube.units) for what in ("output 1", "output 2", "weighted sum"))
        panels = (
            ("values", "worth of the best tried, by weight", "weight of output 1", summed),
            ("fronts", "guarantees of both outputs", first, second),
            ("shares", "hypervolume of what is guaranteed", "round", "share of the best"),
        )
        for (place, title, across, up), own in zip(panels, tables.values(), strict=True):
            axes = places[place]
            draw_curves(axes, curves_over_seeds(own, "x", "y", looks, "interval-95"), from_zero=False)
            axes.set(title=title, xlabel=across, ylabel=up)
            axes.margins(x=0.03)
        places["shares"].set(ylim=(0.0, 1.0), yticks=[0.0, 0.5, 1.0])
        style.legend_below(picture)
        table = pd.concat(tables, names=["panel"]).reset_index(level="panel")
        return replace(_described(cube, picture, tried, seed, metric), table=table)

    def _tried(self, cube: Cube, metric: str) -> Sequence[Tried]:
        """Gather what the runs tried, of those that pursue nothing or the objective that is drawn."""
        objectives = cube.objectives()
        pursued = self.parameters.objective or (metric if metric in objectives else objectives[0])
        found = []
        looks = cube.looks_apart(self.parameters.algorithms)
        for branch in cube.branches(self.parameters.algorithms, [pursued]):
            share, seeds = cube.regret(branch, metric, HYPERVOLUME_SHARE)
            if len(seeds):
                title = cube.titles[branch.algorithm]
                found.append(Tried(branch, title, looks[title], seeds.tolist(), share[:, cube.iterations >= 1]))
        return found


def _front(cube: Cube, branch: CubeBranch, metric: str, seed: int, prefix: str = "front") -> Front:
    """Return the front of the decisions that a seed tried, or with the prefix "best_front" the best there is."""
    place = {"objective": branch.objective, "algorithm": branch.algorithm, "metric": metric, "seed": seed}

    def read(name: str) -> np.ndarray:
        return cube.data[name].sel(place).transpose("weight", ...).values

    points = np.unique(read(f"{prefix}_guarantee").round(12), axis=0)
    below = np.array([((point <= points).all(axis=1) & (point < points).any(axis=1)).any() for point in points])
    return read("front_weight")[:, 0], read(f"{prefix}_value"), points[~below]


def _described(cube: Cube, picture: "Picture", tried: Sequence[Tried], seed: int, metric: str) -> Drawing:
    counts = {each.title: len(each.seeds) for each in tried}
    caption = (
        f"{cube.title}. Left: value of the weighted sum of both outputs by {cube.metric_titles[metric]}, for each "
        f"weight of the first: the best there is, and the best among the decisions that seed {seed} tried. "
        "Right: what these decisions guarantee, each output by itself, where no other does better in both; a single "
        "point where both guarantee alike. Below: hypervolume of the guarantees of all decisions up to a round as a "
        f"share of that of the best, mean (lines) and 95 % intervals (bands) over {seed_counts(counts)}; "
        f"the corner lies {MARGIN:.0%} of the range, or of the size of a single point, below the least of the best's "
        "guarantees."
    )
    ends = ", ".join(f"{each.title} {each.share[:, -1].mean():.3g}" for each in tried)
    alternative = (
        "Line charts of the value of the weighted sum by weight, of guaranteed payoffs, and of shares of hypervolume, "
        f"which end at: {ends}."
    )
    return Drawing(picture, TITLE, caption, alternative, cube.problem, cube.data_label)
