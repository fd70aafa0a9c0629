"""From a configuration to a plan: everything that a user may have written wrong is found here."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bocu.algorithms.base import AlgorithmParameters
from bocu.ambiguity.parameters import SetParameters
from bocu.core.domains import BoxDomain
from bocu.core.errors import BocuError
from bocu.core.loading import load
from bocu.core.parameters import Reading, nearest, sections
from bocu.core.protocols import TIME_VARYING
from bocu.core.rounds import Outline
from bocu.data.catalogue import Catalogue, load_catalogue
from bocu.data.catalogue import sources_file as catalogue_at_hand
from bocu.experiment.branches import Branch, Component, ScoringObjective
from bocu.experiment.clone import scripts_beside
from bocu.experiment.configuration import (
    AlgorithmEntry,
    Entry,
    Experiment,
    FigureEntry,
    MetricEntry,
    check_file,
    folder_of,
    origin,
    parse_experiment,
)
from bocu.experiment.entry_parameters import read_parameters
from bocu.experiment.metric_entries import metrics_of, refuse_unscorable
from bocu.experiment.papers import known_papers
from bocu.experiment.plan import Plan, StatedClaim
from bocu.experiment.registry import find, registered
from bocu.experiment.sweep_expansion import Sweep, expand
from bocu.io.files import canonical_json
from bocu.objectives.stated import Objective
from bocu.problems.base import ProblemParameters

CLAIMS = "bocu.evaluation.claims.planned:planned_claims"  # by name: what a check may say is known further up
MENTIONS = "bocu.figures.mentions:refuse_unknown_mentions"  # by name: figures know what they may be asked for


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
            check_file(file)
    experiment = parse_experiment(config, files, overrides)

    def written(key: str) -> str:
        return f"{origin(key, files, overrides)}: "

    def folder(key: str) -> Path:
        return folder_of(key, files, overrides)

    def has(section: str, position: int, parameter: str) -> bool:
        entry = getattr(experiment, section)[position]
        where = f"{written(section)}{section}.{position}.name: "
        found = find(section.removesuffix("s"), entry.name, where, folder(section))
        kind: Any = found.described()
        # A class from outside is not imported here: what its entry states is known.
        return parameter in (entry.parameters if found.origin else kind.Parameters.model_fields)

    maker = _Maker(
        expand(experiment, has, written("sweep")),
        load_catalogue(sources_file or catalogue_at_hand()),
        Path(scripts) if scripts is not None else scripts_beside(sources_file),
        written,
        folder,
        shortened="iterations" in (overrides or {}),
    )
    return maker.plan()


@dataclass
class _Maker:
    sweep: Sweep
    catalogue: Catalogue
    scripts: Path
    origin: Callable[[str], str]
    folder: Callable[[str], Path]
    shortened: bool

    @property
    def experiment(self) -> Experiment:
        return self.sweep.experiment

    def _at(self, section: str, position: int) -> str:
        """Say where an entry was written: its file, and the keys that lead there."""
        place = self.sweep.place(section, position)
        return f"{self.origin(place.partition(':')[0].partition('.')[0])}{place}"

    def plan(self) -> Plan:
        self._refuse_unknown_papers()
        self._refuse_unknown_reference()
        stated = {entry.label: self._problem(i, entry) for i, entry in enumerate(self.experiment.problems)}
        problems = self._with_priors(stated)
        if not self.shortened:  # a quick look at a few rounds may end before something happens
            self._refuse_rounds(problems)
        self._outlines = {
            label: self._outline(self._at("problems", i), problem)
            for i, (label, problem) in enumerate(problems.items())
        }
        objectives = [
            self._component("objective", "objectives", i, e) for i, e in enumerate(self.experiment.objectives)
        ]
        stated_metrics = [self._metrics(i, entry) for i, entry in enumerate(self.experiment.metrics)]
        scoring = self._scoring(stated_metrics, problems)
        metrics = [metric for of_entry in stated_metrics for metric in of_entry]
        self._refuse_duplicates("problems", list(problems.values()))
        self._refuse_duplicates("objectives", objectives)
        branches = self._branches(problems, objectives)
        by_problem: dict[str, list[Branch]] = {label: [] for label in problems}
        for branch in branches.values():
            by_problem[branch.problem.label].append(branch)
        for position, (label, found) in enumerate(by_problem.items()):
            if not found:
                raise BocuError(f"{self._at('problems', position)}: no algorithm runs on '{label}': an empty branch")
        figures, figure_problems = self._figures(problems)
        plan = Plan(
            self.experiment,
            self.catalogue,
            problems,
            metrics,
            branches,
            figures,
            figure_problems,
            self.scripts,
            (),
            by_problem,
            scoring,
            self.sweep,
        )
        for position, (label, folders) in enumerate(figure_problems.items()):
            where = self._at("figures", position)
            for problem in folders if figures[label].kind.scope == "problem" else []:
                self._refuse_radius(where, figures[label], problems[problem])
            load(MENTIONS)(plan, label, self._outlines, f"{where}.parameters.")
        return replace(plan, claims=self._claims(plan)) if self.experiment.claims else plan

    def _claims(self, plan: Plan) -> Sequence[StatedClaim]:
        """Read the claims that the experiment names, and refuse what it does not have."""
        folder, stated = self.folder("claims"), self.experiment.claims
        for position, file in enumerate(stated):
            if not (folder / file).is_file():
                where = f"{self.origin('claims')}claims.{position}"
                raise BocuError(f"{where}: no file {folder / file}; allowed: claims files, relative to {folder}/")
        files = [Path(os.path.normpath(folder / file)) for file in stated]
        found: Sequence[StatedClaim] = load(CLAIMS)(plan, self._outlines, files)
        return found

    def _component(self, kind: str, section: str, position: int, entry: Entry) -> Component:
        where = self._at(section, position)
        folder = self.folder(section)
        found = find(kind, entry.name, f"{where}.name: ", folder)
        try:
            family = found.described()
        except BocuError as error:
            raise BocuError(f"{where}.name: {error}") from None
        reading, inside = Reading(folder), f"{where}.parameters."
        if isinstance(family, type):
            parameters = read_parameters(family, entry.parameters, inside, reading)
            is_objective = issubclass(family, Objective)
        else:
            parameters = family.read_parameters(entry.parameters, inside, reading)
            is_objective = family.is_objective
        made = ScoringObjective if kind == "metric" and is_objective else Component
        return made(entry.label, found, parameters)

    def _metrics(self, position: int, entry: MetricEntry) -> list[Component]:
        metric = self._component("metric", "metrics", position, entry)
        taken = [other.label for other in self.experiment.metrics]
        where = f"{self._at('metrics', position)}."
        return metrics_of(entry, metric, taken, where, Reading(self.folder("metrics")))

    def _problem(self, position: int, entry: Entry) -> Component:
        component = self._component("problem", "problems", position, entry)
        parameters = component.parameters
        assert isinstance(parameters, ProblemParameters)
        try:
            resolved = parameters.resolve(self.catalogue, self.experiment.data.source, self.experiment.data.mirror)
        except BocuError as error:
            raise BocuError(f"{self._at('problems', position)}: {error}") from None
        return Component(component.label, component.registered, self._with_design(resolved, position))

    def _with_priors(self, problems: Mapping[str, Component]) -> dict[str, Component]:
        """Hand every problem the candidate priors that are stated for it."""
        candidates: dict[str, list[Any]] = {label: [] for label in problems}
        for position, entry in enumerate(self.experiment.priors):
            where = self._at("priors", position)
            prior = self._component("prior", "priors", position, entry)
            made = list(prior.parameters.candidates(entry.label))  # type: ignore[attr-defined]
            reasons = []
            for problem in self._chosen(entry, "problems", problems, where):
                parameters = problem.parameters
                assert isinstance(parameters, ProblemParameters)
                if reason := next(filter(None, map(parameters.takes, made)), ""):
                    reasons.append(f"'{problem.label}': {reason}")
                else:
                    candidates[problem.label].extend(made)
            taken = any(made[0] in found for found in candidates.values())
            if reasons and (entry.problems is not None or not taken):
                raise BocuError(f"{where}: '{entry.label}' can be no prior of {'; '.join(reasons)}")
        return {
            label: self._with_candidates(position, problems[label], candidates[label])
            for position, label in enumerate(problems)
        }

    def _with_candidates(self, position: int, problem: Component, candidates: Sequence[Any]) -> Component:
        parameters = problem.parameters
        assert isinstance(parameters, ProblemParameters)
        try:
            return Component(problem.label, problem.registered, parameters.with_candidates(candidates))
        except BocuError as error:
            raise BocuError(f"{self._at('problems', position)}.parameters.{error}") from None

    def _with_design(self, parameters: ProblemParameters, position: int) -> ProblemParameters:
        """Settle what a given initial design holds, before any job starts."""
        given = parameters.given_design
        if given is None:
            return parameters
        seeds = self.experiment.seeds
        where = f"{self._at('problems', position)}.parameters.initial"
        if given.file is None:
            raise BocuError(f"{where}: the key 'file' is required: a CSV file")
        try:
            settled = given.settled(range(seeds.first, seeds.first + seeds.count))
        except BocuError as error:
            raise BocuError(f"{where}: {error}") from None
        return parameters.model_copy(update={"initial": settled})

    def _refuse_unknown_papers(self) -> None:
        for position, key in enumerate(self.experiment.papers):
            if key not in known_papers():
                where = self._at("papers", position)
                raise BocuError(f"{where}: unknown paper '{key}'; {nearest(key, known_papers())}")

    def _refuse_unknown_reference(self) -> None:
        wanted, known = self.experiment.reference, [entry.label for entry in self.experiment.algorithms]
        if wanted is not None and wanted not in known:
            raise BocuError(
                f"{self.origin('reference')}reference: no entry of 'algorithms' has the label '{wanted}'; "
                f"{nearest(wanted, known)}"
            )

    def _refuse_rounds(self, problems: Mapping[str, Component]) -> None:
        """Refuse a problem that does not go with the number of rounds."""
        for position, problem in enumerate(problems.values()):
            try:
                problem.kind.check_rounds(problem.parameters, self._rounds(problem))
            except BocuError as error:
                raise BocuError(f"{self._at('problems', position)}.parameters.{error}") from None

    @staticmethod
    def _outline(where: str, problem: Component) -> Outline:
        try:
            outline: Outline = problem.kind.outline(problem.parameters)
        except BocuError as error:
            raise BocuError(f"{where}.parameters.{error}") from None
        return outline

    @staticmethod
    def _refuse_radius(where: str, component: Component, problem: Component) -> None:
        """Refuse a radius that the problem would have to announce, where it announces none."""
        parameters = problem.parameters
        assert isinstance(parameters, ProblemParameters)
        for path, section in sections(component.parameters):
            if isinstance(section, SetParameters) and section.takes_announced and not parameters.announces_radius:
                raise BocuError(
                    f"{where}.parameters.{path}radius: found 'announced', but '{problem.label}' announces no radius; "
                    "give a number or another rule"
                )

    def _check_branch(self, where: str, branch: Branch) -> None:
        self._refuse_radius(where, branch.algorithm, branch.problem)
        if branch.objective is not None:
            labels = [entry.label for entry in self.experiment.objectives]
            position = labels.index(branch.objective.label)
            self._refuse_radius(self._at("objectives", position), branch.objective, branch.problem)
        try:
            branch.algorithm.kind.check(branch.algorithm.parameters, self._outlines[branch.problem.label])
        except BocuError as error:
            raise BocuError(f"{where}.parameters: on '{branch.problem.label}': {error}") from None

    def _branches(
        self, problems: Mapping[str, Component], objectives: Sequence[Component]
    ) -> dict[tuple[str, str, str], Branch]:
        branches: dict[tuple[str, str, str], Branch] = {}
        entries = self.experiment.algorithms
        algorithms = [self._component("algorithm", "algorithms", i, entry) for i, entry in enumerate(entries)]
        self._refuse_duplicates("algorithms", algorithms)
        pursued_on = {
            objective.label: self._labels(objective, problems, self._at("objectives", i))
            for i, objective in enumerate(self.experiment.objectives)
        }
        for position, (entry, algorithm) in enumerate(zip(entries, algorithms, strict=True)):
            where = self._at("algorithms", position)
            found = [
                Branch(problem, objective, algorithm, self._rounds(problem), self.experiment.threads)
                for problem in self._chosen(entry, "problems", problems, where)
                if algorithm.kind.plays(self._protocol(problem), self._outlines[problem.label])
                for objective in self._pursued(entry, algorithm, self._protocol(problem), objectives, where)
                if objective is None or problem.label in pursued_on[objective.label]
                if self._together(problem, objective, algorithm)
            ]
            if not found:
                protocols = algorithm.kind.protocols
                chosen = self._chosen(entry, "problems", problems, where)
                bare = [
                    problem.label
                    for problem in chosen
                    if (protocol := self._protocol(problem)) in protocols
                    and not algorithm.kind.plays(protocol, self._outlines[problem.label])
                ]
                raise BocuError(
                    f"{where}: '{algorithm.label}' runs on no problem of this experiment: an empty branch; "
                    f"it is defined for the protocols {', '.join(protocols)}"
                    + (
                        f" and objectives such as {', '.join(o.name for o in registered('objective'))}"
                        if any(algorithm.kind.pursues(protocol) for protocol in protocols)
                        else ""
                    )
                    + (f"; without candidate priors: {', '.join(bare)}" if bare else "")
                )
            for branch in found:
                self._check_branch(where, branch)
            branches.update({branch.key: branch for branch in found})
        return branches

    def _together(self, problem: Component, objective: Component | None, algorithm: Component) -> bool:
        named = [("problems", problem.label), ("algorithms", algorithm.label)]
        return self.sweep.together(*named, *([("objectives", objective.label)] if objective else []))

    def _scoring(
        self, metrics: Sequence[Sequence[Component]], problems: Mapping[str, Component]
    ) -> dict[str, list[Component]]:
        """Return the metrics of every problem, of those of each entry."""
        found: dict[str, list[Component]] = {label: [] for label in problems}
        for position, (entry, of_entry) in enumerate(zip(self.experiment.metrics, metrics, strict=True)):
            where = self._at("metrics", position)
            metric = of_entry[0]
            for label in self._labels(entry, problems, where):
                if not self.sweep.together(("metrics", entry.label), ("problems", label)):
                    continue
                protocol = self._protocol(problems[label])
                if protocol not in metric.kind.protocols:
                    raise BocuError(
                        f"{where}: '{metric.label}' cannot score '{label}', "
                        f"whose protocol is {protocol}; it is defined for the protocols "
                        f"{', '.join(metric.kind.protocols)}"
                    )
                box = isinstance(self._outlines[label].decisions, BoxDomain)
                if box and getattr(metric.kind, "finite_decisions", False):  # a stand-in has none
                    raise BocuError(
                        f"{where}: '{metric.label}' cannot score '{label}', whose decisions are a box; it compares "
                        "finitely many"
                    )
                self._refuse_radius(where, metric, problems[label])
                refuse_unscorable(where, metric, problems[label], protocol)
                found[label].extend(of_entry)
        for label, own in found.items():
            if not own:
                raise BocuError(f"{self.origin('metrics')}metrics: none of them scores '{label}'; give one that does")
        return found

    def _labels(self, entry: Entry, problems: Mapping[str, Component], where: str) -> list[str]:
        return [problem.label for problem in self._chosen(entry, "problems", problems, where)]

    def _refuse_duplicates(self, section: str, components: Sequence[Component]) -> None:
        seen: dict[str, str] = {}
        for position, component in enumerate(components):
            same = seen.setdefault(canonical_json(component.specification), component.label)
            if same != component.label:
                raise BocuError(
                    f"{self._at(section, position)}: '{component.label}' is the same as "
                    f"'{same}': duplicate branches; give other parameters or leave one out"
                )

    def _rounds(self, problem: Component) -> int:
        parameters = problem.parameters
        assert isinstance(parameters, ProblemParameters)
        return parameters.rounds(self.experiment.iterations)

    @staticmethod
    def _protocol(problem: Component) -> str:
        parameters = problem.parameters
        assert isinstance(parameters, ProblemParameters)
        return parameters.protocol_among(problem.kind.protocols)

    @staticmethod
    def _chosen(entry: Any, key: str, components: Mapping[str, Component], where: str) -> list[Component]:
        wanted = getattr(entry, key)
        for label in wanted or []:
            if label not in components:
                raise BocuError(
                    f"{where}.{key}: no entry of '{key}' has the label '{label}'; {nearest(label, components)}"
                )
        return [component for label, component in components.items() if wanted is None or label in wanted]

    def _pursued(
        self, entry: AlgorithmEntry, algorithm: Component, protocol: str, objectives: Sequence[Component], where: str
    ) -> Sequence[Component | None]:
        if not algorithm.kind.pursues(protocol):
            return [None]
        labelled = {objective.label: objective for objective in objectives}
        pursued = []
        for objective in self._chosen(entry, "objectives", labelled, where):
            unfit = self._unfit(algorithm, objective)
            if unfit and entry.objectives is not None:
                raise BocuError(f"{where}.objectives: '{algorithm.label}' cannot pursue '{objective.label}': {unfit}")
            if not unfit:
                pursued.append(objective)
        return pursued

    @staticmethod
    def _unfit(algorithm: Component, objective: Component) -> str:
        """Say why an algorithm is not defined for an objective; empty where it is."""
        parameters = algorithm.parameters
        assert isinstance(parameters, AlgorithmParameters)
        if not (algorithm.registered.origin or objective.registered.origin):
            return parameters.unfit(objective.registered.name, objective.parameters)
        from bocu.experiment.plugins.memo import unfit

        return unfit(algorithm, objective)

    def _figure_entries(self, problems: Mapping[str, Component]) -> Sequence[FigureEntry]:
        if self.experiment.figures is not None:
            return self.experiment.figures
        return [
            FigureEntry(label=figure.name, name=figure.name)
            for figure in registered("figure")
            if (kind := figure.load()).by_default
            and (kind.scope == "experiment" or any(self._shows(kind, problem) for problem in problems.values()))
        ]

    def _against(self, figure: Component) -> Component:
        """Return a figure with the experiment's reference, if it compares with one and names none itself."""
        against = getattr(figure.parameters, "against", None)
        if self.experiment.reference is None or against is None:
            return figure
        return Component(figure.label, figure.registered, against(self.experiment.reference))

    def _shows(self, figure: Any, problem: Component) -> bool:
        """Say whether a figure's class is defined for a problem."""
        protocol = self._protocol(problem)
        outline = self._outlines[problem.label]
        without = protocol not in TIME_VARYING and outline.priors == ()
        box = figure.finite_decisions and isinstance(outline.decisions, BoxDomain)
        return protocol in figure.protocols and not (box or (figure.of_priors and without))

    def _figures(self, problems: Mapping[str, Component]) -> tuple[dict[str, Component], dict[str, list[str]]]:
        figures: dict[str, Component] = {}
        folders: dict[str, list[str]] = {}
        for position, entry in enumerate(self._figure_entries(problems)):
            figure = self._against(self._component("figure", "figures", position, entry))
            figures[figure.label] = figure
            if figure.kind.scope == "experiment":
                folders[figure.label] = ["all"]
                continue
            where = self._at("figures", position)
            folders[figure.label] = [
                problem.label
                for problem in self._chosen(entry, "problems", problems, where)
                if self._shows(figure.kind, problem)
            ]
            if not folders[figure.label]:
                raise BocuError(f"{where}: '{figure.label}' is drawn for no problem of this experiment")
        return figures, folders
