"""Final regret of all algorithms on all problems, relative to a reference: as dots with intervals, and as a table."""

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Parameters
from bocu.core.written import spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import ComparingParameters, Drawing, Figure, Inputs, Naming, nothing_to_show
from bocu.pages.figures.results import (
    CubeBranch,
    Digest,
    all_digests,
    metric_title,
    problem_names,
    reference_label,
    seed_counts,
    shared_data_label,
)
from bocu.sweep.evaluation.standings import TIED, TOO_FEW, VERDICT_SEEDS, Standings
from bocu.sweep.evaluation.statistics import CONFIDENCE, LEAST_SEEDS, Interval, student_ratio
from bocu.sweep.experiment.configuration import Margin
from bocu.sweep.experiment.titles import in_words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

LINE, ROW_MARGIN = 0.13, 0.18
"""Of a summary: heights of an algorithm's line, and of what is left between rows, inches."""
PAGE = 4.5  #: Inches of rows above which they stand in two columns.
TITLE_LETTERS = 18
ROW, HEAD, TITLE = 0.165, 0.11, 0.32
"""Of a scoreboard: height of a row, of a line of a heading, and of a block's title with what is around it, inches."""
KEY = "blue: less regret than the reference, red: more; bold: leads; italic: not told apart from the reference"
HEAD_WIDTH = 11  #: Letters in a line of a column's heading.
LEAST_COLUMNS = 7  #: As many as these have room beside each other, however few there are: cells are never wider.
COLUMNS = (
    "block", "metric", "problem", "algorithm", "reference", "ratio", "low", "high", "seeds", "leading",
    "told_apart_from_reference",
)  # fmt: skip
"""Of the table beside the figure."""
RANGE = 8.0  #: The ratio, and one over it, from which on colours stay the same.


class SummaryParameters(ComparingParameters):
    """Parameters of `Summary`."""

    metric: Annotated[str | None, Naming("metric")] = Field(
        None,
        description="Label of the metric; if left out, that of the objective's own label, or the problem's first.",
    )


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
        import pandas as pd

        cubes = all_digests(inputs)
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
        every = pd.DataFrame(
            [row for cube in cubes for row in relative_regret(cube, wanted, reference, called[cube.problem])],
            columns=["problem", "row", "metric", "label", "ratio", "low", "high", "seeds"],
        )
        table = every.dropna(subset="ratio")
        if table.empty:
            reason = f"no problem has a positive mean regret of {reference} to compare with"
            return nothing_to_show(cubes[0], "Summary", reason, whole_experiment=True)
        labels, rows = [label for label in names if label in set(table["label"])], table["row"].unique()
        order = {"row": list(rows), "label": labels}
        table = table.sort_values([*order], key=lambda own: own.map(order[own.name].index), kind="stable")
        # Points have no dash: in the legend, colour and marker tell all algorithms apart.
        points = {(looks[label].colour, looks[label].marker) for label in labels}
        colours = table["label"].map(lambda label: looks[label].colour)
        if colours.groupby(table["row"]).apply(lambda own: own.duplicated().any()).any() or len(points) < len(labels):
            looks = style.apart({label: looks[label] for label in labels})
        named = {"algorithm": table["label"].map(titles), "reference": titles[reference]}
        table = table.assign(**named)[
            ["problem", "row", "metric", "algorithm", "reference", "ratio", "low", "high", "seeds"]
        ].reset_index(drop=True)
        strokes = {titles[label]: looks[label] for label in labels}
        left_out = [row for row in every["row"].unique() if row not in rows]
        picture = self._picture(table, strokes, {cube.problem for cube in cubes if cube.data_label})
        return self._described(cubes, table, left_out, reference, picture)

    @staticmethod
    def _picture(table: "pd.DataFrame", strokes: Mapping[str, style.Stroke], simulated: Collection[str]) -> "Picture":
        # A row is as high as what stands in it.
        sizes = table.groupby("row", sort=False).size()
        ends = (LINE * sizes + ROW_MARGIN).cumsum()
        column = (ends.shift(fill_value=0.0) >= ends.iloc[-1] / 2) & (ends.iloc[-1] > PAGE)
        parts = [own for _, own in ends.groupby(column)]
        begins = [own.iloc[0] - LINE * sizes[own.index[0]] - ROW_MARGIN for own in parts]
        tall = max(own.iloc[-1] - begin for own, begin in zip(parts, begins, strict=True))
        across = f"final regret relative to {table['reference'].iloc[0]}"
        picture, grid = style.facets(len(parts), tall, 2, below=0.9, across=across, sharex=True)
        made_up = table["problem"].isin(simulated)
        marked = set(table["row"][made_up]) if not made_up.all() else set()
        lines = table.groupby("row", sort=False).cumcount() + 0.5
        heights = table["row"].map(ends) - ROW_MARGIN / 2 - LINE * (table["row"].map(sizes) - lines)
        for axes, own, begin in zip(grid, parts, begins, strict=True):
            marks.intervals(
                axes, table.assign(height=heights)[table["row"].isin(own.index)], "ratio", strokes, "height"
            )
            axes.axvline(1, color=style.INK, linewidth=0.8)
            for edge in own.iloc[:-1]:
                axes.axhline(edge, color=style.PALE, linewidth=0.6)
            told = [f"{title} (simulated)" if title in marked else title for title in own.index]
            wrapped = [textwrap.fill(title, TITLE_LETTERS, break_on_hyphens=False) for title in told]
            axes.set_yticks(own - (LINE * sizes[own.index] + ROW_MARGIN) / 2, wrapped)
            axes.set_ylim(begin + tall, begin)
        _scale(grid[0], table[["ratio", "low"]].min(axis=None))
        style.legend_below(picture, list(strokes))
        return picture

    @staticmethod
    def _described(
        cubes: list[Digest], table: "pd.DataFrame", left_out: list[str], reference: str, picture: "Picture"
    ) -> Drawing:
        title = table["reference"].iloc[0]
        rows = table.groupby("row", sort=False)
        metrics = rows["metric"].first()
        told_by = {metric: metric_title(cubes, metric) for metric in metrics.unique()}
        scored = "; ".join(
            f"by {by}"
            + (
                f": {spoken([row.removesuffix(f', {by}') for row in metrics.index[metrics == metric]])}"
                if len(told_by) > 1
                else ""
            )
            for metric, by in told_by.items()
        )
        caption = (
            f"Cumulative regret at the end of every run, divided by that of {title} (1), scored {scored}: ratio of "
            f"means over {seed_counts(rows['seeds'].max().to_dict())} with {CONFIDENCE:.0%} intervals (Fieller's) over "
            "paired seeds; a point without a line has none that is bounded."
            + without(cubes, reference, title)
            + (f" Not comparable (regret of {title} is not positive): {spoken(left_out)}." if left_out else "")
        )
        least = table.loc[rows["ratio"].idxmin()]
        told = [f"{row.row}: smallest {row.algorithm} at {row.ratio:.2f}" for row in least.itertuples()]
        alternative = f"Dot chart of final regret relative to {title}. {'; '.join(told)}."
        label = shared_data_label([cube for cube in cubes if cube.problem in set(table["problem"])])
        return Drawing(picture, "Summary", caption, alternative, "", label, table)


