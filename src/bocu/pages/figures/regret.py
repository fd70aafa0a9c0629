"""Regret over the rounds: the picture that every paper of this field has (Ziomek et al. 2025, figures 2a and 4a)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.rounds import EVERY
from bocu.core.written import spoken
from bocu.pages.figures.base import Algorithms, DigestedParameters, Drawing, Figure, Inputs, Naming, nothing_to_show
from bocu.pages.figures.results import (
    NO_OBJECTIVE,
    CubeBranch,
    Digest,
    foremost,
    seed_counts,
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
GAINS = frozenset({"payoff"})
"""Kinds of which more is better, and in which no metric has a say."""
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
    """One algorithm's line.

    Attributes:
        rounds, mean, error: what is drawn, each of shape (points,); the error is half the width of the band.
        seeds: seeds behind it.
        position: its place among the algorithms, by which its marks are staggered.
    """

    title: str
    look: style.Stroke
    rounds: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    seeds: int
    position: int

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
