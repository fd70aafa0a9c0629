"""Regret over the rounds: the picture that every paper of this field has (Ziomek et al. 2025, figures 2a and 4a).

Of one problem, a panel a metric; or in a grid, objectives by problems, as Tay et al. (2024) and Kirschner et al. (2020)
show them.
"""

import itertools
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Number, Parameters
from bocu.core.rounds import EVERY
from bocu.core.written import spoken
from bocu.pages.figures.base import (
    Algorithms,
    DigestedParameters,
    Drawing,
    Figure,
    Inputs,
    Naming,
    PictureParameters,
    nothing_to_show,
)
from bocu.pages.figures.marks import Titles, looks_of, titles_of, told_apart
from bocu.pages.figures.results import (
    NO_OBJECTIVE,
    CubeBranch,
    Digest,
    all_digests,
    foremost,
    metric_title,
    problem_names,
    seed_counts,
    shared_data_label,
    shown_unit,
    with_unit,
)
from bocu.sweep.evaluation.curves import Kind
from bocu.sweep.evaluation.statistics import student_factor

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

KIND = (
    "Regret summed up, divided by the rounds so far, of each round, or the least of any round so far; or that of the "
    "decision which the algorithm recommends after the round. `payoff`: no regret but payoffs summed up, those of the "
    "contexts met, without observation noise, whatever the metric; more is better."
)
FROM_INITIAL = "Count evaluations from the first point of the initial design on, instead of rounds after it."
QUANTITIES = {
    "cumulative": "cumulative regret",
    "average": "average regret",
    "instantaneous": "instantaneous regret",
    "simple": "simple regret",
    "recommended": "regret of the recommended decision",
    "payoff": "cumulative payoff",
}
GAINS = frozenset({"payoff"})  #: Kinds of which more is better, and in which no metric has a say.
Spread = Literal["standard-error", "interval-95"]
SPREAD = "What the bands are: one standard error of the mean, or its 95 % interval (Student's, over seeds)."
SPREADS = {"standard-error": "one standard error", "interval-95": "95 % intervals"}
CUT = "Cut off the worst curves of a panel where they dwarf the others; their ends are written in."
CUT_WORDS = " Curves far worse than the others leave their panel; their ends are written in."
MARGIN, LINE = 0.05, 0.07
"""Empty space below and above curves, and what a line of words takes, as fractions of a panel's height."""
MARKED_LINES = 6
PANEL_HEIGHT = 2.2
PANELS_ABREAST = 3
LEAST_PANEL_WIDTH = 1.3
DWARFED = 4.0
"""How many times a final regret, or loss, exceeds all better ends before these are not told apart beside it."""


class RegretParameters(DigestedParameters):
    """Parameters of `Regret`."""

    kind: Kind = Field("cumulative", description=KIND)
    metrics: Annotated[list[str] | None, Naming("metric")] = Field(
        None,
        description="Labels of the metrics, a column of panels each; if left out, for an objective with a metric of "
        "its label that one, else all but those along paths of laws.",
    )
    algorithms: Algorithms = Field(None, description="Labels of the algorithms drawn; all, if left out.")
    log_rounds: bool = Field(False, description="Logarithmic axis of rounds.")
    log_regret: bool = Field(
        False, description="Logarithmic axis of regret, not of payoffs; rounds without regret leave gaps."
    )
    cut: bool = Field(True, description=CUT)
    from_initial: bool = Field(False, description=FROM_INITIAL)
    spread: Spread = Field("standard-error", description=SPREAD)


