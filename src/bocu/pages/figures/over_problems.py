"""Algorithms compared over several problems, drawn from `bocu.sweep.evaluation.across_problems`."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeVar

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, nearest
from bocu.core.written import counted, spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import (
    MOST_TICKS,
    Algorithms,
    Drawing,
    Figure,
    Inputs,
    Naming,
    PictureParameters,
    nothing_to_show,
)
from bocu.pages.figures.marks import looks_of, titles_of
from bocu.pages.figures.results import (
    DONE,
    CubeBranch,
    Digest,
    all_digests,
    seed_counts,
    shared_data_label,
)
from bocu.sweep.evaluation.across_problems import (
    HALVES,
    LEAST_TO_HALVE,
    Ranking,
    friedman_over_problems,
    ranks_over_time,
    surviving_ranking,
)
from bocu.sweep.evaluation.curves import Traces
from bocu.sweep.evaluation.run_statistics import SECONDS
from bocu.sweep.evaluation.statistics import CONFIDENCE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Picture


class OverProblemsParameters(PictureParameters):
    """Parameters of any figure that compares algorithms over problems."""

    metric: Annotated[str | None, Naming("metric")] = Field(
        None,
        description="Label of the metric; left out, that of each problem's first objective, or its first metric.",
    )
    problems: Annotated[list[str] | None, Naming("problem")] = Field(
        None, description="Labels of the problems; all that the metric scores, if left out."
    )
    pursued: Annotated[list[str] | None, Naming("objective")] = Field(
        None,
        description="Labels of the objectives whose runs take part, beside those of algorithms that pursue none; the "
        "metric's label, or each problem's first, if left out.",
    )
    algorithms: Algorithms = Field(
        None,
        description="Labels of the algorithms that are compared; all but yardsticks that run on every problem, if left "
        "out.",
    )


OverProblemsType = TypeVar("OverProblemsType", bound=OverProblemsParameters)


@dataclass(frozen=True)
class Contest:
    """One problem under one metric."""

    cube: Digest  #: its results.
    metric: str  #: label of the metric.
    branches: Mapping[str, CubeBranch]  #: who takes part, by title.

    @property
    def problem(self) -> str:
        """Label of the problem."""
        return self.cube.problem

    @property
    def rounds(self) -> int:
        """The last round."""
        return int(self.cube.iterations[-1])

    def totals(self, title: str) -> dict[int, float]:
        """Return the final cumulative regret by seed."""
        return self.cube.totals(self.branches[title], self.metric)

    def seconds(self, title: str) -> dict[int, float]:
        """Return the mean time of a round by seed; empty where some are not known."""
        branch = self.branches[title]
        times = self.cube.per_seed(SECONDS, branch)
        return times if len(times) == np.count_nonzero(self.cube.status(branch) == DONE) else {}


@dataclass(frozen=True)
class Contests:
    """All problems that are compared."""

    each: Sequence[Contest]  #: one a problem.
    titles: Sequence[str]  #: who takes part in all of them, in the order of the experiment.
    looks: Mapping[str, style.Stroke]  #: by title.
    labels: Mapping[str, str]  #: label of the algorithm by title.
    left_out: Sequence[str]  #: titles of those that run on some of the problems only.

    @property
    def problems(self) -> list[str]:
        """Labels of the problems."""
        return [contest.problem for contest in self.each]

    @property
    def data_label(self) -> str:
        """As of `Drawing`."""
        return shared_data_label([contest.cube for contest in self.each])

    def title_of(self, label: str) -> str | None:
        """Return what is written for an algorithm; None where it does not take part in all contests."""
        return next((title for title in self.titles if self.labels[title] == label), None)

    def means(self) -> dict[str, dict[str, float]]:
        """Return the mean final regret over seeds: problem -> title -> mean, of those with a finished seed."""
        found: dict[str, dict[str, float]] = {}
        for contest in self.each:
            totals = {title: contest.totals(title) for title in self.titles}
            found[contest.problem] = {title: float(np.mean(list(own.values()))) for title, own in totals.items() if own}
        return found

    def traces(self, contest: Contest) -> list[Traces]:
        """Return regret summed up to each round by seed, of all who take part, as far as it is kept."""
        every = [contest.cube.traces(contest.branches[title], contest.metric, "cumulative") for title in self.titles]
        return [traces for traces in every if traces is not None]

    def paired(self, contest: Contest, titles: Sequence[str]) -> np.ndarray:
        """Return the final regret of some on the seeds that all of them finished, shape (titles, seeds)."""
        totals = [contest.totals(title) for title in titles]
        shared = sorted(set.intersection(*(set(own) for own in totals)))
        return np.array([[own[seed] for seed in shared] for own in totals]).reshape(len(titles), len(shared))

    @property
    def said(self) -> str:
        """The problems and what scores them, and who is left out, in a sentence or two for captions."""
        by = [contest.cube.metric_titles[contest.metric] for contest in self.each]
        alike = len(set(by)) == 1
        each = [f"{title} ({contest.problem})" for title, contest in zip(by, self.each, strict=True)]
        scored = f"scored by {spoken(by[:1] if alike else each)}"
        missing = f" Not on every problem, and left out: {spoken(self.left_out)}." if self.left_out else ""
        return f"{counted(len(self.each), 'problem')} ({spoken(self.problems)}), {scored}.{missing}"


def contests_of(inputs: Inputs, parameters: OverProblemsParameters, yardsticks: bool = False) -> Contests:
    """Gather what is compared.

    Args:
        inputs: those of the figure.
        parameters: likewise.
        yardsticks: whether algorithms that know what others have to learn take part where none are named.

    Raises:
        BocuError: no problem has the metric, or there is no such problem.
    """
    cubes = {cube.problem: cube for cube in all_digests(inputs)}
    for label in parameters.problems or ():
        if label not in cubes:
            raise BocuError(f"problems: no problem '{label}'; {nearest(label, cubes)}")
    chosen = {label: cubes[label] for label in (parameters.problems or cubes)}
    if parameters.metric is not None:
        scored = {label: cube for label, cube in chosen.items() if parameters.metric in cube.metrics}
        if not scored:
            next(iter(chosen.values())).metric(parameters.metric)
        chosen = scored
    metrics: dict[str, str] = {}
    branches: dict[tuple[int, str], list[CubeBranch]] = {}
    for label, cube in chosen.items():
        objectives = cube.objectives()
        wanted = parameters.metric or objectives[0]
        metrics[label] = wanted if wanted in cube.metrics else cube.metrics[0]
        pursued = parameters.pursued or ([wanted] if wanted in objectives else objectives[:1])
        known = None if parameters.algorithms is None else [a for a in parameters.algorithms if a in cube.names]
        branches[0, label] = cube.branches(known, pursued)
    titles = titles_of(chosen, branches, {})
    looks = looks_of(chosen, titles)
    each = [
        Contest(cube, metrics[label], {titles[label, branch]: branch for branch in branches[0, label]})
        for label, cube in chosen.items()
    ]
    labels = {title: branch.algorithm for (_, branch), title in titles.items()}
    known_too_much = {title for c in each for title, b in c.branches.items() if b.algorithm in c.cube.yardsticks}
    competing = [t for t in looks if yardsticks or parameters.algorithms is not None or t not in known_too_much]
    everywhere = [title for title in competing if all(title in contest.branches for contest in each)]
    finished = [title for title in everywhere if all(contest.totals(title) for contest in each)]
    left_out = [title for title in competing if title not in finished]
    return Contests(each, finished, style.apart({t: looks[t] for t in finished}), labels, left_out)


Compared = tuple["Picture", str, str, "pd.DataFrame"]  #: A picture, its caption, its alternative and its table.


class FigureOverProblems(Figure[OverProblemsType]):
    """A figure of the whole experiment that reads digests, and is drawn where it is asked for."""

    scope = "experiment"
    digested = True
    by_default = False  # problems that are compared want choosing
    #: Whether algorithms that know what others have to learn take part where none are named.
    yardsticks: ClassVar[bool] = False

    def compose(self, inputs: Inputs) -> Drawing:
        found = contests_of(inputs, self.parameters, self.yardsticks)
        title, shown = self.about.title, self.compare(found)
        if isinstance(shown, str):
            return nothing_to_show(found.each[0].cube, title, shown, whole_experiment=True)
        picture, caption, alternative, table = shown
        return Drawing(picture, title, caption, alternative, "", found.data_label, table)

    @abstractmethod
    def compare(self, found: Contests) -> Compared | str:
        """Draw, or say why there is no picture."""


ROW = 0.2  #: Height of an algorithm's row, inches.
LEAST_PROBLEMS = 8  #: Problems from which on critical differences are drawn.
FRACTIONS = 40  #: Points of ranks over time.
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
            label_fmt_left="{label} {rank:.2f}\N{NO-BREAK SPACE}",  # that browsers keep
            label_fmt_right="\N{NO-BREAK SPACE}{rank:.2f} {label}",
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


def too_few(found: Contests) -> str:
    """Say that problems or algorithms are too few to compare."""
    return (
        f"too few problems or algorithms: found {counted(len(found.each), 'problem')} and "
        f"{counted(len(found.titles), 'algorithm')} on all of them; needed 2 of each"
    )


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
        if len(found.titles) < 2:
            return f"fewer than two algorithms run on all of {spoken(found.problems)}"
        blocks, table = len(found.each) >= PROBLEMS_AS_BLOCKS, _ranked(found)
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


def _ranked(found: Contests) -> "pd.DataFrame":
    """Return mean ranks with intervals, over problems where there are many, else over seeds of each: a row a point."""
    import pandas as pd

    panels: list[tuple[str, np.ndarray, list[np.ndarray]]] = []
    if len(found.each) >= PROBLEMS_AS_BLOCKS:
        at = np.geomspace(1.0 / FRACTIONS, 1.0, FRACTIONS)
        means = [
            np.array([np.interp(at * contest.rounds, traces.rounds, traces.values.mean(axis=0)) for traces in own])
            for contest in found.each
            if len(own := found.traces(contest)) == len(found.titles)
        ]
        panels.append(("all problems", at, means))
    else:
        for contest in found.each:
            own = found.traces(contest)
            if len(own) == len(found.titles):
                shared = sorted(set.intersection(*(set(traces.seeds.tolist()) for traces in own)))
                regret = np.stack([traces.values[np.isin(traces.seeds, shared)] for traces in own])
                panels.append((contest.cube.title, own[0].rounds, list(np.moveaxis(regret, 1, 0))))
    rows = []
    for panel, at, blocks in panels:
        if len(blocks) > 1:
            ends = ranks_over_time(np.stack(blocks, axis=1))
            rows += [
                (panel, title, x, *(end[place, point] for end in ends), len(blocks))
                for place, title in enumerate(found.titles)
                for point, x in enumerate(at)
            ]
    return pd.DataFrame(rows, columns=["panel", "algorithm", "x", "mean", "low", "high", "blocks"])
