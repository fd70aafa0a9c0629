"""The whole experiment as a table: final regret relative to a reference, a row an algorithm, a column a problem."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Parameters
from bocu.core.written import spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import ComparingParameters, Drawing, Figure, Inputs, Naming, nothing_to_show
from bocu.pages.figures.results import (
    Results,
    all_results,
    metric_title,
    reference_label,
    seed_counts,
    shared_data_label,
)
from bocu.pages.figures.summary import regret_ratio, without
from bocu.sweep.evaluation.standings import TIED, TOO_FEW, VERDICT_SEEDS, Standings
from bocu.sweep.evaluation.statistics import CONFIDENCE, LEAST_SEEDS
from bocu.sweep.experiment.configuration import Margin
from bocu.sweep.experiment.titles import in_words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

LINE, HEAD, TITLE = 0.165, 0.11, 0.32
"""Height of a row, of a line of a column's heading, and of a block's title with what is around it, inches."""
KEY = "blue: less regret than the reference, red: more; bold: leads; italic: not told apart from the reference"
HEAD_WIDTH = 11
"""Letters in a line of a column's heading."""
LEAST_COLUMNS = 7
"""As many as these have room beside each other, however few there are: cells are never wider."""
COLUMNS = (
    "block", "metric", "problem", "algorithm", "reference", "ratio", "low", "high", "seeds", "leading",
    "told_apart_from_reference",
)  # fmt: skip
"""Of the table beside the figure."""
RANGE = 8.0
"""The ratio, and one over it, from which on colours stay the same."""


class ScoreBlock(Parameters):
    """A block of rows under one metric."""

    metric: Annotated[str, Naming("metric")] = Field(description="Label of the metric.")
    title: str = Field("", description="What is written above the block; the metric, if left out.")
    problems: Annotated[list[str] | None, Naming("problem")] = Field(
        None, description="Labels of the problems, in columns; those that the metric scores, if left out."
    )
    pursued: Annotated[list[str] | None, Naming("objective")] = Field(
        None,
        description="Labels of the objectives whose runs are shown, beside those of algorithms that pursue none; the "
        "metric's label, if left out.",
    )


class ScoreboardParameters(ComparingParameters):
    """Parameters of `Scoreboard`."""

    blocks: list[ScoreBlock] | None = Field(None, description="The blocks; one for each metric, if left out.")
    leads_within: Margin | None = Field(
        None, description="Extra regret up to which an algorithm leads with the least; the experiment's, if left out."
    )
    columns: Annotated[dict[str, str], Naming("problem")] = Field(
        default_factory=dict, description="What is written for a problem, by its label, if not the label."
    )
    titles: Annotated[dict[str, str], Naming("branch")] = Field(
        default_factory=dict,
        description="What is written for an algorithm, by its label, or for its runs under one objective, by "
        "`algorithm/objective`; what is written alike shares a row.",
    )


@dataclass(frozen=True)
class ScoreTable:
    """A block with its numbers.

    Attributes:
        columns: labels of the problems.
        numbers: a row for each number, with `COLUMNS`, in the order of the experiment's algorithms.
        competing: titles that may be marked as the least of a column.
    """

    block: ScoreBlock
    columns: Sequence[str]
    numbers: "pd.DataFrame"
    competing: frozenset[str]

    @property
    def rows(self) -> list[str]:
        """Titles of the algorithms."""
        return list(dict.fromkeys(self.numbers["algorithm"]))

    def least(self, column: str) -> "pd.DataFrame":
        """Return the competing rows of the smallest ratio in a column; several where they are equal."""
        own = self.numbers[(self.numbers["problem"] == column) & self.numbers["algorithm"].isin(self.competing)]
        return own[own["ratio"] == own["ratio"].min()]