class Regret(Figure[RegretParameters]):
    """Mean over seeds with its spread, a panel for each pursued objective and metric."""

    about = About(
        title="Regret",
        summary="cumulative, average or instantaneous regret over the rounds, mean and standard error",
    )
    protocols = EVERY
    Parameters = RegretParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cube = Digest(inputs["digest"])
        named = [cube.metric(label) for label in self.parameters.metrics or ()]
        pairs = list(product(cube.objectives(), named)) if named else foremost(cube)
        if self._gains:
            pairs = list({objective: (objective, metric) for objective, metric in reversed(pairs)}.values())[::-1]
        curves = {pair: self._curves(cube, *pair) for pair in pairs}
        if not any(curves.values()):
            return nothing_to_show(cube, self._quantity.capitalize(), "no run is finished")
        abreast = len(pairs) // len(cube.objectives())
        abreast = PANELS_ABREAST if abreast == 1 else abreast
        titles = list(dict.fromkeys(curve.title for found in curves.values() for curve in found))
        picture, panels = style.facets(
            len(pairs),
            PANEL_HEIGHT,
            abreast,
            below=0.2 + style.legend_height(titles),
            width=max(style.TEXT_WIDTH, LEAST_PANEL_WIDTH * min(abreast, len(pairs))),
            across=axis_word(self.parameters.from_initial),
            up=with_unit(self._quantity, cube.units),
            sharex=True,
        )
        for axes, (objective, metric) in zip(panels, pairs, strict=True):
            found = curves[objective, metric]
            draw_curves(axes, found, self.parameters.log_rounds, self._logarithmic)
            near, far = self._apart(found)
            if far:
                cut_off(axes, near, far, self._gains)
            axes.set_title(_panel_title(cube, objective, metric, pairs))
        style.legend_below(picture)
        return self._described(cube, picture, curves)

    def _curves(self, cube: Digest, objective: str, metric: str) -> list["Curve"]:
        settings = self.parameters
        branches = cube.branches(settings.algorithms, [objective])
        return curves_of(
            cube,
            {branch: cube.titles[branch.algorithm] for branch in branches},
            cube.looks_apart(settings.algorithms),
            metric,
            settings.kind,
            settings.spread,
            settings.from_initial,
        )

    def _apart(self, curves: Sequence["Curve"]) -> tuple[list["Curve"], list["Curve"]]:
        return apart(curves, self._gains) if self.parameters.cut and not self._logarithmic else (list(curves), [])

    @property
    def _logarithmic(self) -> bool:
        return self.parameters.log_regret and not self._gains

    @property
    def _gains(self) -> bool:
        return self.parameters.kind in GAINS

    @property
    def _quantity(self) -> str:
        return QUANTITIES[self.parameters.kind]

    def _described(self, cube: Digest, picture: "Picture", curves: dict[tuple[str, str], list["Curve"]]) -> Drawing:
        metrics = list(dict.fromkeys(metric for _, metric in curves))
        objectives = list(dict.fromkeys(objective for objective, _ in curves))
        by = spoken([cube.metric_titles[metric] for metric in metrics])
        units = f" in {shown_unit(cube.units)}" if shown_unit(cube.units) else ""
        pursued = spoken([cube.objective_titles[objective] for objective in objectives])
        rows = "" if objectives == [NO_OBJECTIVE] else f" Pursued: {pursued}."
        left_out = CUT_WORDS if any(self._apart(panel)[1] for panel in curves.values()) else ""
        counts = {curve.title: curve.seeds for panel in curves.values() for curve in panel}
        scored = "" if self._gains else f", scored by {by}"
        caption = (
            f"{self._quantity.capitalize()}{units} on {cube.title}: mean (lines) and "
            f"{SPREADS[self.parameters.spread]} (bands) over {seed_counts(counts)}{scored}.{rows}{left_out}"
            f"{'' if self._gains else below_zero(curve for panel in curves.values() for curve in panel)}"
        )
        told = []
        for (objective, metric), panel in curves.items():
            shown = [f"pursuing {cube.objective_titles[objective]}"] if rows else []
            shown += [] if self._gains else [f"scored by {cube.metric_titles[metric]}"]
            told.append(": ".join([", ".join(shown)] * bool(shown) + [ends(panel, self._gains)]))
        order = "from most to least" if self._gains else "from least to most"
        alternative = (
            f"Line chart of {self._quantity} over {len(cube.iterations)} rounds. At the end{units}, {order}, "
            f"{'; '.join(told)}."
        )
        title = self._quantity.capitalize()
        if scored and len(metrics) < len(cube.metrics):
            title += f", scored by {by}"
        table = curve_table(
            ({"objective": objective, "metric": metric, "quantity": self._quantity}, panel)
            for (objective, metric), panel in curves.items()
        )
        return Drawing(picture, title, caption, alternative, cube.problem, cube.data_label, table)


@dataclass(frozen=True)
class Curve:
    """One algorithm's line."""

    title: str
    look: style.Stroke
    # rounds, mean, error: what is drawn, each of shape (points,); the error is half the width of the band.
    rounds: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    seeds: int  #: seeds behind it.
    position: int  #: its place among the algorithms, by which its marks are staggered.

    def thinned(self, points: int) -> "Curve":
        """Leave out points between the first and the last until no more than `points` are left, evenly spread."""
        kept = np.unique(np.linspace(0, len(self.rounds) - 1, points).round().astype(int))
        return replace(self, rounds=self.rounds[kept], mean=self.mean[kept], error=self.error[kept])


