"""The claims of an experiment, checked against its plan before the first job."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError, faults_at
from bocu.core.parameters import nearest
from bocu.core.rounds import Outline
from bocu.sweep.evaluation.claims.expressions import leaves, problem_of_measure, problems_of
from bocu.sweep.evaluation.claims.model import Claim, read_claims
from bocu.sweep.evaluation.claims.places import Known, place_of
from bocu.sweep.experiment.plan import Plan


@dataclass(frozen=True)
class FiledClaim:
    """A claim, its file, and the problems of the experiment at hand that it is about."""

    file: str
    claim: Claim
    problems: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """Return it and its file as plain data."""
        return {"file": self.file, **self.claim.model_dump(mode="json")}


def planned_claims(
    plan: Plan, outlines: Mapping[str, Outline], files: Sequence[Path], called: Sequence[str] = ()
) -> tuple[FiledClaim, ...]:
    """Read claims files; those claims that are about the experiment may only name what it has.

    Args:
        plan: what the experiment comes to.
        outlines: what is known of each problem.
        files: the claims files.
        called: what its files call the experiment. Where claims say nothing of its name, those about such a one follow
            it, else those about the file's own, as far as it has what they name.

    Raises:
        BocuError: one line with file, claim, what was found and what is allowed.
    """
    known = {problem: _known(plan, problem, outlines) for problem in plan.problems}
    found = []
    for file in files:
        stated = read_claims(file)
        named = {claim.experiment for claim in stated.claims}
        renamed = next((name for name in called if name in named), stated.experiment)
        for position, claim in enumerate(stated.claims):
            if claim.experiment == renamed and plan.experiment.name not in named:
                claim = _followed(claim, plan, known)
            own = claim.experiment == plan.experiment.name
            if own:
                where = f"{file}: claims.{position}"
                if claim.figure is not None and claim.figure not in plan.figures:
                    told = nearest(claim.figure, plan.figures)
                    raise BocuError(f"{where}.figure ({claim.id}): no figure '{claim.figure}'; {told}")
                refuse_unknown(claim, known, known.get, where)
            about = problems_of(claim.node) if own and claim.check is not None else []
            found.append(FiledClaim(file.name, claim, tuple(about)))
    return tuple(found)


def _followed(claim: Claim, plan: Plan, known: Mapping[str, Known]) -> Claim:
    """Return a claim about an experiment of another name, asked of this one where it has all that the claim names."""
    figure = claim.figure if claim.figure in plan.figures else None
    asked = claim.model_copy(update={"experiment": plan.experiment.name, "figure": figure})
    try:
        refuse_unknown(asked, known, known.get, "")
    except BocuError:
        return claim
    return asked


def _known(plan: Plan, problem: str, outlines: Mapping[str, Outline]) -> Known:
    algorithms: dict[str, list[str]] = {}
    for branch in plan.branches_of(problem):
        algorithms.setdefault(branch.key[2], []).append(branch.key[1])
    metrics = [metric.label for metric in plan.metrics_of(problem)]
    return Known(problem, algorithms, metrics, plan.iterations(problem), outlines[problem].priors)


def refuse_unknown(
    claim: Claim, problems: Collection[str], known_of: Callable[[str], Known | None], where: str
) -> None:
    """Raise where a claim names what its experiment does not have.

    Args:
        claim: the claim.
        problems: labels of the experiment's problems.
        known_of: such a label -> what is known of the problem; None: nothing yet.
        where: the claim's file and place in it.

    Raises:
        BocuError: one line with claim, what was found and what is allowed.
    """
    if claim.problem is not None and claim.problem not in problems:
        told = nearest(claim.problem, problems)
        raise BocuError(f"{where}.problem ({claim.id}): no problem '{claim.problem}'; {told}")
    for leaf in leaves(claim.node) if claim.check is not None else ():
        for measure in leaf.comparison.measures:
            problem = problem_of_measure(measure, leaf.scope)
            with faults_at(f"{where}.check ({claim.id}): "):
                if problem not in problems:
                    raise BocuError(f"no problem '{problem}'; {nearest(problem, problems)}")
                if (known := known_of(problem)) is not None:
                    place_of(measure, leaf.scope, known)
