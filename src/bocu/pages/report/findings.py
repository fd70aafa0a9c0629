"""What the page says of comparisons: who leads, where average and usual do not agree, who sticks; and five questions.

A comparison is one objective and metric of one problem, as the page shows it. Who leads it is a group: the least mean
regret and what has at most the margin more; nobody where seeds are too few or no two are told apart.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocu.core.written import brief, counted, round_time, spoken, work_time
from bocu.pages.figures.results import NO_OBJECTIVE, Results, Tables
from bocu.pages.report import records, tables
from bocu.pages.report.records import Spent
from bocu.sweep.evaluation.standings import (
    BEHIND,
    LEADING,
    LEANS_AHEAD,
    LEANS_BEHIND,
    LESS,
    MORE,
    OPEN,
    TIED,
    TOO_FEW,
    VERDICT_SEEDS,
    PairedDifference,
    Standings,
    plain,
    tail,
)
from bocu.sweep.evaluation.statistics import mean_and_error

MOST = 4
"""Algorithms that a sentence names of those that stand alike."""
MOST_NAMED = 3
MOST_PROBLEMS = 4
_ONE_IN_TEN = f"a verdict takes {VERDICT_SEEDS}: fewer do not show what happens in one seed of ten"


def findings(cube: Results, found: Tables) -> list[str]:
    """Say for each objective and metric of the page who has the least regret, and how the others stand to it."""
    sentences = []
    for objective, metric in records.foremost(cube):
        table = found[objective, metric]
        if len(table.competing) < 2:
            continue
        shown = tables.plus_minus(*map(float, mean_and_error(np.array([*table.regrets[table.competing[0]].values()]))))
        told = f"{_where(cube, objective, metric)}: {cube.titles[table.competing[0]]} {shown}; {_lead(cube, table)}"
        sentences.append(" ".join([told, *disagreements(cube, table)]))
    return sentences


def disagreements(cube: Results, table: Standings) -> list[str]:
    """Say of whom the mean and most seeds tell different stories beside the least, and who sticks."""
    least = table.competing[0]
    gaps, sentences = table.against(least), []
    for label in table.competing:
        spread = tail(table.regrets[label].values())
        sticks = f"sticks in {spread.stuck} of {spread.count}" if spread.sticks else ""
        gap = gaps.get(label)
        said = _two_answers(gap, sticks) if gap else ""
        if said or sticks:
            sentences.append(f"{cube.titles[label]}: {said or sticks}.")
    return sentences


def _two_answers(gap: PairedDifference, sticks: str) -> str:
    """Say where the means and the share of seeds do not agree; empty where they do."""
    mean, most = (plain(verdict) for verdict in (gap.on_average, gap.usually))
    if mean == most or TOO_FEW in (mean, most):
        return ""
    usual = {
        MORE: f"usually more regret (less on {_times(gap)} seeds)",
        LESS: f"usually less regret (on {_times(gap)} seeds)",
        TIED: f"usually not told apart (less regret on {_times(gap)} seeds)",
    }[most]
    by = tables.interval(gap.difference).partition(" ")[0]
    cost = {MORE: f"costs {by} on average", LESS: f"has {by} on average", TIED: "shows in no mean"}[mean]
    if mean == TIED:
        return f"{usual}, which {cost}{f'; {sticks}' if sticks else ''}"
    return f"{usual}; {sticks}, which {cost}" if sticks and mean == MORE else f"{usual}; it {cost}"


def _times(gap: PairedDifference) -> str:
    return f"{round(gap.less.value * gap.less.count) if gap.less.count else 0} of {gap.less.count}"


def against(cube: Results, found: Tables, reference: str) -> list[str]:
    """Say for each objective and metric of the page who has more regret than the reference, who less."""
    name = written([cube], reference)
    if all(branch.algorithm != reference for branch in cube.branches()):
        return [f"{cube.called}: {name} does not run here; the table compares with the least regret instead."]
    sentences = []
    for objective, metric in records.foremost(cube):
        where, table = _where(cube, objective, metric), found[objective, metric]
        if not table.regrets[reference]:
            sentences.append(f"{where}: {name} has finished no run; the table compares with the least regret instead.")
            continue
        told: dict[str, list[str]] = {}
        for label, gap in table.against(reference).items():
            told.setdefault(gap.on_average, []).append(f"{cube.titles[label]} {tables.interval(gap.difference)}")
        sentences.append(f"{where}: {'; '.join(f'{word}: {_listed(own)}' for word, own in told.items())}.")
    return sentences


def written(cubes: Sequence[Results], label: str | None) -> str:
    """Return what is written for an algorithm; empty for none."""
    return next((cube.titles[label] for cube in cubes if label in cube.titles), label) if label else ""


def _where(cube: Results, objective: str, metric: str) -> str:
    alone = len(cube.objectives()) == 1
    return f"{cube.called}, {tables.scored(cube, NO_OBJECTIVE if alone else objective, metric)}"


def _lead(cube: Results, table: Standings) -> str:
    """Say how competitors stand to the least."""
    least = table.competing[0]
    gaps, seeds = (
        table.against(least),
        max(table.against(least)[label].difference.count for label in table.competing[1:]),
    )
    if table.standing[least] == TOO_FEW:
        return f"too few seeds to tell: {counted(seeds, 'paired seed')}, {_ONE_IN_TEN}."

    def those(where: str) -> str:
        some = [label for label in table.competing[1:] if table.standing[label] == where]
        return _listed([f"{cube.titles[label]} {tables.interval(gaps[label].difference)}" for label in some])

    within = brief(table.margin)
    parts = {
        f"leading with it, by {within} more at most": those(LEADING),
        "open": those(OPEN),
        "behind": those(BEHIND),
        "leaning behind": those(LEANS_BEHIND),
        "too few seeds to tell": those(TOO_FEW),
    }
    text = "; ".join(f"{what}: {who}" for what, who in parts.items() if who)
    leans = "it leans ahead, no more: " if table.standing[least] == LEANS_AHEAD else ""
    few = f", {_ONE_IN_TEN}" if seeds < VERDICT_SEEDS else ""
    return f"{leans}{text}, on {counted(seeds, 'paired seed')}{few}."


def _listed(texts: Sequence[str]) -> str:
    """List the first, and how many more there are."""
    return spoken([*texts[:MOST], f"{len(texts) - MOST} more"]) if len(texts) > MOST + 1 else ", ".join(texts)


@dataclass(frozen=True)
class Comparison:
    """One comparison of the page.

    Attributes:
        where: problem and metric, in words.
        leading, behind: titles of the competitors.
        open: titles of those that are neither.
        least: title of the least mean regret.
        seeds: the most finished seeds of a competitor.
        problem: of the page.
        deployed: whether decisions are tried on a simulator, and only what is recommended at the end is deployed.
    """

    where: str
    leading: tuple[str, ...]
    behind: tuple[str, ...]
    least: str
    seeds: int
    problem: str = ""
    deployed: bool = False
    open: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A question, its answer, and a command that goes with it; empty where none does."""

    question: str
    text: str
    command: str = ""


