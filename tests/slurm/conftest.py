"""Sweeps submitted to the SLURM that answers here; without one, these tests are skipped aloud."""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
CUBE = "results/tiny/cubes/hills.nc"

# A cluster this small needs no gentle pace; it has neither accounts nor an accounting data base.
HERE = (
    "--default-resources=slurm_partition=debug",
    "--slurm-no-account",
    "--slurm-status-command=squeue",
    "--slurm-init-seconds-before-status-checks=1",
    "--seconds-between-status-checks=1",
    "--latency-wait=10",
)


def _wait_until(condition: Callable[[], Any], what: str, seconds: float = 120.0) -> Any:
    """Return what `condition` gives as soon as it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    pytest.fail(f"waited {seconds:.0f} s in vain for {what}")


@dataclass
class Sweep:
    """One working folder, worked on locally or through SLURM.

    Attributes:
        folder: the working folder.
        started: Snakemakes that may still run.
        submits: whether any of them may have left jobs in SLURM's queue.
    """

    folder: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)
    submits: bool = False

    def configure(self, experiment: dict[str, Any]) -> None:
        (self.folder / "experiment.yaml").write_text(yaml.safe_dump(experiment))

    def command(self, *arguments: str, slurm: bool) -> list[str]:
        where = ["--workflow-profile", str(ROOT / "profiles/slurm"), *HERE] if slurm else ["--cores", "2"]
        options = [argument for argument in arguments if argument.startswith("--")]
        targets = [argument for argument in arguments if not argument.startswith("--")]
        base = [str(BIN / "snakemake"), "--snakefile", str(ROOT / "Snakefile"), "--configfile", "experiment.yaml"]
        return [*base, *where, *options, "--", *targets]

    def start(self, *arguments: str, slurm: bool = True) -> subprocess.Popen[str]:
        self.submits |= slurm
        environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        output = (self.folder / f"snakemake-{len(self.started)}.txt").open("w")
        child = subprocess.Popen(
            self.command(*arguments, slurm=slurm),
            cwd=self.folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.started.append(child)
        return child

    def wait(self, seconds: float = 400.0) -> str:
        """Wait for the Snakemake started last; give what it wrote, its exit status in the last line."""
        status = self.started[-1].wait(seconds)
        return f"{self.written()}\nexit status {status}"

    def written(self) -> str:
        return (self.folder / f"snakemake-{len(self.started) - 1}.txt").read_text()

    def run(self, *arguments: str, slurm: bool = True, check: bool = True) -> str:
        self.start(*arguments, slurm=slurm)
        text = self.wait()
        if check and not text.endswith("exit status 0"):
            pytest.fail(text)
        return text

    def jobs(self, state: str = "RUNNING") -> list[str]:
        """Return the SLURM jobs of this folder in a state."""
        listing = ["squeue", "--noheader", "--states=all", "--format=%i|%T|%Z"]
        lines = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.splitlines()
        rows = [line.split("|") for line in lines]
        return [number for number, found, folder in rows if found == state and folder == str(self.folder)]

    def processes(self) -> list[tuple[int, list[bytes]]]:
        """Return the processes that work in this folder, with their command lines."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):  # it ended, or is not ours to look at
                if entry.name.isdigit() and (entry / "cwd").readlink() == self.folder:
                    found.append((int(entry.name), (entry / "cmdline").read_bytes().split(b"\0")))
        return found

    def run_processes(self) -> list[int]:
        """Return the processes of this folder that compute a block of runs."""
        # Not the shell and the Snakemake around them, whose command lines name no script of their own.
        return [
            number
            for number, words in self.processes()
            if len(words) > 1 and re.search(rb"python[\d.]*$", words[0]) and words[1].endswith(b"run.py")
        ]

    def checkpoints(self) -> list[Path]:
        return sorted(self.folder.glob("results/tiny/checkpoints/**/generation-*"))

    def log(self) -> str:
        """Return the logs of the runs."""
        return "".join(log.read_text() for log in self.folder.glob("results/tiny/logs/runs/**/*.log"))

    def leftovers(self) -> list[Path]:
        return [path for path in self.folder.glob("results/**/.*.tmp") if path.is_file()]

    def clean_up(self) -> None:
        for child in self.started:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        if self.submits:
            for number in self.jobs() + self.jobs("PENDING"):
                subprocess.run(["scancel", number], check=False)
            _wait_until(lambda: not self.jobs() + self.jobs("COMPLETING"), "SLURM to end the jobs")
        # Without cgroups SLURM loses sight of processes whose parents it has ended.
        for process, _ in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


@pytest.fixture(scope="session")
def cluster() -> str:
    """The node of the SLURM that answers here."""
    if not importlib.util.find_spec("snakemake_executor_plugin_slurm"):
        pytest.skip("Snakemake's SLURM plug-in is not installed (pip install --requirement requirements-slurm.txt)")
    if not shutil.which("sinfo"):
        pytest.skip("no SLURM here: sinfo is not installed (.ci/start-slurm sets one up)")
    found = subprocess.run(["sinfo", "--noheader", "--format=%N %T"], capture_output=True, text=True)
    if found.returncode or not found.stdout.strip():
        pytest.skip(f"no SLURM answers (.ci/start-slurm starts one): {found.stderr.strip()}")
    node, state = found.stdout.split()[:2]
    if state.rstrip("*") not in ("idle", "mixed", "allocated"):
        pytest.skip(f"the node {node} of the SLURM here is {state} (.ci/start-slurm resumes it)")
    return node


@pytest.fixture
def wait_until() -> Callable[..., Any]:
    return _wait_until


@pytest.fixture
def sweep(tmp_path: Path) -> Iterator[Sweep]:
    made = Sweep(tmp_path)
    yield made
    made.clean_up()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Any]], Path]:
    """Return the cube of an experiment that ran locally and alone."""
    done: dict[str, Path] = {}

    def cube(experiment: dict[str, Any]) -> Path:
        # The interval of checkpoints has no bearing on numbers: one undisturbed run serves all.
        plain = {**experiment, "checkpoint_seconds": 1000}
        key = yaml.safe_dump(plain)
        if key not in done:
            made = Sweep(tmp_path_factory.mktemp("undisturbed"))
            made.configure(plain)
            made.run("--executor=warm", CUBE, slurm=False)
            done[key] = made.folder / CUBE
        return done[key]

    return cube