def curve_table(panels: Iterable[tuple[Mapping[str, str], Sequence[Curve]]]) -> "pd.DataFrame":
    """Return a row for every point of every curve: what tells its panel, algorithm, round, mean, band and seeds."""
    import pandas as pd

    rows = [
        pd.DataFrame(
            {
                **told,
                "algorithm": curve.title,
                "round": curve.rounds,
                "mean": curve.mean,
                "low": curve.mean - curve.error,
                "high": curve.mean + curve.error,
                "seeds": curve.seeds,
            }
        )
        for told, curves in panels
        for curve in curves
    ]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()


def below_zero(curves: Iterable[Curve]) -> str:
    """Explain regret that is negative, in a sentence with a space before; empty where none is."""
    if not any(float(np.nanmin(curve.mean)) < 0.0 for curve in curves):
        return ""
    return " Below 0 a run does better than the one decision that is best for all rounds, by which the metric counts."


def curves_of(
    cube: Digest,
    titles: Mapping[CubeBranch, str],
    looks: Mapping[str, style.Stroke],
    metric: str,
    kind: Kind,
    spread: Spread = "standard-error",
    from_initial: bool = False,
) -> list[Curve]:
    """Return the lines of some branches by their titles; none where no seed is finished or nothing of the kind is."""
    found = []
    for branch, title in titles.items():
        curve = cube.curve(branch, metric, kind, from_initial)
        if curve is not None:
            width = curve.error * (student_factor(curve.seeds) if spread == "interval-95" else 1.0)
            place = list(looks).index(title)
            found.append(Curve(title, looks[title], curve.rounds, curve.mean, width, curve.seeds, place))
    return found


def curves_over_seeds(
    table: "pd.DataFrame", at: str, value: str, looks: Mapping[str, style.Stroke], spread: Spread = "standard-error"
) -> list[Curve]:
    """Return the lines of a table of a row for each seed, place and algorithm: means over the seeds."""
    found = []
    for place, (title, own) in enumerate(table.groupby("algorithm", sort=False)):
        over = own.groupby(at)[value]
        mean, error, seeds = over.mean(), over.sem(), int(over.count().max())
        width = error * (student_factor(seeds) if spread == "interval-95" else 1.0)
        columns = mean.index.to_numpy(), mean.to_numpy(), width.to_numpy()
        found.append(Curve(str(title), looks[str(title)], *columns, seeds, place))
    return found


def draw_curves(
    axes: "Axes", curves: Sequence[Curve], log_rounds: bool = False, log_regret: bool = False, from_zero: bool = True
) -> None:
    """Draw lines with bands into one panel, and set its axes."""
    for curve in curves:
        if len(curve.rounds) == 1:  # a point with its error
            look: dict[str, Any] = {"color": curve.look.colour, "marker": curve.look.marker, "linestyle": "none"}
            error = curve.error if curve.seeds > 1 else None
            axes.errorbar(curve.rounds, curve.mean, yerr=error, label=curve.title, **look)
            continue
        marks = {"marker": curve.look.marker, "markevery": _marks(len(curve.rounds), curve.position)}
        axes.plot(curve.rounds, curve.mean, label=curve.title, **curve.look.line(), **marks)  # type: ignore[arg-type]
        if curve.seeds > 1:
            style.error_band(axes, curve.rounds, curve.mean, curve.error, curve.look.colour)
    axes.set(xscale="log" if log_rounds else "linear", yscale="log" if log_regret else "linear")
    if from_zero and not log_regret:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    few = max((len(curve.rounds) for curve in curves), default=0) <= 2 * MARKED_LINES  # their marks stand at the ends
    axes.margins(x=0.03 if few else 0.01)
    style.grid(axes)


def ends(curves: Sequence[Curve], gains: bool = False) -> str:
    """Say where curves end, the best first."""
    return ", ".join(f"{curve.title} {curve.mean[-1]:.4g}" for curve in ranked(curves, gains))


def ranked(curves: Sequence[Curve], gains: bool = False) -> list[Curve]:
    """Sort curves by their ends, the best first: the least regret, or the most of what one gains."""
    return sorted(curves, key=lambda curve: float(curve.mean[-1]), reverse=gains)