def comparisons(cube: Results, found: Tables) -> list[Comparison]:
    """Return the comparisons of a problem that the page shows, of two competitors with finished runs or more."""
    shown = []
    for objective, metric in records.foremost(cube):
        table = found[objective, metric]
        if len(table.competing) < 2:
            continue
        leading, behind, neither = (
            tuple(cube.titles[label] for label in table.competing if table.standing[label] == word)
            for word in (LEADING, BEHIND, OPEN)
        )
        pursued = "" if objective in (NO_OBJECTIVE, metric) else f", pursuing {cube.objective_titles[objective]}"
        shown.append(
            Comparison(
                f"{cube.called}, {cube.metric_titles[metric]}{pursued}",
                leading,
                behind,
                cube.titles[table.competing[0]],
                max(len(table.regrets[label]) for label in table.competing),
                cube.called,
                cube.attribute("specification").get("parameters", {}).get("protocol") == "simulator",
                neither,
            )
        )
    return shown


def answers(found: Sequence[Comparison], times: Sequence[Spent], command: str) -> list[Answer]:
    """Answer the five questions.

    Args:
        found: the comparisons of the page.
        times: what each algorithm took on each problem.
        command: what makes all of it again.
    """
    decided = [each for each in found if each.leading or (each.open and each.seeds >= VERDICT_SEEDS)]
    told = [each for each in decided if each.behind]
    leaders = _most([title for each in told for title in each.leading])
    return [
        Answer("Who wins?", _who(found, decided, told, leaders)),
        Answer("How surely?", _surely(found, decided, told)),
        Answer("Where not?", _where_not(told, leaders)),
        Answer("At what cost?", _cost(times, leaders)),
        Answer("How do I rerun this?", "Finished runs are kept, so that only what is missing is computed:", command),
    ]


def _most(titles: Sequence[str]) -> list[str]:
    """Return what is named most often: all that share the most."""
    counts = Counter(titles)
    return [title for title, count in counts.items() if count == max(counts.values())]


def _who(
    found: Sequence[Comparison], decided: Sequence[Comparison], told: Sequence[Comparison], leaders: Sequence[str]
) -> str:
    if not told:
        least = _most([each.least for each in found if each.least])
        if not least:
            return "Nobody yet: no two algorithms have finished runs on one problem."
        why = "no two algorithms are told apart" if decided else "too few seeds"
        return f"Nobody can be named: {why}. {_named(least)} had the least mean regret{_often(found)}."
    problems = list(dict.fromkeys(each.problem for each in told))
    count = sum(leaders[0] in each.leading for each in told)
    won = {each.problem for each in told if leaders[0] in each.leading}
    if len(won) < len(problems) <= MOST_PROBLEMS:
        own = [_most([t for each in told if each.problem == problem for t in each.leading]) for problem in problems]
        return f"It depends: {'; '.join(f'{_named(who)} on {on}' for who, on in zip(own, problems, strict=True))}."
    alone = sum(each.leading == (leaders[0],) and not each.open for each in told)
    if len(leaders) > 1:
        return f"A tie: {_named(leaders)} lead {count} of {counted(len(decided), 'comparison')} each."
    if len(decided) == 1:
        return f"{leaders[0]}, alone." if alone else f"{leaders[0]}; open whether {_named(decided[0].open)} too."
    how = "always alone" if alone == count else f"alone in {alone}" if alone else "never alone"
    return f"{leaders[0]}: it leads {count} of {len(decided)} comparisons, {how}."


