"""Who wins: every comparison of an experiment as a forest plot, by the verdicts that tables and claims take.

A comparison is a problem under one metric, for one pursued objective. Its methods stand below each other, the
least mean regret first.
"""

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.written import counted, spoken
from bocu.pages.figures.base import Drawing, Figure, Inputs, PictureParameters, nothing_to_show
from bocu.pages.figures.results import (
    Digest,
    Tables,
    all_digests,
    foremost,
    seed_counts,
    shared_data_label,
    standings_of,
)
from bocu.sweep.evaluation.standings import (
    BEHIND,
    LEADING,
    VERDICT_SEEDS,
    Standings,
    tail,
)
from bocu.sweep.evaluation.statistics import CONFIDENCE, LEAST_SEEDS
from bocu.sweep.experiment.configuration import Margin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

LANE, GAP, HEAD, SCALE = 0.115, 0.1, 0.15, 0.4
"""Height of a method's line, of what parts rows of panels, of a panel's heading, and of the scale, inches."""
WIDE, NARROW = 6.6, 3.5  #: Width of the picture, inches; of that for phones, which has a panel a row.
ABREAST, MOST_METRICS = 4, 6  #: Panels in a row, and of metrics of one problem.
LEAST_SHOWN, MOST_SHOWN = 0.2, 30.0  #: Ends of the scale at the most: what lies beyond stands at the end.
LETTERS = 12.5  #: Letters of a panel's heading in an inch.
SHADE = 0.75
SAME = 1e-9  #: By how much of the largest regret a number a seed may vary by rounding.
MOST_PROBLEMS = 3
MOST_PANELS = 60  #: Comparisons that are drawn; the table has all.
HOW_TO_READ = (
    "A panel is a problem and what its runs are scored by; the least mean regret counts as 1. Dots: seeds, those that "
    f"stick ringed. Bars: {CONFIDENCE:.0%} intervals of the mean difference from the least, corrected for all pairs of "
    f"a panel. Shaded: who leads, with the least or told to have hardly more, from {VERDICT_SEEDS} paired seeds on, "
    f"bold where in the whole row. Hollow: neither leading nor behind; from {LEAST_SEEDS} to {VERDICT_SEEDS - 1} seeds "
    "nothing is more than a leaning."
)


class WhoWinsParameters(PictureParameters):
    """Parameters of `WhoWins`."""

    leads_within: Margin | None = Field(
        None, description="Extra regret up to which an algorithm leads with the least; the experiment's, if left out."
    )

    def against(self, _: str | None, margin: Margin | None = None) -> "WhoWinsParameters":
        """Return these parameters with the experiment's margin, where they name none."""
        return self if self.leads_within else self.model_copy(update={"leads_within": margin})


@dataclass(frozen=True)
class Compared:
    """A comparison."""

    title: str  #: what the problem is called, and that its data are simulated.
    problem: str  #: label of the problem.
    table: Standings  #: final regrets, and all that is told of their pairs.
    titles: Mapping[str, str]  #: what is written for those that stand in the table, by label.
    looks: Mapping[str, style.Stroke]  #: theirs, by label.
    data_label: str = ""  #: what the data are where they are not measured; empty otherwise.
    scored: str = ""  #: the metric, and what is pursued, where that has to be said.

    @property
    def called(self) -> str:
        """Problem, and metric where that has to be said."""
        return f"{self.title}, {self.scored}" if self.scored else self.title

    @property
    def unit(self) -> float:
        """The least mean regret, which counts as 1."""
        return self.table.means[self.table.competing[0]]

    @property
    def leading(self) -> list[str]:
        """Titles of those that lead."""
        return [self.titles[label] for label in self.table.leading]

    @property
    def competing(self) -> list[str]:
        """Titles of those that may lead, by mean regret."""
        return [self.titles[label] for label in self.table.competing]


class WhoWins(Figure[WhoWinsParameters]):
    """Final regret of each method relative to the least of its comparison, every seed a dot, who leads shaded."""

    about = About(
        title="Who wins",
        summary="forest plot of final regrets with every seed, a panel a problem and metric, those that lead shaded",
    )
    scope = "experiment"
    digested = True
    Parameters = WhoWinsParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cubes = all_digests(inputs)
        found = [each for cube in cubes for each in comparisons(cube, self.parameters.leads_within)]
        if not any(each.unit > 0 for each in found):
            reason = "no least mean regret is positive" if found else "no two methods have finished runs of a problem"
            return nothing_to_show(cubes[0], self.about.title, reason, whole_experiment=True)
        return drawn(found, shared_data_label(cubes))