class Scoreboard(Figure[ScoreboardParameters]):
    """Blocks of rows below each other, coloured by whether there is less regret than the reference's or more."""

    about = About(
        title="Scoreboard",
        summary="the same numbers as a table, a block a metric, a row an algorithm, a column a problem",
    )
    scope = "experiment"
    digested = True
    Parameters = ScoreboardParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cubes = {cube.problem: cube for cube in all_results(inputs)}
        names = {label: name for cube in cubes.values() for label, name in cube.names.items()}
        reference = reference_label("scoreboard", self.parameters.reference, names)
        metrics = dict.fromkeys(metric for cube in cubes.values() for metric in cube.metrics)
        blocks = [
            block if block.title else block.model_copy(update={"title": metric_title(cubes.values(), block.metric)})
            for block in self.parameters.blocks or [ScoreBlock(metric=metric) for metric in metrics]
        ]
        own = next(cube.titles[reference] for cube in cubes.values() if reference in cube.titles)
        written = self.parameters.titles.get(reference, own)
        found = [self._table(block, cubes, reference, written) for block in blocks]
        tables = [table for table in found if len(table.numbers)]
        if not tables:
            reason = f"no finished run can be compared with {written}, or its mean regret is not positive"
            return nothing_to_show(next(iter(cubes.values())), "Scoreboard", reason, whole_experiment=True)
        return self._described(cubes, tables, (reference, written), self._picture(cubes, tables))

    def _table(self, block: ScoreBlock, cubes: Mapping[str, Results], reference: str, written: str) -> ScoreTable:
        import pandas as pd

        scored = [problem for problem, cube in cubes.items() if block.metric in cube.metrics]
        columns = block.problems or scored
        branches = {
            problem: cubes[problem].branches(pursuing=block.pursued or [block.metric])
            for problem in columns
            if problem in scored
        }
        titles = marks.titles_of(
            cubes, {(0, problem): found for problem, found in branches.items()}, self.parameters.titles
        )
        competing = frozenset(
            title for (problem, branch), title in titles.items() if branch.algorithm not in cubes[problem].yardsticks
        )
        rows = []
        for problem, found in branches.items():
            base = next((branch for branch in found if branch.algorithm == reference), None)
            if base is None:
                continue
            totals = {titles[problem, branch]: cubes[problem].totals(branch, block.metric) for branch in found}
            random = next((titles[problem, b] for b in found if cubes[problem].names[b.algorithm] == "random"), None)
            compared = Standings(totals, competing, random, self.parameters.leads_within)
            gaps, first = compared.against(titles[problem, base]), compared.leading
            for branch in (branch for branch in found if branch.algorithm != reference):
                title, ratio = titles[problem, branch], regret_ratio(cubes[problem], branch, base, block.metric)
                leading = title in first
                apart = title in gaps and gaps[title].on_average not in (TIED, TOO_FEW)
                numbers = ratio.value, ratio.low, ratio.high, ratio.count, leading, apart
                rows.append((block.title, block.metric, problem, title, written, *numbers))
        order = list(dict.fromkeys(titles.values()))
        table = pd.DataFrame(rows, columns=list(COLUMNS)).dropna(subset="ratio")
        by_algorithm = table.sort_values("algorithm", key=lambda own: own.map(order.index), kind="stable")
        return ScoreTable(block, columns, by_algorithm, competing)

    def _picture(self, cubes: Mapping[str, Results], tables: Sequence[ScoreTable]) -> "Picture":
        heads = [self._heads(cubes, table) for table in tables]
        # A heading that the block above has at the same place is not repeated.
        shown = [head if not place or head != heads[place - 1] else [] for place, head in enumerate(heads)]
        rows = [LINE * len(table.rows) for table in tables]
        above = [TITLE + HEAD * max((text.count("\n") + 1 for text in head), default=0) for head in shown]
        picture = style.new_figure(sum(rows) + sum(above) + HEAD)
        grid = picture.add_gridspec(len(tables), 1, height_ratios=rows)
        widest = max(LEAST_COLUMNS, *(len(table.columns) for table in tables))
        for place, (table, head) in enumerate(zip(tables, shown, strict=True)):
            _draw(picture.add_subplot(grid[place]), table, head, widest)
        picture.supxlabel(KEY, fontsize=6.4, color=style.INK)
        return picture

    def _heads(self, cubes: Mapping[str, Results], table: ScoreTable) -> list[str]:
        mixed = len({bool(cube.data_label) for cube in cubes.values()}) > 1
        heads = []
        for problem in table.columns:
            lines = textwrap.wrap(self.parameters.columns.get(problem, in_words(problem)), HEAD_WIDTH)
            simulated = mixed and problem in cubes and bool(cubes[problem].data_label)
            heads.append("\n".join([*lines, "(simulated)"] if simulated else lines))
        return heads

    def _described(
        self, cubes: Mapping[str, Results], tables: Sequence[ScoreTable], named: tuple[str, str], picture: "Picture"
    ) -> Drawing:
        import pandas as pd

        label_of_reference, reference = named
        problems = list(dict.fromkeys(problem for table in tables for problem in table.columns if problem in cubes))
        numbers = pd.concat([table.numbers for table in tables], ignore_index=True)
        counts = numbers.groupby("problem", sort=False)["seeds"].max().reindex(problems).dropna().astype(int).to_dict()
        scored = "; ".join(table.block.title for table in tables)
        caption = (
            f"Cumulative regret at the end of every run, divided by that of {reference}: ratio of means over "
            f"{seed_counts(counts)}; below 1 (blue) there is less regret, above 1 (red) more. Blocks: the objective "
            f"that runs pursue, where they pursue one, and are scored by ({scored}). Bold: the least regret of a "
            f"column, that of {reference} among them, and what has hardly more, as the interval has it, from "
            f"{VERDICT_SEEDS} paired seeds on. Italic: not told apart from {reference} by the {CONFIDENCE:.0%} "
            "interval of the mean paired difference, corrected for all pairs of a column, from "
            f"{LEAST_SEEDS} paired seeds on. "
            f"Empty: not defined or not finished, or the regret of {reference} is not positive."
            + without(list(cubes.values()), label_of_reference, reference)
        )
        told = [
            f"{table.block.title}: "
            + ", ".join(
                f"{column} {spoken(least['algorithm'].tolist())} {least['ratio'].iloc[0]:.2f}"
                for column in table.columns
                if len(least := table.least(column))
            )
            for table in tables
        ]
        alternative = (
            f"Table of regret relative to {reference}. The smallest ratio of every problem: {'; '.join(told)}."
        )
        label = shared_data_label([cubes[problem] for problem in problems])
        return Drawing(picture, self.about.title, caption, alternative, "", label, numbers)


