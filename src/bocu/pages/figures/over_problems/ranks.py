"""Ranks over problems: critical differences (Demsar 2006), ranks over time, and whether a ranking survives."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Integer
from bocu.core.written import counted, spoken
from bocu.pages.figures import marks
from bocu.pages.figures.finish import MOST_TICKS
from bocu.pages.figures.over_problems.contests import (
    Compared,
    Contest,
    Contests,
    FigureOverProblems,
    OverProblemsParameters,
)
from bocu.pages.figures.results import seed_counts
from bocu.sweep.evaluation.across_problems import (
    HALVES,
    LEAST_TO_HALVE,
    Ranking,
    friedman_over_problems,
    ranks_over_time,
    surviving_ranking,
)
from bocu.sweep.evaluation.statistics import CONFIDENCE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axis import Axis

ROW = 0.2
"""Height of an algorithm's row, inches."""
LEAST_PROBLEMS = 8
"""Problems from which on critical differences are drawn."""
FRACTIONS = 40
"""Points of ranks over time."""
PROBLEMS_AS_BLOCKS = 4
"""Problems from which on they are the blocks of ranks over time; below, each has a panel, and seeds are the blocks."""


class CriticalDifference(FigureOverProblems[OverProblemsParameters]):
    """Mean ranks over problems on a line; who is not told apart is joined by a bar."""

    about = About(
        title="Critical differences",
        summary="mean ranks over problems, bars joining those that are not told apart",
        paper="Demsar 2006",
    )
    Parameters = OverProblemsParameters

    def compare(self, found: Contests) -> Compared | str:
        import pandas as pd
        import scikit_posthocs

        ranks = friedman_over_problems(found.means())
        if ranks is None:
            return _untested(found)
        if ranks.problems < LEAST_PROBLEMS:
            return f"too few problems for mean ranks to tell anything: found {ranks.problems}, needed {LEAST_PROBLEMS}"
        count = len(ranks.labels)
        if ranks.critical_difference >= count - 1:
            return (
                f"too few problems: with {ranks.problems} problems and {count} algorithms mean ranks have to be "
                f"{ranks.critical_difference:.2g} apart to be told apart, and are {count - 1} apart at most"
            )
        picture, axes = style.single(0.75 + 0.19 * (count + 1) / 2)
        drawn = scikit_posthocs.critical_difference_diagram(
            pd.Series(ranks.mean, index=list(ranks.labels)),
            pd.DataFrame(ranks.nemenyi, index=list(ranks.labels), columns=list(ranks.labels)),
            alpha=1.0 - CONFIDENCE,
            ax=axes,
            label_fmt_left="{label} {rank:.2f} ",
            label_fmt_right=" {rank:.2f} {label}",
            color_palette={label: found.looks[label].colour for label in ranks.labels},
            crossbar_props={"color": style.INK, "linewidth": 2.5, "marker": ""},
            marker_props={"clip_on": False},
            elbow_props={"clip_on": False},
        )
        for text in drawn["labels"]:
            text.set_color(style.INK)
        axes.spines["top"].set_visible(True)
        axes.set_xlim(1, count)
        _whole_ranks(axes.xaxis)
        axes.set_title(f"mean rank over {counted(ranks.problems, 'problem')} (1: the least regret)")
        order = np.argsort(ranks.mean, kind="stable")
        first = ranks.labels[order[0]]
        tied = [ranks.labels[place] for place in order[1:] if ranks.nemenyi[order[0], place] > 1 - CONFIDENCE]
        verdict = f"{first} is not told apart from {spoken(tied)}" if tied else f"{first} is told apart from all others"
        caption = (
            "Algorithms at their mean rank by final regret (mean over seeds), 1 the least: those that a bar joins are "
            f"not told apart by Nemenyi's test at {1 - CONFIDENCE:.0%}, for which ranks have to be "
            f"{ranks.critical_difference:.2f} apart; Friedman's test that all rank alike has p = "
            f"{ranks.p_value:.2g}. {found.said} {verdict}."
        )
        told = ", ".join(f"{ranks.labels[place]} {ranks.mean[place]:.2f}" for place in order)
        table = pd.DataFrame(
            {
                "algorithm": [ranks.labels[place] for place in order],
                "mean_rank": ranks.mean[order],
                "p_nemenyi_from_first": ranks.nemenyi[order[0], order],
                "p_conover_holm_from_first": ranks.conover[order[0], order],
                "critical_difference": ranks.critical_difference,
                "problems": ranks.problems,
                "p_friedman": ranks.p_value,
            }
        )
        alternative = f"Mean ranks on a line, from the least: {told}. {verdict}."
        return picture, caption, alternative, table


