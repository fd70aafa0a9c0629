"""The parameters of jobs: what makes a file out of date when it changes, as plain canonical data.

Every job has a fingerprint among them: of its script, and of the classes that its other parameters name.
"""

import functools
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from bocu.core.errors import BocuError
from bocu.core.io.files import canonical_json
from bocu.core.loading import load
from bocu.core.parameters import nearest
from bocu.core.plain import Plain
from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.fingerprints.fingerprint import fingerprint, named_code

if TYPE_CHECKING:
    from bocu.sweep.experiment.plan import Plan

# By name: they lie above, and reach the code of runs, which other reports are not made again for.
QUESTION, BESIDE = "bocu.sweep.archive.comparing:question", "bocu.pages.archived:write_beside"


@dataclass(frozen=True)
class JobParameters:
    """The parameters of the jobs of a plan, by rule."""

    plan: "Plan"

    def script(self, name: str) -> str:
        """Return the script of a rule."""
        return f"{self.plan.scripts.as_posix()}/{name}.py"

    def fingerprint(self, script: str, *roots: str) -> str:
        """Hash the code of a rule: its script, and classes that its parameters name."""
        found = fingerprint(self.script(script), *roots)
        self.roots[found] = [self.script(script), *roots]
        return found

    @functools.cached_property
    def roots(self) -> dict[str, list[str]]:
        """What the fingerprints of jobs that were asked for, but for runs, are taken from."""
        return {}

    # Data sets

    def download(self, dataset: str, file: str) -> Plain:
        """Return those of downloading a file."""
        return {"known": self.plan.catalogue.known(dataset, file), "fingerprint": self.fingerprint("download")}

    def mirror(self, dataset: str, file: str) -> Plain:
        """Return those of copying a file from the mirror."""
        return {
            "mirror": self.plan.experiment.data.mirror,
            "known": self.plan.catalogue.known(dataset, file),
            "fingerprint": self.fingerprint("mirror"),
        }

    def simulate(self, dataset: str, file: str) -> Plain:
        """Return those of making a stand-in."""
        return {"fingerprint": self.fingerprint("simulate", f"bocu.problems.data.simulated.{dataset}:simulate")}

    def prepared(self, source: str, dataset: str, prepared: str) -> Plain:
        """Return those of preparing a data set."""
        _, record, _, minutes = self.plan.catalogue.prepared_file(source, dataset, prepared)
        function = self.plan.catalogue.record(dataset, record).prepare
        return {
            "function": function,
            "minutes": minutes,
            "origin": self.plan.catalogue.origin(dataset, record, source),
            "known": self.plan.catalogue.hashes(dataset, record, source),
            "fingerprint": self.fingerprint("prepare", function),
        }

    def table(self, dataset: str, record: str) -> Plain:
        """Return those of computing parts of a table by a simulator."""
        computed = self.plan.catalogue.record(dataset, record).computed
        assert computed is not None
        return {**computed.model_dump(), "fingerprint": self.fingerprint("table_part", computed.table)}

    def prior(self, problem: str, prior: str) -> Plain:
        """Return those of fitting a prior."""
        specifications = self.plan.priors(problem)
        if prior not in specifications:
            raise BocuError(f"{problem}: no prior '{prior}'; {nearest(prior, specifications)}")
        specification = specifications[prior]
        return {
            "specification": canonical_json(specification),
            "fingerprint": self.fingerprint("fit_prior", *named_code(specification)),
        }

    # Runs and what becomes of them

    def run(self, branch: Branch, first: int | str, last: int | str) -> Plain:
        """Return those of running a block of seeds."""
        return {
            "specification": canonical_json({**branch.specification, "seeds": [int(first), int(last)]}),
            "fingerprint": fingerprint(*self.run_roots(branch)),
        }

    def run_roots(self, branch: Branch) -> list[str]:
        """Return the code that a run starts from, script and all."""
        return [self._run_script, *branch.roots]

    @functools.cached_property
    def _run_script(self) -> str:
        return self.script("run")  # asked for by every job, several times

    def optima(self, problem: str, entry: str) -> Plain:
        """Return those of searching for the best decisions of a problem under the metrics of an entry."""
        searched = self.plan.optima(problem)
        if entry not in searched:
            raise BocuError(f"{problem}: no metric '{entry}' that is searched for; {nearest(entry, searched)}")
        of_problem = self.plan.problems[problem].specification
        metrics = [{"label": metric.label, **metric.specification} for metric in searched[entry]]
        return {
            "problem": canonical_json(of_problem),
            "metrics": canonical_json(metrics),
            "iterations": self.plan.iterations(problem),
            "seed": self.plan.experiment.seeds.first,
            **({"seeds": self.plan.experiment.seeds.count} if self.plan.weighed(problem) else {}),
            "fingerprint": self.fingerprint("optima", *named_code([of_problem, metrics])),
        }

    def score(self, branch: Branch, part: str = "") -> Plain:
        """Return those of scoring a branch."""
        metrics = [
            {"label": metric.label, **metric.specification} for metric in self.plan.metrics_of(branch.problem.label)
        ]
        parameters = {
            "branch": canonical_json(branch.specification),
            "metrics": canonical_json(metrics),
            "fingerprint": self.fingerprint("score", *self._score_roots[branch.problem.label]),
        }
        if part:
            # As inputs they would be brought up to date first; what exists is wanted, as it stands.
            existing = {file: Path(file).stat().st_mtime_ns for file in self.plan.products.existing_runs(branch)}
            parameters["runs"] = canonical_json(existing)
        return parameters

    @functools.cached_property
    def _score_roots(self) -> dict[str, list[str]]:
        return {
            label: named_code([problem.specification, [metric.specification for metric in self.plan.metrics_of(label)]])
            for label, problem in self.plan.problems.items()
        }

    def cube(self, problem: str, part: str = "") -> Plain:
        """Return those of gathering a problem's scores."""
        seeds, component = self.plan.experiment.seeds, self.plan.problems[problem]
        branches = self.plan.branches_of(problem)
        of_objectives, of_metrics = self.plan.titles
        metrics = [metric.label for metric in self.plan.metrics_of(problem)]
        description = {
            "experiment": self.plan.experiment.name,
            "problem_label": problem,
            "problem_name": component.registered.name,
            "branches": [
                {
                    "objective": branch.key[1],
                    "algorithm": branch.key[2],
                    "algorithm_name": branch.algorithm.registered.name,
                    "algorithm_about": self.plan.algorithm_abouts[branch.algorithm.label],
                    "algorithm_parameters": branch.algorithm.parameters.model_dump(mode="json"),
                    "score": self.plan.paths.score_file(branch, part),
                }
                for branch in branches
            ],
            "metrics": metrics,
            "metric_titles": {label: of_metrics[label] for label in metrics},
            "objective_titles": {branch.key[1]: of_objectives[branch.key[1]] for branch in branches},
            "metric_specifications": [metric.specification for metric in self.plan.metrics_of(problem)],
            "seeds": [seeds.first, seeds.count],
            "iterations": self.plan.iterations(problem),
            "initial": self.plan.problem_parameters(problem).initial_points(),
        }
        if swept := self._swept(problem):
            description["swept"] = swept
        return {"description": canonical_json(description), "fingerprint": self.fingerprint("cube")}

    def _swept(self, problem: str) -> Plain:
        """Return what a sweep has made of a problem and of what runs on it, as cubes have it."""
        branches, sweep = self.plan.branches_of(problem), self.plan.sweep
        entries = {
            "problem": {problem: problem},
            "objective": {branch.key[1]: branch.key[1] for branch in branches},
            "algorithm": {branch.key[2]: branch.key[2] for branch in branches},
            "metric": {metric.label: metric.entry for metric in self.plan.metrics_of(problem)},
        }
        found = {
            dim: {
                label: {"base": sweep.base(f"{dim}s", entry), "at": own}
                for label, entry in of.items()
                if (own := sweep.coordinates(f"{dim}s", entry))
            }
            for dim, of in entries.items()
        }
        return {dim: own for dim, own in found.items() if own}

    def summary(self) -> Plain:
        """Return those of the summary of all problems."""
        return {"fingerprint": self.fingerprint("summary")}

    def figure(self, label: str, folder: str) -> Plain:
        """Return those of drawing a figure."""
        figure = self.plan.figures[label]
        described = {"specification": canonical_json(figure.specification)}
        drawn = None
        if getattr(figure.parameters, "draws_problem", False):
            drawn = self.plan.problems[folder].specification
            described["problem"] = canonical_json({"label": folder, "specification": drawn})
        return {**described, "fingerprint": self.fingerprint("figure", *named_code([figure.specification, drawn]))}

    def claims(self) -> Plain:
        """Return those of judging what is claimed: the claims as they were read, so that a comment reruns nothing."""
        return {
            "experiment": self.plan.experiment.name,
            "claims": canonical_json([claim.plain() for claim in self.plan.claims]),
            "fingerprint": self.fingerprint("claims"),
        }

    def report(self) -> Plain:
        """Return those of the report."""
        # The page is made from more than code.
        digest = sha256()
        for path in sorted(Path(__file__).parents[2].joinpath("pages/report").rglob("*")):
            if path.suffix in (".css", ".jinja", ".js", ".yaml"):
                digest.update(path.read_bytes())
        asked = load(QUESTION)(self.plan) if self.plan.experiment.compare else None
        return {
            "experiment": canonical_json(self.plan.describe()),
            "fingerprint": self.fingerprint("report", *([BESIDE] if asked else [])),
            "templates": digest.hexdigest()[:16],
            **({"archive": canonical_json(asked), "beside": BESIDE} if asked else {}),
        }