def _draw(axes: "Axes", table: ScoreTable, head: Sequence[str], widest: int) -> None:
    from matplotlib.colors import LogNorm

    cells = table.numbers.set_index(["algorithm", "problem"])
    square = cells["ratio"].unstack().reindex(index=table.rows, columns=table.columns)
    leading, apart = (cells.index[cells[what]] for what in ("leading", "told_apart_from_reference"))
    marks.heat(
        axes, square.clip(1.0 / RANGE, RANGE), square.map(_short), bold=leading, plain=apart,
        cmap=style.DIVERGING, norm=LogNorm(1.0 / RANGE, RANGE), cbar=False, linewidths=0.8, annot_kws={"fontsize": 6.4},
    )  # fmt: skip
    axes.set_xlim(0, widest)  # columns of all blocks are as wide
    axes.set_xticks(axes.get_xticks() if head else [], head)
    axes.xaxis.tick_top()
    axes.tick_params("y", length=0, labelsize=6.6, labelrotation=0)
    axes.tick_params("x", length=0, labelsize=5.8, pad=1)
    axes.set_title(table.block.title, loc="left", fontweight="bold", fontsize=7.2, pad=3)


def _short(value: float) -> str:
    """Write two decimals of small ratios, fewer of large ones."""
    return f"{value:.2f}" if abs(value) < 9.95 else f"{value:.0f}"