def _often(found: Sequence[Comparison]) -> str:
    return " most often" if len(found) > 1 else ""


def _surely(found: Sequence[Comparison], decided: Sequence[Comparison], told: Sequence[Comparison]) -> str:
    few = [each for each in found if each not in decided]
    if not found:
        return "Not at all: there are no two algorithms to compare."
    if not decided:
        return f"Not at all: {_too_few(few)}."
    alone = [each for each in told if len(each.leading) == 1 and not each.open]
    shared = [each for each in told if len(each.leading) > 1]
    unsettled = [each for each in told if each.open]
    level = [each for each in decided if not each.behind]
    parts = []
    if alone:
        parts.append(
            f"{len(alone)} of {counted(len(decided), 'lead')} {'is' if len(alone) == 1 else 'are'} told apart from all "
            "others in the mean"
        )
    if shared:
        more = f"; and {len(shared) - 1} more" if len(shared) > 1 else ""
        tie = f"{shared[0].where}: {_named(shared[0].leading)}{more}"
        of_all = "" if alone else f" of {counted(len(decided), 'lead')}"  # said of those just before
        parts.append(f"{len(shared)}{of_all} {'is' if len(shared) == 1 else 'are'} shared ({tie})")
    if unsettled:
        more = f"; and {len(unsettled) - 1} more" if len(unsettled) > 1 else ""
        parts.append(
            f"in {len(unsettled)} it is open whether others lead too ({unsettled[0].where}: "
            f"{_named(unsettled[0].open)}{more})"
        )
    if level:
        of_all = f"{len(level)} of {counted(len(decided), 'comparison')}"
        parts.append(f"in {of_all} nobody is told to be behind")
    if few:
        parts.append(f"{len(few)} cannot be told: {_too_few(few)}")
    tried = sorted({each.problem for each in decided if each.deployed})
    what = f" On {_named(tried)} decisions are tried on a simulator: what is recommended counts there." if tried else ""
    return f"{_capital('; '.join(parts))}, by regret summed over all rounds.{what}"


def _too_few(few: Sequence[Comparison]) -> str:
    """Say how many seeds there are, and how many a verdict takes."""
    most = max(few, key=lambda each: each.seeds)
    return f"{counted(most.seeds, 'seed')} at most, and a verdict takes {VERDICT_SEEDS} paired ones"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _where_not(told: Sequence[Comparison], leaders: Sequence[str]) -> str:
    if not told:
        return "Not known before there is a winner."
    said: dict[str, list[str]] = {}
    for leader in leaders[:MOST_NAMED]:
        lost = [each for each in told if leader in each.behind]
        absent = list(
            dict.fromkeys(e.problem or e.where for e in told if leader not in (*e.leading, *e.behind, *e.open))
        )
        unsettled = sum(leader in each.open for each in told)
        away = f", without a run on {_named(absent)}" if absent else ""
        shown = "; ".join(f"{each.where}, where {_named(each.leading)} lead{_s(each.leading)}" for each in lost[:2])
        more = f"; and {len(lost) - 2} more" if len(lost) > 2 else ""
        where = f"behind in {shown}{more}" if lost else f"behind nowhere{away}"
        if unsettled:
            where += f", open in {counted(unsettled, 'comparison')}"
        said.setdefault(where, []).append(leader)
    return " ".join(f"{spoken(who)} {'is' if len(who) == 1 else 'are'} {where}." for where, who in said.items())


def _s(titles: Sequence[str]) -> str:
    return "s" if len(titles) == 1 else ""


def _cost(times: Sequence[Spent], leaders: Sequence[str]) -> str:
    if not times:
        return "No times were recorded."
    of_leaders = {leader: [one for one in times if one.title == leader] for leader in leaders[:2]}
    slowest = {leader: max(own, key=lambda one: one.round) for leader, own in of_leaders.items() if own}
    total = work_time(sum(each.total for each in times))
    if not slowest:
        return f"All runs together decided for {total} on one core."
    each = "; ".join(
        f"{leader}: up to {round_time(most.round)} a round ({most.problem}), "
        f"{work_time(sum(one.total for one in of_leaders[leader]))} in all"
        for leader, most in slowest.items()
    )
    cheap = min(times, key=lambda one: one.round)
    least = "" if cheap.title in slowest else f"; the cheapest, {cheap.title}, {round_time(cheap.round)} a round"
    return f"{each}{least}. All runs: {total}."


def _named(titles: Sequence[str]) -> str:
    if len(titles) > MOST_NAMED:
        return f"{', '.join(titles[:MOST_NAMED])} and {len(titles) - MOST_NAMED} more"
    return spoken(titles)
