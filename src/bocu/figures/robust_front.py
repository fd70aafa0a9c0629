"""Robust fronts: what the decisions that runs tried guarantee, beside the best there is, and its hypervolume.

Beyond the DRMOBO paper: `bocu.evaluation.robust_front` says what is drawn. Scoring worked it out, under each metric.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Integer
from bocu.core.protocols import SCALARISED
from bocu.evaluation.robust_front import MARGIN
from bocu.evaluation.statistics import mean_and_error, student_factor
from bocu.figures import style
from bocu.figures.base import Algorithms, Drawing, Figure, FigureParameters, Inputs, Names, nothing_to_show
from bocu.figures.reading import Cube, CubeBranch, seed_counts, with_unit

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

TITLE = "Robust front"
TRUE_LINE: dict[str, Any] = {"color": style.BLACK, "marker": "o", "markersize": 2.5, "linewidth": 0.9}


class RobustFrontParameters(FigureParameters):
    """Parameters of `RobustFront`."""

    metric: Annotated[str | None, Names("metric")] = Field(
        None, description="Label of the metric that values payoffs; the first, if left out."
    )
    objective: Annotated[str | None, Names("objective")] = Field(
        None,
        description="Label of the objective pursued, whose runs are drawn beside those that pursue none; left out, the "
        "one with the metric's label, else the first.",
    )
    algorithms: Algorithms = Field(None, description="Labels of what is drawn; all, if left out.")
    seed: Annotated[Integer | None, Names("seed")] = Field(
        None, description="The seed whose front is drawn; the first finished, if left out."
    )


@dataclass(frozen=True)
class SeedFront:
    """The front of one seed.

    Attributes:
        weights: of the first output, shape (weights,).
        values: what the weighted sum is worth, shape (weights,).
        guaranteed: what each output is worth by itself, shape (weights, 2).
    """

    weights: np.ndarray
    values: np.ndarray
    guaranteed: np.ndarray


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
        cube = Cube(inputs["cube"])
        if cube.outputs != 2:
            return nothing_to_show(cube, TITLE, f"a front has two outputs, this problem has {cube.outputs}")
        metric = cube.metric(self.parameters.metric)
        tried = self._tried(cube, metric)
        if not tried:
            return nothing_to_show(cube, TITLE, "no run is finished")
        seed = self.parameters.seed if self.parameters.seed is not None else min(tried[0].seeds)
        picture = style.new_figure(2.5)
        picture.suptitle(cube.title, fontsize=style.SETTINGS["axes.titlesize"])
        left, middle, right = picture.subplots(1, 3)
        shown = [(each, _front(cube, each.branch, metric, seed)) for each in tried if seed in each.seeds]
        branch, met = (shown[0][0].branch, seed) if shown else (tried[0].branch, min(tried[0].seeds))
        best = _front(cube, branch, metric, met, "best_front")
        _draw_values(left, best, shown, cube.units)
        _draw_fronts(middle, best, shown, cube.units)
        _draw_shares(right, tried)
        style.legend_below(picture)
        return replace(_described(cube, picture, tried, seed, metric), table=_table(best, shown, tried))

    def _tried(self, cube: Cube, metric: str) -> Sequence[Tried]:
        """Gather what the runs tried, of those that pursue nothing or the objective that is drawn."""
        objectives = cube.objectives()
        pursued = self.parameters.objective or (metric if metric in objectives else objectives[0])
        found = []
        looks = cube.looks_apart(self.parameters.algorithms)
        for branch in cube.branches(self.parameters.algorithms, [pursued]):
            share, seeds = cube.hypervolume_share(branch, metric)
            if len(seeds):
                label = branch.algorithm
                found.append(Tried(branch, cube.titles[label], looks[label], seeds.tolist(), share))
        return found


def _front(cube: Cube, branch: CubeBranch, metric: str, seed: int, prefix: str = "front") -> SeedFront:
    """Return the front of a seed: of what it tried, or with the prefix "best_front" the best there is for it."""
    place = {"objective": branch.objective, "algorithm": branch.algorithm, "metric": metric, "seed": seed}

    def read(name: str) -> np.ndarray:
        return cube.data[name].sel(place).transpose("weight", ...).values

    return SeedFront(read("front_weight")[:, 0], read(f"{prefix}_value"), read(f"{prefix}_guarantee"))


def _described(cube: Cube, picture: "Picture", tried: Sequence[Tried], seed: int, metric: str) -> Drawing:
    counts = {each.title: len(each.seeds) for each in tried}
    caption = (
        f"{cube.title}. Left: value of the weighted sum of both outputs by {cube.metric_titles[metric]}, for each "
        f"weight of the first: the best there is, and the best among the decisions that seed {seed} tried. "
        "Middle: what these decisions guarantee, the value of each output by itself. Right: hypervolume of the "
        f"guarantees of all decisions up to a round as a share of that of the best, mean (lines) and 95 % intervals "
        f"(bands) over {seed_counts(counts)}; "
        f"the corner lies {MARGIN:.0%} of the range below the least of the best's guarantees."
    )
    ends = ", ".join(f"{each.title} {each.share[:, -1].mean():.3g}" for each in tried)
    alternative = (
        "Line charts of the value of the weighted sum by weight and of guaranteed payoffs, and one of shares of "
        f"hypervolume, which end at: {ends}."
    )
    return Drawing(picture, TITLE, caption, alternative, cube.problem, cube.data_label)


def _table(best: SeedFront, shown: Sequence[tuple[Tried, SeedFront]], tried: Sequence[Tried]) -> "pd.DataFrame":
    """Return the points of the fronts, and the shares of hypervolume by round."""
    import pandas as pd

    rows: list[tuple[str, str, float, float, float]] = []
    for title, front in (("best there is", best), *((each.title, front) for each, front in shown)):
        weighed = zip(front.weights, front.values, strict=True)
        rows += [("value by weight of output 1", title, weight, value, np.nan) for weight, value in weighed]
        rows += [("guaranteed outputs 1 and 2", title, first, second, np.nan) for first, second in _in_order(front)]
    for each in tried:
        mean, error = mean_and_error(each.share)
        rows += [
            ("share of hypervolume by round", each.title, place + 1, *pair)
            for place, pair in enumerate(zip(mean, error, strict=True))
        ]
    return pd.DataFrame(rows, columns=["panel", "algorithm", "x", "y", "standard_error"])


def _draw_values(axes: "Axes", true: SeedFront, shown: Sequence[tuple[Tried, SeedFront]], units: str) -> None:
    axes.plot(true.weights, true.values, **{**TRUE_LINE, "marker": ""})
    for tried, front in shown:
        axes.plot(front.weights, front.values, **tried.look.line())
    axes.set_xlabel("weight of output 1")
    axes.set_ylabel(with_unit("value", units))
    style.grid(axes)


def _draw_fronts(axes: "Axes", true: SeedFront, shown: Sequence[tuple[Tried, SeedFront]], units: str) -> None:
    first, second = _in_order(true).T
    axes.plot(first, second, label="best there is", **TRUE_LINE)
    for tried, front in shown:
        first, second = _in_order(front).T
        axes.plot(first, second, label=tried.title, marker=tried.look.marker, markersize=3.5, **tried.look.line())
    axes.set_xlabel(with_unit("guaranteed output 1", units))
    axes.set_ylabel(with_unit("guaranteed output 2", units))
    style.grid(axes, "both")


def _in_order(front: SeedFront) -> np.ndarray:
    """Return what is guaranteed by the points that no other dominates, each once, by the first output."""
    points = np.unique(front.guaranteed.round(12), axis=0)
    below = np.array([((point <= points).all(axis=1) & (point < points).any(axis=1)).any() for point in points])
    undominated: np.ndarray = points[~below]
    return undominated


def _draw_shares(axes: "Axes", tried: Sequence[Tried]) -> None:
    for each in tried:
        rounds = np.arange(1, each.share.shape[1] + 1)
        mean, error = mean_and_error(each.share)
        axes.plot(rounds, mean, **each.look.line())
        if len(each.share) > 1:
            style.error_band(axes, rounds, mean, student_factor(len(each.share)) * error, each.look.colour)
    axes.set_xlabel("round")
    axes.set_ylabel("share of hypervolume")
    axes.set_ylim(0.0, 1.0)
    axes.set_yticks([0.0, 0.5, 1.0])
    style.grid(axes)