def drawn(found: Sequence[Compared], data_label: str = "") -> Drawing:
    """Draw comparisons, of which one or more have a positive least mean regret.

    Args:
        found: the comparisons.
        data_label: as of `Drawing`.
    """
    shown = [each for each in found if each.unit > 0][:MOST_PANELS]
    looks = style.apart({each.titles[label]: each.looks[label] for each in shown for label in each.table.competing})
    picture, narrow = (_picture(shown, looks, width) for width in (WIDE, NARROW))
    return _described(shown, found, picture, narrow, data_label)


def _described(
    shown: Sequence[Compared], found: Sequence[Compared], picture: "Picture", narrow: "Picture", data_label: str
) -> Drawing:
    import pandas as pd

    rows = [row for each in found if each.unit > 0 for row in _rows(each)]
    left = [each.called for each in found if each.unit <= 0]
    cut = len(found) - len(left) - len(shown)
    counts = {each.problem: max(map(len, each.table.regrets.values())) for each in shown}
    caption = (
        f"{who_leads(found)} {HOW_TO_READ} Cumulative regret at the end, on a log scale; {seed_counts(counts)}."
        + (f" Left out, since the least mean regret is not positive: {spoken(left)}." if left else "")
        + (f" Cut: the first {len(shown)} panels are drawn, {cut} more stand in the table." if cut else "")
    )
    words = "; ".join(f"{each.called}: {spoken(each.leading) if each.leading else 'open'}" for each in shown)
    table = pd.DataFrame(rows)
    told_of = f"Forest plot. Who leads: {words}."
    return Drawing(picture, WhoWins.about.title, caption, told_of, "", data_label, table, narrow)


def comparisons(cube: Digest, margin: Margin | None, every: Tables | None = None) -> list[Compared]:
    """Return the comparisons that a page shows of a problem, out of its tables where they are at hand."""
    every = standings_of(cube, margin) if every is None else every
    tables = {pair: every[pair] for pair in foremost(cube)}
    words = cube.called, cube.objective_titles, cube.metric_titles
    return compared(words, tables, (cube.problem, cube.titles, cube.looks, cube.data_label))


def compared(
    words: tuple[str, Mapping[str, str], Mapping[str, str]], tables: Tables, shared: tuple[Any, ...]
) -> list[Compared]:
    """Return the comparisons of a problem, those that differ by no more than a constant a seed once.

    Args:
        words: what the problem is called, titles of objectives and of metrics.
        tables: those that a page shows, by pursued objective and metric.
        shared: `Compared`'s problem, titles, looks and data label.
    """
    called, objectives, metrics = words
    problem, titles, looks, data_label = shared
    found: list[Compared] = []
    for (objective, metric), table in tables.items():
        if len(table.competing) < 2 or any(_same(table, other.table) for other in found):
            continue
        own = []
        if len({metric for _, metric in tables}) > 1:
            own.append(metrics[metric])
        if len({objective for objective, _ in tables}) > 1 and objective != metric:
            own.append(f"pursuing {objectives[objective]}")
        title = f"{called}, simulated" if data_label else called
        found.append(Compared(title, problem, table, titles, looks, data_label, ", ".join(own)))
    return found


def _same(one: Standings, other: Standings) -> bool:
    """Say whether two metrics say the same of all pairs: whether they differ by one number a seed."""
    if one.regrets.keys() != other.regrets.keys():
        return False
    gaps: dict[int, list[float]] = {}
    for label, own in one.regrets.items():
        if own.keys() != other.regrets[label].keys():
            return False
        for seed, regret in own.items():
            gaps.setdefault(seed, []).append(regret - other.regrets[label][seed])
    scale = max((abs(regret) for own in one.regrets.values() for regret in own.values()), default=0.0)
    return all(np.ptp(values) <= SAME * scale for values in gaps.values())


def who_leads(found: Sequence[Compared]) -> str:
    """Return who wins, a sentence for each that leads most often of those that are compared with each other."""
    by_first = _by_first(found)
    return " ".join(_told_of(first, group, len(by_first) > 1) for first, group in by_first.items())


def leaders(found: Sequence[Compared]) -> list[str]:
    """Return the titles of those that `who_leads` names as leading."""
    return list(dict.fromkeys(title for first in _by_first(found) for title in first))


def _by_first(found: Sequence[Compared]) -> dict[tuple[str, ...], list[Compared]]:
    """Return the comparisons by who leads most often of those that are compared with each other.

    A comparison of some of the methods counts with the first one of all of them and more.
    """
    fields = sorted({frozenset(each.competing): None for each in found}, key=len, reverse=True)
    groups: dict[frozenset[str], list[Compared]] = {}
    for each in found:
        groups.setdefault(next(field for field in fields if field.issuperset(each.competing)), []).append(each)
    by_first: dict[tuple[str, ...], list[Compared]] = {}
    for group in groups.values():
        by_first.setdefault(_first(group), []).extend(group)
    return by_first