def apart(curves: Sequence[Curve], gains: bool = False) -> tuple[list[Curve], list[Curve]]:
    """Part the curves whose ends are so much worse that the others cannot be told apart: at most half of them.

    Regret is worse above the others, `gains` are worse below zero. Where all others are 0, nothing is hidden.

    Returns:
        The others in their order, and the dwarfing ones from the least to the worst; none, if none is so far off.
    """
    sign = -1.0 if gains else 1.0
    ordered = ranked(curves, gains)
    for kept in range(max((len(ordered) + 1) // 2, 2), len(ordered)):
        largest = max(abs(curve.mean[-1]) for curve in ordered[:kept])
        if 0.0 < DWARFED * largest < sign * ordered[kept].mean[-1]:
            far = ordered[kept:]
            return [curve for curve in curves if not any(curve is other for other in far)], far
    return list(curves), []


def cut_off(axes: "Axes", near: Sequence[Curve], far: Sequence[Curve], gains: bool, line: float = LINE) -> None:
    """Scale a panel to the near curves, and write where the far ones end: above them, or below where more is better.

    A line of words takes `line` of the panel's height.
    """
    highest = max(0.0, *(float(np.max(curve.mean + np.nan_to_num(curve.error))) for curve in near))
    lowest = min(0.0, *(float(np.min(curve.mean - np.nan_to_num(curve.error))) for curve in near))
    room = (highest - lowest) / (1.0 - MARGIN - line * len(far))  # for the words beyond the near curves
    low, high = (highest - room, highest) if gains else (lowest, lowest + room)
    axes.set_ylim(low - (0.0 if gains else MARGIN * room), high + (MARGIN * room if gains else 0.0))
    told = "\n".join(f"{curve.title} → {_short(float(curve.mean[-1]))}" for curve in (far if gains else reversed(far)))
    place: dict[str, Any] = {"ha": "right", "va": "bottom" if gains else "top", "fontsize": 5.6}
    axes.text(1.0, 0.0 if gains else 1.0, told, color=style.INK, transform=axes.transAxes, **place)


def _short(value: float) -> str:
    """Write three figures: 0.123, 4.56, 789, 1.23k."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value / 1000:.3g}k"


def axis_word(from_initial: bool) -> str:
    """Name what the horizontal axis counts."""
    return "evaluation" if from_initial else "round"


def _marks(points: int, position: int) -> tuple[int, int]:
    # Few marks, staggered from line to line, so that lines on top of each other stay apart without colour.
    step = max(points // MARKED_LINES, 1)
    return (position * step // 7) % max(step, 1), step


def _panel_title(cube: Digest, objective: str, metric: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Return what tells a panel from the others: objective and metric, once where they are called alike."""
    pursued, scored = cube.objective_titles[objective], cube.metric_titles[metric]
    objectives, metrics = ({pair[place] for pair in pairs} for place in (0, 1))
    if len(objectives) == 1:
        return scored if len(metrics) > 1 else ""
    if pursued == scored:
        return pursued
    return f"pursued: {pursued}" + (f"\nmetric: {scored}" if len(metrics) > 1 else "")


POINTS = 200  #: Rounds drawn of a curve: more cannot be told apart in a panel, and would make the files large.
LINE_OF_A_ROW = 0.13  #: What a line of words takes, as a fraction of the height of a panel of a grid.
TICKS = 4
TICKS_OF_ALL = 8  #: Numbers on the axes of rounds of all columns together.
STEPS = [1, 2, 5, 10]
THOUSANDS = 10_000  #: From where on an axis counts in thousands: longer numbers leave panels no room.
LETTERS_OF_AN_INCH = 15  #: Letters of a row's axis that fit in an inch of its height.
BOLD_LETTERS_OF_AN_INCH = 12  #: Likewise of its name.
COLUMN_WIDTH = 62  #: Letters above all columns together.


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
    row_height: Number = Field(1.3, gt=0.0, le=20.0, description="Height of a row, inches.")


@dataclass(frozen=True)
class Panel:
    """One problem, or several that share the panel, under one metric."""

    problem: str  #: what the panel is called in words.
    row: Row
    kind: Kind
    cubes: Sequence[Digest]  #: of the problems with results.
    curves: Sequence[Curve]  #: empty where no run is finished.
    pursued: bool  #: whether there are runs to draw, finished or not.

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
            return f"not scored by {self.row.title}"
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
                _name_row(places[len(line) - 1], textwrap.fill(line[0].row.title, bold))
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
            cut_off(axes, near, far, panel.gains, LINE_OF_A_ROW)
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
                f"{where}, {panel.row.title}, {QUANTITIES[panel.kind]}{f' in {unit}' if unit else ''}: "
                + ends(panel.curves, panel.gains)
            )
        alternative = f"Grid of line charts. At the end, from best to worst: {'; '.join(told)}."
        label = shared_data_label([cubes[problem] for problem in problems])
        title = f"{spoken(kinds).capitalize()} by objective and problem"
        table = curve_table(
            (
                {
                    "problem": panel.problem,
                    "row": panel.row.title,
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
    titles = spoken(list(dict.fromkeys(panel.row.title for panel in drawn)))
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
