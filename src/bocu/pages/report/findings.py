"""What the page says of comparisons: five questions with an answer of a line each, and how methods stand to one.

A comparison is what `bocu.pages.figures.who_wins` draws a panel of: answers and picture count the same ones, once each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bocu.core.written import counted, round_time, spoken, work_time
from bocu.pages.figures.results import NO_OBJECTIVE, Digest, Tables, foremost
from bocu.pages.figures.who_wins import Compared, leaders, who_leads
from bocu.pages.report import tables
from bocu.pages.report.tables import Spent
from bocu.sweep.evaluation.standings import BEHIND, OPEN, VERDICT_SEEDS

MOST = 4  #: Algorithms that a sentence names of those that stand alike.
MOST_NAMED = 3


def against(cube: Digest, found: Tables, reference: str) -> list[str]:
    """Say for each objective and metric of the page who has more regret than the reference, who less."""
    name = written([cube], reference)
    if all(branch.algorithm != reference for branch in cube.branches()):
        return [f"{cube.called}: {name} does not run here; the table compares with the least regret instead."]
    sentences = []
    alone = len(cube.objectives()) == 1
    for objective, metric in foremost(cube):
        where = f"{cube.called}, {tables.scored(cube, NO_OBJECTIVE if alone else objective, metric)}"
        table = found[objective, metric]
        if not table.regrets[reference]:
            sentences.append(f"{where}: {name} has finished no run; the table compares with the least regret instead.")
            continue
        said: dict[str, list[str]] = {}
        for label, gap in table.against(reference).items():
            said.setdefault(gap.on_average, []).append(f"{cube.titles[label]} {tables.interval(gap.difference)}")
        sentences.append(f"{where}: {'; '.join(f'{word}: {_listed(own)}' for word, own in said.items())}.")
    return sentences


def written(cubes: Sequence[Digest], label: str | None) -> str:
    """Return what is written for an algorithm; empty for none."""
    return next((cube.titles[label] for cube in cubes if label in cube.titles), label) if label else ""


def _listed(texts: Sequence[str]) -> str:
    """List the first, and how many more there are."""
    return spoken([*texts[:MOST], f"{len(texts) - MOST} more"]) if len(texts) > MOST + 1 else ", ".join(texts)


@dataclass(frozen=True)
class Answer:
    """A question, its answer in a line, where the page says more, and a command; empty where there is none."""

    question: str
    text: str
    anchor: str = ""
    command: str = ""


def answers(
    found: Sequence[Compared],
    times: Sequence[Spent],
    command: str,
    tried: Sequence[str] = (),
    archive: bool = False,
) -> list[Answer]:
    """Answer the five questions, all of the same comparisons and methods.

    Args:
        found: the comparisons of the page.
        times: what each algorithm took on each problem.
        command: what makes all of it again.
        tried: problems whose decisions are tried on a simulator, and only what is recommended is deployed.
        archive: whether the page has a figure of these runs beside those of the archive.
    """
    first = leaders(found)
    who = who_leads(found) if found else "Nobody yet: no two algorithms have finished runs on one problem."
    if archive and not found:
        who = "No two algorithms were run here on one problem: who leads beside the archive is told by its figure."
    return [
        Answer("Who wins?", who, "overview"),
        Answer("How surely?", _surely(found, tried, archive), "overview"),
        Answer("Where not?", _where_not(found, first)),
        Answer("At what cost?", _cost(times, first), "time"),
        Answer("How do I rerun this?", "Finished runs are kept:", "configuration", command),
    ]


def _surely(found: Sequence[Compared], tried: Sequence[str], archive: bool) -> str:
    if not found:
        return "The same figure tells." if archive else "Not at all: there are no two algorithms to compare."
    seeds = [max(map(len, each.table.regrets.values())) for each in found]
    few = sum(count < VERDICT_SEEDS for count in seeds)
    if few == len(found):
        return f"Not at all: {counted(max(seeds), 'seed')} at most, and a verdict takes {VERDICT_SEEDS} paired ones."
    told_apart = [each for each in found if each.leading]
    alone = sum(len(each.leading) == 1 and not _those(each, OPEN) for each in told_apart)
    unsettled = sum(bool(_those(each, OPEN)) for each in told_apart)
    parts = [
        f"alone in {alone}" if alone else "",
        f"shared in {shared}" if (shared := len(told_apart) - alone - unsettled) else "",
        f"open whether others lead too in {unsettled}" if unsettled else "",
        f"nobody told apart in {level}" if (level := len(found) - few - len(told_apart)) > 0 else "",
        f"too few seeds in {few}" if few else "",
    ]
    what = f" On {_named(tried)} decisions are tried on a simulator: there what is recommended counts." if tried else ""
    return f"Of {counted(len(found), 'lead')}: {', '.join(filter(None, parts))}, by regret over all rounds.{what}"


def _those(each: Compared, standing: str) -> list[str]:
    return [each.titles[label] for label in each.table.competing if each.table.standing[label] == standing]


def _where_not(found: Sequence[Compared], first: Sequence[str]) -> str:
    if not first:
        return "Not known before there is a winner."
    lost = [(leader, each) for leader in first for each in found if leader in _those(each, BEHIND) and each.leading]
    if not lost:
        return f"{_named(first)} {'is' if len(first) == 1 else 'are'} behind nowhere."
    leader, each = lost[0]
    more = f"; and {len(lost) - 1} more" if len(lost) > 1 else ""
    return (
        f"{leader} is behind on {each.called}, where {_named(each.leading)} lead{'s' * (len(each.leading) == 1)}{more}."
    )


def _cost(times: Sequence[Spent], first: Sequence[str]) -> str:
    if not times:
        return "No times were recorded."
    slowest = {
        leader: max((one for one in times if one.title == leader), key=lambda one: one.round)
        for leader in first
        if any(one.title == leader for one in times)
    }
    each = ", ".join(f"{leader} {round_time(most.round)}" for leader, most in list(slowest.items())[:MOST_NAMED])
    cheap = min(times, key=lambda one: one.round)
    least = "" if cheap.title in slowest else f"; the cheapest, {cheap.title}, {round_time(cheap.round)}"
    total = f"all runs {work_time(sum(each.total for each in times))} on one core"
    return f"Up to {each} a round{least}; {total}." if slowest else f"{total[:1].upper()}{total[1:]}."


def _named(titles: Sequence[str]) -> str:
    if len(titles) > MOST_NAMED:
        return f"{', '.join(titles[:MOST_NAMED])} and {len(titles) - MOST_NAMED} more"
    return spoken(titles)