def without(cubes: Sequence[Digest], reference: str, title: str) -> str:
    """Say on which problems the reference did not run, in a sentence with a space before; empty where there is none."""
    missed = [cube.problem for cube in cubes if all(branch.algorithm != reference for branch in cube.branches())]
    return f" {title} did not run on {spoken(missed)}." if missed else ""


def _scale(axes: "Axes", lowest: float) -> None:
    """Compare ratios on a logarithmic axis, unless one of them is not positive."""
    if lowest <= 0:
        axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
        return
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(_round_number)
    axes.xaxis.set_minor_formatter(_round_number)


def _round_number(value: float, position: float) -> str:
    return f"{value:g}" if f"{value:e}"[0] in "125" else ""


def relative_regret(
    cube: Digest, wanted: str | None, reference: str, called: str = ""
) -> Iterator[tuple[str, str, str, str, float, float, float, int]]:
    """Return the final cumulative regret of every algorithm relative to the reference, by pursued objective.

    Scored by the metric that is wanted, if the problem has it; else by that of the objective's label, or the first.

    Returns:
        Problem, what is written of problem and objective, metric, algorithm, and the ratio with its ends and seeds.
    """
    base = next((branch for branch in cube.branches() if branch.algorithm == reference), None)
    if base is None or (wanted is not None and wanted not in cube.metrics):
        return
    for objective in cube.objectives():
        metric = wanted or (objective if objective in cube.metrics else cube.metrics[0])
        named = called or cube.problem
        title = f"{named}, {cube.objective_titles[objective]}" if len(cube.objectives()) > 1 else named
        for branch in cube.branches(pursuing=[objective]):
            ratio = regret_ratio(cube, branch, base, metric)
            ends = ratio.value, ratio.low, ratio.high, ratio.count
            yield cube.problem, title, metric, branch.algorithm, *ends


def regret_ratio(cube: Digest, branch: CubeBranch, base: CubeBranch, metric: str) -> Interval:
    """Return regret summed from round 1 on relative to that of another branch; no number where that is not positive."""
    own, other = cube.totals(branch, metric), cube.totals(base, metric)
    shared = [seed for seed in own if seed in other]
    numerator, denominator = (np.array([totals[seed] for seed in shared]) for totals in (own, other))
    if not shared or denominator.mean() <= 0:
        return Interval(float("nan"), float("nan"), float("nan"), len(shared))
    return student_ratio(numerator, denominator)


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


