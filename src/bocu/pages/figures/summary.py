"""One picture of the whole experiment: the final regret of every algorithm on every problem."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.written import spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import ComparingParameters, Drawing, Figure, Inputs, Naming, nothing_to_show
from bocu.pages.figures.results import (
    CubeBranch,
    Results,
    all_results,
    metric_title,
    problem_names,
    reference_label,
    seed_counts,
    shared_data_label,
)
from bocu.sweep.evaluation.statistics import CONFIDENCE, Interval, student_ratio

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


LINE, ROW_MARGIN = 0.13, 0.18
"""Heights of an algorithm's line, and of what is left between rows, inches."""
PAGE = 4.5
"""Inches of rows above which they stand in two columns."""
TITLE_LETTERS = 18


class SummaryParameters(ComparingParameters):
    """Parameters of `Summary`."""

    metric: Annotated[str | None, Naming("metric")] = Field(
        None,
        description="Label of the metric; if left out, that of the objective's own label, or the problem's first.",
    )


@dataclass(frozen=True)
class SummaryRow:
    """One problem under one pursued objective.

    Attributes:
        metric: label of what scores it.
        ratios: algorithm label -> final regret relative to the reference.
    """

    title: str
    problem: str
    simulated: bool
    metric: str
    ratios: dict[str, Interval]


def without(cubes: Sequence[Results], reference: str, title: str) -> str:
    """Say on which problems the reference did not run, in a sentence with a space before; empty where there is none."""
    missed = [cube.problem for cube in cubes if all(branch.algorithm != reference for branch in cube.branches())]
    return f" {title} did not run on {spoken(missed)}." if missed else ""


class Summary(Figure[SummaryParameters]):
    """Final cumulative regret relative to a reference algorithm, with intervals over paired seeds, a row a problem."""

    about = About(
        title="Summary",
        summary="final regret of every algorithm on every problem, relative to a reference",
    )
    scope = "experiment"
    digested = True
    Parameters = SummaryParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cubes = all_results(inputs)
        names: dict[str, str] = {}
        looks: dict[str, style.Stroke] = {}
        titles: dict[str, str] = {}
        for cube in cubes:
            names, looks, titles = names | cube.names, looks | cube.looks, titles | cube.titles
        wanted = self.parameters.metric
        if wanted is not None and not any(wanted in cube.metrics for cube in cubes):
            cubes[0].metric(wanted)
        reference = reference_label("summary", self.parameters.reference, names)
        called = problem_names(cubes)
        rows = [row for cube in cubes for row in relative_regret(cube, wanted, reference, called[cube.problem])]
        drawn = [row for row in rows if any(np.isfinite(ratio.value) for ratio in row.ratios.values())]
        if not drawn:
            reason = f"no problem has a positive mean regret of {reference} to compare with"
            return nothing_to_show(cubes[0], "Summary", reason, whole_experiment=True)
        labels = [label for label in names if any(label in row.ratios for row in drawn)]
        # Points have no dash: in the legend, colour and marker tell all algorithms apart.
        points = {(looks[label].colour, looks[label].marker) for label in labels}
        crowded = any(len({looks[label].colour for label in row.ratios}) < len(row.ratios) for row in drawn)
        if crowded or len(points) < len(labels):
            looks = style.apart({label: looks[label] for label in labels})
        table = _table(drawn, labels, titles, reference)
        # A row is as high as what stands in it.
        sizes = table.groupby("row", sort=False).size()
        ends = (LINE * sizes + ROW_MARGIN).cumsum()
        column = (ends.shift(fill_value=0.0) >= ends.iloc[-1] / 2) & (ends.iloc[-1] > PAGE)
        parts = [own for _, own in ends.groupby(column)]
        begins = [own.iloc[0] - LINE * sizes[own.index[0]] - ROW_MARGIN for own in parts]
        tall = max(own.iloc[-1] - begin for own, begin in zip(parts, begins, strict=True))
        across = f"final regret relative to {titles[reference]}"
        picture, grid = style.facets(len(parts), tall, 2, below=0.9, across=across, sharex=True)
        mixed = len({row.simulated for row in drawn}) > 1
        simulated = {row.title for row in drawn if mixed and row.simulated}
        strokes = {titles[label]: looks[label] for label in labels}
        lines = table.groupby("row", sort=False).cumcount() + 0.5
        heights = table["row"].map(ends) - ROW_MARGIN / 2 - LINE * (table["row"].map(sizes) - lines)
        for axes, own, begin in zip(grid, parts, begins, strict=True):
            marks.intervals(
                axes, table.assign(height=heights)[table["row"].isin(own.index)], "ratio", strokes, "height"
            )
            axes.axvline(1, color=style.INK, linewidth=0.8)
            for edge in own.iloc[:-1]:
                axes.axhline(edge, color=style.PALE, linewidth=0.6)
            marked = [f"{title} (simulated)" if title in simulated else title for title in own.index]
            wrapped = [textwrap.fill(title, TITLE_LETTERS, break_on_hyphens=False) for title in marked]
            axes.set_yticks(own - (LINE * sizes[own.index] + ROW_MARGIN) / 2, wrapped)
            axes.set_ylim(begin + tall, begin)
        _scale(grid[0], drawn)
        style.legend_below(picture, [titles[label] for label in labels])
        return self._described(cubes, rows, drawn, titles, reference, picture, table)

    @staticmethod
    def _described(
        cubes: list[Results],
        rows: list[SummaryRow],
        drawn: list[SummaryRow],
        titles: dict[str, str],
        reference: str,
        picture: "Picture",
        table: "pd.DataFrame",
    ) -> Drawing:
        counts = {row.title: max(ratio.count for ratio in row.ratios.values()) for row in drawn if row.ratios}
        left_out = [row.title for row in rows if row not in drawn]
        metrics = list(dict.fromkeys(row.metric for row in drawn))
        by = {metric: metric_title(cubes, metric) for metric in metrics}
        rows_of = {metric: [row.title for row in drawn if row.metric == metric] for metric in metrics}
        named = {
            metric: spoken([title.removesuffix(f", {by[metric]}") for title in rows_of[metric]]) for metric in metrics
        }
        scored = "; ".join(
            f"by {by[metric]}" + (f": {named[metric]}" if len(metrics) > 1 else "") for metric in metrics
        )
        caption = (
            f"Cumulative regret at the end of every run, divided by that of {titles[reference]} (1), scored "
            f"{scored}: ratio of means over {seed_counts(counts)} with {CONFIDENCE:.0%} intervals (Fieller's) over "
            "paired seeds; a point without a line has none that is bounded."
            + without(cubes, reference, titles[reference])
            + (
                f" Not comparable (regret of {titles[reference]} is not positive): {spoken(left_out)}."
                if left_out
                else ""
            )
        )
        told = []
        for row in drawn:
            smallest = min(row.ratios, key=lambda label: row.ratios[label].value)
            told.append(f"{row.title}: smallest {titles[smallest]} at {row.ratios[smallest].value:.2f}")
        alternative = f"Dot chart of final regret relative to {titles[reference]}. {'; '.join(told)}."
        shown = {row.problem for row in drawn}
        label = shared_data_label([cube for cube in cubes if cube.problem in shown])
        return Drawing(picture, "Summary", caption, alternative, "", label, table)


