"""Seconds a round over the rounds: whether an algorithm's cost grows with what it has seen, and how fast."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Integer
from bocu.core.rounds import CONTINUOUS, FINITE
from bocu.core.written import counted, spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import Algorithms, DigestedParameters, Drawing, Figure, Inputs, nothing_to_show
from bocu.pages.figures.regret import Curve, curve_table, draw_curves
from bocu.pages.figures.results import NO_OBJECTIVE, Cube, CubeBranch, Digest, seed_counts
from bocu.sweep.evaluation.digests import MEDIAN_ROUNDS
from bocu.sweep.evaluation.statistics import mean_and_error

if TYPE_CHECKING:
    from bocu.sweep.experiment.products import FigurePaths

MILLISECONDS = 1e3
MACHINE = "Times depend on the machine and on what else ran there."


class CostParameters(DigestedParameters):
    """Parameters of `Cost`."""

    algorithms: Algorithms = Field(None, description="Labels of the algorithms drawn; all, if left out.")
    smooth: Annotated[Integer, Field(ge=1)] = Field(MEDIAN_ROUNDS, description="Rounds whose median is one point.")
    log: bool = Field(True, description="Logarithmic axis of time.")

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        # Digests know groups of one size.
        return super().inputs(paths) if self.smooth == MEDIAN_ROUNDS else {"cube": paths.cube}


class Cost(Figure[CostParameters]):
    """Time to choose and to learn, a panel for each pursued objective: mean and standard error over seeds."""

    about = About(
        title="Time of a round",
        summary="time that algorithms take for a round, over the rounds",
    )
    protocols = FINITE + CONTINUOUS
    Parameters = CostParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cube = Digest(inputs["digest"]) if "digest" in inputs else Cube(inputs["cube"])
        branches = cube.branches(self.parameters.algorithms)
        own = {branch: cube.titles[branch.algorithm] for branch in branches}
        shown = {
            objective: self._curves(cube, {b: own[b] for b in branches if b.objective in (objective, NO_OBJECTIVE)})
            for objective in cube.objectives()
        }
        panels = {objective: curves for objective, curves in shown.items() if curves}
        if not panels:
            return nothing_to_show(cube, self.about.title, "no run is finished")
        if all(len(curve.rounds) == 1 for curves in panels.values() for curve in curves):
            return self._points(cube, branches)
        picture, grid = style.facets(
            len(panels), 2.0, below=0.6, across="round", up="time of a round [ms]", sharex=True, sharey=True
        )
        for axes, (objective, curves) in zip(grid, panels.items(), strict=True):
            draw_curves(axes, curves, log_regret=self.parameters.log)
            axes.set_title(cube.objective_titles[objective] if len(panels) > 1 else "")
        style.legend_below(picture)
        counts = {curve.title: curve.seeds for curves in panels.values() for curve in curves}
        caption = (
            f"Time that an algorithm takes to choose and to learn in a round on {cube.title}, medians of "
            f"{self.parameters.smooth} rounds: mean (lines) and one standard error (bands) over {seed_counts(counts)}. "
            f"{MACHINE}"
        )
        told = [
            f"{'' if objective == NO_OBJECTIVE else f'pursuing {cube.objective_titles[objective]}, '}"
            + ", ".join(f"{curve.title} from {curve.mean[0]:.3g} to {curve.mean[-1]:.3g}" for curve in curves)
            for objective, curves in panels.items()
        ]
        alternative = f"Line chart of milliseconds a round, first to last: {spoken(told)}."
        table = curve_table(({"objective": each, "quantity": "milliseconds"}, own) for each, own in panels.items())
        return Drawing(picture, self.about.title, caption, alternative, cube.problem, cube.data_label, table)

    def _points(self, cube: Digest | Cube, branches: Sequence[CubeBranch]) -> Drawing:
        """Draw the one median that there is of each as a point: it makes no curve."""
        titles = marks.titles_of({cube.problem: cube}, {(0, cube.problem): branches}, {})
        curves = self._curves(cube, {branch: title for (_, branch), title in titles.items()})
        table = curve_table([({"quantity": "milliseconds"}, curves)])
        picture, axes = style.single(0.5 + 0.19 * len(table))
        marks.intervals(axes, table, "mean", {curve.title: curve.look for curve in curves})
        axes.set(xscale="log" if self.parameters.log else "linear", xlabel="time of a round [ms]")
        rounds = int(table["round"].max())
        caption = (
            f"Time that an algorithm takes to choose and to learn in a round on {cube.title}: median of the "
            f"{counted(rounds, 'round')} of a run, mean and one standard error over seeds. {MACHINE}"
        )
        told = ", ".join(f"{row.algorithm} {row.mean:.3g}" for row in table.itertuples())
        alternative = f"Dots of milliseconds a round: {told}."
        return Drawing(picture, self.about.title, caption, alternative, cube.problem, cube.data_label, table)

    def _curves(self, cube: Digest | Cube, titles: Mapping[CubeBranch, str]) -> list[Curve]:
        found: list[Curve] = []
        looks = cube.looks_apart(self.parameters.algorithms)
        for branch, title in titles.items():
            rounds, seconds = cube.median_times(branch, self.parameters.smooth)
            if len(seconds):
                mean, error = mean_and_error(MILLISECONDS * seconds)
                found.append(
                    Curve(title, looks[cube.titles[branch.algorithm]], rounds, mean, error, len(seconds), len(found))
                )
        return found
