"""Where a claim holds: its verdict at every point of a sweep.

The verdicts of a map are corrected together by the method of Benjamini and Hochberg (1995): of the points that are
decided at most 5 % are expected to be decided wrongly. (Holm's method, which claims of a paper are corrected by, keeps
all of dozens of points right at once, and would leave most open.)
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bocu.core.errors import BocuError
from bocu.sweep.evaluation.claims.expressions import leaves
from bocu.sweep.evaluation.claims.model import Claim
from bocu.sweep.evaluation.claims.numbers import Source, as_numbers
from bocu.sweep.evaluation.claims.verdicts import Finding, Verdict, decided, verdict
from bocu.sweep.evaluation.statistics import benjamini_hochberg

if TYPE_CHECKING:
    import pandas as pd

Value = float | str
RUNS = ("objective", "algorithm", "metric")


@dataclass(frozen=True)
class Cell:
    """A point of a sweep."""

    at: Mapping[str, Value]  #: value by the name of the parameter.
    problem: str  #: label of the problem there.
    verdict: Verdict  #: what the numbers say there, corrected for all points.

    @property
    def finding(self) -> Finding | None:
        """What the one comparison of the claim came to; None where it has several, or was not run."""
        found = self.verdict.findings
        return found[0] if len(found) == 1 else None


def region(claim: Claim, cubes: Sequence[Source]) -> list[Cell]:
    """Return the verdict on a claim at every point of a sweep.

    Args:
        claim: about one problem, by the labels of the experiment's file.
        cubes: those of the experiment, or their numbers.

    Returns:
        The points at which all that the claim names has finished seeds, in the order of the cubes.

    Raises:
        BocuError: the claim asks for what no point has.
    """
    cells, reason = [], f"{claim.id}: no cube is of the problem '{claim.problem}' of the file"
    named = labels_of(claim)
    with ExitStack() as files:
        for cube in cubes:
            numbers = as_numbers(cube, files)
            label = numbers.known.problem
            own = numbers.swept.get("problem", {}).get(label, {"base": label, "at": {}})
            if claim.problem not in (None, own["base"]):
                continue
            for at, names in _points(own["at"], numbers.swept, named):
                try:
                    cells.append(Cell(at, label, verdict(claim, numbers, names)))
                except BocuError as error:  # of a list of grids not all combinations run
                    reason = str(error)
    if not cells:
        raise BocuError(reason)
    cells = [cell for cell in cells if cell.verdict.seeds]
    if not cells:
        return []
    # Verdicts by themselves have settled reasons, which another correction does not share.
    p_values = benjamini_hochberg([cell.verdict.raw_p_value for cell in cells])
    told = f"the correction for {len(cells)} points"
    return [
        replace(cell, verdict=decided(replace(cell.verdict, reason=""), p, len(cells), told))
        for cell, p in zip(cells, p_values, strict=True)
    ]


def points_table(cells: Sequence[Cell]) -> "pd.DataFrame":
    """Return the points as the rows of a tidy table, a comparison each."""
    import pandas as pd

    return pd.DataFrame(
        {
            **cell.at,
            "problem": cell.problem,
            "verdict": cell.verdict.outcome,
            "p_value_corrected": cell.verdict.p_value,
            "reason": cell.verdict.reason,
            "comparison": finding.comparison,
            **{end: getattr(finding.value, end) for end in ("value", "low", "high")},
            "boundary": finding.boundary,
            "seeds": finding.value.count,
        }
        for cell in cells
        for finding in cell.verdict.findings
    )


def labels_of(claim: Claim) -> dict[str, list[str]]:
    """Return the labels that a claim names: dimension of a cube -> labels."""
    found: dict[str, list[str]] = {"algorithm": [], "objective": [], "metric": [claim.metric or ""]}
    for leaf in leaves(claim.node):
        found["metric"].append(leaf.scope.metric)
        found["objective"].append(leaf.scope.objective)
        for measure in leaf.comparison.measures:
            algorithm, _, objective = measure.runs.partition("/")
            found["algorithm"].append(algorithm)
            found["objective"].append(objective)
            found["metric"].append(dict(measure.options).get("metric", ""))
    return {dim: [label for label in dict.fromkeys(labels) if label] for dim, labels in found.items()}


def _points(
    at: Mapping[str, Value], entries: Mapping[str, Mapping[str, Any]], named: Mapping[str, Sequence[str]]
) -> Iterator[tuple[dict[str, Value], dict[str, str]]]:
    """Return the points of a cube, with what labels of the file are called there."""
    points: list[tuple[dict[str, Value], dict[str, str]]] = [(dict(at), {})]
    for dim in RUNS:
        for base in named[dim]:
            made = {label: own["at"] for label, own in entries.get(dim, {}).items() if own["base"] == base}
            if made:
                points = [
                    ({**known, **values}, {**names, base: label})
                    for known, names in points
                    for label, values in made.items()
                    if all(known.get(axis, value) == value for axis, value in values.items())
                ]
    yield from points
