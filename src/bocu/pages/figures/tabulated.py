"""Tables as pictures: what runs took, and how far density estimates are from the truth.

Tables 1 and 2 of Huang et al. (2024); a paper's own numbers may stand beside ours.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import LARGEST_SEED, Count, Integer
from bocu.core.rounds import CONTINUOUS, FINITE
from bocu.core.written import decimals
from bocu.pages.figures.base import (
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
from bocu.pages.figures.results import Results, results_of
from bocu.robust.contexts.estimates import OBSERVATIONS, distances_of_estimates
from bocu.robust.contexts.laws import ContextLaw
from bocu.sweep.evaluation.run_statistics import SECONDS
from bocu.sweep.evaluation.statistics import mean_and_error

if TYPE_CHECKING:
    import matplotlib.figure

NOTHING = "-"
_ROW_INCHES = 0.24
_GAP = 3  # letters between columns


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
        summary="table of seconds a run, by algorithm and setting",
        paper="Huang et al. 2024, table 1",
    )
    protocols = FINITE + CONTINUOUS
    Parameters = RunTimesParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cube = results_of(inputs)
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
            "seeds. Times depend on the machine and on what else ran there."
        )
        return _drawn(rows, cells, "Time of a run", caption, cube.problem, cube.data_label)


def seconds_of_runs(cube: Results) -> dict[str, str]:
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
        summary="table of how far kernel density estimates are from the law of the context",
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
        return _drawn(row_heads(settings), cells, "Density estimates", caption, label, data_label)


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
    rows: Sequence[str], cells: Mapping[str, Sequence[str]], title: str, caption: str, problem: str, data_label: str
) -> Drawing:
    """Draw a table of columns by their headings, and keep it as one."""
    import pandas as pd

    picture = _table(rows, cells)
    spoken = "; ".join(
        f"{row}: " + ", ".join(f"{heading} {column[place]}" for heading, column in cells.items())
        for place, row in enumerate(rows)
    )
    kept = pd.DataFrame({"row": list(rows), **cells})
    return Drawing(picture, title, caption, f"Table. {spoken}.", problem, data_label, kept)


def _table(rows: Sequence[str], cells: Mapping[str, Sequence[str]]) -> "matplotlib.figure.Figure":
    from matplotlib.transforms import Bbox

    picture = style.new_figure(_ROW_INCHES * (len(rows) + 2))
    axes = picture.subplots()
    axes.axis("off")
    text = [[column[place] for column in cells.values()] for place in range(len(rows))]
    letters = [max(map(len, (heading, *column))) + _GAP for heading, column in cells.items()]
    heads = max(map(len, rows)) + _GAP
    table = axes.table(
        text,
        rowLabels=list(rows),
        colLabels=list(cells),
        colWidths=[count / (sum(letters) + heads) for count in letters],
        cellLoc="right",
        edges="horizontal",
        bbox=Bbox.from_bounds(heads / (sum(letters) + heads), 0.0, sum(letters) / (sum(letters) + heads), 1.0),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    return picture
