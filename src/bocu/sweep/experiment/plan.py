"""What an experiment comes to: its problems, branches and figures.

What it makes is known to `Products`, where that lies to `ResultPaths`, what it is made from to `JobInputs`, what makes
it out of date to `JobParameters`. Planning opens no data file and imports neither torch nor botorch: the workflow is
parsed again by each cluster job.
"""

import functools
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bocu.core.about import Function
from bocu.core.errors import BocuError
from bocu.core.loading import load, places
from bocu.core.numerics import told_of_own_settings
from bocu.core.parameters import nearest, sections
from bocu.core.plain import Plain
from bocu.core.rounds import CONTINUOUS
from bocu.problems.base import ProblemParameters
from bocu.problems.candidates import kernel_source
from bocu.problems.data.catalogue import Catalogue, Source
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.contexts.laws import NamedParameters, named_in
from bocu.robust.contexts.references import Estimate
from bocu.sweep.experiment.branches import Branch, Component
from bocu.sweep.experiment.configuration import Experiment
from bocu.sweep.experiment.entries import parameters_of, protocol_of
from bocu.sweep.experiment.job_parameters import JobParameters
from bocu.sweep.experiment.looks import abouts
from bocu.sweep.experiment.paths import ResultPaths
from bocu.sweep.experiment.products import JobInputs, Products
from bocu.sweep.experiment.registry import RegisteredClass, find
from bocu.sweep.experiment.sweep_expansion import Sweep
from bocu.sweep.experiment.titles import titles


class StatedClaim(Protocol):
    """A claim of a file that the experiment names; what it holds is known further up."""

    @property
    def problems(self) -> Sequence[str]:
        """Labels of the problems of this experiment that it is about."""

    def plain(self) -> Plain:
        """Return it and its file as plain data."""


SETTLED = "bocu.sweep.forecast:settled"  # by name: what a forecast needs lies above


def signed(function: Function) -> Function:
    """Note its parameters on a function of a rule: Snakemake asks for them several times a job, which adds up."""
    from snakemake.common import overwrite_function_params

    overwrite_function_params(function, inspect.signature(function).parameters)
    return function


