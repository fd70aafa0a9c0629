"""What the page says of each comparison: who leads, where average and usual do not agree, who sticks."""

from collections.abc import Sequence

import numpy as np

from bocu.core.written import counted, short, spoken
from bocu.pages.figures.results import NO_OBJECTIVE, Results
from bocu.pages.report import records, tables
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
_ONE_IN_TEN = f"a verdict takes {VERDICT_SEEDS}: fewer do not show what happens in one seed of ten"


def findings(cube: Results, found: records.Tables) -> list[str]:
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


def against(cube: Results, found: records.Tables, reference: str) -> list[str]:
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

    within = short(table.margin)
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
