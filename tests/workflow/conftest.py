"""The real pipeline in a folder of its own."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from starter import starter

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
TIMEOUT = 600.0
# What a command is to Python.
PYTHON = {"snakemake": [str(BIN / "snakemake")], "bocu": [str(BIN / "bocu")], "python": [], sys.executable: []}
# What a job does is the same under the local executor, which takes a second more for each: test_warm_jobs.py.
WARM = ("--cores", "2", "--executor", "warm")


@dataclass
class Pipeline:
    """Runs commands in one working directory.

    Attributes:
        folder: the working directory; results and data land in it.
        environment: variables that differ from this process's.
        cold: whether each command starts an interpreter of its own, which takes two seconds.
    """

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    cold: bool = False

    def run(self, *command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        words = [str(part) for part in command]
        environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **self.environment}
        if (begun := PYTHON.get(words[0])) is not None and not self.cold and (started := starter()):
            done = started.run([*begun, *words[1:]], self.folder, environment, TIMEOUT)
        else:
            done = subprocess.run(
                words, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT
            )
        if check and done.returncode:
            pytest.fail(f"{' '.join(map(str, command))}\nexited with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def snakemake(self, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run("snakemake", "--snakefile", ROOT / "Snakefile", *WARM, *arguments, check=check)

    def configuration(self, experiment: dict[str, Any], name: str = "experiment.yaml") -> Path:
        path = self.folder / name
        path.write_text(yaml.safe_dump(experiment))
        return path

    def planned(self, *arguments: str | Path) -> dict[str, int]:
        """Count the jobs of a dry run by rule."""
        lines = self.snakemake("--dry-run", *arguments).stdout.splitlines()
        counts = {}
        for line in lines:
            words = line.split()
            if len(words) == 2 and words[1].isdigit() and words[0] != "total":
                counts[words[0]] = int(words[1])
        return counts


def clone_in(folder: Path, experiment: dict[str, Any]) -> Pipeline:
    """A copy of the workflow and the library with the finished results of an experiment."""
    for name in ("Snakefile", "data/sources.yaml"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("workflow", "profiles", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    pipeline = Pipeline(folder, {"PYTHONPATH": str(folder / "src")})
    pipeline.configuration(experiment)
    pipeline.run("snakemake", *WARM, "--configfile", "experiment.yaml")
    return pipeline


def would_make(clone: Pipeline) -> str:
    """Return what a dry run in a copy of the workflow tells."""
    # By no profile, for its logger tells jobs in other words; with that profile's triggers.
    triggers = ("--rerun-triggers", "mtime", "input", "params", "software-env", "--workflow-profile", "none")
    return clone.run("snakemake", "--cores", "2", "--configfile", "experiment.yaml", "--dry-run", *triggers).stdout


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return Pipeline(tmp_path)
