"""What the page says of each comparison in a sentence: who leads, and who stands how to a named algorithm."""

from collections.abc import Mapping, Sequence

from bocu.evaluation.statistics import LESS, MORE, TIED, TOO_FEW, seeds_for_verdict
from bocu.figures.reading import NO_OBJECTIVE, counted
from bocu.figures.results import Results
from bocu.report import records, tables


def findings(cube: Results, kinds: Mapping[str, list[records.Fields]], reference: str | None) -> list[str]:
    """Say for each objective and metric of the page who has the least regret, and who is not told apart from it."""
    sentences = []
    differences = kinds["differences"] if reference is None else records.difference_records(cube)
    for objective, metric in records.foremost(cube):
        key = (cube.problem, objective, metric)
        gaps = [gap for gap in _of(differences, key) if gap["algorithm"] not in cube.yardsticks and gap["seeds"] > 1]
        if not gaps:
            continue
        final = {record["algorithm"]: record for record in _of(kinds["final-regret"], key)}
        least = gaps[0]["reference"]
        shown = tables.plus_minus(final[least]["mean"], final[least]["standard_error"])
        told = f"{_where(cube, objective, metric)}: {cube.titles[least]} {shown}; "
        sentences.append(told + _lead(cube, sorted(gaps, key=lambda gap: gap["mean_difference"])))
    return sentences


def against(cube: Results, kinds: Mapping[str, list[records.Fields]], reference: str) -> list[str]:
    """Say for each objective and metric of the page who has more regret than the reference, who less."""
    name = written([cube], reference)
    if all(branch.algorithm != reference for branch in cube.branches()):
        return [f"{cube.called}: {name} does not run here; the table compares with the least regret instead."]
    sentences = []
    for objective, metric in records.foremost(cube):
        gaps = _of(kinds["differences"], (cube.problem, objective, metric))
        where = _where(cube, objective, metric)
        if not gaps or gaps[0]["reference"] != reference:
            sentences.append(f"{where}: {name} has finished no run; the table compares with the least regret instead.")
            continue
        told: dict[str, list[str]] = {MORE: [], LESS: [], TIED: [], TOO_FEW: []}
        for gap in gaps:
            told[gap["verdict"]].append(f"{cube.titles[gap['algorithm']]} {tables.interval(gap)}")
        sides = "; ".join(f"{word}: {', '.join(found)}" for word, found in told.items() if found)
        sentences.append(f"{where}: {sides}.")
    return sentences


def written(cubes: Sequence[Results], label: str | None) -> str:
    """Return what is written for an algorithm; empty for none."""
    return next((cube.titles[label] for cube in cubes if label in cube.titles), label) if label else ""


def _where(cube: Results, objective: str, metric: str) -> str:
    alone = len(cube.objectives()) == 1
    return f"{cube.called}, {tables.scored(cube, NO_OBJECTIVE if alone else objective, metric)}"


def _lead(cube: Results, gaps: Sequence[records.Fields]) -> str:
    """Say how competitors, by their difference from the least, stand to it."""
    decided = [gap for gap in gaps if gap["verdict"] != TOO_FEW]
    if not decided:
        most = max(gap["seeds"] for gap in gaps)
        enough = seeds_for_verdict(max(gap["comparisons"] for gap in gaps))
        return f"too few seeds to tell: {counted(most, 'paired seed')}, a verdict takes {enough}."
    tied = [gap for gap in decided if gap["verdict"] != MORE]
    relation = "not told apart from it:" if tied else "told apart from all; the next,"
    named = ", ".join(f"{cube.titles[gap['algorithm']]} {tables.interval(gap)}" for gap in tied or decided[:1])
    few = ", ".join(cube.titles[gap["algorithm"]] for gap in gaps if gap["verdict"] == TOO_FEW)
    undecided = f" Too few seeds to tell: {few}." if few else ""
    return f"{relation} {named} on {counted(decided[0]['seeds'], 'paired seed')}.{undecided}"


def _of(kind: Sequence[records.Fields], key: tuple[str, str, str]) -> list[records.Fields]:
    return [record for record in kind if (record["problem"], record["objective"], record["metric"]) == key]