def _first(found: Sequence[Compared]) -> tuple[str, ...]:
    """Return the titles of those that lead most often; none where nobody leads."""
    times = Counter(title for each in found for title in each.leading)
    return tuple(title for title, count in times.items() if count == max(times.values()))


def _told_of(first: tuple[str, ...], found: Sequence[Compared], several: bool) -> str:
    problems = list(dict.fromkeys(each.problem for each in found))
    where = spoken(problems) if len(problems) <= MOST_PROBLEMS else counted(len(problems), "problem")
    among = f"{counted(len(found), 'comparison')}{f' on {where}' if several else ''}"
    if not first:
        seeds = {len(own) for each in found for own in each.table.regrets.values() if own}
        there = f"{min(seeds)} to {max(seeds)}" if len(seeds) > 1 else str(min(seeds))
        few = f"{VERDICT_SEEDS} seeds decide, there are {there}"
        return f"Nobody can be named in {among}: {few if min(seeds) < VERDICT_SEEDS else 'no two are told apart'}."
    most = sum(first[0] in each.leading for each in found)
    sentence = f"{spoken(first)} {'leads' if len(first) == 1 else 'lead'} in {most} of {among}"
    alone = sum(each.leading == list(first) and each.table.alone is not None for each in found)
    sentence += f", in {alone} of them alone" if 0 < alone < len(found) else ", always alone" if alone else ""
    undecided = sum(not each.leading for each in found)
    return sentence + (f"; {undecided} {'is' if undecided == 1 else 'are'} open." if undecided else ".")


def _picture(shown: Sequence[Compared], looks: Mapping[str, style.Stroke], width: float) -> "Picture":
    """Draw a panel a comparison, in rows that share the lines of their methods, named at the left."""
    from matplotlib.ticker import NullLocator

    rows, columns, by_problem = _laid_out(shown, 1 if width < WIDE else ABREAST)
    order = _order(shown)
    names = [[title for title in order if any(title in each.competing for _, each in row)] for row in rows]
    letters = max(8, *map(len, order))  # a short name may be all capitals, which are wide
    left = min(0.1 + 0.064 * letters, 0.6 * width)  # a name that is longer still is cut off
    panel = (width - left - 0.12) / columns
    wrapped = [
        [textwrap.fill(heading, int(LETTERS * panel), break_long_words=False) for heading, _ in row] for row in rows
    ]
    heads = [HEAD * max(heading.count("\n") + 1 for heading in row) for row in wrapped]
    heights = [LANE * len(own) for own in names]
    picture = style.new_figure(sum(heights) + sum(heads) + GAP * len(rows) + SCALE, width)
    total = picture.get_size_inches()[1]
    limits, low = _limits(shown), total
    picture.set_layout_engine("none")
    for row, own, headings, head, height in zip(rows, names, wrapped, heads, heights, strict=True):
        low -= head + height + GAP
        if problem := row[0][1].title * by_problem:
            picture.text(0.0, (low + height + 0.035) / total, problem, fontsize=7, fontweight="bold", va="bottom")
        for place, ((_, each), heading) in enumerate(zip(row, headings, strict=True)):
            x = left + place * panel
            axes = picture.add_axes((x / width, low / total, (panel - 0.1) / width, height / total))
            axes.set(xscale="log", xlim=limits, ylim=(len(own), 0.0))
            _draw(axes, each, own, looks)
            axes.set_title(heading, loc="left", fontsize=7, fontweight="bold", pad=2.5, x=0.0)
            axes.xaxis.set_minor_locator(NullLocator())
            last = row is rows[-1]
            axes.tick_params("x", labelbottom=last, labelsize=6.5, length=2, which="both")
            lead = [title for title in own if all(title in one.leading for _, one in row if title in one.competing)]
            axes.set_yticks(np.arange(len(own)) + 0.5, own if place == 0 else [], fontsize=6.5)
            for text, title in zip(axes.get_yticklabels(), own, strict=False):
                text.set(fontweight="bold" if title in lead else "normal")
    picture.text(
        (left + panel * columns / 2) / width, 0.04 / total, "regret, the least mean = 1", ha="center", fontsize=7
    )
    return picture


def _laid_out(shown: Sequence[Compared], abreast: int) -> tuple[list[list[tuple[str, Compared]]], int, bool]:
    """Return rows of panels with their headings, how many stand abreast, and whether a row is a problem.

    A row is a problem where problems have the same metrics; else comparisons of the same methods stand together.
    """
    by_problem: dict[str, list[Compared]] = {}
    for each in shown:
        by_problem.setdefault(each.problem, []).append(each)
    words = {tuple(each.scored for each in own) for own in by_problem.values()}
    if abreast > 1 and len(words) == 1 and 1 < (columns := len(words.pop())) <= MOST_METRICS:
        first = next(iter(by_problem))
        rows = [[(each.scored * (label == first), each) for each in own] for label, own in by_problem.items()]
        return rows, columns, True
    groups: dict[frozenset[str], list[Compared]] = {}
    for each in shown:
        groups.setdefault(frozenset(each.competing), []).append(each)
    some = any(each.leading for each in shown)
    headings = {id(each): each.called + (" (open)" if some and not each.leading else "") for each in shown}
    columns = min(abreast, max(map(len, groups.values())))
    rows = [
        [(headings[id(each)], each) for each in own[at : at + columns]]
        for own in groups.values()
        for at in range(0, len(own), columns)
    ]
    return rows, columns, False


