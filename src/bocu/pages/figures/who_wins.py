"""Who wins: every comparison of an experiment as a forest plot, by the verdicts that tables and claims take.

A comparison is a problem under one metric, for one pursued objective. Its methods stand below each other, the
least mean regret first.
"""

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
    Results,
    Tables,
    all_results,
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

LANE, CLOSE_LANE, HEAD, SCALE = 0.13, 0.075, 0.2, 0.42
"""Height of a method's line, with its name and without, of a comparison's heading, and of the scale, inches."""
MOST_NAMED = 48
"""Lines whose methods are named beside them; where there are more, a legend names them."""
LEAST_SHOWN, MOST_SHOWN = 0.2, 30.0
"""Ends of the scale at the most: what lies beyond stands at the end."""
SHADE = 0.6
SAME = 1e-9
"""By how much of the largest regret a number a seed may vary by rounding."""
MOST_PROBLEMS = 3


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
    """A comparison.

    Attributes:
        called: problem, and metric where that has to be said.
        problem: label of the problem.
        table: final regrets, and all that is told of their pairs.
        titles: what is written for those that stand in the table, by label.
        looks: theirs, by label.
        data_label: what the data are where they are not measured; empty otherwise.
    """

    called: str
    problem: str
    table: Standings
    titles: Mapping[str, str]
    looks: Mapping[str, style.Stroke]
    data_label: str = ""

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
        summary="forest plot of final regrets with every seed, a block a problem and metric, those that lead shaded",
    )
    scope = "experiment"
    digested = True
    Parameters = WhoWinsParameters

    def compose(self, inputs: Inputs) -> Drawing:
        cubes = all_results(inputs)
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
    shown = [each for each in found if each.unit > 0]
    lanes = sum(len(each.table.competing) for each in shown)
    named = lanes <= MOST_NAMED
    lane = LANE if named else CLOSE_LANE
    looks = style.apart({each.titles[label]: each.looks[label] for each in shown for label in each.table.competing})
    abreast = 1 if named else 2
    columns = _columns(shown, abreast)
    heights = [sum(HEAD + lane * len(each.table.competing) for each in column) for column in columns]
    picture = style.new_figure(max(heights) + SCALE + (0.0 if named else style.legend_height(list(looks))))
    panels = picture.subplots(1, abreast, squeeze=False)[0]
    limits = _limits(shown)
    for axes, column in zip(panels, columns, strict=True):
        _draw(axes, column, lane / LANE, looks, named)
        axes.set(xscale="log", xlim=limits, ylim=(max(heights) / LANE, 0.0), xlabel="regret, the least mean = 1")
    if not named:
        for title, look in looks.items():
            panels[0].plot([], [], look.marker, color=look.colour, markersize=4, label=title)
        style.legend_below(picture, list(looks))
    return _described(shown, found, picture, data_label)


def _described(shown: Sequence[Compared], found: Sequence[Compared], picture: "Picture", data_label: str) -> Drawing:
    import pandas as pd

    rows = [row for each in shown for row in _rows(each)]
    left = [each.called for each in found if each not in shown]
    counts = {each.problem: max(map(len, each.table.regrets.values())) for each in shown}
    caption = (
        f"{told(found)} Cumulative regret at the end, relative to the least mean of its comparison, on a log "
        f"scale; {seed_counts(counts)}. Dots: seeds. Bars: {CONFIDENCE:.0%} intervals of the mean paired difference "
        "from the least, corrected for all pairs of a comparison. Shaded: who leads, that is the least and who has "
        f"hardly more, as the interval has it, from {VERDICT_SEEDS} paired seeds on. Hollow: neither leading nor "
        f"behind; from {LEAST_SEEDS} to {VERDICT_SEEDS - 1} seeds nothing is more than a leaning."
        + (f" Left out, since the least mean regret is not positive: {spoken(left)}." if left else "")
    )
    words = "; ".join(f"{each.called}: {spoken(each.leading) if each.leading else 'open'}" for each in shown)
    table = pd.DataFrame(rows)
    return Drawing(picture, WhoWins.about.title, caption, f"Forest plot. Who leads: {words}.", "", data_label, table)


def comparisons(cube: Results, margin: Margin | None) -> list[Compared]:
    """Return the comparisons that a page shows of a problem."""
    every = standings_of(cube, margin)
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
        own = [called]
        if len({metric for _, metric in tables}) > 1:
            own.append(metrics[metric])
        if len({objective for objective, _ in tables}) > 1 and objective != metric:
            own.append(f"pursuing {objectives[objective]}")
        if data_label:
            own.append("simulated")
        found.append(Compared(", ".join(own), problem, table, titles, looks, data_label))
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