Scores = tuple[ScoreBlock, Sequence[str], "pd.DataFrame"]
"""A block, labels of the problems in its columns, and a row for each number, in the order of the algorithms: `COLUMNS`,
and whether the algorithm may be the least of a column."""


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
        cubes = {cube.problem: cube for cube in all_digests(inputs)}
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
        tables = [table for table in found if len(table[2])]
        if not tables:
            reason = f"no finished run can be compared with {written}, or its mean regret is not positive"
            return nothing_to_show(next(iter(cubes.values())), "Scoreboard", reason, whole_experiment=True)
        return self._described(cubes, tables, (reference, written), self._picture(cubes, tables))

    def _table(self, block: ScoreBlock, cubes: Mapping[str, Digest], reference: str, written: str) -> Scores:
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
                numbers = ratio.value, ratio.low, ratio.high, ratio.count, leading, apart, title in competing
                rows.append((block.title, block.metric, problem, title, written, *numbers))
        order = list(dict.fromkeys(titles.values()))
        table = pd.DataFrame(rows, columns=[*COLUMNS, "competing"]).dropna(subset="ratio")
        return block, columns, table.sort_values("algorithm", key=lambda own: own.map(order.index), kind="stable")

    def _picture(self, cubes: Mapping[str, Digest], tables: Sequence[Scores]) -> "Picture":
        heads = [self._heads(cubes, columns) for _, columns, _ in tables]
        # A heading that the block above has at the same place is not repeated.
        shown = [head if not place or head != heads[place - 1] else [] for place, head in enumerate(heads)]
        rows = [ROW * numbers["algorithm"].nunique() for _, _, numbers in tables]
        above = [TITLE + HEAD * max((text.count("\n") + 1 for text in head), default=0) for head in shown]
        picture = style.new_figure(sum(rows) + sum(above) + HEAD)
        grid = picture.add_gridspec(len(tables), 1, height_ratios=rows)
        widest = max(LEAST_COLUMNS, *(len(columns) for _, columns, _ in tables))
        for place, (table, head) in enumerate(zip(tables, shown, strict=True)):
            _draw(picture.add_subplot(grid[place]), table, head, widest)
        picture.supxlabel(KEY, fontsize=6.4, color=style.INK)
        return picture

    def _heads(self, cubes: Mapping[str, Digest], columns: Sequence[str]) -> list[str]:
        mixed = len({bool(cube.data_label) for cube in cubes.values()}) > 1
        heads = []
        for problem in columns:
            lines = textwrap.wrap(self.parameters.columns.get(problem, in_words(problem)), HEAD_WIDTH)
            simulated = mixed and problem in cubes and bool(cubes[problem].data_label)
            heads.append("\n".join([*lines, "(simulated)"] if simulated else lines))
        return heads

    def _described(
        self, cubes: Mapping[str, Digest], tables: Sequence[Scores], named: tuple[str, str], picture: "Picture"
    ) -> Drawing:
        import pandas as pd

        label_of_reference, reference = named
        problems = list(dict.fromkeys(each for _, columns, _ in tables for each in columns if each in cubes))
        numbers = pd.concat([own for *_, own in tables], ignore_index=True).drop(columns="competing")
        counts = numbers.groupby("problem", sort=False)["seeds"].max().reindex(problems).dropna().astype(int).to_dict()
        scored = "; ".join(block.title for block, *_ in tables)
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
        told = []
        for block, columns, own in tables:
            least = own[own["competing"]]
            least = least[least["ratio"] == least.groupby("problem")["ratio"].transform("min")].groupby("problem")
            each = {problem: f"{spoken([*one['algorithm']])} {one['ratio'].iloc[0]:.2f}" for problem, one in least}
            told.append(f"{block.title}: {', '.join(f'{one} {each[one]}' for one in columns if one in each)}")
        alternative = (
            f"Table of regret relative to {reference}. The smallest ratio of every problem: {'; '.join(told)}."
        )
        label = shared_data_label([cubes[problem] for problem in problems])
        return Drawing(picture, self.about.title, caption, alternative, "", label, numbers)


def _draw(axes: "Axes", table: Scores, head: Sequence[str], widest: int) -> None:
    from matplotlib.colors import LogNorm

    block, columns, numbers = table
    cells = numbers.set_index(["algorithm", "problem"])
    square = cells["ratio"].unstack().reindex(index=numbers["algorithm"].unique(), columns=columns)
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
    axes.set_title(block.title, loc="left", fontweight="bold", fontsize=7.2, pad=3)


def _short(value: float) -> str:
    """Write two decimals of small ratios, fewer of large ones."""
    return f"{value:.2f}" if abs(value) < 9.95 else f"{value:.0f}"
