"""The files that jobs are made from. None is opened."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bocu.sweep.experiment.branches import Branch, ProblemPaths

if TYPE_CHECKING:
    from bocu.sweep.experiment.plan import Plan

Inputs = dict[str, str | list[str]]


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
