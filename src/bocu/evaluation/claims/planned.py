"""The claims of an experiment, checked against its plan before the first job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.core.rounds import Outline
from bocu.evaluation.claims.expansion import Known, leaves, place_of, problem_of_measure, problems_of, quantities
from bocu.evaluation.claims.model import Claim, read_claims
from bocu.experiment.plan import Plan


@dataclass(frozen=True)
class FiledClaim:
    """A claim, its file, and the problems of the experiment at hand that it is about."""

    file: str
    claim: Claim
    problems: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return it and its file as plain data."""
        return {"file": self.file, **self.claim.model_dump(mode="json")}


def planned_claims(plan: Plan, outlines: Mapping[str, Outline], files: Sequence[Path]) -> tuple[FiledClaim, ...]:
    """Read claims files; those claims that are about the experiment may only name what it has.

    Args:
        plan: what the experiment comes to.
        outlines: what is known of each problem.
        files: the claims files.

    Raises:
        BocuError: one line with file, claim, what was found and what is allowed.
    """
    known = {problem: _known(plan, problem, outlines) for problem in plan.problems}
    found = []
    for file in files:
        for position, claim in enumerate(read_claims(file).claims):
            own = claim.experiment == plan.experiment.name
            if own:
                _refuse_unknown(claim, plan, known, f"{file}: claims.{position}")
            about = problems_of(claim.node) if own and claim.check is not None else []
            found.append(FiledClaim(file.name, claim, tuple(about)))
    return tuple(found)


def _known(plan: Plan, problem: str, outlines: Mapping[str, Outline]) -> Known:
    algorithms: dict[str, list[str]] = {}
    for branch in plan.branches_of(problem):
        algorithms.setdefault(branch.key[2], []).append(branch.key[1])
    metrics = [metric.label for metric in plan.metrics_of(problem)]
    return Known(problem, algorithms, metrics, plan.iterations(problem), outlines[problem].priors)


def _refuse_unknown(claim: Claim, plan: Plan, known: Mapping[str, Known], where: str) -> None:
    if claim.figure is not None and claim.figure not in plan.figures:
        raise BocuError(
            f"{where}.figure ({claim.id}): no figure '{claim.figure}'; {nearest(claim.figure, plan.figures)}"
        )
    if claim.problem is not None and claim.problem not in known:
        raise BocuError(f"{where}.problem ({claim.id}): no problem '{claim.problem}'; {nearest(claim.problem, known)}")
    for leaf in leaves(claim.node) if claim.check is not None else ():
        for measure in quantities(leaf.comparison):
            problem = problem_of_measure(measure, leaf.scope)
            try:
                if problem not in known:
                    raise BocuError(f"no problem '{problem}'; {nearest(problem, known)}")
                place_of(measure, leaf.scope, known[problem])
            except BocuError as error:
                raise BocuError(f"{where}.check ({claim.id}): {error}") from None
