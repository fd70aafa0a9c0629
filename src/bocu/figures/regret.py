"""Regret over the rounds: the picture that every paper of this field has (Ziomek et al. 2025, figures 2a and 4a)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Integer
from bocu.core.protocols import EVERY
from bocu.evaluation.curves import Kind
from bocu.evaluation.law_paths import metrics_off_paths
from bocu.evaluation.statistics import student_factor
from bocu.figures import style
from bocu.figures.base import Algorithms, DigestedParameters, Drawing, Figure, Inputs, Names, nothing_to_show
from bocu.figures.reading import NO_OBJECTIVE, results_of, seed_counts, shown_unit, spoken, with_unit
from bocu.figures.results import CubeBranch, Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from bocu.experiment.inputs import FigurePaths

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
MARKED_LINES = 6
PANEL_HEIGHT = 2.2
LEAST_PANEL_WIDTH = 1.3
LONG_LABEL = 12
DWARFED = 4.0
"""How many times a final regret, or loss, exceeds all better ends before these are not told apart beside it."""


class RegretParameters(DigestedParameters):
    """Parameters of `Regret`."""

    kind: Kind = Field("cumulative", description=KIND)
    metrics: Annotated[list[str] | None, Names("metric")] = Field(
        None,
        description="Labels of the metrics, a column of panels each; all but those along paths of laws, if left out.",
    )
    algorithms: Algorithms = Field(None, description="Labels of the algorithms drawn; all, if left out.")
    log_rounds: bool = Field(False, description="Logarithmic axis of rounds.")
    log_regret: bool = Field(
        False, description="Logarithmic axis of regret, not of payoffs; rounds without regret leave gaps."
    )
    close_up: bool = Field(True, description="A second panel without the worst algorithms where they dwarf the others.")
    smooth: Integer = Field(1, ge=1, description="Rounds averaged into one point of instantaneous regret.")
    from_initial: bool = Field(False, description=FROM_INITIAL)
    spread: Spread = Field("standard-error", description=SPREAD)

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        # Digests know single rounds.
        return {"cube": paths.cube} if self.smooth > 1 else super().inputs(paths)


class Regret(Figure[RegretParameters]):
    """Mean over seeds with its spread, a panel for each pursued objective and metric."""

    about = About(
        title="Regret",
        summary="cumulative, average or instantaneous regret over the rounds, mean and standard error",
    )
    protocols = EVERY
    Parameters = RegretParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cube = results_of(inputs)
        metrics = [cube.metric(label) for label in self.parameters.metrics or metrics_off_paths(cube.data)]
        if self._gains:
            metrics = metrics[:1]
        objectives = cube.objectives()
        curves = {
            (objective, metric): self._curves(cube, objective, metric) for objective in objectives for metric in metrics
        }
        if not any(curves.values()):
            return nothing_to_show(cube, self._quantity.capitalize(), "no run is finished")
        columns = [(metric, False) for metric in metrics]
        for metric in metrics:
            if self.parameters.close_up and any(self._apart(curves[objective, metric])[1] for objective in objectives):
                columns.insert(columns.index((metric, False)) + 1, (metric, True))
        picture = style.new_figure(
            PANEL_HEIGHT * len(objectives) + 0.55, max(style.TEXT_WIDTH, LEAST_PANEL_WIDTH * len(columns))
        )
        panels = picture.subplots(len(objectives), len(columns), squeeze=False, sharex=True)
        for row, objective in zip(panels, objectives, strict=True):
            for axes, (metric, close) in zip(row, columns, strict=True):
                near, far = self._apart(curves[objective, metric]) if close else (curves[objective, metric], [])
                draw_curves(axes, near, self.parameters.log_rounds, self.parameters.log_regret and not self._gains)
                pursued = cube.objective_titles[objective] if len(objectives) > 1 else ""
                scored = cube.metric_titles[metric] if len(metrics) > 1 else ""
                axes.set_title(_panel_title(pursued, scored, far))
            row[0].set_ylabel(with_unit(self._quantity, cube.units))
        for axes in panels[-1]:
            axes.set_xlabel(axis_word(self.parameters.from_initial))
        style.legend_below(picture)
        return self._described(cube, picture, curves)

    def _curves(self, cube: Results, objective: str, metric: str) -> list["Curve"]:
        found: list[Curve] = []
        looks = cube.looks_apart(self.parameters.algorithms)
        for branch in cube.branches(self.parameters.algorithms, [objective]):
            title, look = cube.titles[branch.algorithm], looks[branch.algorithm]
            curve = curve_of(
                cube,
                branch,
                metric,
                self.parameters.kind,
                title,
                look,
                len(found),
                smooth=self.parameters.smooth,
                from_initial=self.parameters.from_initial,
                spread=self.parameters.spread,
            )
            found += [curve] if curve else []
        return found

    def _apart(self, curves: Sequence["Curve"]) -> tuple[list["Curve"], list["Curve"]]:
        return apart(curves, self._gains)

    @property
    def _gains(self) -> bool:
        return self.parameters.kind in GAINS

    @property
    def _quantity(self) -> str:
        return QUANTITIES[self.parameters.kind]

    def _described(self, cube: Results, picture: "Picture", curves: dict[tuple[str, str], list["Curve"]]) -> Drawing:
        kind, smooth = self.parameters.kind, self.parameters.smooth
        metrics = list(dict.fromkeys(metric for _, metric in curves))
        objectives = list(dict.fromkeys(objective for objective, _ in curves))
        by = spoken([cube.metric_titles[metric] for metric in metrics])
        units = f" in {shown_unit(cube.units)}" if shown_unit(cube.units) else ""
        averaged = f", averaged over {smooth} rounds" if kind == "instantaneous" and smooth > 1 else ""
        pursued = spoken([cube.objective_titles[objective] for objective in objectives])
        rows = "" if objectives == [NO_OBJECTIVE] else f" Rows: the objective pursued ({pursued})."
        counts = {curve.title: curve.seeds for panel in curves.values() for curve in panel}
        scored = "" if self._gains else f", scored by {by}"
        caption = (
            f"{self._quantity.capitalize()}{units} on {cube.title}{averaged}: mean (lines) and "
            f"{SPREADS[self.parameters.spread]} (bands) over {seed_counts(counts)}{scored}.{rows}"
            f"{'' if self._gains else below_zero(curve for panel in curves.values() for curve in panel)}"
        )
        ends = []
        for (objective, metric), panel in curves.items():
            shown = [f"pursuing {cube.objective_titles[objective]}"] if rows else []
            shown += [] if self._gains else [f"scored by {cube.metric_titles[metric]}"]
            told = ", ".join(f"{curve.title} {curve.mean[-1]:.4g}" for curve in ranked(panel, self._gains))
            ends.append(f"{', '.join(shown)}: {told}" if shown else told)
        order = "from most to least" if self._gains else "from least to most"
        alternative = (
            f"Line chart of {self._quantity} over {len(cube.iterations)} rounds. At the end{units}, {order}, "
            f"{'; '.join(ends)}."
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


def curve_of(
    cube: Results,
    branch: CubeBranch,
    metric: str,
    kind: Kind,
    title: str,
    look: style.Stroke,
    position: int,
    *,
    smooth: int = 1,
    from_initial: bool = False,
    spread: Spread = "standard-error",
) -> Curve | None:
    """Make the line of a branch under a metric; None where no seed is finished or the cube has nothing of the kind."""
    found = cube.curve(branch, metric, kind, smooth, from_initial)
    if found is None:
        return None
    width = found.error * student_factor(found.seeds) if spread == "interval-95" else found.error
    return Curve(title, look, found.rounds, found.mean, width, found.seeds, position)


def draw_curves(axes: "Axes", curves: Sequence[Curve], log_rounds: bool = False, log_regret: bool = False) -> None:
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
    axes.set_xscale("log" if log_rounds else "linear")
    axes.set_yscale("log" if log_regret else "linear")
    if not log_regret:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.margins(x=0.01)
    style.grid(axes)


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


def axis_word(from_initial: bool) -> str:
    """Name what the horizontal axis counts."""
    return "evaluation" if from_initial else "round"


def _marks(points: int, position: int) -> tuple[int, int]:
    # Few marks, staggered from line to line, so that lines on top of each other stay apart without colour.
    step = max(points // MARKED_LINES, 1)
    return (position * step // 7) % max(step, 1), step


def _panel_title(pursued: str, metric: str, left_out: Sequence[Curve]) -> str:
    parts = [f"pursued: {pursued}"] if pursued else []
    parts += [f"metric:\n{metric}" if len(metric) > LONG_LABEL else f"metric: {metric}"] if metric else []
    parts += [f"without {spoken([curve.title for curve in left_out])}"] if left_out else []
    return "\n".join(parts)
