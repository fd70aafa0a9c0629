"""The best decisions of the problems on simulators under each law and set, and what they earn under every truth.

    python docs/make_decision_tables.py irrigation

prints tables in Markdown, for the pages that quote them. Everything is exact: tables are finite, and no run is needed.
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bocu.core.loading import load
from bocu.core.randomness import Streams
from bocu.problems.data.catalogue import load_catalogue, sources_file
from bocu.problems.data.prepare import prepare
from bocu.problems.data.simulators.irrigation import NebraskaMaize, SuffolkPotatoes, SuffolkThresholds
from bocu.problems.data.simulators.wakes import YAWS
from bocu.problems.simulated_table import SimulatedTable
from bocu.robust.ambiguity import ConditionalValueAtRisk, worst_case
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.sweep.experiment.registry import find

WORST = 0.1
"""Share of the worst seasons whose mean is told beside a mean."""


class Case(NamedTuple):
    """A problem and what it is asked.

    Attributes:
        problem: registered name.
        reference: as an experiment file states it.
        truths: laws by the heading of their column.
        radii: of each set, with the set's own keys.
        grid: the two numbers of a decision, in their own units.
    """

    problem: str
    reference: Any
    truths: Mapping[str, Any]
    radii: Sequence[tuple[Mapping[str, Any], Sequence[float]]]
    grid: tuple[Sequence[float], Sequence[float]]


DEVIATION = 1.0 / 6.0
"""One standard deviation of rain or evapotranspiration, in the scaled coordinates of seasons."""

ANNUAL = (
    ({"name": "tv"}, (0.1, 0.3, 0.5, 0.75, 1.0)),
    ({"name": "mmd", "lengthscale": DEVIATION}, (0.1, 0.2, 0.3, 0.5)),
)
SUFFOLK = {"historical": "historical", "2040-59": "ssp585-2040-59", "2080-99": "ssp585-2080-99", "observed": "observed"}
BY_MODEL = {
    f"{model}, {years}": {"seasons": f"ssp585-{years}", "origin": model}
    for years in ("2040-59", "2080-99")
    for model in ("CanESM5", "MIROC6", "NorESM2-LM")
}
NEBRASKA = {
    "observed": "observed",
    "RCP 8.5, 2021-40": "rcp85-2021-40",
    "2041-60": "rcp85-2041-60",
    "2061-80": "rcp85-2061-80",
    "driest ten": {"seasons": "observed", "driest": 10},
}
WINDS = {
    "forecast": {"wind": {"mean": 2.0, "sd": 3.0}},
    "sd 6": {"wind": {"mean": 2.0, "sd": 6.0}},
    "sd 9": {"wind": {"mean": 2.0, "sd": 9.0}},
    "bias -6": {"wind": {"mean": -4.0, "sd": 3.0}},
}
GUSTS = (
    ({"name": "tv"}, (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)),
    ({"name": "mmd", "lengthscale": 1.0 / 6.0}, (0.05, 0.08, 0.1, 0.12, 0.15)),
    ({"name": "wass"}, (0.25 / 30, 0.5 / 30, 0.75 / 30, 1.0 / 30, 1.25 / 30)),
)
PLANS = (SuffolkPotatoes.early, SuffolkPotatoes.late)

CASES = {
    "irrigation": Case("irrigation", "historical", SUFFOLK, ANNUAL, PLANS),
    "irrigation-observed": Case("irrigation", "observed", SUFFOLK, ANNUAL, PLANS),
    "irrigation-models": Case("irrigation", "historical", BY_MODEL, ANNUAL, PLANS),
    "irrigation-thresholds": Case(
        "irrigation-thresholds",
        "historical",
        {name: law for name, law in SUFFOLK.items() if law in SuffolkThresholds.laws},
        ANNUAL,
        (SuffolkThresholds.early, SuffolkThresholds.late),
    ),
    "irrigation-nebraska": Case(
        "irrigation-nebraska", "observed", NEBRASKA, ANNUAL, (NebraskaMaize.early, NebraskaMaize.late)
    ),
    "wake-steering": Case("wake-steering", WINDS["forecast"], WINDS, GUSTS, (YAWS.tolist(), YAWS.tolist())),
}


def build(case: Case, folder: Path) -> SimulatedTable:
    """Return the problem, on the table that came with the project, with all truths of the case in their order."""
    catalogue = load_catalogue(sources_file())
    target = find("problem", case.problem).load()
    dataset, record = target.Parameters.dataset, target.Parameters.record
    prepared = folder / "prepared.nc"
    raw = catalogue.raw_paths(dataset, record, "shipped")
    prepare(catalogue.record(dataset, record).prepare, raw, prepared, catalogue.origin(dataset, record, "shipped"))
    parameters = {"source": "shipped", "reference": case.reference, "truth": list(case.truths.values())}
    problem: SimulatedTable = load(f"{target.__module__}:{target.__name__}")(
        target.Parameters.model_validate(parameters), {"data": str(prepared)}
    )
    return problem


def chosen(problem: SimulatedTable, case: Case) -> dict[str, int]:
    """Return the best decision under each objective, by its name."""
    table, reference = problem.payoff_table(Streams(0)), problem.references[0]
    found = {"SO": table @ reference}
    for stated, radii in case.radii:
        over = SetParameters.model_validate(stated).over(problem.contexts)
        for radius in radii:
            moved = stated["name"] == "wass"
            label = f"W1 {radius * 30:g} degrees" if moved else f"{stated['name'].upper()} {radius:g}"
            found[label] = worst_case(table, reference, over.with_epsilon(radius)).value
    found["RO"] = table.min(axis=1)
    return {name: int(values.argmax()) for name, values in found.items()}


def table_of(problem: SimulatedTable, case: Case) -> str:
    """Return the table of decisions and truths."""
    plans = [(early, late) for early in case.grid[0] for late in case.grid[1]]
    assert problem.situations is not None
    outcomes = problem.situations.payoffs
    lines = [
        f"| objective | decision | {' | '.join(case.truths)} |",
        f"|---|---|{'---|' * len(case.truths)}",
    ]
    known: dict[int, list[str]] = {}
    for name, decision in chosen(problem, case).items():
        known.setdefault(decision, []).append(name)
    for decision, names in known.items():
        cells = []
        for weights in problem.truths_of_situations:
            bad = worst_case(outcomes[decision], weights, ConditionalValueAtRisk(WORST)).value
            cells.append(f"{outcomes[decision] @ weights:,.0f} ({float(bad):,.0f})")
        plan = " / ".join(f"{number:g}" for number in plans[decision])
        lines.append(f"| {', '.join(names)} | {plan} | {' | '.join(cells)} |")
    best = [f"{(outcomes @ weights).max():,.0f}" for weights in problem.truths_of_situations]
    lines.append(f"| best for that truth | | {' | '.join(best)} |")
    return "\n".join(lines)


def distances(problem: SimulatedTable, case: Case) -> str:
    """Return the distances of the truths from the reference, of each set."""
    lines = [f"| distance | {' | '.join(case.truths)} |", f"|---|{'---|' * len(case.truths)}"]
    for stated, _ in case.radii:
        over = SetParameters.model_validate(stated).over(problem.contexts)
        found = [float(over.distance(truth, problem.references[0])) for truth in problem.truths]
        found = [each * 30 for each in found] if stated["name"] == "wass" else found
        lines.append(f"| {stated['name']} | {' | '.join(f'{each:.2f}' for each in found)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables of a case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    case = CASES[parser.parse_args().case]
    with tempfile.TemporaryDirectory() as folder:
        problem = build(case, Path(folder))
    print(f"{problem.units}; in brackets the mean of the worst {WORST:.0%} of single situations\n")
    print(table_of(problem, case), "", distances(problem, case), sep="\n")


if __name__ == "__main__":
    main()
