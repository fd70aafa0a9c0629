"""What runs took, over the rounds and in all, and how far density estimates are from the truth, as dots with bars.

Tables 1 and 2 of Huang et al. (2024); a paper's own numbers may stand beside ours.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import LARGEST_SEED, Count, Integer
from bocu.core.rounds import CONTINUOUS, FINITE
from bocu.core.written import counted, decimals, spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import (
    Algorithms,
    DigestedParameters,
    Drawing,
    Figure,
    Inputs,
    Mention,
    mentions,
    nothing_to_show,
    said_only,
)
from bocu.pages.figures.realised import ProblemFigureParameters, problem_of
from bocu.pages.figures.regret import Curve, curve_table, draw_curves
from bocu.pages.figures.results import NO_OBJECTIVE, Cube, CubeBranch, Digest, seed_counts
from bocu.robust.contexts.estimates import OBSERVATIONS, distances_of_estimates
from bocu.robust.contexts.laws import ContextLaw
from bocu.sweep.evaluation.digests import MEDIAN_ROUNDS
from bocu.sweep.evaluation.run_statistics import SECONDS
from bocu.sweep.evaluation.statistics import mean_and_error

if TYPE_CHECKING:
    import matplotlib.figure

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


NOTHING = "-"
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
LINE = 0.16  #: Height of a mark's line, inches.


class RunTimesParameters(DigestedParameters):
    """Parameters of `RunTimes`."""

    rows: list[str] | None = Field(
        None, description="What stands before each row; titles of the first column, if left out."
    )
    columns: dict[str, list[str]] | None = Field(
        None, description="Labels of algorithms by the heading of their column, one a row; all in one, if left out."
    )
    published: dict[str, list[str]] = Field(
        {}, description="Columns that are written out, such as a paper's numbers, by their heading; one text a row."
    )

    @pydantic.model_validator(mode="after")
    def _as_many_rows(self) -> Self:
        if not self.columns:
            if self.rows is not None or self.published:
                raise ValueError("rows and published go with columns: state those, too")
            return self
        counts = {len(each) for each in (*self.columns.values(), *self.published.values())}
        counts |= set() if self.rows is None else {len(self.rows)}
        if len(counts) != 1:
            found = ", ".join(map(str, sorted(counts)))
            raise ValueError(f"columns: all columns, and rows, have one length; found {found}")
        return self

    def mentioned(self) -> Iterator[Mention]:
        for heading, labels in (self.columns or {}).items():
            yield from mentions("algorithm", f"columns.{heading}", labels)


class RunTimes(Figure[RunTimesParameters]):
    """Seconds that a whole run takes to choose and to learn, mean and standard error over seeds."""

    about = About(
        title="Time of a run",
        summary="seconds a run, by algorithm and setting",
        paper="Huang et al. 2024, table 1",
    )
    protocols = FINITE + CONTINUOUS
    Parameters = RunTimesParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cube = Digest(inputs["digest"])
        settings = self.parameters
        times = seconds_of_runs(cube)
        if not times:
            return nothing_to_show(cube, "Time of a run", "no run is finished")
        columns = settings.columns or {"seconds": list(times)}
        first = next(iter(columns.values()))
        rows = settings.rows or [cube.titles.get(label, label) for label in first]
        cells = {
            **settings.published,
            **{heading: [times.get(label, NOTHING) for label in labels] for heading, labels in columns.items()},
        }
        rounds = int(cube.iterations[-1])
        caption = (
            f"Seconds of {rounds} rounds on {cube.title}, to choose and to learn: mean ± standard error over finished "
            f"seeds. {MACHINE}"
        )
        return _drawn(rows, cells, ("Time of a run", caption, "seconds a run"), cube.problem, cube.data_label)


def seconds_of_runs(cube: Digest) -> dict[str, str]:
    """Return seconds of a whole run by the algorithm's label, as "mean ± error"; of several objectives the first."""
    found: dict[str, str] = {}
    for branch in cube.branches():
        times = np.array([*cube.per_seed(SECONDS, branch).values()])
        if len(times) and branch.algorithm not in found:
            mean, error = map(float, mean_and_error(times * float(cube.iterations[-1])))
            digits = decimals(error) if np.isfinite(error) else 2
            found[branch.algorithm] = f"{mean:.{digits}f}" + (f" ± {error:.{digits}f}" if np.isfinite(error) else "")
    return found


