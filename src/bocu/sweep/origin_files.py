"""Where the files behind a number lie, and the commands that make it anew."""

import functools
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bocu.sweep.experiment.configuration import Seeds
from bocu.sweep.experiment.paths import PARTIAL, ResultPaths
from bocu.sweep.experiment.record import MADE_FROM, config_of, read_record, settings_of, trial_of

if TYPE_CHECKING:
    from bocu.pages.figures.results import CubeBranch, Results


@dataclass(frozen=True)
class OriginFiles:
    """The files of one experiment as a page links them."""

    experiment: Mapping[str, Any]  #: its configuration, plain data, from `Plan.describe`.
    results: Path  #: the folder of its results; nothing in it but small records is read.
    page: Path  #: the folder of the page, which links are relative to.

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return str(self.experiment["name"])

    @functools.cached_property
    def made_from(self) -> str:
        """The experiment file, or the name where no record says which it was."""
        files = self._made.get("files", [])
        return " ".join(shlex.quote(_short(file)) for file in files) or self.name

    @functools.cached_property
    def _settings(self) -> Mapping[str, Any]:
        """What the command line changed, but for places of one machine."""
        simulated = self._made.get("config", {}).get("data") == "simulate"
        return {**settings_of(self._record), **({"data": "simulate"} if simulated else {})}

    @property
    def trial(self) -> str:
        """How much less was run than the experiment file asks for; empty: no less."""
        return trial_of(self._record)

    @functools.cached_property
    def _record(self) -> Mapping[str, Any]:
        return read_record(self.results / "experiment.json") or {}

    @property
    def _made(self) -> Mapping[str, Any]:
        return self._record.get(MADE_FROM, {})

    @functools.cached_property
    def _per_job(self) -> Mapping[str, int]:
        return read_record(self.results / "per-job.json") or {}

    def run_folder(self, problem: str, branch: "CubeBranch") -> str:
        """Return a link to the folder of a branch's run files."""
        return self._link(self.results / "runs" / problem / branch.objective / branch.algorithm) + "/"

    def run_files(self, problem: str, branch: "CubeBranch", finished: Sequence[int]) -> list[str]:
        """Return the names of a branch's run files that hold finished seeds; none where blocks are not settled."""
        seeds: dict[str, Any] = dict(self.experiment.get("seeds") or {})
        per_job = seeds.get("per_job", 10)
        if per_job == "auto":
            per_job = self._per_job.get(f"{problem}/{branch.objective}/{branch.algorithm}")
        if per_job is None or "count" not in seeds:
            return []
        blocks = Seeds(first=seeds.get("first", 0), count=seeds["count"]).blocks(int(per_job))
        held = set(finished)
        return [f"seeds-{first}-{last}.nc" for first, last in blocks if held.intersection(range(first, last + 1))]

    def digest(self, cube: "Results") -> str:
        """Return a link to the file that a problem's curves and totals were read from."""
        return self._link(Path(cube.path))

    def run_command(self, problem: str, branch: "CubeBranch", seeds: Sequence[int]) -> str:
        """Return the command that plays the seeds of a branch anew, beside the pipeline."""
        first, count = (seeds[0], len(seeds)) if seeds else (0, 1)
        rounds = self._settings.get("iterations")
        return (
            f"bocu run --experiment {self.made_from} --problem {problem} --objective {branch.objective} "
            f"--algorithm {branch.algorithm} --seed {first} --seeds {count}"
            f"{'' if rounds is None else f' --iterations {rounds}'} --output again.nc"
        )

    def sweep_command(self) -> str:
        """Return the command that makes all of the experiment."""
        given = self._made.get("snakefile")
        outside = "" if given is None else f"--snakefile {shlex.quote(_short(given))}"
        known = f"--configfile {self.made_from}" if self.made_from != self.name else ""
        return " ".join(filter(None, ("snakemake", outside, "--cores all", known, config_of(self._settings))))

    def _link(self, path: Path) -> str:
        return Path(os.path.relpath(path, self.page)).as_posix()


def results_folder(experiment: Mapping[str, Any], cubes: Sequence[str | Path]) -> Path:
    """Return the folder of an experiment's results, given its digests or cubes, which may be partial ones."""
    if not cubes:
        return Path(ResultPaths(str(experiment["name"])).folder)
    folder = Path(cubes[0]).parent.parent
    return folder.parent if folder.name == PARTIAL.strip("/") else folder


def _short(file: str) -> str:
    """Write a file relative to the working folder where it lies below: a page of a moved project stays true."""
    path = Path(file)
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else file
