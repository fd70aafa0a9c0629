"""Regret over the rounds: the picture that every paper of this field has (Ziomek et al. 2025, figures 2a and 4a)."""

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from bocu.errors import BocuError
from bocu.figures import style
from bocu.figures.base import Drawing, Figure, FigureParameters, Inputs
from bocu.figures.reading import NO_OBJECTIVE, Branch, Cube, seed_counts, spoken, with_unit
from bocu.parameters import Integer
from bocu.statistics import mean_and_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

Kind = Literal["cumulative", "average", "instantaneous"]
MARKED_LINES = 6
PANEL_HEIGHT = 2.2


class RegretParameters(FigureParameters):
    """Parameters of `Regret`."""

    kind: Kind = Field("cumulative", description="Regret summed up, divided by the rounds so far, or of each round.")
    judges: list[str] | None = Field(
        None, description="Labels of the judges, a column of panels each; all, if left out."
    )
    algorithms: list[str] | None = Field(None, description="Labels of the algorithms drawn; all, if left out.")
    log_rounds: bool = Field(False, description="Logarithmic axis of rounds.")
    log_regret: bool = Field(False, description="Logarithmic axis of regret; rounds without regret leave gaps.")
    smooth: Integer = Field(1, ge=1, description="Rounds averaged into one point of instantaneous regret.")


class Regret(Figure):
    """Mean over seeds with one standard error, a panel for each pursued objective and judge."""

    Parameters = RegretParameters

    def __init__(self, parameters: RegretParameters) -> None:
        super().__init__(parameters)
        self.parameters: RegretParameters = parameters

    def compose(self, inputs: Inputs) -> Drawing:
        cube = Cube(inputs["cube"])
        judges = [cube.judge(label) for label in self.parameters.judges or cube.judges]
        objectives = cube.objectives()
        branches = cube.branches(self.parameters.algorithms)
        picture = style.new_figure(PANEL_HEIGHT * len(objectives) + 0.55)
        panels = picture.subplots(len(objectives), len(judges), squeeze=False, sharex=True)
        counts: dict[str, int] = {}
        final: dict[str, float] = {}
        for row, objective in zip(panels, objectives, strict=True):
            for axes, judge in zip(row, judges, strict=True):
                shown = [branch for branch in branches if branch.objective in (objective, NO_OBJECTIVE)]
                drawn = self._panel(axes, cube, shown, judge)
                for branch, (count, last) in drawn.items():
                    counts[cube.titles[branch.algorithm]] = count
                    final.setdefault(cube.titles[branch.algorithm], last)
                axes.set_title(_panel_title(objective, judge, len(objectives), len(judges)))
            row[0].set_ylabel(with_unit(f"{self.parameters.kind} regret", cube.units))
        if not counts:
            raise BocuError(f"{cube.path}: no finished run; nothing to draw")
        for axes in panels[-1]:
            axes.set_xlabel("round")
        _legend(picture, panels[0][0], columns=3)
        return self._described(cube, picture, judges, objectives, counts, final)

    def _panel(self, axes: "Axes", cube: Cube, branches: list[Branch], judge: str) -> dict[Branch, tuple[int, float]]:
        """Draw the branches; give the number of seeds and the last mean of each."""
        drawn: dict[Branch, tuple[int, float]] = {}
        for branch in branches:
            regret, seeds = cube.regret(branch, judge)
            if not len(seeds):
                continue
            rounds, values = accumulate(cube.iterations, regret, self.parameters.kind, self.parameters.smooth)
            mean, error = mean_and_error(values)
            look = cube.looks[branch.algorithm]
            marks = {"marker": look.marker, "markevery": _marks(len(rounds), len(drawn))}
            axes.plot(rounds, mean, label=cube.titles[branch.algorithm], **look.line(), **marks)  # type: ignore[arg-type]
            if len(seeds) > 1:
                axes.fill_between(
                    rounds, mean - error, mean + error, color=look.colour, alpha=style.BAND_OPACITY, linewidth=0
                )
            drawn[branch] = (len(seeds), float(mean[-1]))
        axes.set_xscale("log" if self.parameters.log_rounds else "linear")
        axes.set_yscale("log" if self.parameters.log_regret else "linear")
        if not self.parameters.log_regret:
            axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        axes.margins(x=0.01)
        style.grid(axes)
        return drawn

    def _described(
        self,
        cube: Cube,
        picture: "Picture",
        judges: list[str],
        objectives: list[str],
        counts: dict[str, int],
        final: dict[str, float],
    ) -> Drawing:
        kind = self.parameters.kind
        units = "" if cube.units in ("", "1") else f" in {cube.units}"
        smooth = self.parameters.smooth
        averaged = f", averaged over {smooth} rounds" if kind == "instantaneous" and smooth > 1 else ""
        pursued = "" if objectives == [NO_OBJECTIVE] else f" Rows: the objective pursued ({spoken(objectives)})."
        caption = (
            f"{kind.capitalize()} regret{units} on {cube.title}{averaged}: mean (lines) and one standard error (bands) "
            f"over {seed_counts(counts)}, judged by {spoken(judges)}.{pursued}"
        )
        order = sorted(final, key=lambda title: final[title])
        alternative = (
            f"Line chart of {kind} regret over {len(cube.iterations)} rounds. At the end, from least to most regret: "
            + ", ".join(f"{title} {final[title]:.4g}" for title in order)
            + f"{units} (judge {judges[0]})."
        )
        return Drawing(picture, f"{kind.capitalize()} regret", caption, alternative, cube.problem, cube.data_label)


def accumulate(
    iterations: np.ndarray, regret: np.ndarray, kind: Kind, smooth: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Turn instantaneous regret into what is drawn.

    Args:
        iterations: rounds, shape (iterations,); those below 1 belong to the initial design and are left out.
        regret: instantaneous regret, shape (seeds, iterations).
        kind: what to make of it.
        smooth: of instantaneous regret, how many rounds make one point; a ragged last group is a point of its own.

    Returns:
        Rounds (points,) and values (seeds, points).
    """
    rounds, regret = iterations[iterations >= 1], regret[:, iterations >= 1]
    if kind == "instantaneous":
        if smooth == 1:
            return rounds, regret
        starts = np.arange(0, len(rounds), smooth)
        sizes = np.diff(np.append(starts, len(rounds)))
        return rounds[starts + sizes - 1], np.add.reduceat(regret, starts, axis=1) / sizes
    total = regret.cumsum(axis=1)
    return rounds, total if kind == "cumulative" else total / np.arange(1, len(rounds) + 1)


def _marks(points: int, position: int) -> tuple[int, int]:
    # Few marks, staggered from line to line, so that lines on top of each other stay apart without colour.
    step = max(points // MARKED_LINES, 1)
    return (position * step // 7) % max(step, 1), step


def _panel_title(objective: str, judge: str, objectives: int, judges: int) -> str:
    parts = [f"pursued: {objective}"] if objectives > 1 else []
    return ", ".join([*parts, f"judge: {judge}"]) if objectives * judges > 1 else ""


def _legend(picture: "Picture", axes: "Axes", columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=min(columns, len(labels)))
