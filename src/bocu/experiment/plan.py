"""What an experiment comes to: branches, parameters of every job, names of files. Every path is made here.

Planning opens no data file and imports neither torch nor botorch: the workflow is parsed again by each cluster job.
"""

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256 as sha256_of
from pathlib import Path
from typing import Any, TypeVar

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.data.catalogue import Catalogue
from bocu.experiment.branches import Branch, Component, ProblemPaths
from bocu.experiment.configuration import Experiment, Seeds
from bocu.experiment.fingerprints.fingerprint import fingerprint, named_code
from bocu.experiment.looks import abouts
from bocu.io.files import atomic_path, canonical_json, write_json
from bocu.problems.base import ProblemParameters

PARTIAL = "/partial"
FIGURE_SUFFIXES = ("png", "svg", "json")
RESULTS = "results"
MADE_FROM = "made_from"  # in the record: files and settings of the command line
RUN_CACHE = f"{RESULTS}/.run-cache"  # no experiment has this name: a label begins with a letter or digit
MACHINE_CODE = f"{RESULTS}/.machine-code"  # where homes cannot be written to


Function = TypeVar("Function", bound=Callable[..., Any])


def signed(function: Function) -> Function:
    """Note its signature on a function of a rule: Snakemake asks for it several times a job, which adds up."""
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return function


def checkpoint_folder(run_file: str | Path) -> Path:
    """Return the folder of the checkpoints of a run file: `checkpoints` in the place of `runs`."""
    path = Path(run_file)
    return path.parents[4].joinpath("checkpoints", *path.parts[-4:-1], path.stem)


def record_of(name: str) -> str:
    """Return the file that says how the results of a name were made."""
    return f"{RESULTS}/{name}/experiment.json"


def log_file(run_file: str | Path) -> Path:
    """Return the log of a run file: `logs/runs` in the place of `runs`."""
    path = Path(run_file)
    return path.parents[4].joinpath("logs", *path.parts[-5:-1], f"{path.stem}.log")


def block_name(branch: Branch, first: int, last: int) -> str:
    """Return the name of a block of seeds, such as `hills/any/random/seeds-0-9`."""
    return f"{'/'.join(branch.key)}/seeds-{first}-{last}"