class DensityEstimatesParameters(ProblemFigureParameters):
    """Parameters of `DensityEstimates`."""

    observations: list[Count] = Field(
        list(OBSERVATIONS), min_length=1, description="Numbers of contexts estimated from."
    )
    runs: Annotated[Integer, Field(ge=2, le=100_000)] = Field(
        20, description="Estimates of each number; 20 in the paper."
    )
    seed: Integer = Field(0, ge=0, le=LARGEST_SEED, description="Seed of the contexts that are drawn.")
    published: list[str] | None = Field(None, description="A paper's numbers, one text for each number of contexts.")

    @pydantic.model_validator(mode="after")
    def _as_many(self) -> Self:
        if self.published is not None and len(self.published) != len(self.observations):
            raise ValueError(f"published: found {len(self.published)} texts; allowed: {len(self.observations)}")
        return self


class DensityEstimates(Figure[DensityEstimatesParameters]):
    """L1 distance of kernel density estimates from the density of the context, which is one coordinate."""

    about = About(
        title="Density estimates",
        summary="how far kernel density estimates are from the law of the context",
        paper="Huang et al. 2024, table 2",
    )
    protocols = CONTINUOUS
    Parameters = DensityEstimatesParameters

    def compose(self, inputs: Inputs) -> Drawing:
        settings = self.parameters
        problem, label, data_label = problem_of(inputs)
        law = problem.law
        if not isinstance(law, ContextLaw) or law.dimension != 1:
            reason = "distances are computed for a context of one coordinate with a density"
            return said_only("Density estimates", reason, label, data_label)
        cells = distances_of(law, settings)
        caption = (
            f"{problem.title}: L1 distance, 0 to 2, between kernel density estimates and the density of the context, "
            f"as drawn and not clipped, by the number of contexts: mean ± standard error of {settings.runs} estimates."
        )
        words = ("Density estimates", caption, "L1 distance from the density")
        return _drawn(row_heads(settings), cells, words, label, data_label)


def distances_of(law: ContextLaw, settings: DensityEstimatesParameters) -> dict[str, Sequence[str]]:
    """Return how far estimates are from a law of one coordinate, "mean ± error", a paper's numbers before ours."""
    generator = np.random.default_rng(settings.seed)
    found = distances_of_estimates(law, settings.observations, settings.runs, generator)
    ours = [f"{row.mean():.4f} ± {row.std(ddof=1) / np.sqrt(len(row)):.4f}" for row in found]
    return {**({} if settings.published is None else {"published": settings.published}), "here": ours}


def row_heads(settings: DensityEstimatesParameters) -> list[str]:
    """Return what stands before each row."""
    return [f"{count} contexts" for count in settings.observations]


def _drawn(
    rows: Sequence[str], cells: Mapping[str, Sequence[str]], words: tuple[str, str, str], problem: str, data_label: str
) -> Drawing:
    """Draw the columns of a table by their headings, and keep it; `words` are its title, caption and axis."""
    import pandas as pd

    title, caption, across = words
    picture = _dots(rows, cells, across)
    spoken = "; ".join(
        f"{row}: " + ", ".join(f"{heading} {column[place]}" for heading, column in cells.items())
        for place, row in enumerate(rows)
    )
    kept = pd.DataFrame({"row": list(rows), **cells})
    return Drawing(picture, title, caption, f"Dots with bars. {spoken}.", problem, data_label, kept)


def _dots(rows: Sequence[str], cells: Mapping[str, Sequence[str]], across: str) -> "matplotlib.figure.Figure":
    """Draw "mean ± error" as dots with bars of one standard error, a line a row and a mark a column, on a log scale."""
    looks = {heading: style.numbered_stroke(place) for place, heading in enumerate(cells)}
    picture, axes = style.single(0.5 + LINE * len(cells) * len(rows) + 0.05 * len(rows) + (len(cells) > 1) * 0.3)
    for place, (heading, column) in enumerate(cells.items()):
        for row, text in enumerate(column):
            if not NUMBER.search(text):
                continue
            mean, *error = map(float, NUMBER.findall(text)[:2])
            at = row + (place + 0.5) / len(cells) * 0.8 - 0.4
            axes.errorbar(mean, at, xerr=error or None, color=looks[heading].colour, fmt=looks[heading].marker,
                          elinewidth=1.2, markersize=4.5, label=heading)  # fmt: skip
            told = text.replace("-", "−")
            axes.annotate(told, (1.01, at), xycoords=axes.get_yaxis_transform(), va="center", fontsize=6.5)
    axes.set(xscale="log", xlabel=across, ylim=(len(rows) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params("y", length=0)
    style.grid(axes, "x")
    if len(cells) > 1:
        style.legend_below(picture, list(cells))
    return picture