def _untested(found: Contests) -> str:
    return (
        "too few problems or algorithms: ranks are tested from 2 problems and 3 algorithms on that run on all of them, "
        f"and not all alike; found {counted(len(found.each), 'problem')} and {counted(len(found.titles), 'algorithm')}"
    )


class RankingParameters(OverProblemsParameters):
    """Parameters of `SurvivingRanking`."""

    halves: Integer = Field(HALVES, ge=10, le=1000, description="Number of random halves of the problems.")


class SurvivingRanking(FigureOverProblems[RankingParameters]):
    """Mean ranks with intervals over problems, the leading group, and how many random halves keep the order."""

    about = About(
        title="A ranking that survives",
        summary="mean ranks with intervals, tie groups, and the share of random halves of problems that keep the order",
    )
    Parameters = RankingParameters

    def compare(self, found: Contests) -> Compared | str:
        import pandas as pd

        ranking = surviving_ranking(found.means(), self.parameters.halves)
        if ranking is None:
            few = len(found.each) < LEAST_TO_HALVE
            reason = f"too few problems to halve: found {len(found.each)}, needed {LEAST_TO_HALVE}"
            return reason if few else _untested(found)
        table = pd.DataFrame(
            {
                "algorithm": ranking.labels,
                "mean_rank": ranking.mean,
                "low": ranking.low,
                "high": ranking.high,
                "leading": [label in ranking.leading for label in ranking.labels],
                "group": [ranking.letters[label] for label in ranking.labels],
                "problems": ranking.problems,
                "halves": ranking.halves,
                "halves_in_this_order": ranking.same_order,
                "halves_with_this_first": ranking.same_first,
            }
        )
        picture, axes = style.single(0.75 + ROW * len(table))
        marks.intervals(axes, table, "mean_rank", found.looks)
        axes.axhspan(-0.5, len(ranking.leading) - 0.5, color=style.PALE, alpha=0.45, linewidth=0, zorder=0)
        axes.set_xlim(0.8, len(table) + 0.2)
        _whole_ranks(axes.xaxis)
        axes.set_xlabel(f"mean rank over {counted(ranking.problems, 'problem')} (1: the least regret)")
        many = f"No method is best: {len(ranking.leading)} are not told apart"
        axes.set_title(who_is_best(ranking) if ranking.best else many, loc="left")
        caption = (
            f"Mean rank by final regret with Student's {CONFIDENCE:.0%} interval over problems; shaded: the first and "
            f"all that Nemenyi's test does not tell apart from it. {who_is_best(ranking)}. "
            f"{what_survives(ranking)}. {found.said}"
        )
        told = ", ".join(
            f"{label} {mean:.2f} [{low:.2f}, {high:.2f}]"
            for label, mean, low, high in zip(ranking.labels, ranking.mean, ranking.low, ranking.high, strict=True)
        )
        return picture, caption, f"Mean ranks with intervals: {told}.", table


def _whole_ranks(axis: "Axis") -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(MOST_TICKS, integer=True))


def who_is_best(ranking: Ranking) -> str:
    """Say which method is best, or that none is."""
    if ranking.best is not None:
        return f"{ranking.best} is told apart from all others"
    return f"No method is best: {spoken(ranking.leading)} are not told apart"


def what_survives(ranking: Ranking) -> str:
    """Say how many random halves of the problems keep the order, and the first."""
    return (
        f"Of {ranking.halves} random halves of the problems {ranking.same_order:.0%} keep the whole order, and in "
        f"{ranking.same_first:.0%} {ranking.labels[0]} is first"
    )