def told(found: Sequence[Compared]) -> str:
    """Return who wins, a sentence for each that leads most often of those that are compared with each other."""
    groups: dict[frozenset[str], list[Compared]] = {}
    for each in found:
        groups.setdefault(frozenset(each.competing), []).append(each)
    by_first: dict[tuple[str, ...], list[Compared]] = {}
    for group in groups.values():
        by_first.setdefault(_first(group), []).extend(group)
    return " ".join(_told_of(first, group, len(by_first) > 1) for first, group in by_first.items())


def _first(found: Sequence[Compared]) -> tuple[str, ...]:
    """Return the titles of those that lead most often; none where nobody leads."""
    times = Counter(title for each in found for title in each.leading)
    return tuple(title for title, count in times.items() if count == max(times.values()))


def _told_of(first: tuple[str, ...], found: Sequence[Compared], several: bool) -> str:
    problems = list(dict.fromkeys(each.problem for each in found))
    where = spoken(problems) if len(problems) <= MOST_PROBLEMS else counted(len(problems), "problem")
    among = f"{counted(len(found), 'comparison')}{f' on {where}' if several else ''}"
    if not first:
        fewest = min(len(own) for each in found for own in each.table.regrets.values() if own)
        few = f"{VERDICT_SEEDS} seeds decide, there are {fewest}"
        return f"Nobody can be named in {among}: {few if fewest < VERDICT_SEEDS else 'no two are told apart'}."
    most = sum(first[0] in each.leading for each in found)
    sentence = f"{spoken(first)} {'leads' if len(first) == 1 else 'lead'} in {most} of {among}"
    alone = sum(each.leading == list(first) and each.table.alone is not None for each in found)
    sentence += f", in {alone} of them alone" if 0 < alone < len(found) else ", always alone" if alone else ""
    undecided = sum(not each.leading for each in found)
    return sentence + (f"; {undecided} {'is' if undecided == 1 else 'are'} open." if undecided else ".")


def _columns(shown: Sequence[Compared], abreast: int) -> list[list[Compared]]:
    """Lay comparisons out in columns of about the same height, in their order."""
    lanes = np.cumsum([len(each.table.competing) for each in shown])
    place = np.minimum((lanes - 1) * abreast // lanes[-1], abreast - 1)
    return [[each for each, own in zip(shown, place, strict=True) if own == column] for column in range(abreast)]


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


def _draw(axes: "Axes", column: Sequence[Compared], lane: float, looks: dict[str, style.Stroke], named: bool) -> None:
    """Draw comparisons below each other; a line of a method is `lane` high, in units of a named one."""
    at, names, places = 0.0, [], []
    for each in column:
        axes.text(
            0.0,
            at + HEAD / LANE * 0.72,
            each.called,
            transform=axes.get_yaxis_transform(),
            fontsize=7,
            fontweight="bold",
        )
        at += HEAD / LANE
        for label in each.table.competing:
            middle, title = at + lane / 2, each.titles[label]
            look, where = looks[title], each.table.standing[label]
            if where == LEADING:
                axes.axhspan(at, at + lane, color=style.PALE, alpha=SHADE, linewidth=0, zorder=0)
            seeds = np.array(list(each.table.regrets[label].values())) / each.unit
            axes.plot(
                seeds.clip(LEAST_SHOWN, MOST_SHOWN), np.full(len(seeds), middle), "o", color=look.colour,
                markersize=2.2 * min(1.0, 2 * lane), alpha=0.35, markeredgewidth=0, zorder=2,
            )  # fmt: skip
            ends = np.clip(_ends(each, label), LEAST_SHOWN, MOST_SHOWN)
            axes.plot(ends, [middle, middle], "-", color=look.colour, linewidth=1.3, zorder=3)
            mean = np.clip(each.table.means[label] / each.unit, LEAST_SHOWN, MOST_SHOWN)
            solid = where in (LEADING, BEHIND)
            axes.plot(
                [mean], [middle], look.marker, markersize=4.2 * min(1.0, 1.6 * lane), zorder=4,
                markerfacecolor=look.colour if solid else "white", markeredgecolor=look.colour, markeredgewidth=0.9,
            )  # fmt: skip
            spread = tail(each.table.regrets[label].values())
            if named and spread.sticks:
                axes.text(
                    1.0, middle, f" {spread.stuck} of {spread.count} stick", transform=axes.get_yaxis_transform(),
                    fontsize=5.5, va="center", ha="right", color=style.INK,
                )  # fmt: skip
            names.append(title)
            places.append(middle)
            at += lane
    axes.axvline(1.0, color=style.GREY, linewidth=0.6, zorder=1)
    style.grid(axes, "x")
    axes.spines["left"].set_visible(False)
    axes.set_yticks(places if named else [], names if named else [], fontsize=6)
    axes.tick_params("y", length=0)
