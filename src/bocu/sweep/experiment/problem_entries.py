"""What the entries of `problems` and `priors` come to: problems with data, initial designs and candidate priors."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from bocu.core.errors import BocuError
from bocu.problems.base import ProblemParameters
from bocu.problems.data.catalogue import Catalogue
from bocu.sweep.experiment.branches import Component
from bocu.sweep.experiment.configuration import Seeds
from bocu.sweep.experiment.entries import Entries, components_chosen

if TYPE_CHECKING:
    from bocu.problems.priors.statements import Candidate, PriorParameters


def parameters_of(problem: Component) -> ProblemParameters:
    """Return the typed parameters of a problem."""
    parameters = problem.parameters
    assert isinstance(parameters, ProblemParameters)
    return parameters


def protocol_of(problem: Component) -> str:
    """Return the protocol by which a problem is played."""
    return parameters_of(problem).protocol_among(problem.kind.protocols)


def problem_components(entries: Entries, catalogue: Catalogue) -> dict[str, Component]:
    """Return the problems of an experiment by label, each with the candidate priors that are stated for it.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed.
    """
    problems = {
        entry.label: _problem(entries, catalogue, position, entries.component("problem", "problems", position, entry))
        for position, entry in enumerate(entries.experiment.problems)
    }
    candidates = _candidates(entries, problems)
    for position, (label, problem) in enumerate(problems.items()):
        try:
            parameters = parameters_of(problem).with_candidates(candidates[label])
        except BocuError as error:
            raise BocuError(f"{entries.at('problems', position)}.parameters.{error}") from None
        problems[label] = Component(label, problem.registered, parameters)
    return problems


def _problem(entries: Entries, catalogue: Catalogue, position: int, problem: Component) -> Component:
    data = entries.experiment.data
    where = entries.at("problems", position)
    try:
        resolved = parameters_of(problem).resolve(catalogue, data.source, data.mirror)
    except BocuError as error:
        raise BocuError(f"{where}: {error}") from None
    settled = _with_design(resolved, entries.experiment.seeds, f"{where}.parameters.initial")
    return Component(problem.label, problem.registered, settled)


def _with_design(parameters: ProblemParameters, seeds: Seeds, where: str) -> ProblemParameters:
    """Settle what a given initial design holds, before any job starts."""
    given = parameters.given_design
    if given is None:
        return parameters
    if given.file is None:
        raise BocuError(f"{where}: the key 'file' is required: a CSV file")
    try:
        settled = given.settled(range(seeds.first, seeds.first + seeds.count))
    except BocuError as error:
        raise BocuError(f"{where}: {error}") from None
    return parameters.model_copy(update={"initial": settled})


def _candidates(entries: Entries, problems: Mapping[str, Component]) -> Mapping[str, "Sequence[Candidate]"]:
    """Return the candidate priors that are stated for every problem, by its label."""
    candidates: dict[str, list[Candidate]] = {label: [] for label in problems}
    for position, entry in enumerate(entries.experiment.priors):
        where = entries.at("priors", position)
        prior = entries.component("prior", "priors", position, entry)
        made = list(cast("PriorParameters", prior.parameters).candidates(entry.label))
        reasons = []
        for problem in components_chosen(entry.problems, "problems", problems, where):
            if reason := next(filter(None, map(parameters_of(problem).takes, made)), ""):
                reasons.append(f"'{problem.label}': {reason}")
            else:
                candidates[problem.label].extend(made)
        taken = any(made[0] in found for found in candidates.values())
        if reasons and (entry.problems is not None or not taken):
            raise BocuError(f"{where}: '{entry.label}' can be no prior of {'; '.join(reasons)}")
    return candidates