class RanksOverTime(FigureOverProblems[OverProblemsParameters]):
    """Mean rank by cumulative regret as the rounds go on, with intervals."""

    about = About(
        title="Ranks over time",
        summary="mean rank by cumulative regret over the rounds, with intervals",
    )
    Parameters = OverProblemsParameters

    def compare(self, found: Contests) -> Compared | str:
        import pandas as pd

        if len(found.titles) < 2:
            return f"fewer than two algorithms run on all of {spoken(found.problems)}"
        blocks = len(found.each) >= PROBLEMS_AS_BLOCKS
        tables = [_over_problems(found)] if blocks else [_over_seeds(found, contest) for contest in found.each]
        table = pd.concat(tables, ignore_index=True)
        if table.empty:
            return "too few seeds: ranks take 2 that all algorithms finished"
        panels = list(dict.fromkeys(table["panel"]))
        across, up = "share of the rounds" if blocks else "round", "mean rank (1: the least)"
        picture, grid = style.facets(len(panels), 2.7, len(panels), across=across, up=up, sharey=True)
        for axes, panel in zip(grid, panels, strict=True):
            own = table[table["panel"] == panel]
            for title, line in own.groupby("algorithm", sort=False):
                look = found.looks[str(title)]
                axes.plot(line["x"], line["mean"], label=title, **look.line())
                axes.fill_between(line["x"], line["low"], line["high"], color=look.colour, alpha=0.1, linewidth=0)
            axes.set(xscale="log", xlim=(own["x"].min(), own["x"].max()), title=panel if len(panels) > 1 else "")
            axes.tick_params("x", which="minor", labelbottom=False)
            style.grid(axes)
        grid[0].set_ylim(len(found.titles) + 0.2, 0.8)
        _whole_ranks(grid[0].yaxis)
        if len(panels) > 1:
            style.legend_below(picture, found.titles)
        else:
            ends = {str(title): float(line["mean"].iloc[-1]) for title, line in table.groupby("algorithm", sort=False)}
            marks.label_ends(grid[0], ends, found.looks)
        over = "problems" if blocks else "seeds"
        numbers = {contest.problem: found.paired(contest, found.titles).shape[1] for contest in found.each}
        caption = (
            f"Mean rank by the regret summed up so far, 1 the least, with Student's {CONFIDENCE:.0%} interval over "
            f"{over} (bands){'; a problem counts by its mean over seeds' if blocks else ''}; {seed_counts(numbers)} "
            f"that all finished. {found.said}"
        )
        last = table[table["x"] == table.groupby("panel")["x"].transform("max")]
        told = "; ".join(
            f"{panel}: " + ", ".join(f"{row.algorithm} {row.mean:.2f}" for row in own.itertuples())
            for panel, own in last.groupby("panel", sort=False)
        )
        alternative = f"Line charts of mean ranks. At the end: {told}."
        return picture, caption, alternative, table


def _over_problems(found: Contests) -> "pd.DataFrame":
    """Return ranks by the mean regret on every problem, with intervals over problems."""
    at = np.geomspace(1.0 / FRACTIONS, 1.0, FRACTIONS)
    means = []
    for contest in found.each:
        own = []
        for title in found.titles:
            traces = contest.cube.traces(contest.branches[title], contest.metric, "cumulative")
            if traces is not None:
                own.append(np.interp(at * contest.rounds, traces.rounds, traces.values.mean(axis=0)))
        if len(own) == len(found.titles):
            means.append(own)
    if len(means) < 2:
        return _table("", at[:0], found.titles, np.empty((len(found.titles), 0, 0)))
    return _table("all problems", at, found.titles, np.moveaxis(np.array(means), 0, 1))


def _over_seeds(found: Contests, contest: Contest) -> "pd.DataFrame":
    """Return ranks on every seed of a problem, with intervals over seeds."""
    every = [contest.cube.traces(contest.branches[title], contest.metric, "cumulative") for title in found.titles]
    known = [traces for traces in every if traces is not None]
    shared = sorted(set.intersection(*(set(traces.seeds.tolist()) for traces in known))) if known else []
    if len(known) < len(found.titles) or len(shared) < 2:
        return _table("", np.empty(0), found.titles, np.empty((len(found.titles), 0, 0)))
    regret = np.stack([traces.values[np.isin(traces.seeds, shared)] for traces in known])
    return _table(contest.cube.title, known[0].rounds, found.titles, regret)


def _table(panel: str, at: np.ndarray, titles: Sequence[str], regret: np.ndarray) -> "pd.DataFrame":
    """Return a row for algorithm and point; `regret` is of shape (algorithms, blocks, points)."""
    import pandas as pd

    columns = ["panel", "algorithm", "x", "mean", "low", "high", "blocks"]
    if not len(at):
        return pd.DataFrame(columns=columns)
    found = ranks_over_time(regret)
    rows = [
        (panel, title, x, *(values[place, point] for values in found), regret.shape[1])
        for place, title in enumerate(titles)
        for point, x in enumerate(at)
    ]
    return pd.DataFrame(rows, columns=columns)
