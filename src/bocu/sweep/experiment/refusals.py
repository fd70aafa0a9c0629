"""What planning refuses: entries that are fine one by one, and do not go together."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bocu.core.errors import BocuError, shown
from bocu.core.io.files import canonical_json
from bocu.core.parameters import nearest, sections
from bocu.core.rounds import Outline
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.sweep.experiment.branches import Branch, Component
from bocu.sweep.experiment.entries import Entries
from bocu.sweep.experiment.papers import known_papers
from bocu.sweep.experiment.problem_entries import parameters_of, protocol_of
from bocu.sweep.experiment.registry import registered


def refuse_unknown_papers(entries: Entries) -> None:
    """Refuse a paper that nobody knows, or that stands twice."""
    for position, key in enumerate(entries.experiment.papers):
        if key in entries.experiment.papers[:position]:
            raise BocuError(f"{entries.at('papers', position)}: '{key}' stands twice; allowed: once")
        if key not in known_papers():
            where = entries.at("papers", position)
            raise BocuError(f"{where}: unknown paper '{key}'; {nearest(key, known_papers())}")


def refuse_missing_mirror(entries: Entries) -> None:
    """Refuse a mirror that is no folder, whether a problem needs data or not."""
    data, alone = entries.experiment.data, entries.experiment.mirror is not None
    if data.mirror is not None and not os.path.isdir(data.mirror):  # noqa: PTH112 - of any text
        where = entries.origin("mirror" if alone else "data") + ("mirror" if alone else "data.mirror")
        raise BocuError(f"{where}: found {shown(data.mirror)}; allowed: a folder, relative to {Path().absolute()}/")


def refuse_unknown_reference(entries: Entries) -> None:
    """Refuse a reference that is no algorithm of the experiment."""
    wanted, known = entries.experiment.reference, [entry.label for entry in entries.experiment.algorithms]
    if wanted is not None and wanted not in known:
        raise BocuError(
            f"{entries.origin('reference')}reference: no entry of 'algorithms' has the label '{wanted}'; "
            f"{nearest(wanted, known)}"
        )


def refuse_rounds(entries: Entries, problems: Mapping[str, Component]) -> None:
    """Refuse a problem that does not go with the number of rounds."""
    for position, problem in enumerate(problems.values()):
        try:
            problem.kind.check_rounds(problem.parameters, parameters_of(problem).rounds(entries.experiment.iterations))
        except BocuError as error:
            raise BocuError(f"{entries.at('problems', position)}.parameters.{error}") from None


def refuse_duplicates(entries: Entries, section: str, components: Sequence[Component]) -> None:
    """Refuse two entries of a section that come to the same."""
    seen: dict[str, str] = {}
    for position, component in enumerate(components):
        same = seen.setdefault(canonical_json(component.specification), component.label)
        if same != component.label:
            raise BocuError(
                f"{entries.at(section, position)}: '{component.label}' is the same as "
                f"'{same}': duplicate branches; give other parameters or leave one out"
            )


def refuse_radius(where: str, component: Component, problem: Component) -> None:
    """Refuse a radius that the problem would have to announce, where it announces none."""
    announced = parameters_of(problem).announces_radius
    for path, section in sections(component.parameters):
        if isinstance(section, SetParameters) and section.takes_announced and not announced:
            raise BocuError(
                f"{where}.parameters.{path}radius: found 'announced', but '{problem.label}' announces no radius; "
                "give a number or another rule"
            )


def refuse_branch(entries: Entries, where: str, branch: Branch, outline: Outline) -> None:
    """Refuse an algorithm, or the objective that it pursues, that a problem has not enough for."""
    refuse_radius(where, branch.algorithm, branch.problem)
    if branch.objective is not None:
        position = [entry.label for entry in entries.experiment.objectives].index(branch.objective.label)
        refuse_radius(entries.at("objectives", position), branch.objective, branch.problem)
    try:
        branch.algorithm.kind.check(branch.algorithm.parameters, outline)
    except BocuError as error:
        raise BocuError(f"{where}.parameters: on '{branch.problem.label}': {error}") from None


def no_branch(
    where: str, algorithm: Component, problems: Sequence[Component], outlines: Mapping[str, Outline]
) -> BocuError:
    """Return the error of an algorithm that runs on none of the problems that its entry chooses."""
    protocols = algorithm.kind.protocols
    bare = [
        problem.label
        for problem in problems
        if (protocol := protocol_of(problem)) in protocols
        and not algorithm.kind.plays(protocol, outlines[problem.label])
    ]
    return BocuError(
        f"{where}: '{algorithm.label}' runs on no problem of this experiment: an empty branch; "
        f"it is defined for the protocols {', '.join(protocols)}"
        + (
            f" and objectives such as {', '.join(o.name for o in registered('objective'))}"
            if any(algorithm.kind.pursues(protocol) for protocol in protocols)
            else ""
        )
        + (f"; without candidate priors: {', '.join(bare)}" if bare else "")
    )