def _order(shown: Sequence[Compared]) -> list[str]:
    """Return the titles of all methods, the least regret relative to the least, over their comparisons, first."""
    ratios: dict[str, list[float]] = {}
    for each in shown:
        for label in each.table.competing:
            ratios.setdefault(each.titles[label], []).append(np.log(each.table.means[label] / each.unit))
    return sorted(ratios, key=lambda title: float(np.mean(ratios[title])))


def _limits(shown: Sequence[Compared]) -> tuple[float, float]:
    values = np.concatenate(
        [np.array([v for label in e.table.competing for v in e.table.regrets[label].values()]) / e.unit for e in shown]
    )
    return max(LEAST_SHOWN, 0.8 * min(values.min(), 1.0)), min(MOST_SHOWN, 1.25 * max(values.max(), 1.0))


def _rows(each: Compared) -> list[dict[str, object]]:
    """Return the numbers of a comparison, a row a method."""
    table, rows = each.table, []
    for label in table.competing:
        low, high = _ends(each, label)
        spread = tail(table.regrets[label].values())
        rows.append(
            {
                "comparison": each.called,
                "problem": each.problem,
                "algorithm": each.titles[label],
                "relative": table.means[label] / each.unit,
                "low": low,
                "high": high,
                "seeds": spread.count,
                "stuck_seeds": spread.stuck,
                "standing": table.standing[label],
            }
        )
    return rows


def _ends(each: Compared, label: str) -> tuple[float, float]:
    """Return the ends of the interval of a method relative to the least; of the least itself both are 1."""
    least = each.table.competing[0]
    if label == least:
        return 1.0, 1.0
    gap = each.table.against(least)[label].difference
    return 1.0 + gap.low / each.unit, 1.0 + gap.high / each.unit


def _draw(axes: "Axes", each: Compared, names: Sequence[str], looks: Mapping[str, style.Stroke]) -> None:
    """Draw a comparison, its methods on the lines of some names."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for label in each.table.competing:
        title = each.titles[label]
        at, look, where = names.index(title), looks[title], each.table.standing[label]
        middle = at + 0.5
        if where == LEADING:
            axes.axhspan(at, at + 1, color=style.PALE, alpha=SHADE, linewidth=0, zorder=0)
        spread = tail(each.table.regrets[label].values())
        seeds = np.clip(np.array(list(each.table.regrets[label].values())) / each.unit, LEAST_SHOWN, MOST_SHOWN)
        # Strokes of no length with round ends: a path of all dots is a twentieth of as many markers in an SVG.
        ends = np.repeat(np.column_stack([seeds, np.full(len(seeds), middle)]), 2, axis=0)
        ends[1::2, 0] *= 1.0001
        path = Path(ends, np.tile([Path.MOVETO, Path.LINETO], len(seeds)))
        path.should_simplify = False
        dots = PathPatch(
            path, fill=False, edgecolor=look.colour, alpha=0.45, linewidth=2.2, capstyle="round", zorder=2, snap=False
        )
        dots.set_gid(f"seeds-{label}")
        axes.add_artist(dots)  # the limits stand: a patch would have them measured, which takes longer than drawing
        low, high = np.clip(_ends(each, label), LEAST_SHOWN, MOST_SHOWN)
        axes.plot([low, high], [middle, middle], "-", color=look.colour, linewidth=1.4, zorder=3)
        mean = np.clip(each.table.means[label] / each.unit, LEAST_SHOWN, MOST_SHOWN)
        solid = where in (LEADING, BEHIND)
        axes.plot(
            [mean], [middle], look.marker, markersize=4.4, zorder=4, clip_on=False,
            markerfacecolor=look.colour if solid else "white", markeredgecolor=look.colour, markeredgewidth=0.9,
        )  # fmt: skip
        if spread.sticks:
            stuck = np.sort(seeds)[-spread.stuck :]
            axes.plot(stuck, np.full(len(stuck), middle), "o", markersize=3.2, markerfacecolor="none",
                      markeredgecolor=style.INK, markeredgewidth=0.6, zorder=5)  # fmt: skip
    axes.axvline(1.0, color=style.GREY, linewidth=0.6, zorder=1)
    style.grid(axes, "x")
    axes.spines["left"].set_visible(False)
    axes.tick_params("y", length=0)
