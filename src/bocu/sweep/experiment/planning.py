"""From a configuration to a plan: everything that a user may have written wrong is found here."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bocu.core.errors import BocuError, faults_at
from bocu.core.loading import load
from bocu.core.parameters import Reading
from bocu.core.rounds import BoxDomain, Outline
from bocu.learners.algorithms.base import AlgorithmParameters
from bocu.problems.data.catalogue import load_catalogue
from bocu.problems.data.catalogue import sources_file as catalogue_at_hand
from bocu.sweep.experiment.branches import Branch, Component
from bocu.sweep.experiment.configuration import (
    AlgorithmEntry,
    Experiment,
    folder_of,
    origin,
    parse_experiment,
    read_experiment_file,
    top_level_keys,
)
from bocu.sweep.experiment.entries import (
    Entries,
    components_chosen,
    figures_of,
    metrics_of,
    no_branch,
    parameters_of,
    problem_components,
    protocol_of,
    refuse_branch,
    refuse_duplicates,
    refuse_missing_mirror,
    refuse_radius,
    refuse_rounds,
    refuse_unknown_papers,
    refuse_unknown_reference,
    refuse_unscorable,
)
from bocu.sweep.experiment.paths import scripts_beside
from bocu.sweep.experiment.plan import Plan, StatedClaim
from bocu.sweep.experiment.plugins import faults_told
from bocu.sweep.experiment.registry import find
from bocu.sweep.experiment.sweep_expansion import expand_sweeps

CLAIMS = "bocu.sweep.evaluation.claims.planned:planned_claims"  # by name: what a check may say is known further up
MENTIONS = "bocu.pages.figures.base:refuse_unknown_mentions"  # by name: figures know what they may be asked for


@faults_told()
def make_plan(
    config: Mapping[str, object],
    files: Sequence[str | Path] = (),
    overrides: Mapping[str, object] | None = None,
    sources_file: str | Path | None = None,
    scripts: str | Path | None = None,
) -> Plan:
    """Turn a configuration into a plan.

    Args:
        config: the merged configuration.
        files: the files it came from, for error lines.
        overrides: what the command line added, for error lines.
        sources_file: the catalogue of data sets; that of the working folder, or of the package, if left out.
        scripts: folder of the workflow's scripts, which are part of the code of a job; that of the clone if left out.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed.
    """
    for file in files:
        if Path(file).exists():
            top_level_keys(file)
    experiment = parse_experiment(config, files, overrides)

    def written(key: str) -> str:
        return f"{origin(key, files, overrides)}: "

    def folder(key: str) -> Path:
        return folder_of(key, files, overrides)

    def has(section: str, position: int, parameter: str) -> bool:
        entry = getattr(experiment, section)[position]
        where = f"{written(section)}{section}.{position}.name: "
        found = find(section.removesuffix("s"), entry.name, where, folder(section))
        return parameter in found.load().Parameters.model_fields

    entries = Entries(expand_sweeps(experiment, has, written("sweep")), written, folder)
    refuse_missing_mirror(entries)
    refuse_unknown_papers(entries)
    refuse_unknown_reference(entries)
    catalogue = load_catalogue(sources_file or catalogue_at_hand())
    problems = problem_components(entries, catalogue)
    if "iterations" not in (overrides or {}):  # a quick look at a few rounds may end before something happens
        refuse_rounds(entries, problems)
    outlines: dict[str, Outline] = {}
    for position, (label, problem) in enumerate(problems.items()):
        with faults_at(f"{entries.at('problems', position)}.parameters."):
            outlines[label] = problem.kind.outline(problem.parameters)
    combining = _Combining(entries, problems, outlines)
    objectives = [
        entries.component("objective", "objectives", i, entry) for i, entry in enumerate(entries.experiment.objectives)
    ]
    metrics, scoring = combining.metrics()
    refuse_duplicates(entries, "problems", list(problems.values()))
    refuse_duplicates(entries, "objectives", objectives)
    branches = combining.branches(objectives)
    by_problem: dict[str, list[Branch]] = {label: [] for label in problems}
    for branch in branches.values():
        by_problem[branch.problem.label].append(branch)
    for position, (label, own) in enumerate(by_problem.items()):
        if not own:
            raise BocuError(f"{entries.at('problems', position)}: no algorithm runs on '{label}': an empty branch")
    figures, figure_problems = figures_of(entries, problems, outlines)
    plan = Plan(
        entries.experiment,
        catalogue,
        problems,
        metrics,
        branches,
        figures,
        figure_problems,
        Path(scripts) if scripts is not None else scripts_beside(sources_file),
        (),
        by_problem,
        scoring,
        entries.sweep,
    )
    for position, (label, shown) in enumerate(figure_problems.items()):
        where = entries.at("figures", position)
        for of_problem in shown if figures[label].kind.scope == "problem" else []:
            refuse_radius(where, figures[label], problems[of_problem])
        load(MENTIONS)(plan, label, outlines, f"{where}.parameters.")
    if not entries.experiment.claims:
        return plan
    called = [str(read_experiment_file(file).get("name")) for file in files if Path(file).is_file()]
    return replace(plan, claims=_claims(entries, plan, outlines, called))


def _claims(
    entries: Entries, plan: Plan, outlines: Mapping[str, Outline], called: Sequence[str]
) -> Sequence[StatedClaim]:
    """Read the claims that the experiment names, and refuse what it does not have; its files have these names."""
    folder, stated = entries.folder("claims"), entries.experiment.claims
    for position, file in enumerate(stated):
        if not (folder / file).is_file():
            where = f"{entries.origin('claims')}claims.{position}"
            raise BocuError(f"{where}: no file {folder / file}; allowed: claims files, relative to {folder}/")
    files = [Path(os.path.normpath(folder / file)) for file in stated]
    return load(CLAIMS)(plan, outlines, files, called)


@dataclass(frozen=True)
class _Combining:
    """Which problems go with which objectives, algorithms and metrics."""

    entries: Entries
    problems: Mapping[str, Component]
    outlines: Mapping[str, Outline]

    @property
    def experiment(self) -> Experiment:
        return self.entries.experiment

    def metrics(self) -> tuple[list[Component], dict[str, list[Component]]]:
        """Return all metrics, and those of every problem."""
        stated: list[Component] = []
        scoring: dict[str, list[Component]] = {label: [] for label in self.problems}
        taken = [entry.label for entry in self.experiment.metrics]
        reading = Reading(self.entries.folder("metrics"))
        for position, entry in enumerate(self.experiment.metrics):
            where = self.entries.at("metrics", position)
            named = self.entries.component("metric", "metrics", position, entry)
            of_entry = metrics_of(entry, named, taken, f"{where}.", reading)
            stated += of_entry
            for label in self._labels(entry.problems, where):
                if self.entries.sweep.together(("metrics", entry.label), ("problems", label)):
                    self._refuse_unscored(where, of_entry[0], label)
                    scoring[label].extend(of_entry)
        for label, own in scoring.items():
            if not own:
                where = self.entries.origin("metrics")
                raise BocuError(f"{where}metrics: none of them scores '{label}'; give one that does")
        return stated, scoring

    def _refuse_unscored(self, where: str, metric: Component, label: str) -> None:
        problem = self.problems[label]
        protocol = protocol_of(problem)
        if protocol not in metric.kind.protocols:
            raise BocuError(
                f"{where}: '{metric.label}' cannot score '{label}', "
                f"whose protocol is {protocol}; it is defined for the protocols "
                f"{', '.join(metric.kind.protocols)}"
            )
        box = isinstance(self.outlines[label].decisions, BoxDomain)
        if box and getattr(metric.kind, "finite_decisions", False):  # an objective has none
            raise BocuError(
                f"{where}: '{metric.label}' cannot score '{label}', whose decisions are a box; it compares "
                "finitely many"
            )
        refuse_radius(where, metric, problem)
        refuse_unscorable(where, metric, problem, protocol)

    def branches(self, objectives: Sequence[Component]) -> dict[tuple[str, str, str], Branch]:
        """Return the branches by their labels."""
        branches: dict[tuple[str, str, str], Branch] = {}
        stated = self.experiment.algorithms
        algorithms = [self.entries.component("algorithm", "algorithms", i, entry) for i, entry in enumerate(stated)]
        refuse_duplicates(self.entries, "algorithms", algorithms)
        pursued_on = {
            entry.label: self._labels(entry.problems, self.entries.at("objectives", i))
            for i, entry in enumerate(self.experiment.objectives)
        }
        for position, (entry, algorithm) in enumerate(zip(stated, algorithms, strict=True)):
            where = self.entries.at("algorithms", position)
            problems = components_chosen(entry.problems, "problems", self.problems, where)
            found = [
                Branch(
                    problem,
                    objective,
                    algorithm,
                    parameters_of(problem).rounds(self.experiment.iterations),
                    self.experiment.threads,
                )
                for problem in problems
                if algorithm.kind.plays(protocol_of(problem), self.outlines[problem.label])
                for objective in self._pursued(entry, algorithm, protocol_of(problem), objectives, where)
                if objective is None or problem.label in pursued_on[objective.label]
                if self._together(problem, objective, algorithm)
            ]
            if not found:
                raise no_branch(where, algorithm, problems, self.outlines)
            for branch in found:
                refuse_branch(self.entries, where, branch, self.outlines[branch.problem.label])
            branches.update({branch.key: branch for branch in found})
        return branches

    def _together(self, problem: Component, objective: Component | None, algorithm: Component) -> bool:
        named = [("problems", problem.label), ("algorithms", algorithm.label)]
        return self.entries.sweep.together(*named, *([("objectives", objective.label)] if objective else []))

    def _labels(self, wanted: Sequence[str] | None, where: str) -> list[str]:
        return [problem.label for problem in components_chosen(wanted, "problems", self.problems, where)]

    @staticmethod
    def _pursued(
        entry: AlgorithmEntry, algorithm: Component, protocol: str, objectives: Sequence[Component], where: str
    ) -> Sequence[Component | None]:
        if not algorithm.kind.pursues(protocol):
            return [None]
        labelled = {objective.label: objective for objective in objectives}
        pursued = []
        for objective in components_chosen(entry.objectives, "objectives", labelled, where):
            assert isinstance(algorithm.parameters, AlgorithmParameters)
            unfit = algorithm.parameters.unfit(objective.registered.name, objective.parameters)
            if unfit and entry.objectives is not None:
                raise BocuError(f"{where}.objectives: '{algorithm.label}' cannot pursue '{objective.label}': {unfit}")
            if not unfit:
                pursued.append(objective)
        return pursued
