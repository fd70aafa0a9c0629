"""Entries of an experiment file: where each was written, what it comes to, and what does not go together.

Problems get data, initial designs and candidate priors; a metric comes to one for each law that it scores under; a
figure is drawn for the problems that it is defined for.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bocu.core.errors import BocuError, faults_at, shown
from bocu.core.io.files import canonical_json
from bocu.core.loading import load
from bocu.core.parameters import Parameters, Reading, nearest, sections, validate
from bocu.core.rounds import CONTINUOUS, SCALARISED, TIME_VARYING, BoxDomain, Outline
from bocu.problems.base import ProblemParameters
from bocu.problems.data.catalogue import Catalogue
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.contexts.cells import points_of
from bocu.robust.objectives.functions import Objective
from bocu.sweep.experiment.branches import Branch, Component, ScoringObjective
from bocu.sweep.experiment.configuration import LONGEST_LABEL, Entry, Experiment, FigureEntry, MetricEntry, Seeds
from bocu.sweep.experiment.papers import known_papers
from bocu.sweep.experiment.registry import find, registered
from bocu.sweep.experiment.sweep_expansion import Sweep

if TYPE_CHECKING:
    from bocu.problems.priors.statements import Candidate, PriorParameters


@dataclass(frozen=True)
class Entries:
    """The entries of an experiment."""

    sweep: Sweep  #: the experiment, with what its sweep leaves out.
    origin: Callable[[str], str]  #: from a key to what error lines begin with: the file that has it.
    folder: Callable[[str], Path]  #: from a key to the folder that paths below it are relative to.

    @property
    def experiment(self) -> Experiment:
        """What the files say."""
        return self.sweep.experiment

    def at(self, section: str, position: int) -> str:
        """Say where an entry was written: its file, and the keys that lead there."""
        place = self.sweep.place(section, position)
        return f"{self.origin(place.partition(':')[0].partition('.')[0])}{place}"

    def component(self, kind: str, section: str, position: int, entry: Entry) -> Component:
        """Return what an entry names, with its parameters checked.

        Raises:
            BocuError: one line with file, key, what was found and what is allowed.
        """
        where = self.at(section, position)
        folder = self.folder(section)
        found = find(kind, entry.name, f"{where}.name: ", folder)
        with faults_at(f"{where}.name: "):
            family = found.load()
        parameters = read_parameters(family, entry.parameters, f"{where}.parameters.", Reading(folder))
        made = ScoringObjective if kind == "metric" and issubclass(family, Objective) else Component
        return made(entry.label, found, parameters, title=getattr(entry, "title", ""))


def components_chosen(
    wanted: Sequence[str] | None, key: str, components: Mapping[str, Component], where: str
) -> list[Component]:
    """Return the components that an entry restricts itself to under `key`; all where it says nothing.

    Raises:
        BocuError: a label is none of theirs.
    """
    for place, label in enumerate(named := wanted or []):
        if label in named[:place]:
            raise BocuError(f"{where}.{key}.{place}: '{label}' stands twice; allowed: once")
        if label not in components:
            raise BocuError(f"{where}.{key}: no entry of '{key}' has the label '{label}'; {nearest(label, components)}")
    return [component for label, component in components.items() if wanted is None or label in wanted]


def read_parameters(family: Any, data: Mapping[str, object], where: str, reading: Reading) -> Parameters:
    """Check what an experiment file states for a class.

    Args:
        family: the class.
        data: what is stated.
        where: the file, and the keys that lead there, for the error line.
        reading: how classes from outside are found.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed.
    """
    parameters: Parameters = validate(family.Parameters, data, where, reading)
    for path, part in sections(parameters):
        for key, reason in part.unused().items():
            if key in part.model_fields_set:
                raise BocuError(f"{where}{path}{key}: it changes nothing: {reason}; leave it out")
        with faults_at(f"{where}{path}"):
            part.refuse_misfits()
    return parameters


# Problems and priors


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
        with faults_at(f"{entries.at('problems', position)}.parameters."):
            parameters = parameters_of(problem).with_candidates(candidates[label])
        problems[label] = Component(label, problem.registered, parameters)
    return problems


def _problem(entries: Entries, catalogue: Catalogue, position: int, problem: Component) -> Component:
    data = entries.experiment.data
    where = entries.at("problems", position)
    with faults_at(f"{where}: "):
        resolved = parameters_of(problem).resolve(catalogue, data.source, data.mirror)
    settled = _with_design(resolved, entries.experiment.seeds, f"{where}.parameters.initial")
    return Component(problem.label, problem.registered, settled)


def _with_design(parameters: ProblemParameters, seeds: Seeds, where: str) -> ProblemParameters:
    """Settle what a given initial design holds, before any job starts."""
    given = parameters.given_design
    if given is None:
        return parameters
    if given.file is None:
        raise BocuError(f"{where}: the key 'file' is required: a CSV file")
    with faults_at(f"{where}: "):
        settled = given.settled(range(seeds.first, seeds.first + seeds.count))
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


# By name: evaluation knows what a law of scoring is.
# Metrics

_READ_UNDER, _SEVERAL_UNDER = "bocu.sweep.evaluation.under:read_under", "bocu.sweep.evaluation.under:several"


def metrics_of(
    entry: MetricEntry, metric: Component, taken: Collection[str], where: str, reading: Reading
) -> list[Component]:
    """Return the metrics of an entry: one for each law that it scores under.

    Args:
        entry: as the file has it.
        metric: what it names.
        taken: labels of all entries.
        where: the place of the entry, for errors.
        reading: how what it names is found.

    Raises:
        BocuError: a law is not one, or there is no label for each.
    """
    metric = replace(metric, entry=entry.label, deployed=entry.deployed)
    if entry.under is None:
        return [metric]
    laws = [law.model_dump(mode="json") for law in load(_READ_UNDER)(entry.under, f"{where}under.", reading)]
    if not load(_SEVERAL_UNDER)(entry.under):
        return [replace(metric, under=laws[0])]
    labels = [f"{metric.label}-{place}" for place in range(len(laws))]
    for label in labels:
        if len(label) > LONGEST_LABEL or label in taken:
            raise BocuError(f"{where}under: '{label}' is too long a label or stands twice; give the entry another")
    return [replace(metric, label=label, under=law) for label, law in zip(labels, laws, strict=True)]


def refuse_unscorable(where: str, metric: Component, problem: Component, protocol: str) -> None:
    """Refuse what makes no sense where one law is all that there is, and what its discretisation is too large for.

    One law is all on continuous contexts, and under another law.

    Raises:
        BocuError: one line with the key.
    """
    if metric.under is not None and protocol in TIME_VARYING:
        raise BocuError(f"{where}.under: '{problem.label}' has time steps for contexts, which follow no law")
    if metric.deployed is not None and protocol in (*TIME_VARYING, *SCALARISED):
        why = "changes from step to step" if protocol in TIME_VARYING else "weighs outputs anew in every round"
        raise BocuError(f"{where}.deployed: '{problem.label}' {why}: no single decision is deployed")
    continuous = protocol in CONTINUOUS
    if not continuous and metric.under is None:
        return
    cells = points_of(problem.kind.size(problem.parameters).context_coordinates) if continuous else 0
    for path, section in sections(metric.parameters):
        if not isinstance(section, SetParameters):
            continue
        counts = section.family.has_radius and getattr(metric.kind, "radius_matters", True)
        if counts and section.radius == "margin":
            alone = f"on '{problem.label}'" if metric.under is None else "under a law"
            raise BocuError(
                f"{where}.parameters.{path}radius: found 'margin', the distance of the truth from the reference, "
                f"which {alone} is 0; give a number"
            )
        most = section.family.most_cells
        if most is not None and cells > most:
            raise BocuError(
                f"{where}.parameters.{path}name: '{section.name}' takes up to {most} contexts; the discretisation "
                f"of '{problem.label}' has {cells}"
            )


# Figures

ALL = "all"  # in place of problems, of a figure over the whole experiment


def figures_of(
    entries: Entries, problems: Mapping[str, Component], outlines: Mapping[str, Outline]
) -> tuple[dict[str, Component], dict[str, list[str]]]:
    """Return the figures of an experiment by label, and by the same labels the problems that each is drawn for.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed.
    """
    figures: dict[str, Component] = {}
    drawn_for: dict[str, list[str]] = {}
    for position, entry in enumerate(_entries(entries, problems, outlines)):
        figure = _against(entries.component("figure", "figures", position, entry), entries.experiment)
        figures[figure.label] = figure
        if figure.kind.scope == "experiment":
            drawn_for[figure.label] = [ALL]
            continue
        where = entries.at("figures", position)
        drawn_for[figure.label] = [
            problem.label
            for problem in components_chosen(entry.problems, "problems", problems, where)
            if _shows(figure.kind, problem, outlines[problem.label])
        ]
        if not drawn_for[figure.label]:
            raise BocuError(f"{where}: '{figure.label}' is drawn for no problem of this experiment")
    return figures, drawn_for


def _entries(
    entries: Entries, problems: Mapping[str, Component], outlines: Mapping[str, Outline]
) -> Sequence[FigureEntry]:
    """Return the entries of the file; where it has none, those of all figures that have something to show."""
    if entries.experiment.figures is not None:
        return entries.experiment.figures
    return [
        FigureEntry(label=figure.name, name=figure.name)
        for figure in registered("figure")
        if (kind := figure.load()).by_default
        and (
            kind.scope == "experiment"
            or any(_shows(kind, problem, outlines[label]) for label, problem in problems.items())
        )
    ]


def _against(figure: Component, experiment: Experiment) -> Component:
    """Return a figure with the experiment's `reference` and `leads_within`, where it takes such and names none."""
    against = getattr(figure.parameters, "against", None)
    if against is None:
        return figure
    return Component(figure.label, figure.registered, against(experiment.reference, experiment.leads_within))


def _shows(figure: Any, problem: Component, outline: Outline) -> bool:
    """Say whether a figure is defined for a problem."""
    protocol = protocol_of(problem)
    without = protocol not in TIME_VARYING and outline.priors == ()
    box = figure.finite_decisions and isinstance(outline.decisions, BoxDomain)
    return protocol in figure.protocols and not (box or (figure.of_priors and without))


# What is fine one by one, and does not go together


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
        with faults_at(f"{entries.at('problems', position)}.parameters."):
            problem.kind.check_rounds(problem.parameters, parameters_of(problem).rounds(entries.experiment.iterations))


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
    with faults_at(f"{where}.parameters: on '{branch.problem.label}': "):
        branch.algorithm.kind.check(branch.algorithm.parameters, outline)


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
