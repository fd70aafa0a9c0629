"""The files that an experiment makes, those that there are, and those that jobs are made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bocu.core.errors import BocuError
from bocu.sweep.experiment.branches import Branch, ProblemPaths
from bocu.sweep.experiment.paths import FIGURE_SUFFIXES, PARTIAL

if TYPE_CHECKING:
    from bocu.sweep.experiment.plan import Plan


@dataclass(frozen=True)
class Products:
    """The files of a plan, by stage; `part` is that of `ResultPaths`."""

    plan: "Plan"

    def priors(self) -> list[str]:
        """Return the fitted priors."""
        return [
            self.plan.inputs.problem_paths(problem).prior(prior)
            for problem in self.plan.problems
            for prior in self.plan.priors(problem)
        ]

    def optima(self, problem: str) -> list[str]:
        """Return the files of the best decisions of a problem."""
        return [self.plan.paths.optima(problem, entry) for entry in self.plan.optima(problem)]

    def runs(self, branch: Branch) -> list[str]:
        """Return the run files of a branch."""
        return [self.plan.paths.run_file(branch, first, last) for first, last in self.plan.blocks_of(branch)]

    def existing_runs(self, branch: Branch) -> list[str]:
        """Return those run files of a branch that there are."""
        return [file for file in self.runs(branch) if Path(file).is_file()]

    def scores(self, problem: str, part: str = "") -> list[str]:
        """Return the score files of a problem; of a partial one, those of branches with a run."""
        return [
            self.plan.paths.score_file(branch, part)
            for branch in self.plan.branches_of(problem)
            if not part or self.existing_runs(branch)
        ]

    def cubes(self, part: str = "") -> list[str]:
        """Return the cubes of the problems; of a partial experiment, of those with a run."""
        return [self.plan.paths.cube(problem, part) for problem in self.plan.problems if self.scores(problem, part)]

    def digests(self, part: str = "") -> list[str]:
        """Return the digests of the cubes."""
        return [self.plan.paths.digest(Path(cube).stem, part) for cube in self.cubes(part)]

    def figures(self, suffix: str, part: str = "") -> list[str]:
        """Return the figures; of a partial experiment, those that need nothing but its cubes."""
        cubes = self.cubes(part)
        return [
            self.plan.paths.figure(label, folder, suffix, part)
            for label, folders in self.plan.figure_problems.items()
            for folder in folders
            if not part or self._drawn_from_cubes(label, folder, cubes)
        ]

    def _drawn_from_cubes(self, label: str, folder: str, cubes: Sequence[str]) -> bool:
        if self.plan.figures[label].kind.scope == "experiment":
            # What compares with an algorithm needs a cube of a problem that it belongs to.
            reference = getattr(self.plan.figures[label].parameters, "reference", None)
            known = {branch.algorithm.label for cube in cubes for branch in self.plan.branches_of(Path(cube).stem)}
            return bool(cubes) and (reference is None or reference in known)
        cube = self.plan.paths.cube(folder, PARTIAL)
        needed = list(self.plan.inputs.figure(label, folder, PARTIAL).values())
        return cube in cubes and needed in ([cube], [self.plan.paths.digest(folder, PARTIAL)])

    def claims(self, part: str = "") -> list[str]:
        """Return the verdicts on claims, if any file of claims is named."""
        return [self.plan.paths.claims(part)] if self.plan.claims else []

    def audits(self, part: str = "") -> list[str]:
        """Return what `bocu audit` found, if there is an audit of the whole: what the report shows besides."""
        return [self.plan.paths.audit] if not part and Path(self.plan.paths.audit).is_file() else []

    def compared(self, part: str = "") -> list[str]:
        """Return what results are compared with the archive from, if they are: cubes, and the files of problems."""
        if not self.plan.experiment.compare:
            return []
        return list(dict.fromkeys([*self.cubes(part), *self._problem_files()]))

    def _problem_files(self) -> list[str]:
        return [file for problem in self.plan.problems for file in flat(self.plan.inputs.problem(problem))]

    def audited(self) -> list[str]:
        """Return the files that an audit is made from: problems, runs and scores."""
        return [
            *dict.fromkeys(self._problem_files()),
            *(file for stage in ("runs", "scores") for file in self.by_stage()[stage]),
        ]

    def part_that_exists(self) -> str:
        """Return PARTIAL where there is anything to aggregate.

        Raises:
            BocuError: no run exists yet.
        """
        if not self.cubes(PARTIAL):
            raise BocuError(f"{self.plan.results}: no run file exists yet; nothing to aggregate")
        return PARTIAL

    def by_stage(self) -> dict[str, list[str]]:
        """Return every file that the experiment makes under its results, by stage, but for the report."""
        branches, designs = self.plan.branches.values(), self.plan.designs()
        optima = [file for problem in self.plan.problems for file in self.optima(problem)]
        return {
            **({"designs": [self.plan.paths.design(sha256) for sha256 in designs]} if designs else {}),
            "priors": self.priors(),
            **({"optima": optima} if optima else {}),
            "runs": [file for branch in branches for file in self.runs(branch)],
            "scores": [self.plan.paths.score_file(branch) for branch in branches],
            "cubes": [*self.cubes(), self.plan.paths.summary()],
            "digests": self.digests(),
            "figures": [file for suffix in FIGURE_SUFFIXES for file in self.figures(suffix)],
            **({"claims": self.claims()} if self.plan.claims else {}),
        }

    def every(self) -> list[str]:
        """Return all that the experiment comes to: every file, the report and its tables."""
        made = [file for files in self.by_stage().values() for file in files]
        return [*made, self.plan.paths.report(), self.plan.paths.report_tables()]

    def targets(self) -> list[str]:
        """Return the products to ask Snakemake for, so that all are made; the fewer, the sooner it has planned.

        What a missing score is made from is made unasked; runs that were deleted below a score that stands are not.
        """
        scored = [branch for branch in self.plan.branches.values() if Path(self.plan.paths.score_file(branch)).exists()]
        runs = {file for branch in self.plan.branches.values() for file in self.runs(branch)}
        runs -= {file for branch in scored for file in self.runs(branch) if not Path(file).exists()}
        return [file for file in self.every() if file not in runs]


Inputs = dict[str, str | list[str]]


def flat(inputs: Mapping[str, str | list[str]]) -> list[str]:
    """Return all paths among the inputs of a rule."""
    return [path for value in inputs.values() for path in ([value] if isinstance(value, str) else value)]


@dataclass(frozen=True)
class JobInputs:
    """What the jobs of a plan read, by rule."""

    plan: "Plan"

    def problem(self, problem: str) -> Inputs:
        """Return the files that a problem is built from; a given initial design by its copy under the results."""
        parameters = self.plan.problem_parameters(problem)
        inputs: Inputs = parameters.inputs(self.problem_paths(problem))
        if parameters.given_design is not None:
            inputs["initial"] = self.plan.paths.design(str(parameters.given_design.sha256))
        return inputs

    def problem_paths(self, problem: str) -> ProblemPaths:
        """Return the files that a problem may ask for."""
        return ProblemPaths(self.plan.paths.priors(problem), self.plan.catalogue)

    def score(self, branch: Branch, part: str = "") -> Inputs:
        """Return what a branch is scored from; the runs of a partial one are no inputs but parameters."""
        problem = branch.problem.label
        optima = self.plan.products.optima(problem)
        return {
            **self.problem(problem),
            **({"optima": optima} if optima else {}),
            "runs": [] if part else self.plan.products.runs(branch),
        }

    def prior(self, problem: str) -> Inputs:
        """Return the files that the priors of a problem are fitted to."""
        return self.plan.problem_parameters(problem).prior_inputs(self.problem_paths(problem))

    def of_problems(self) -> list[str]:
        """Return the files that problems are built from and their priors are fitted to, each once."""
        inputs = [read for problem in self.plan.problems for read in (self.problem(problem), self.prior(problem))]
        return list(dict.fromkeys(file for read in inputs for file in flat(read)))

    def figure(self, label: str, folder: str, part: str = "") -> Inputs:
        """Return the files that a figure is drawn from."""
        figure = self.plan.figures[label]
        if figure.kind.scope == "experiment":
            summary = self.plan.paths.summary(part)
            if figure.kind.digested:
                return {"digests": self.plan.products.digests(part), "summary": summary}
            return {"cubes": self.plan.products.cubes(part), "summary": summary}
        parameters: Any = figure.parameters
        return parameters.inputs(FigurePaths(self.plan, folder, part))

    def claims(self, part: str = "") -> list[str]:
        """Return the cubes that claims are judged by; of a partial experiment, those that there are."""
        about = {problem for claim in self.plan.claims for problem in claim.problems}
        return [cube for cube in self.plan.products.cubes(part) if Path(cube).stem in about]

    def mirrored(self, dataset: str, files: Sequence[str]) -> list[str]:
        """Return those files of the mirror, where there is one, that raw files are copies of."""
        folder = self.plan.experiment.data.mirror
        paths = [Path(folder, dataset, file) for file in files] if folder else []
        return [path.as_posix() for path in paths if path.is_file()]

    def prepared(self, source: str, dataset: str, prepared: str) -> dict[str, list[str]]:
        """Return what a data set is prepared from, by the name of the prepared file, such as `log-10min`."""
        return self.raw(dataset, self.plan.catalogue.prepared_file(source, dataset, prepared).record, source)

    def raw(self, dataset: str, record: str, source: str) -> dict[str, list[str]]:
        """Return what a data set is prepared from: raw files, and the files of the mirror that they are copies of."""
        raw = self.plan.catalogue.raw_paths(dataset, record, source)
        names = [Path(path).name for path in raw]
        return {"raw": raw, "mirror": self.mirrored(dataset, names) if source == "mirror" else []}


@dataclass(frozen=True)
class FigurePaths:
    """The files that a figure of one problem may ask for."""

    plan: "Plan"
    problem: str
    part: str = ""

    @property
    def cube(self) -> str:
        """The cube of the problem."""
        return self.plan.paths.cube(self.problem, self.part)

    @property
    def digest(self) -> str:
        """The digest of that cube."""
        return self.plan.paths.digest(self.problem, self.part)

    def run_files(self, algorithm_name: str) -> list[str]:
        """Return the run files of a registered algorithm, all objectives and labels, or none where it does not run."""
        return [
            file
            for branch in self.plan.branches_of(self.problem)
            if branch.algorithm.registered.name == algorithm_name
            for file in self.plan.products.runs(branch)
        ]

    def problem_inputs(self) -> Inputs:
        """Return the files that the problem is built from."""
        return self.plan.inputs.problem(self.problem)