def _table(rows: list[SummaryRow], labels: list[str], titles: Mapping[str, str], reference: str) -> "pd.DataFrame":
    """Return a line for each ratio, row by row, in the order of the algorithms."""
    import pandas as pd

    return pd.DataFrame(
        [
            (row.problem, row.title, row.metric, titles[of], titles[reference], r.value, r.low, r.high, r.count)
            for row in rows
            for of in labels
            if (r := row.ratios.get(of)) is not None
        ],
        columns=["problem", "row", "metric", "algorithm", "reference", "ratio", "low", "high", "seeds"],
    )


def _scale(axes: "Axes", rows: list[SummaryRow]) -> None:
    """Compare ratios on a logarithmic axis, unless one of them is not positive."""
    ends = [end for row in rows for ratio in row.ratios.values() for end in (ratio.value, ratio.low)]
    lowest = [end for end in ends if np.isfinite(end)]
    if min(lowest) <= 0:
        axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
        return
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(_round_number)
    axes.xaxis.set_minor_formatter(_round_number)


def _round_number(value: float, position: float) -> str:
    return f"{value:g}" if f"{value:e}"[0] in "125" else ""


def relative_regret(cube: Results, wanted: str | None, reference: str, called: str = "") -> list[SummaryRow]:
    """Return the final cumulative regret of every algorithm relative to the reference, a row a pursued objective.

    Scored by the metric that is wanted, if the problem has it; else by that of the objective's label, or the first.
    """
    base = next((branch for branch in cube.branches() if branch.algorithm == reference), None)
    if base is None or (wanted is not None and wanted not in cube.metrics):
        return []
    rows = []
    for objective in cube.objectives():
        metric = wanted or (objective if objective in cube.metrics else cube.metrics[0])
        shown = cube.branches(pursuing=[objective])
        ratios = {branch.algorithm: regret_ratio(cube, branch, base, metric) for branch in shown}
        several = len(cube.objectives()) > 1
        named = called or cube.problem
        title = f"{named}, {cube.objective_titles[objective]}" if several else named
        known = {label: ratio for label, ratio in ratios.items() if np.isfinite(ratio.value)}
        rows.append(SummaryRow(title, cube.problem, bool(cube.data_label), metric, known))
    return rows


def regret_ratio(cube: Results, branch: CubeBranch, base: CubeBranch, metric: str) -> Interval:
    """Return regret summed from round 1 on relative to that of another branch; no number where that is not positive."""
    own, other = cube.totals(branch, metric), cube.totals(base, metric)
    shared = [seed for seed in own if seed in other]
    numerator, denominator = (np.array([totals[seed] for seed in shared]) for totals in (own, other))
    if not shared or denominator.mean() <= 0:
        return Interval(float("nan"), float("nan"), float("nan"), len(shared))
    return student_ratio(numerator, denominator)
