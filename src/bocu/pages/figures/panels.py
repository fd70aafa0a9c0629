"""A grid of regret curves: objectives by problems, as Tay et al. (2024) and Kirschner et al. (2020) show them."""

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Number, Parameters
from bocu.core.written import spoken
from bocu.pages.figures.base import Algorithms, Drawing, Figure, Inputs, Naming, PictureParameters, nothing_to_show
from bocu.pages.figures.marks import Titles, looks_of, titles_of, told_apart
from bocu.pages.figures.regret import (
    CUT,
    CUT_WORDS,
    FROM_INITIAL,
    GAINS,
    KIND,
    QUANTITIES,
    SPREAD,
    SPREADS,
    Curve,
    Kind,
    Spread,
    apart,
    axis_word,
    below_zero,
    curve_table,
    curves_of,
    cut_off,
    draw_curves,
    ends,
)
from bocu.pages.figures.results import (
    CubeBranch,
    Digest,
    all_digests,
    metric_title,
    problem_names,
    seed_counts,
    shared_data_label,
    shown_unit,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

POINTS = 200
"""Rounds drawn of a curve: more cannot be told apart in a panel, and would make the files large."""
LINE = 0.13
"""What a line of words takes, as a fraction of a panel's height."""
TICKS = 4
TICKS_OF_ALL = 8
"""Numbers on the axes of rounds of all columns together."""
STEPS = [1, 2, 5, 10]
THOUSANDS = 10_000
"""From where on an axis counts in thousands: longer numbers leave panels no room."""
LETTERS_OF_AN_INCH = 15
"""Letters of a row's axis that fit in an inch of its height."""
BOLD_LETTERS_OF_AN_INCH = 12
"""Likewise of its name."""
COLUMN_WIDTH = 68
"""Letters above all columns together."""


class Row(Parameters):
    """A row of panels: one metric, a panel a problem."""

    metric: Annotated[str, Naming("metric")] = Field(description="Label of the metric.")
    title: str = Field("", description="What is written beside the row; the metric, if left out.")
    problems: Annotated[list[str | list[str]] | None, Naming("problem")] = Field(
        None,
        description="Labels of the problems, in columns; all, if left out. A list of labels in place of one: their "
        "curves share a panel.",
    )
    pursued: Annotated[list[str] | None, Naming("objective")] = Field(
        None,
        description="Labels of the objectives whose runs are drawn; the metric's label, if left out. Algorithms that "
        "pursue none are drawn in every row.",
    )
    algorithms: Algorithms = Field(None, description="As `algorithms` of the figure, for this row.")
    kind: Kind | None = Field(None, description="As `kind` of the figure, for this row.")


class PanelsParameters(PictureParameters):
    """Parameters of `Panels`."""

    rows: list[Row] | None = Field(None, description="The rows; one for each metric, if left out.")
    columns: list[str] | None = Field(
        None, description="What is written above the columns; the problems' titles, if left out."
    )
    overlaid: list[str] | None = Field(
        None,
        description="What is written for the curves of the problems that share a panel, in their order; the problems' "
        "titles, if left out.",
    )
    algorithms: Algorithms = Field(None, description="Labels of the algorithms drawn; all, if left out.")
    titles: Annotated[dict[str, str], Naming("branch")] = Field(
        default_factory=dict,
        description="What is written for an algorithm, by its label, or for its runs under one objective, by "
        "`algorithm/objective`; what is written alike looks alike.",
    )
    kind: Kind = Field("cumulative", description=KIND)
    from_initial: bool = Field(False, description=FROM_INITIAL)
    spread: Spread = Field("standard-error", description=SPREAD)
    log_rounds: bool = Field(False, description="Logarithmic axes of rounds.")
    log_regret: bool = Field(
        False, description="Logarithmic axes of regret, not of payoffs; rounds without regret leave gaps."
    )
    cut: bool = Field(True, description=CUT)
    row_height: Number = Field(1.3, gt=0.0, description="Height of a row, inches.")


@dataclass(frozen=True)
class Panel:
    """One problem, or several that share the panel, under one metric.

    Attributes:
        problem: what the panel is called in words.
        cubes: of the problems with results.
        pursued: whether there are runs to draw, finished or not.
        curves: empty where no run is finished.
    """

    problem: str
    row: Row
    kind: Kind
    cubes: Sequence[Digest]
    curves: Sequence[Curve]
    pursued: bool

    @property
    def title(self) -> str:
        """What the row is called."""
        return self.row.title

    @property
    def gains(self) -> bool:
        """Whether more is better."""
        return self.kind in GAINS

    @property
    def empty(self) -> str:
        """Why there are no curves."""
        if not self.cubes:
            return "no results"
        if all(self.row.metric not in cube.metrics for cube in self.cubes):
            return f"not scored by {self.title}"
        return "not finished" if self.pursued else "no algorithm here"

    @property
    def unit(self) -> str:
        """Of the payoff; 1 where there are no results."""
        return self.cubes[0].units if self.cubes else "1"


class Panels(Figure[PanelsParameters]):
    """Mean over seeds with its spread: a row an objective, a column a problem, one legend."""

    about = About(
        title="Panels",
        summary="regret curves in a grid, a row an objective, a column a problem",
        paper="Tay et al. 2024, figures 2 and 3",
    )
    scope = "experiment"
    digested = True
    Parameters = PanelsParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cubes = {cube.problem: cube for cube in all_digests(inputs)}
        metrics = dict.fromkeys(metric for cube in cubes.values() for metric in cube.metrics)
        rows = [
            row if row.title else row.model_copy(update={"title": metric_title(cubes.values(), row.metric)})
            for row in self.parameters.rows or [Row(metric=metric) for metric in metrics]
        ]
        cells = [_cells(row, cubes) for row in rows]
        branches = {
            (place, problem): _branches(cubes[problem], row, row.algorithms or self.parameters.algorithms)
            for place, row in enumerate(rows)
            for problem in itertools.chain.from_iterable(cells[place])
            if problem in cubes
        }
        titles = titles_of(cubes, branches, self.parameters.titles)
        titles = told_apart(cubes, cells, titles, self.parameters.overlaid or [])
        looks = style.apart(looks_of(cubes, titles))
        grid = [
            [
                self._panel(
                    cubes, cell, row, {problem: branches.get((place, problem), ()) for problem in cell}, titles, looks
                )
                for cell in cells[place]
            ]
            for place, row in enumerate(rows)
        ]
        drawn = [panel for line in grid for panel in line if panel.curves]
        if not drawn:
            first = next(iter(cubes.values()))
            return nothing_to_show(first, "Regret", "no run is finished", whole_experiment=True)
        picture = self._picture(grid, list(looks), problem_names(list(cubes.values())))
        return self._described(cubes, drawn, picture)

    def _panel(
        self,
        cubes: Mapping[str, Digest],
        problems: Sequence[str],
        row: Row,
        branches: Mapping[str, Sequence[CubeBranch]],
        titles: Titles,
        looks: Mapping[str, style.Stroke],
    ) -> Panel:
        kind = row.kind or self.parameters.kind
        spread, from_initial = self.parameters.spread, self.parameters.from_initial
        curves = []
        for problem, found in branches.items():
            called = {branch: titles[problem, branch] for branch in found}
            own = curves_of(cubes[problem], called, looks, row.metric, kind, spread, from_initial) if found else []
            curves += [curve.thinned(POINTS) for curve in own]
        known = [cubes[problem] for problem in problems if problem in cubes]
        for cube in known:
            cube.release()
        return Panel(spoken(problems), row, kind, known, curves, any(branches.values()))

    def _picture(self, grid: Sequence[Sequence[Panel]], order: Sequence[str], names: Mapping[str, str]) -> "Picture":
        width = max(map(len, grid))
        picture = style.new_figure(self.parameters.row_height * len(grid) + 0.45 + style.legend_height(order))
        axes = picture.subplots(len(grid), width, squeeze=False, sharex="col")
        for line, places in zip(grid, axes, strict=True):
            for panel, place in zip(line, places, strict=False):
                self._draw(place, panel, width)
            for place in places[len(line) :]:
                place.set_axis_off()
        for line, places in zip(grid, axes, strict=True):
            letters = int(LETTERS_OF_AN_INCH * self.parameters.row_height)
            places[0].set_ylabel(textwrap.fill(QUANTITIES[line[0].kind], letters))
            if len(grid) > 1 or (self.parameters.rows and self.parameters.rows[0].title):
                bold = int(BOLD_LETTERS_OF_AN_INCH * self.parameters.row_height)
                _name_row(places[len(line) - 1], textwrap.fill(line[0].title, bold))
        for place, title in zip(axes[0], self._columns(grid[0], names), strict=False):
            place.set_title(title)
        for place in axes[-1]:
            place.set_xlabel(axis_word(self.parameters.from_initial))
        style.legend_below(picture, order)
        return picture

    def _draw(self, axes: "Axes", panel: Panel, columns: int) -> None:
        from matplotlib.ticker import MaxNLocator

        if not panel.curves:
            said = textwrap.fill(panel.empty, max(8, COLUMN_WIDTH // columns))
            axes.text(0.5, 0.5, said, ha="center", va="center", transform=axes.transAxes, color=style.GREY)
            axes.set_yticks([])
            return
        logarithmic = self.parameters.log_regret and not panel.gains
        draw_curves(axes, panel.curves, self.parameters.log_rounds, logarithmic)
        for line in axes.get_lines():
            line.set(linewidth=1.2, markersize=3.2)
        if not self.parameters.log_rounds:
            axes.xaxis.set_major_locator(MaxNLocator(max(TICKS - 1, TICKS_OF_ALL // columns), steps=STEPS))
        if logarithmic:
            return
        near, far = self._apart(panel)
        if far:
            cut_off(axes, near, far, panel.gains, LINE)
        axes.yaxis.set_major_locator(MaxNLocator(TICKS, steps=STEPS))
        if max(map(abs, axes.get_ylim())) >= THOUSANDS:
            axes.yaxis.set_major_formatter(lambda value, position: f"{value / 1000:g}k" if value else "0")

    def _apart(self, panel: Panel) -> tuple[list[Curve], list[Curve]]:
        cut = self.parameters.cut and (panel.gains or not self.parameters.log_regret)
        return apart(panel.curves, panel.gains) if cut else (list(panel.curves), [])

    def _columns(self, line: Sequence[Panel], names: Mapping[str, str]) -> list[str]:
        given = self.parameters.columns
        found = []
        for place, panel in enumerate(line):
            own = spoken([names[cube.problem] for cube in panel.cubes]) if panel.cubes else panel.problem
            title = given[place] if given and place < len(given) else own
            simulated = "\n(simulated)" if any(cube.data_label for cube in panel.cubes) else ""
            found.append(textwrap.fill(with_unit(title, panel.unit), COLUMN_WIDTH // len(line)) + simulated)
        return found

    def _described(self, cubes: Mapping[str, Digest], drawn: Sequence[Panel], picture: "Picture") -> Drawing:
        kinds = list(dict.fromkeys(QUANTITIES[panel.kind] for panel in drawn))
        names = problem_names(list(cubes.values()))
        problems = list(dict.fromkeys(cube.problem for panel in drawn for cube in panel.cubes))
        counts = {curve.title: curve.seeds for panel in drawn for curve in panel.curves}
        cut = any(self._apart(panel)[1] for panel in drawn)
        left_out = CUT_WORDS if cut else ""
        met = " Payoffs are those of the contexts met." if any(panel.gains for panel in drawn) else ""
        caption = (
            f"{spoken(kinds).capitalize()}, mean (lines) and {SPREADS[self.parameters.spread]} (bands) over "
            f"{seed_counts(counts)}. "
            f"{_rows_said(drawn)}; columns: the problems ({spoken([names[problem] for problem in problems])})."
            f"{left_out}{met}{below_zero(c for panel in drawn if not panel.gains for c in panel.curves)}"
        )
        told = []
        for panel in drawn:
            unit, where = shown_unit(panel.unit), spoken([names[cube.problem] for cube in panel.cubes])
            told.append(
                f"{where}, {panel.title}, {QUANTITIES[panel.kind]}{f' in {unit}' if unit else ''}: "
                + ends(panel.curves, panel.gains)
            )
        alternative = f"Grid of line charts. At the end, from best to worst: {'; '.join(told)}."
        label = shared_data_label([cubes[problem] for problem in problems])
        title = f"{spoken(kinds).capitalize()} by objective and problem"
        table = curve_table(
            (
                {
                    "problem": panel.problem,
                    "row": panel.title,
                    "metric": panel.row.metric,
                    "quantity": QUANTITIES[panel.kind],
                },
                panel.curves,
            )
            for panel in drawn
        )
        return Drawing(picture, title, caption, alternative, "", label, table)


def _rows_said(drawn: Sequence[Panel]) -> str:
    """Say what rows are: objectives, or where one metric scores all, what they are called."""
    titles = spoken(list(dict.fromkeys(panel.title for panel in drawn)))
    rows = list(dict.fromkeys((panel.row.metric, panel.row.title) for panel in drawn))
    gains = all(panel.gains for panel in drawn)
    if len({metric for metric, _ in rows}) == 1:
        scored = "" if gains else f"Scored by {metric_title((c for panel in drawn for c in panel.cubes), rows[0][0])}"
        named = f"{'; rows' if scored else 'Rows'}: {titles}" if len(rows) > 1 or not scored else ""
        return scored + named
    crossed = any(panel.row.pursued not in (None, [panel.row.metric]) for panel in drawn)
    relation = "all runs are scored by" if crossed else "runs pursue, where they pursue one, and are scored by"
    return f"Rows: the objective that {'runs pursue, where they pursue one' if gains else relation} ({titles})"


def _name_row(axes: "Axes", title: str) -> None:
    """Write what a row is at its right end, where it cannot be taken for what its axis shows."""
    place: dict[str, Any] = {"xytext": (5, 0), "textcoords": "offset points", "rotation": 270}
    axes.annotate(title, (1.0, 0.5), xycoords="axes fraction", va="center", ha="left", fontweight="bold", **place)


def _cells(row: Row, cubes: Mapping[str, Digest]) -> list[list[str]]:
    """Return the problems of every panel of a row."""
    return [[cell] if isinstance(cell, str) else cell for cell in (row.problems or list(cubes))]


def _branches(cube: Digest, row: Row, algorithms: Sequence[str] | None) -> list[CubeBranch]:
    """Return the branches of a panel, in the order of the cube."""
    if row.metric not in cube.metrics:
        return []
    known = None if algorithms is None else [label for label in algorithms if label in cube.names]
    return cube.branches(known, row.pursued or [row.metric])