@dataclass(frozen=True)
class FigurePaths:
    """The files that a figure of one problem may ask for."""

    plan: "Plan"
    problem: str
    part: str = ""

    @property
    def cube(self) -> str:
        return self.plan.cube(self.problem, self.part)

    def run_files(self, algorithm_name: str) -> list[str]:
        """Return the run files of a registered algorithm, all objectives and labels, or none where it does not run."""
        return [
            file
            for branch in self.plan.branches_of(self.problem)
            if branch.algorithm.registered.name == algorithm_name
            for file in self.plan.run_files(branch)
        ]

    def problem_inputs(self) -> dict[str, str | list[str]]:
        return self.plan.problem_inputs(self.problem)


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
    _by_problem: Mapping[str, list[Branch]] = field(repr=False)
    _metrics_by_problem: Mapping[str, list[Component]] = field(repr=False)

    # Names of files

    @property
    def results(self) -> str:
        return f"{RESULTS}/{self.experiment.name}"

    @functools.cached_property
    def blocks(self) -> list[tuple[int, int]]:
        return self.experiment.seeds.blocks()

    def run_file(self, branch: Branch, first: int, last: int) -> str:
        return f"{self.results}/runs/{block_name(branch, first, last)}.nc"

    def run_files(self, branch: Branch) -> list[str]:
        return [self.run_file(branch, first, last) for first, last in self.blocks]

    def existing_run_files(self, branch: Branch) -> list[str]:
        return [file for file in self.run_files(branch) if Path(file).is_file()]

    def checkpoint(self, branch: Branch, first: int, last: int) -> str:
        """Return the folder of a block's checkpoints."""
        return checkpoint_folder(self.run_file(branch, first, last)).as_posix()

    # `part` is "" for what the whole experiment comes to, and PARTIAL for what exists of it so far.

    def score_file(self, branch: Branch, part: str = "") -> str:
        return f"{self.results}{part}/scores/{'/'.join(branch.key)}.nc"

    def score_files(self, problem: str, part: str = "") -> list[str]:
        """Return the score files of a problem; of a partial one, those of branches with a run."""
        return [
            self.score_file(branch, part)
            for branch in self.branches_of(problem)
            if not part or self.existing_run_files(branch)
        ]

    def cube(self, problem: str, part: str = "") -> str:
        return f"{self.results}{part}/cubes/{problem}.nc"

    def cubes(self, part: str = "") -> list[str]:
        return [self.cube(problem, part) for problem in self.problems if self.score_files(problem, part)]

    def summary(self, part: str = "") -> str:
        return f"{self.results}{part}/cubes/summary.nc"

    def report(self, part: str = "") -> str:
        return f"{self.results}{part}/report/index.html"

    def report_tables(self, part: str = "") -> str:
        """Return the folder of the report's tables."""
        return f"{self.results}{part}/report/tables"

    def part_that_exists(self) -> str:
        """Return PARTIAL where there is anything to aggregate.

        Raises:
            BocuError: no run exists yet.
        """
        if not self.cubes(PARTIAL):
            raise BocuError(f"{self.results}: no run file exists yet; nothing to aggregate")
        return PARTIAL

    @property
    def record(self) -> str:
        """The experiment as it was last run: what a smaller one may not replace unasked."""
        return record_of(self.experiment.name)

    def figure_files(self, suffix: str, part: str = "") -> list[str]:
        """Return the figures; of a partial experiment, those that need nothing but its cubes."""
        cubes = self.cubes(part)
        return [
            f"{self.results}{part}/figures/{folder}/{label}.{suffix}"
            for label, folders in self.figure_problems.items()
            for folder in folders
            if not part or self._drawn_from_cubes(label, folder, cubes)
        ]

    def _drawn_from_cubes(self, label: str, folder: str, cubes: Sequence[str]) -> bool:
        if self.figures[label].kind.scope == "experiment":
            return bool(cubes)
        return list(self.figure_inputs(label, folder, PARTIAL).values()) == [self.cube(folder, PARTIAL)] and (
            self.cube(folder, PARTIAL) in cubes
        )

    def log(self, branch: Branch, first: int, last: int) -> str:
        """Return the log of a block's job."""
        return log_file(self.run_file(branch, first, last)).as_posix()

    def prior_files(self) -> list[str]:
        return [self.problem_paths(problem).prior(prior) for problem in self.problems for prior in self.priors(problem)]

    def files(self) -> dict[str, list[str]]:
        """Return every file that the experiment makes under its results, by stage, but for the report."""
        branches, designs = self.branches.values(), self.designs()
        return {
            **({"designs": [self.design_file(sha256) for sha256 in designs]} if designs else {}),
            "priors": self.prior_files(),
            "runs": [file for branch in branches for file in self.run_files(branch)],
            "scores": [self.score_file(branch) for branch in branches],
            "cubes": [*self.cubes(), self.summary()],
            "figures": [file for suffix in FIGURE_SUFFIXES for file in self.figure_files(suffix)],
        }

    def products(self) -> list[str]:
        """Return all that the experiment comes to: every file, the report and its tables."""
        return [*(file for files in self.files().values() for file in files), self.report(), self.report_tables()]

    # What files are made from

    def problem_paths(self, problem: str) -> ProblemPaths:
        return ProblemPaths(f"{self.results}/priors/{problem}", self.catalogue)

    def problem_parameters(self, problem: str) -> ProblemParameters:
        parameters = self.problems[problem].parameters
        assert isinstance(parameters, ProblemParameters)
        return parameters

    def problem_inputs(self, problem: str) -> dict[str, str | list[str]]:
        """Return the files that a problem is built from; a given initial design by its copy under the results."""
        parameters = self.problem_parameters(problem)
        inputs = parameters.inputs(self.problem_paths(problem))
        if parameters.given_design is not None:
            inputs["initial"] = self.design_file(str(parameters.given_design.sha256))
        return inputs

    def design_file(self, sha256: str) -> str:
        """Return the copy of a given initial design, under the hash of what it holds: a moved file reruns nothing."""
        return f"{self.results}/designs/{sha256}.csv"

    def designs(self) -> dict[str, str]:
        """Return the files of initial designs that are given, by the hash of what they hold."""
        given = [self.problem_parameters(problem).given_design for problem in self.problems]
        return {str(design.sha256): str(design.file) for design in given if design is not None}

    def copy_design(self, sha256: str, output: str | Path) -> None:
        """Copy a given initial design under the results.

        Raises:
            BocuError: the plan has no such design, or the file has changed since it was planned.
        """
        source = self.designs().get(sha256)
        if source is None:
            raise BocuError(f"{output}: no initial design of this experiment has this hash")
        content = Path(source).read_bytes()
        if sha256_of(content).hexdigest() != sha256:
            raise BocuError(f"{source}: changed since the experiment was planned; plan it again")
        with atomic_path(output) as temporary:
            temporary.write_bytes(content)

    def mirrored(self, dataset: str, files: Sequence[str]) -> list[str]:
        """Return those files of the mirror, where there is one, that raw files are copies of."""
        folder = self.experiment.data.mirror
        paths = [Path(folder, dataset, file) for file in files] if folder else []
        return [path.as_posix() for path in paths if path.is_file()]

    def raw_inputs(self, dataset: str, record: str, source: str) -> dict[str, list[str]]:
        """Return what a data set is prepared from: raw files, and the files of the mirror that they are copies of."""
        raw = self.catalogue.raw_paths(dataset, record, source)
        names = [Path(path).name for path in raw]
        return {"raw": raw, "mirror": self.mirrored(dataset, names) if source == "mirror" else []}

    def priors(self, problem: str) -> dict[str, dict[str, Any]]:
        """Return the candidate priors that are fitted for a problem, by label."""
        return self.problem_parameters(problem).priors()

    def prior_inputs(self, problem: str) -> dict[str, str | list[str]]:
        return self.problem_parameters(problem).prior_inputs(self.problem_paths(problem))

    def branches_of(self, problem: str) -> list[Branch]:
        return self._by_problem[problem]

    def metrics_of(self, problem: str) -> list[Component]:
        return self._metrics_by_problem[problem]

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

    def block(self, name: str) -> tuple[Branch, int, int]:
        """Look up branch, first and last seed of a block by its name, such as `hills/any/random/seeds-0-9`.

        Raises:
            BocuError: the plan has no such branch.
        """
        problem, objective, algorithm, seeds = name.split("/")
        _, first, last = seeds.split("-")
        return self.branch(problem, objective, algorithm), int(first), int(last)

    def run_parameters(self, branch: Branch, first: int | str, last: int | str) -> dict[str, Any]:
        """Return what makes a block of runs out of date when it changes."""
        return {
            "specification": canonical_json({**branch.specification, "seeds": [int(first), int(last)]}),
            "fingerprint": fingerprint(*branch.roots),
            "script": self._run_script,
        }

    @functools.cached_property
    def _run_script(self) -> str:
        return self.fingerprint("run")  # asked for by every job, several times

    def prior_parameters(self, problem: str, prior: str) -> dict[str, Any]:
        specifications = self.priors(problem)
        if prior not in specifications:
            raise BocuError(f"{problem}: no prior '{prior}'; {nearest(prior, specifications)}")
        return {"specification": canonical_json(specifications[prior]), "fingerprint": self.fingerprint("fit_prior")}

    def score_roots(self, branch: Branch) -> list[str]:
        """Return the code that scoring a branch starts from, but for the script."""
        return self._score_roots[branch.problem.label]

    @functools.cached_property
    def _score_roots(self) -> dict[str, list[str]]:
        return {
            label: named_code([problem.specification, [metric.specification for metric in self.metrics_of(label)]])
            for label, problem in self.problems.items()
        }

    def score_parameters(self, branch: Branch, part: str = "") -> dict[str, Any]:
        metrics = [{"label": metric.label, **metric.specification} for metric in self.metrics_of(branch.problem.label)]
        parameters = {
            "branch": canonical_json(branch.specification),
            "metrics": canonical_json(metrics),
            "fingerprint": self.fingerprint("score", *self.score_roots(branch)),
        }
        if part:
            # As inputs they would be brought up to date first; what exists is wanted, as it stands.
            existing = {file: Path(file).stat().st_mtime_ns for file in self.existing_run_files(branch)}
            parameters["runs"] = canonical_json(existing)
        return parameters

    def cube_parameters(self, problem: str, part: str = "") -> dict[str, Any]:
        component = self.problems[problem]
        description = {
            "experiment": self.experiment.name,
            "problem_label": problem,
            "problem_name": component.registered.name,
            "branches": [
                {
                    "objective": branch.key[1],
                    "algorithm": branch.key[2],
                    "algorithm_name": branch.algorithm.registered.name,
                    "algorithm_about": self.algorithm_abouts[branch.algorithm.label],
                    "algorithm_parameters": branch.algorithm.parameters.model_dump(mode="json"),
                    "score": self.score_file(branch, part),
                }
                for branch in self.branches_of(problem)
            ],
            "metrics": [metric.label for metric in self.metrics_of(problem)],
            "seeds": [self.experiment.seeds.first, self.experiment.seeds.count],
            "iterations": self.iterations(problem),
            "initial": self.problem_parameters(problem).initial_points(),
        }
        return {"description": canonical_json(description), "fingerprint": self.fingerprint("cube")}

    @functools.cached_property
    def algorithm_abouts(self) -> dict[str, dict[str, str]]:
        """What cubes hold of every algorithm for figures and tables, by label."""
        return abouts({branch.algorithm.label: branch.algorithm for branch in self.branches.values()})

    def iterations(self, problem: str) -> int:
        return self.problem_parameters(problem).rounds(self.experiment.iterations)

    def figure_inputs(self, label: str, folder: str, part: str = "") -> dict[str, str | list[str]]:
        figure = self.figures[label]
        if figure.kind.scope == "experiment":
            return {"cubes": self.cubes(part), "summary": self.summary(part)}
        parameters: Any = figure.parameters
        return parameters.inputs(FigurePaths(self, folder, part))

    def figure_roots(self, label: str, folder: str) -> list[str]:
        """Return the code that a figure starts from, but for the script: with the problem's where that is drawn."""
        drawn = [self.problems[folder].specification] if self._draws_problem(label) else []
        return named_code([self.figures[label].specification, drawn])

    def figure_parameters(self, label: str, folder: str) -> dict[str, Any]:
        described = {"specification": canonical_json(self.figures[label].specification)}
        if self._draws_problem(label):
            problem = self.problems[folder]
            described["problem"] = canonical_json({"label": folder, "specification": problem.specification})
        return {**described, "fingerprint": self.fingerprint("figure", *self.figure_roots(label, folder))}

    def _draws_problem(self, label: str) -> bool:
        return bool(getattr(self.figures[label].parameters, "draws_problem", False))

    def report_parameters(self) -> dict[str, Any]:
        # The page is made from more than code.
        digest = sha256_of()
        for path in sorted(Path(__file__).parents[1].joinpath("report").rglob("*")):
            if path.suffix in (".css", ".jinja", ".yaml"):
                digest.update(path.read_bytes())
        return {
            "experiment": canonical_json(self.describe()),
            "fingerprint": self.fingerprint("report"),
            "templates": digest.hexdigest()[:16],
        }

    def fingerprint(self, script: str, *roots: str) -> str:
        """Hash the code of a rule: its script, and classes that its parameters name."""
        return fingerprint(self.script(script), *roots)

    def script(self, name: str) -> str:
        """Return the script of a rule."""
        return f"{self.scripts.as_posix()}/{name}.py"

    def describe(self) -> dict[str, Any]:
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
        plain = self.experiment.model_dump(mode="json", exclude={"mirror", "overwrite", "checkpoint_seconds", *entries})
        for kind, components in entries.items():
            plain[kind] = [
                {"label": c.label, "name": c.registered.name, "parameters": c.parameters.model_dump(mode="json")}
                for c in components
            ]
        plain["iterations_of"] = {problem: self.iterations(problem) for problem in self.problems}
        return plain

    # What was run before

    def write_record(self, files: Sequence[str | Path] = (), overrides: Mapping[str, Any] | None = None) -> None:
        """Note the experiment, and the files and settings of the command line that it was made from."""
        made_from = {"files": [str(file) for file in files], "config": dict(overrides or {})}
        write_json(self.record, {**self.describe(), **({MADE_FROM: made_from} if files else {})})

    def refuse_to_shrink(self) -> None:
        """Raise where results of this name hold more than is asked for, and the user has not agreed to lose them.

        Raises:
            BocuError: fewer seeds or iterations than the results hold.
        """
        record = Path(self.record)
        if self.experiment.overwrite or not record.is_file():
            return
        try:
            before = json.loads(record.read_text(encoding="utf-8"))
            iterations, seeds = before["iterations_of"], Seeds.model_validate(before["seeds"])
        except (ValueError, KeyError):
            raise BocuError(f"{record}: not readable as the record of an experiment; delete it to go on") from None
        away = "give another `name`, or `overwrite: true` to replace them"
        now = self.experiment.seeds
        if seeds.first < now.first or seeds.first + seeds.count > now.first + now.count:
            raise BocuError(
                f"seeds: {now.first} to {now.first + now.count - 1} are fewer than the "
                f"{seeds.first} to {seeds.first + seeds.count - 1} that {self.results} holds; {away}"
            )
        for problem in self.problems:
            if self.iterations(problem) < iterations.get(problem, 0):
                raise BocuError(
                    f"iterations: {self.iterations(problem)} on '{problem}' are fewer than the "
                    f"{iterations[problem]} that {self.results} holds; {away}"
                )