@dataclass(frozen=True)
class Plan:
    """What an experiment comes to. Made by `make_plan`."""

    experiment: Experiment
    catalogue: Catalogue
    problems: Mapping[str, Component]
    metrics: Sequence[Component]
    branches: Mapping[tuple[str, str, str], Branch]
    figures: Mapping[str, Component]
    figure_problems: Mapping[str, Sequence[str]]
    scripts: Path
    claims: Sequence[StatedClaim]
    _by_problem: Mapping[str, list[Branch]] = field(repr=False)
    _metrics_by_problem: Mapping[str, list[Component]] = field(repr=False)
    sweep: Sweep = field(repr=False)

    @functools.cached_property
    def products(self) -> Products:
        """The files that it makes."""
        return Products(self)

    @functools.cached_property
    def paths(self) -> ResultPaths:
        """Where its files lie."""
        return ResultPaths(self.experiment.name)

    @functools.cached_property
    def inputs(self) -> JobInputs:
        """What its files are made from."""
        return JobInputs(self)

    @functools.cached_property
    def parameters(self) -> JobParameters:
        """What makes its files out of date."""
        return JobParameters(self)

    @functools.cached_property
    def results(self) -> str:
        """The folder of all that it makes."""
        return self.paths.folder

    # Problems and branches

    def problem_parameters(self, problem: str) -> ProblemParameters:
        """Return the typed parameters of a problem, by its label."""
        return parameters_of(self.problems[problem])

    def source_of(self, dataset: str) -> Source:
        """Return the source that a data set comes from."""
        return self.catalogue.source_of(dataset, self.experiment.data.source, self.experiment.data.mirror)

    def iterations(self, problem: str) -> int:
        """Return the number of rounds that are played of a problem."""
        return self.problem_parameters(problem).rounds(self.experiment.iterations)

    def priors(self, problem: str) -> dict[str, Plain]:
        """Return the candidate priors that are fitted for a problem, by label."""
        own = self.problems[problem].specification
        fits = self.problem_parameters(problem).priors()
        return {label: {**fit, "statement": fit["statement"] or own} for label, fit in fits.items()}

    def designs(self) -> dict[str, str]:
        """Return the files of initial designs that are given, by the hash of what they hold."""
        given = [self.problem_parameters(problem).given_design for problem in self.problems]
        return {str(design.sha256): str(design.file) for design in given if design is not None}

    def branches_of(self, problem: str) -> list[Branch]:
        """Return the branches of a problem."""
        return self._by_problem[problem]

    def metrics_of(self, problem: str) -> list[Component]:
        """Return the metrics that the runs of a problem are scored by."""
        return self._metrics_by_problem[problem]

    def optima(self, problem: str) -> dict[str, list[Component]]:
        """Return the metrics of a problem whose best decisions are searched for beforehand, by their entry's label.

        Those are metrics over the discretisation of continuous contexts, and all where the problem says that a search
        is dear or where seeds weigh outputs: the runs of all branches meet the same weights. A metric from outside may
        score as it likes.
        """
        if self.problem_parameters(problem).dear_optima or self.weighed(problem):
            return _by_entry(metric for metric in self.metrics_of(problem) if not metric.registered.origin)
        return self.discretised(problem)

    def weighed(self, problem: str) -> bool:
        """Whether the best decisions of a box are searched for at weights of several outputs, which each seed draws."""
        parameters: Any = self.problem_parameters(problem)
        in_a_box = getattr(parameters, "decisions", 0) is None
        estimated = isinstance(getattr(parameters, "reference", None), Estimate)
        return in_a_box and not estimated and getattr(parameters, "outputs", 1) > 1

    def discretised(self, problem: str) -> dict[str, list[Component]]:
        """Return those of the metrics that are computed on the discretisation of continuous contexts."""
        if protocol_of(self.problems[problem]) not in CONTINUOUS:
            return {}
        return _by_entry(metric for metric in self.metrics_of(problem) if metric.searched)

    def branch(self, problem: str, objective: str, algorithm: str) -> Branch:
        """Look up a branch by its labels.

        Raises:
            BocuError: the plan has no such branch.
        """
        found = self.branches.get((problem, objective, algorithm))
        if found is None:
            known = ["/".join(key) for key in self.branches]
            raise BocuError(
                f"{self.experiment.name}: no branch '{problem}/{objective}/{algorithm}'; "
                + nearest(f"{problem}/{objective}/{algorithm}", known)
            )
        return found

    def branch_at(self, wildcards: Any) -> Branch:
        """Look up the branch of a rule's wildcards."""
        return self.branch(wildcards.problem, wildcards.objective, wildcards.algorithm)

    @functools.cached_property
    def per_job(self) -> Mapping[tuple[str, str, str], int]:
        """Seeds of a block of every branch."""
        stated = self.experiment.seeds.per_job
        if stated == "auto":
            return load(SETTLED)(self)
        return dict.fromkeys(self.branches, stated)

    def blocks_of(self, branch: Branch) -> list[tuple[int, int]]:
        """Return the first and last seed of each block of a branch."""
        per_job = self.per_job[branch.key]
        if per_job not in self._blocks:
            self._blocks[per_job] = self.experiment.seeds.blocks(per_job)
        return self._blocks[per_job]

    @functools.cached_property
    def _blocks(self) -> dict[int, list[tuple[int, int]]]:
        return {}

    def jobs(self) -> int:
        """Return the number of blocks of all branches."""
        return sum(len(self.blocks_of(branch)) for branch in self.branches.values())

    def block(self, name: str) -> tuple[Branch, int, int]:
        """Look up branch, first and last seed of a block by its name, such as `hills/any/random/seeds-0-9`.

        Raises:
            BocuError: the plan has no such branch.
        """
        problem, objective, algorithm, seeds = name.split("/")
        _, first, last = seeds.split("-")
        return self.branch(problem, objective, algorithm), int(first), int(last)

    @functools.cached_property
    def algorithm_abouts(self) -> dict[str, dict[str, str]]:
        """What cubes hold of every algorithm for figures and tables, by label."""
        algorithms = {branch.algorithm.label: branch.algorithm for branch in self.branches.values()}
        return abouts(algorithms, self.sweep)

    @functools.cached_property
    def titles(self) -> tuple[dict[str, str], dict[str, str]]:
        """What figures and tables write for objectives and for metrics, by label."""
        objectives = {branch.objective.label: branch.objective for branch in self.branches.values() if branch.objective}
        return titles(list(objectives.values()), self.metrics)

    def _components(self) -> list[Component]:
        every: list[Component | None] = [*self.problems.values(), *self.metrics, *self.figures.values()]
        every += [part for branch in self.branches.values() for part in (branch.objective, branch.algorithm)]
        return [one for one in every if one is not None]

    def kernels(self) -> dict[str, list[str]]:
        """Return the labels of problems by where the kernel comes from that algorithms with one model believe in."""
        found: dict[str, list[str]] = {}
        for label in self.problems:
            if source := kernel_source(self.problem_parameters(label)):
                found.setdefault(source, []).append(label)
        return found

    def notes(self) -> list[str]:
        """Return what is allowed and hardly meant, a line each."""
        stated = ((one, *found) for one in self._components() for found in sections(one.parameters))
        found = (
            f"{one.registered.kind} '{one.label}': {path}{part.note()}"
            for one, path, part in stated
            if isinstance(part, SetParameters) and part.note()
        )
        return list(dict.fromkeys([*filter(None, [told_of_own_settings()]), *found]))

    def outside(self) -> list[tuple[str, RegisteredClass]]:
        """Return everything that is none of ours, each with its label or name, by kind."""
        every = self._components()
        found = {(one.label, one.registered) for one in every if one.registered.origin}
        named = [("law", name) for metric in self.metrics for name in named_in(metric.under)]
        for part in (part for one in every for _, part in sections(one.parameters)):
            if isinstance(part, SetParameters):
                named.append(("set", part.name))
            if isinstance(part, NamedParameters):
                named += [(part.kind, part.name), *(("law", name) for name in named_in(part.parameters))]
        for kind, name in named:
            if name in places() or f"{kind}/{name}" in places():
                entry = find(kind, name)
                found.add((entry.name, entry))
        return sorted(found, key=lambda each: (each[1].kind, each[0], each[1].target))

    def describe(self) -> Plain:
        """Return the experiment, with every parameter as it stands, as plain data."""
        entries = {
            "problems": list(self.problems.values()),
            "metrics": list(self.metrics),
            "objectives": list(
                {b.objective.label: b.objective for b in self.branches.values() if b.objective}.values()
            ),
            "algorithms": list({b.algorithm.label: b.algorithm for b in self.branches.values()}.values()),
            "figures": list(self.figures.values()),
        }
        left_out = {"mirror", "code", "overwrite", "checkpoint_seconds", *entries}
        left_out |= {
            key for key, stated in (("sweep", self.sweep.axes), ("compare", self.experiment.compare)) if not stated
        }
        plain = self.experiment.model_dump(mode="json", exclude=left_out)
        for kind, components in entries.items():
            plain[kind] = [
                {
                    "label": c.label,
                    "name": c.registered.name,
                    "parameters": c.parameters.model_dump(mode="json"),
                    **c.scored,
                }
                for c in components
            ]
        plain["iterations_of"] = {problem: self.iterations(problem) for problem in self.problems}
        return plain


def _by_entry(metrics: Iterable[Component]) -> dict[str, list[Component]]:
    found: dict[str, list[Component]] = {}
    for metric in metrics:
        found.setdefault(metric.entry, []).append(metric)
    return found
