"""Wind power commitment over the year (Kirschner et al. 2020, figure 3): cumulative revenue and robust regret."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.core.rounds import ROLLING
from bocu.pages.figures.base import Algorithms, Drawing, Figure, Inputs, Naming, nothing_to_show
from bocu.pages.figures.realised import RealisedParameters, realise
from bocu.pages.figures.regret import CUT_WORDS, Curve, apart, curve_table, curves_of, cut_off, draw_curves, ends
from bocu.pages.figures.results import Digest, seed_counts
from bocu.sweep.evaluation.curves import Kind

if TYPE_CHECKING:
    from bocu.problems.wind_commitment import WindRealisation

TITLE = "Wind power commitment"
_SHOWN: tuple[Kind, Kind] = ("payoff", "cumulative")


class WindFigureParameters(RealisedParameters):
    """Parameters of `WindCommitmentFigure`."""

    objective: Annotated[str | None, Naming("objective")] = Field(
        None,
        description="Label of the objective whose pursuers are drawn, beside those of none; the first, if left out.",
    )
    metric: Annotated[str | None, Naming("metric")] = Field(
        None, description="Label of the metric of regret; that of the objective's label or the first, if left out."
    )
    algorithms: Algorithms = Field(None, description="Labels of the algorithms drawn; all, if left out.")
    titles: Annotated[dict[str, str], Naming("algorithm")] = Field(
        default_factory=dict, description="What is written for an algorithm, by its label, if not its usual name."
    )


class WindCommitmentFigure(Figure[WindFigureParameters]):
    """Two panels over the hours, mean over seeds with one standard error."""

    about = About(
        title="Wind commitment",
        summary="cumulative revenue and robust regret of wind power commitment",
        paper="Kirschner et al. 2020, figure 3",
    )
    protocols = ROLLING
    Parameters = WindFigureParameters

    def compose(self, inputs: Inputs) -> Drawing:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        cube = Digest(inputs["digest"])
        objective = self._objective(cube)
        same_name = objective if objective in cube.metrics else None
        metric = cube.metric(self.parameters.metric or same_name)
        wanted = cube.branches(self.parameters.algorithms, [objective])
        branches = [branch for branch in wanted if cube.totals(branch, metric)]
        if not branches:
            return nothing_to_show(cube, TITLE, "no run is finished")
        realisation: Any = realise(cube, inputs, cube.seeds[0])
        titles = {**cube.titles, **self.parameters.titles}
        called = {branch: titles[branch.algorithm] for branch in branches}
        looks = cube.looks_apart(titles=self.parameters.titles)
        revenue, regret = (curves_of(cube, called, looks, metric, kind) for kind in _SHOWN)
        begins = realisation.hours.begin.astype("datetime64[s]")
        picture = style.new_figure(4.6)
        above, below = picture.subplots(2, 1, sharex=True)
        left = False
        for axes, curves, quantity in ((above, revenue, "revenue"), (below, regret, "robust regret")):
            draw_curves(axes, [replace(curve, rounds=begins[curve.rounds - 1]) for curve in curves])
            axes.set_ylabel(f"cumulative {quantity}")
            near, far = apart(curves, gains=axes is above)
            if far:
                cut_off(axes, near, far, gains=axes is above)
                left = True
        locator = AutoDateLocator()
        below.xaxis.set_major_locator(locator)
        below.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        style.legend_below(picture)
        played = cube.iterations[cube.iterations >= 1] - 1
        caption = (
            f"{_said(realisation, revenue, cube.metric_titles[metric], played)} {_provenance(cube)}{CUT_WORDS * left}"
        )
        alternative = (
            f"Two line charts over {cube.iterations[-1]} hours. Revenue at the end, from most to least: "
            f"{ends(revenue, gains=True)}. Robust regret at the end, from least to most: {ends(regret)}."
        )
        told = (("cumulative revenue", revenue), ("cumulative robust regret", regret))
        table = curve_table(({"quantity": quantity, "metric": metric}, curves) for quantity, curves in told)
        return Drawing(picture, TITLE, caption, alternative, cube.problem, cube.data_label, table)

    def _objective(self, cube: Digest) -> str:
        found, wanted = cube.objectives(), self.parameters.objective
        if wanted is None:
            return found[0]
        if wanted not in found:
            raise BocuError(f"{cube.path}: no objective '{wanted}'; {nearest(wanted, found)}")
        return wanted


def _said(realisation: "WindRealisation", curves: list[Curve], metric: str, played: np.ndarray) -> str:
    margins, generated = realisation.hours.margins[played], realisation.hours.generated[played]
    foreseen = realisation.payoffs(1).max(axis=0)[generated].sum()
    counts = {curve.title: curve.seeds for curve in curves}
    first, last = (str(realisation.hours.begin[place]).replace("T", ", ") for place in (played[0], played[-1]))
    return (
        f"Cumulative revenue (top) and cumulative regret scored by {metric} (bottom) of the power committed in "
        f"{len(played)} hours from {first} to {last} o'clock: mean (lines) and one standard error (bands) over "
        f"{seed_counts(counts)}. The whole capacity delivered for an hour as committed brings 1; with the generation "
        f"foreseen, all hours would bring {foreseen:.5g}. Margin announced: median {np.median(margins):.2g}, from "
        f"{margins.min():.2g} to {margins.max():.2g}."
    )


def _provenance(cube: Digest) -> str:
    from bocu.problems.wind_commitment import WindCommitmentParameters

    settings = WindCommitmentParameters.model_validate(cube.attribute("specification")["problem"]["parameters"])
    data = cube.attribute("data_provenance")
    return (
        f"It is the median MMD (squared exponential, length-scale {settings.margin.lengthscale:g}) of "
        f"consecutive windows of {settings.window} hours over {settings.margin.days} days. "
        f"Data: {data.get('title', 'unknown')}, record {settings.record}."
    )
