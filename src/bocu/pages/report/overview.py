"""What the tables of many methods on many problems come to, in a page: who wins how often, and what a ranking is worth.

Nothing is said beforehand: every sentence is made of the published numbers, whatever comes out.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bocu.core.written import counted, number, spoken
from bocu.pages.figures.over_problems.ranks import RankingParameters, who_is_best
from bocu.pages.figures.scoreboard import ScoreboardParameters
from bocu.pages.report.published import PublishedNumbers, scale_of
from bocu.sweep.evaluation.claims.places import Place
from bocu.sweep.evaluation.standings import LESS, MORE, VERDICT_SEEDS, plain
from bocu.sweep.evaluation.statistics import LEAST_SEEDS


def marks_of_overview(experiment: str) -> tuple[str, str]:
    """Return the lines of a page between which what is seen in an experiment stands."""
    return f"<!-- seen in {experiment}: begin -->", f"<!-- seen in {experiment}: end -->"


def overview(published: PublishedNumbers, scoreboards: Sequence[str], rankings: Sequence[str]) -> str:
    """Return what some scoreboards and rankings of an experiment come to, as Markdown.

    Args:
        published: its numbers.
        scoreboards: labels of figures.
        rankings: likewise.
    """
    if not published.numbers:
        return "No results are published yet.\n"
    lines = [_ran(published)]
    standings = _Standings(published)
    figures: Mapping[str, Any] = {label: figure.parameters for label, figure in published.plan.figures.items()}
    for label in scoreboards:
        standings.add(figures[label])
    lines += ["", *standings.told()]
    for label in rankings:
        lines += ["", *_survival(published, figures[label])]
    return "\n".join(lines) + "\n"


def _ran(published: PublishedNumbers) -> str:
    """Say how many runs there are, and what their rounds took."""
    runs, seconds = 0, 0.0
    for numbers in published.numbers.values():
        for algorithm, objectives in numbers.known.algorithms.items():
            for objective in objectives:
                spent = numbers.at("seconds", Place(objective, algorithm, ""))
                runs += len(spent)
                seconds += sum(spent.values()) * numbers.known.rounds
    planned, found = len(published.plan.problems), len(published.numbers)
    of = f"{found} problems" if found == planned else f"{found} of {planned} problems"
    return (
        f"{of}, {scale_of(published.numbers)}: {runs:,} runs, whose rounds took {number(seconds / 3600, 1)} hours on "
        "one core each."
    )


class _Standings:
    """How often each method of some scoreboards is ahead of random decisions, leads, and leads alone."""

    def __init__(self, published: PublishedNumbers) -> None:
        self.published = published
        self.counts: dict[str, Counter[str]] = {}
        self.columns: Counter[str] = Counter()
        self.seeds: set[int] = set()

    def add(self, parameters: ScoreboardParameters) -> None:
        """Count the columns of a scoreboard: a column is a problem under a metric."""
        reference = self.published.reference(parameters)
        for _, shown in self.published.blocks(parameters):
            for own in shown.values():
                base = own.get(reference, {})
                # Of nothing lost at random no share can be told; the tables leave these columns empty.
                if not base or np.mean(list(base.values())) <= 0:
                    continue
                table = self.published.standings(own, parameters)
                leading = table.leading
                verdicts = {title: plain(gap.on_average) for title, gap in table.against(reference).items()}
                rivals = [title for title in own if title not in self.published.yardsticks]
                self.seeds.add(len(base))
                self.columns["all"] += 1
                self.columns["untold"] += not leading
                self.columns["alone"] += table.alone is not None
                self.columns["nobody"] += not any(verdicts.get(title) == LESS for title in rivals)
                for title in own:
                    counts = self.counts.setdefault(title, Counter())
                    counts["columns"] += 1
                    counts["leads"] += title in leading
                    counts["alone"] += table.alone == title
                    counts["better"] += verdicts.get(title) == LESS
                    counts["worse"] += verdicts.get(title) == MORE

    def told(self) -> Iterator[str]:
        """Return the lines of the table and of what it comes to, methods in the order of the experiment."""
        columns = self.columns
        if not columns["all"]:
            yield "No column has a number for random decisions yet."
            return
        least = min(self.seeds)
        yield (
            f"A column is a problem under a metric; there are {columns['all']}.{_power(least)} In {columns['untold']} "
            f"columns nobody can be told to lead, in {columns['alone']} one method leads and all others are behind, in "
            f"{columns['nobody']} nobody is told to be better than random decisions."
        )
        yield ""
        yield "| method | columns | better than random | worse | in the leading group | leads alone |"
        yield "|---" * 6 + "|"
        for title, counts in self.counts.items():
            shown = [counts[key] for key in ("columns", "better", "worse", "leads", "alone")]
            lead = ["–", "–"] if title in self.published.yardsticks else [str(count) for count in shown[3:]]
            yield f"| {' | '.join([title, *map(str, shown[:3]), *lead])} |"


def _power(seeds: int) -> str:
    """Say what so few seeds can tell, in a sentence with a space before; empty where they are enough."""
    if seeds < LEAST_SEEDS:
        return f" With {counted(seeds, 'seed')} no two methods can be told apart."
    if seeds < VERDICT_SEEDS:
        return f" With {counted(seeds, 'seed')} a test leans one way; who leads takes {VERDICT_SEEDS}."
    return ""


def _survival(published: PublishedNumbers, parameters: RankingParameters) -> Iterator[str]:
    """Return what the ranking over some problems is worth: on halves of them, and with one of each kind alone."""
    wanted = list(parameters.problems or published.numbers)
    title = parameters.title or "Ranking"
    ranking, _ = published.ranking(parameters, wanted)
    if ranking is None:
        yield f"- **{title}**: too few problems or algorithms to rank."
        return
    yield (
        f"- **{title}**, {counted(ranking.problems, 'problem')}: {who_is_best(ranking)}. Of {ranking.halves} random "
        f"halves of the problems {ranking.same_order:.0%} keep the whole order; of the pairs of methods "
        f"{ranking.same_pairs:.0%} keep theirs in a half, and {ranking.labels[0]}, first of all, is first in "
        f"{ranking.same_first:.0%} of them."
    )
    alone = _one_of_each_kind(published.plan.problems, [label for label in wanted if label in published.numbers])
    if len(alone) < ranking.problems:
        other, _ = published.ranking(parameters, alone)
        said = (
            "too few to rank" if other is None else f"{who_is_best(other)}; {other.labels[0]} has the least mean rank"
        )
        yield f"  With one problem of each kind alone ({spoken(alone)}): {said}."


def _one_of_each_kind(problems: Any, labels: Sequence[str]) -> list[str]:
    """Return the first problem of each registered name: variants of one function are no draws of their own."""
    first: dict[str, str] = {}
    for label in labels:
        first.setdefault(problems[label].registered.name, label)
    return list(first.values())
