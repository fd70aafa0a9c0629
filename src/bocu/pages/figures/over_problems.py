"""Algorithms compared over several problems, drawn from `bocu.sweep.evaluation.across_problems`."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, Number, nearest
from bocu.core.written import counted, spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import (
    MOST_TICKS,
    Algorithms,
    ComparingParameters,
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
    reference_label,
    seed_counts,
    shared_data_label,
)
from bocu.sweep.evaluation.across_problems import (
    HALVES,
    LEAST_TO_HALVE,
    Ranking,
    effort_to_target,
    friedman_over_problems,
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
    ranks_over_time,
    share_reached,
    sign_test,
    surviving_ranking,
)
from bocu.sweep.evaluation.curves import Kind
from bocu.sweep.evaluation.run_statistics import SECONDS
from bocu.sweep.evaluation.statistics import CONFIDENCE, LEAST_SEEDS, holm

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


class RelativeParameters(OverProblemsParameters, ComparingParameters):
    """Parameters of such a figure in which regret is relative to that of one algorithm."""


@dataclass(frozen=True)
class Contest:
    """One problem under one metric.

    Attributes:
        cube: its results.
        metric: label of the metric.
        branches: who takes part, by title.
    """

    cube: Digest
    metric: str
    branches: Mapping[str, CubeBranch]

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
    """All problems that are compared.

    Attributes:
        each: one a problem.
        titles: who takes part in all of them, in the order of the experiment.
        looks: by title.
        labels: label of the algorithm by title.
        left_out: titles of those that run on some of the problems only.
    """

    each: Sequence[Contest]
    titles: Sequence[str]
    looks: Mapping[str, style.Stroke]
    labels: Mapping[str, str]
    left_out: Sequence[str]

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


Compared = tuple["Picture", str, str, "pd.DataFrame"]
"""A picture, its caption, its alternative and its table."""


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


POINTS = 100
"""Points of a profile or distribution."""
LARGEST_FACTOR = 100.0
"""Factors of the least regret are drawn up to here."""


def _base_of(figure: str, found: Contests, wanted: str | None) -> str | None:
    """Return the title of the reference; None where it does not run on every problem."""
    names = {label: label for label in found.labels.values()}
    for contest in found.each:
        names |= contest.cube.names
    return found.title_of(reference_label(figure, wanted, names))


class InterquartileMean(FigureOverProblems[RelativeParameters]):
    """Final regret relative to a reference: the mean of the middle half of all runs, with intervals."""

    about = About(
        title="Interquartile mean",
        summary="final regret relative to a reference: the mean of the middle half of all runs, with intervals",
        paper="Agarwal et al. 2021",
    )
    yardsticks = True
    Parameters = RelativeParameters

    def compare(self, found: Contests) -> Compared | str:
        import pandas as pd

        base = _base_of("interquartile-mean", found, self.parameters.reference)
        bases = {} if base is None else {c.problem: float(np.mean(list(c.totals(base).values()))) for c in found.each}
        usable = [contest for contest in found.each if bases.get(contest.problem, 0.0) > 0.0]
        if base is None or len(usable) < 2 or len(found.titles) < 2:
            if base is None:
                return f"no reference runs on all of {spoken(found.problems)}"
            return (
                f"too few problems: found {len(usable)} with a positive mean regret of {base} "
                f"and {counted(len(found.titles), 'algorithm')}; needed 2 of each"
            )
        rows = []
        for name in found.titles:
            pairs = [found.paired(c, (name, base)) for c in usable]
            pairs = [pair for pair in pairs if pair.shape[1] and pair[1].mean() > 0.0]
            if pairs:
                middle = interquartile_mean([own for own, _ in pairs], [other for _, other in pairs])
                rows.append((name, middle.value, middle.low, middle.high, len(pairs), middle.count))
        table = pd.DataFrame(rows, columns=["algorithm", "interquartile_mean", "low", "high", "problems", "runs"])
        table = table.sort_values("interquartile_mean", kind="stable", ignore_index=True)
        picture, axes = style.single(0.55 + ROW * len(table))
        marks.intervals(axes, table, "interquartile_mean", found.looks)
        axes.axvline(1.0, color=style.INK, linewidth=0.8, zorder=0)
        axes.set_xlabel(f"final regret relative to the mean of {base}, interquartile mean")
        left_out = [contest.problem for contest in found.each if contest not in usable]
        missing = f" Without {spoken(left_out)}, where the regret of {base} is not positive." if left_out else ""
        caption = (
            f"Final regret of a run divided by the mean regret of {base} on its problem: the mean of the middle half "
            f"of all runs, which a few lucky or failed runs do not move, with {CONFIDENCE:.0%} bootstrap intervals "
            f"stratified by problem, each by itself. {found.said}{missing}"
        )
        told = ", ".join(f"{row.algorithm} {row.interquartile_mean:.2f}" for row in table.itertuples())
        return picture, caption, f"Dots with intervals: {told}.", table


class ProbabilityOfImprovement(FigureOverProblems[OverProblemsParameters]):
    """How often one algorithm has less regret than another on the same seed, the mean over problems, for all pairs."""

    about = About(
        title="Probability of improvement",
        summary="how often one algorithm has less regret than another on the same seed, all pairs",
        paper="Agarwal et al. 2021",
    )
    Parameters = OverProblemsParameters

    def compare(self, found: Contests) -> Compared | str:
        import pandas as pd

        if len(found.each) < 2 or len(found.titles) < 2:
            return _too_few(found)
        rows, enough = [], {}
        for own in found.titles:
            for other in (each for each in found.titles if each != own):
                pairs = [found.paired(contest, (own, other)) for contest in found.each]
                pairs = [pair for pair in pairs if pair.shape[1]]
                if pairs:
                    chance = probability_of_improvement([pair[0] for pair in pairs], [pair[1] for pair in pairs])
                    p = sign_test(np.concatenate(pairs, axis=1))
                    rows.append((own, other, chance.value, chance.low, chance.high, len(pairs), chance.count, p))
                    enough[own, other] = min(pair.shape[1] for pair in pairs) >= LEAST_SEEDS
        columns = ["algorithm", "other", "probability", "low", "high", "problems", "pairs", "p_value"]
        table = pd.DataFrame(rows, columns=columns)
        # Both directions have one p value: it is corrected once.
        once = [place for place, row in enumerate(rows) if found.titles.index(row[0]) < found.titles.index(row[1])]
        corrected = holm([rows[place][-1] for place in once])
        told_apart = {frozenset(rows[place][:2]): p for place, p in zip(once, corrected, strict=True)}
        table["p_value"] = [told_apart[frozenset(row[:2])] for row in rows]
        square = table.pivot(index="algorithm", columns="other", values="probability")
        order = square.mean(axis=1).sort_values(ascending=False).index.tolist()
        square = square.loc[order, order]
        level = 1.0 - CONFIDENCE
        sure = {pair for pair, seeds in enough.items() if seeds and told_apart[frozenset(pair)] < level}
        picture, axes = style.single(1.1 + 0.26 * len(order))
        marks.heat(
            axes, square, square.map("{:.2f}".format), bold=sure, plain=sure,
            cmap=style.DIVERGING_SHARES, vmin=0, vmax=1, linewidths=0.6, annot_kws={"fontsize": 7.5},
            cbar_kws={"label": "probability of less regret", "ticks": [0, 0.5, 1]},
        )  # fmt: skip
        axes.set(xlabel="than this one", ylabel="this algorithm has less regret")
        axes.tick_params(axis="x", rotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
        axes.tick_params(length=0)
        caption = (
            "Share of seeds on which the algorithm of the row has less regret at the end than that of the column, "
            "mean over problems, ties counted half; bold: told apart from a half by the sign test over all problems "
            f"and seeds, corrected by Holm for all comparisons, from {LEAST_SEEDS} seeds a problem on; italic: not. "
            "Bootstrap intervals, exact ones where those have no width, each by itself, stand in the table. "
            f"{found.said}"
        )
        top = order[0]
        told = ", ".join(f"than {other} {square.loc[top, other]:.2f}" for other in order[1:])
        alternative = f"Table of probabilities. {top} has less regret {told}."
        return picture, caption, alternative, table


class PerformanceProfile(FigureOverProblems[OverProblemsParameters]):
    """The share of problems and seeds on which the regret is within a factor of the least."""

    about = About(
        title="Performance profile",
        summary="the share of problems and seeds on which the regret is within a factor of the least",
        paper="Dolan and More 2002",
    )
    Parameters = OverProblemsParameters

    def compare(self, found: Contests) -> Compared | str:
        import pandas as pd

        regrets = (
            {contest.problem: found.paired(contest, found.titles) for contest in found.each} if found.titles else {}
        )
        usable = {problem: own for problem, own in regrets.items() if own.size and own.min() >= 0.0}
        if len(usable) < 2 or len(found.titles) < 2:
            negative = [problem for problem in regrets if problem not in usable]
            why = f"; without regret, or with a negative one: {spoken(negative)}" if negative else ""
            return _too_few(found) + why
        pooled = np.concatenate(list(usable.values()), axis=1)
        least = np.maximum(pooled.min(axis=0), np.finfo(float).tiny)
        most = float(np.clip((pooled / least).max(), 2.0, LARGEST_FACTOR))
        factors = np.geomspace(1.0, most, POINTS)
        shares = performance_profile(dict(zip(found.titles, pooled, strict=True)), factors)
        table = pd.DataFrame(
            [(name, f, s) for name, own in shares.items() for f, s in zip(factors, own, strict=True)],
            columns=["algorithm", "factor", "share"],
        )
        picture, axes = style.single(2.6)
        marks.steps(axes, table, "factor", "share", found.looks)
        axes.set_xscale("log")
        axes.set(
            xlabel="factor of the least regret", ylabel="share of runs within it", xlim=(1.0, most), ylim=(0, 1.03)
        )
        style.legend_below(picture, found.titles)
        left_out = [problem for problem in regrets if problem not in usable]
        missing = f" Without {spoken(left_out)}, where regret is negative." if left_out else ""
        caption = (
            "For each factor, the share of problems and seeds on which an algorithm's final regret is at most so many "
            "times the least of all on that seed: at 1 how often it is the best, further right how rarely it fails. "
            f"{counted(pooled.shape[1], 'pair')} of problem and seed. {found.said}{missing}"
        )
        told = ", ".join(f"{name} {own[0]:.0%}" for name, own in shares.items())
        alternative = f"Step lines of shares by factor. Share with the least regret of all: {told}."
        return picture, caption, alternative, table


class EffortToTargetParameters(RelativeParameters):
    """Parameters of `EffortToTarget`."""

    fraction: Number = Field(
        0.5, gt=0.0, lt=1.0, description="The target: this share of the mean regret that the reference has in a round."
    )
    kind: Literal["average", "simple"] = Field(
        "average",
        description="What has to come down to the target: regret averaged over the rounds so far, or the least.",
    )


class EffortToTarget(FigureOverProblems[EffortToTargetParameters]):
    """Empirical distribution of the rounds, and of the seconds, that runs take to a target."""

    about = About(
        title="Rounds and seconds to a target",
        summary="the share of runs that have reached a target, by rounds and by seconds",
    )
    yardsticks = True
    Parameters = EffortToTargetParameters

    def compare(self, found: Contests) -> Compared | str:
        import pandas as pd

        base = _base_of("effort-to-target", found, self.parameters.reference)
        if base is None or len(found.titles) < 2:
            return f"no reference runs on all of {spoken(found.problems)} beside another algorithm"
        efforts = self._efforts(found, base)
        if not efforts:
            return f"the mean regret of {base} is not positive on any of {spoken(found.problems)}"
        rows, at_once = [], ""
        for quantity in ("rounds", "seconds"):
            own = {name: values for name, values in efforts[quantity].items() if len(values)}
            reached = [v for values in own.values() for v in values[np.isfinite(values)]]
            if not reached:
                continue
            if quantity == "rounds" and max(reached) == 1.0:  # a line of one point is none
                share = len(reached) / sum(map(len, own.values()))
                rest = ", the rest never" if share < 1.0 else ""
                at_once = f"{'All' if share == 1.0 else f'{share:.0%} of'} runs reach the target in round 1{rest}."
            at = np.geomspace(min(reached), max(reached), POINTS)
            if quantity == "rounds":
                at = np.unique(np.concatenate([[1.0], np.unique(reached)]))
            rows += [
                (quantity, name, x, share, len(values), int(np.isfinite(values).sum()))
                for name, values in own.items()
                for x, share in zip(at, share_reached(values, at), strict=True)
            ]
        table = pd.DataFrame(rows, columns=["effort", "algorithm", "at", "share", "runs", "reached"])
        if table.empty:
            return f"no run comes down to {self.parameters.fraction:g} of the regret of {base}"
        panels = [quantity for quantity in dict.fromkeys(table["effort"]) if quantity != "rounds" or not at_once]
        if not panels:
            return at_once.rstrip(".")
        picture, grid = style.facets(len(panels), 2.6, up="share of runs", sharey=True)
        for axes, quantity in zip(grid, panels, strict=True):
            marks.steps(axes, table[table["effort"] == quantity], "at", "share", found.looks)
            axes.set_xlabel(f"{quantity} to the target")
            axes.set_ylim(0, 1.03)
            if quantity == "seconds":
                axes.set_xscale("log")
        grid[0].set_title(at_once)
        style.legend_below(picture, found.titles)
        what = {"average": "average regret so far", "simple": "least regret of any round so far"}
        caption = (
            f"The share of runs whose {what[self.parameters.kind]} has come down to "
            f"{self.parameters.fraction:g} times the mean regret of {base} in a round of that problem, by rounds and "
            "by seconds (rounds times the run's mean time of a round); lines that end below 1: the rest never does. "
            f"{at_once}{' ' if at_once else ''}{found.said}"
        )
        ends = table.groupby(["effort", "algorithm"], sort=False)["share"].last().loc[panels[0]]
        told = ", ".join(f"{name} {share:.0%}" for name, share in ends.items())
        return picture, caption, f"Step lines. Share of runs that reach the target: {told}.", table

    def _efforts(self, found: Contests, base: str) -> Mapping[str, Mapping[str, np.ndarray]]:
        """Return rounds and seconds to the target of all runs: quantity -> title -> (runs,); infinite: never."""
        rounds: dict[str, list[np.ndarray]] = {name: [] for name in found.titles}
        seconds: dict[str, list[np.ndarray]] = {name: [] for name in found.titles}
        for contest in found.each:
            target = self.parameters.fraction * float(np.mean(list(contest.totals(base).values()))) / contest.rounds
            if target <= 0.0:
                continue
            for name in found.titles:
                own, times = self._to(contest, name, target)
                rounds[name].append(own)
                seconds[name].append(own * times)
        if not any(rounds.values()):
            return {}
        return {
            "rounds": {name: np.concatenate(values) for name, values in rounds.items()},
            "seconds": {name: _whole(values) for name, values in seconds.items()},
        }

    def _to(self, contest: Contest, name: str, target: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the rounds to the target and the mean seconds of a round, shape (seeds,) each."""
        average = self.parameters.kind == "average"
        kept: Kind = "cumulative" if average else "simple"
        traces = contest.cube.traces(contest.branches[name], contest.metric, kept)
        if traces is None:
            return np.empty(0), np.empty(0)
        times = contest.seconds(name)
        each = np.array([times.get(int(seed), np.nan) for seed in traces.seeds])
        regret = traces.values / traces.rounds if average else traces.values
        return effort_to_target(traces.rounds, regret, target), each


def _whole(values: Sequence[np.ndarray]) -> np.ndarray:
    """Return all of a quantity, or nothing where some are not known."""
    found = np.concatenate(list(values))
    return np.empty(0) if np.isnan(found).any() else found


def _too_few(found: Contests) -> str:
    return (
        f"too few problems or algorithms: found {counted(len(found.each), 'problem')} and "
        f"{counted(len(found.titles), 'algorithm')} on all of them; needed 2 of each"
    )
