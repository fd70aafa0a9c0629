"""Runs of several problems taken together: their middle, pairs of them, and what share of them is good enough."""

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Number
from bocu.core.written import counted, spoken
from bocu.pages.figures import marks
from bocu.pages.figures.base import ComparingParameters
from bocu.pages.figures.over_problems import (
    ROW,
    Compared,
    Contests,
    FigureOverProblems,
    OverProblemsParameters,
    too_few,
)
from bocu.pages.figures.results import reference_label
from bocu.sweep.evaluation.across_problems import (
    effort_to_target,
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
    share_reached,
    sign_test,
)
from bocu.sweep.evaluation.curves import Kind
from bocu.sweep.evaluation.statistics import CONFIDENCE, LEAST_SEEDS, holm

if TYPE_CHECKING:
    import pandas as pd


class RelativeParameters(OverProblemsParameters, ComparingParameters):
    """Parameters of such a figure in which regret is relative to that of one algorithm."""


POINTS = 100  #: Points of a profile or distribution.
LARGEST_FACTOR = 100.0  #: Factors of the least regret are drawn up to here.


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
            return too_few(found)
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
            return too_few(found) + why
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
        if efforts.empty:
            return f"the mean regret of {base} is not positive on any of {spoken(found.problems)}"
        rows, at_once = [], ""
        for quantity in ("rounds", "seconds"):
            known = efforts.groupby("algorithm", sort=False)[quantity]
            own = {str(name): values.to_numpy() for name, values in known if values.notna().all()}
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

    def _efforts(self, found: Contests, base: str) -> "pd.DataFrame":
        """Return rounds and seconds to the target, a row a run; infinite: never, not a number: not known."""
        import pandas as pd

        average = self.parameters.kind == "average"
        tables = []
        for contest in found.each:
            target = self.parameters.fraction * float(np.mean(list(contest.totals(base).values()))) / contest.rounds
            for name in found.titles if target > 0.0 else ():
                kept: Kind = "cumulative" if average else "simple"
                traces = contest.cube.traces(contest.branches[name], contest.metric, kept)
                if traces is not None:
                    regret = traces.values / traces.rounds if average else traces.values
                    own = pd.DataFrame({"rounds": effort_to_target(traces.rounds, regret, target)}, index=traces.seeds)
                    seconds = own["rounds"] * pd.Series(contest.seconds(name), dtype=float).reindex(own.index)
                    tables.append(own.assign(algorithm=name, seconds=seconds))
        return pd.concat(tables) if tables else pd.DataFrame()
