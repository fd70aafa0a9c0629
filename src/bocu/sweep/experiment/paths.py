"""Every path of an experiment, made in one class and nowhere else, and where the workflow lies.

Paths are texts, relative to the working folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bocu.sweep.experiment.branches import Branch


PARTIAL = "/partial"
FIGURE_SUFFIXES = ("csv", "png", "svg", "pdf", "json")
RESULTS = "results"
RUN_CACHE = f"{RESULTS}/.run-cache"  # no experiment has this name: a label begins with a letter or digit


def checkpoint_folder(run_file: str | Path) -> Path:
    """Return the folder of the checkpoints of a run file: `checkpoints` in the place of `runs`."""
    path = Path(run_file)
    return path.parents[4].joinpath("checkpoints", *path.parts[-4:-1], path.stem)


def log_file(run_file: str | Path) -> Path:
    """Return the log of a run file: `logs/runs` in the place of `runs`."""
    path = Path(run_file)
    return path.parents[4].joinpath("logs", *path.parts[-5:-1], f"{path.stem}.log")


def block_name(branch: Branch, first: int, last: int) -> str:
    """Return the name of a block of seeds, such as `hills/any/random/seeds-0-9`."""
    return f"{'/'.join(branch.key)}/seeds-{first}-{last}"


@dataclass(frozen=True)
class ResultPaths:
    """Where the files of an experiment lie.

    A `part` is "" for what the whole experiment comes to, and PARTIAL for what exists of it so far.
    """

    experiment: str  #: its name.

    @property
    def folder(self) -> str:
        """The folder of all files."""
        return f"{RESULTS}/{self.experiment}"

    @property
    def record(self) -> str:
        """The experiment as it was last run: what a smaller one may not replace unasked."""
        return f"{self.folder}/experiment.json"

    @property
    def audit(self) -> str:
        """What `bocu audit` found."""
        return f"{self.folder}/audit.json"

    @property
    def per_job(self) -> str:
        """Seeds of a block by branch, as they were settled."""
        return f"{self.folder}/per-job.json"

    def design(self, sha256: str) -> str:
        """Return the copy of a given initial design, under the hash of what it holds: a moved file reruns nothing."""
        return f"{self.folder}/designs/{sha256}.csv"

    def priors(self, problem: str) -> str:
        """Return the folder of the fitted priors of a problem."""
        return f"{self.folder}/priors/{problem}"

    def optima(self, problem: str, entry: str) -> str:
        """Return the best decisions of a problem under the metrics of an entry, on discretised contexts."""
        return f"{self.folder}/optima/{problem}/{entry}.nc"

    def run_file(self, branch: Branch, first: int, last: int) -> str:
        """Return the run file of a block of seeds."""
        return f"{self.folder}/runs/{block_name(branch, first, last)}.nc"

    def checkpoint(self, branch: Branch, first: int, last: int) -> str:
        """Return the folder of a block's checkpoints."""
        return checkpoint_folder(self.run_file(branch, first, last)).as_posix()

    def log(self, branch: Branch, first: int, last: int) -> str:
        """Return the log of a block's job."""
        return log_file(self.run_file(branch, first, last)).as_posix()

    def score_file(self, branch: Branch, part: str = "") -> str:
        """Return the scores of a branch."""
        return f"{self.folder}{part}/scores/{'/'.join(branch.key)}.nc"

    def cube(self, problem: str, part: str = "") -> str:
        """Return the cube of a problem."""
        return f"{self.folder}{part}/cubes/{problem}.nc"

    def digest(self, problem: str, part: str = "") -> str:
        """Return the digest of a problem's cube."""
        return f"{self.folder}{part}/digests/{problem}.nc"

    def summary(self, part: str = "") -> str:
        """Return the cube of all problems."""
        return f"{self.folder}{part}/cubes/summary.nc"

    def figure(self, label: str, folder: str, suffix: str, part: str = "") -> str:
        """Return a figure's picture or description, by its suffix."""
        return f"{self.folder}{part}/figures/{folder}/{label}.{suffix}"

    def claims(self, part: str = "") -> str:
        """Return the verdicts on what is claimed of the experiment."""
        return f"{self.folder}{part}/claims/verdicts.json"

    def report(self, part: str = "") -> str:
        """Return the first page of the report."""
        return f"{self.folder}{part}/report/index.html"

    def beside_archive(self, part: str = "") -> str:
        """Return the description of the figure that shows results beside the archive, among the report's tables."""
        return f"{self.report_tables(part)}/beside-the-archive.json"

    def report_tables(self, part: str = "") -> str:
        """Return the folder of the report's tables."""
        return f"{self.folder}{part}/report/tables"


SCRIPTS = "workflow/scripts"
LAID_OUT = Path(__file__).parents[1] / "laid_out"  # links to a clone, or what a wheel holds


def scripts_beside(sources_file: str | Path | None) -> Path:
    """Return the folder of scripts that goes with a catalogue, or else the one at hand."""
    beside = None if sources_file is None else Path(sources_file).parent.parent / SCRIPTS
    return beside if beside is not None and beside.is_dir() else in_clone(SCRIPTS)


def in_clone(path: str | Path) -> Path:
    """Return a file or folder of the workflow: as it lies in the working folder, else as it came with the package."""
    return Path(path) if Path(path).exists() else (LAID_OUT / path).resolve()


def of_clone(path: str | Path) -> list[Path]:
    """Return where a file or folder of the workflow may lie, links followed: here, and where it was installed."""
    return [Path(path).resolve(), (LAID_OUT / path).resolve()]
