"""The share of core time that is spent inside runs: measured on a shortened sweep, extrapolated to whole ones.

python tests/benchmarks/overhead.py             # this machine's cores
python tests/benchmarks/overhead.py --slurm     # through profiles/slurm, where a SLURM answers

The sweep is hills under three algorithms, made in two steps: the runs, then scores and cube; a third call finds nothing
to do and gives what Snakemake itself takes. What the run files say they took is time inside runs. The rest of the first
step (on SLURM: of the time that the run jobs held their cores) is the overhead a run job; all of the second is the
overhead a branch. The model for a sweep of B branches of J jobs each, S seconds inside each job:

    share = B x J x S / (B x J x (S + overhead a job) + B x overhead a branch + overhead a sweep)
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import xarray as xr
import yaml

from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.resources import START_SECONDS, estimate

ROOT = Path(__file__).parents[2]
ALGORITHMS = ("random", "mle", "pe-gp-ucb")
CUBE = "results/shortened/cubes/hills.nc"
SLURM = (
    "--workflow-profile",
    str(ROOT / "profiles/slurm"),
    "--slurm-no-account",
    "--slurm-status-command=squeue",
    "--slurm-init-seconds-before-status-checks=1",
    "--seconds-between-status-checks=1",
)


@dataclass
class Overhead:
    """Seconds of core time outside runs."""

    job: float
    branch: float
    sweep: float

    def share(self, branches: int, jobs: float, seconds: float) -> float:
        inside = branches * jobs * seconds
        return inside / (inside + branches * jobs * self.job + branches * self.branch + self.sweep)


def shortened(blocks: int, rounds: int) -> dict:
    return {
        "name": "shortened",
        "seeds": {"count": 2 * blocks, "per_job": 2},
        "iterations": rounds,
        "problems": ["hills"],
        "algorithms": list(ALGORITHMS),
        "figures": [],
    }


def snakemake(folder: Path, *arguments: str, slurm: bool, cores: int) -> float:
    """Run the workflow; give the wall seconds."""
    where = [*SLURM, "--default-resources", "slurm_partition=debug"] if slurm else ["--cores", str(cores)]
    command = ["snakemake", "--snakefile", str(ROOT / "Snakefile"), "--configfile", "experiment.yaml", *where]
    start = time.perf_counter()
    done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.perf_counter() - start


def held_seconds(folder: Path) -> dict[str, float]:
    """Return the seconds that the SLURM jobs of a folder held their core, by rule; SLURM counts whole seconds."""
    text = subprocess.run(["scontrol", "--oneliner", "show", "job"], capture_output=True, text=True, check=True).stdout
    held: dict[str, float] = {}
    for line in text.splitlines():
        if f"WorkDir={folder}" in line.split():
            start, end = (
                datetime.fromisoformat(re.search(rf"\b{key}=(\S+)", line)[1]) for key in ("StartTime", "EndTime")
            )
            rule = re.search(r"Comment=rule_([a-z]+)", line)[1]
            held[rule] = held.get(rule, 0.0) + (end - start).total_seconds()
    return held


def measure(blocks: int, rounds: int, slurm: bool, cores: int) -> Overhead:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "experiment.yaml").write_text(yaml.safe_dump(shortened(blocks, rounds)))
        first = snakemake(folder, "--until", "run", "--", CUBE, slurm=slurm, cores=cores)
        files = sorted(folder.glob("results/shortened/runs/**/*.nc"))
        inside = 0.0
        for file in files:
            with xr.open_dataset(file) as data:
                inside += data.attrs["wall_seconds"]
        second = snakemake(folder, "--", CUBE, slurm=slurm, cores=cores)
        idle = snakemake(folder, "--", CUBE, slurm=False, cores=cores)
        if slurm:
            held = held_seconds(folder)
            outside, after, own = held["run"] - inside, held["score"] + held["cube"], 0.0  # Snakemake: another node
        else:
            outside, after, own = cores * (first - idle) - inside, cores * (second - idle), cores * idle
        found = Overhead(outside / len(files), after / len(ALGORITHMS), own)
        print(f"{len(files)} run jobs, {len(ALGORITHMS)} branches, {cores if not slurm else 1} core(s) each")
        print(f"wall: runs {first:.1f} s, scores and cube {second:.1f} s; inside runs {inside:.1f} core s")
        print(f"overhead a run job {found.job:.2f} s, a branch {found.branch:.2f} s, a sweep {found.sweep:.2f} s")
        print(f"share of this sweep: {inside / (inside + outside + after + own):.1%}")
        return found


def paper(rounds: int | None, per_job: int) -> list[tuple[str, int, float, float]]:
    """Return the branches of ziomek2025 as (name, branches, jobs a branch, estimated seconds inside a job)."""
    file = ROOT / "config/experiments/ziomek2025.yaml"
    changes = {"data": "simulate", "seeds": {"count": 30, "per_job": per_job}}
    if rounds is not None:
        changes["iterations"] = rounds
    plan = make_plan({**read_experiment_file(file), **changes}, [file])
    seconds = [estimate(branch, per_job).seconds - START_SECONDS for branch in plan.branches.values()]
    name = "ziomek2025" + ("" if rounds is None else f", {rounds} rounds")
    return [(name, len(seconds), 30 / per_job, sum(seconds) / len(seconds))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--blocks", type=int, default=6, help="blocks of two seeds a branch")
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    overhead = measure(arguments.blocks, arguments.rounds, arguments.slurm, arguments.cores)
    print(f"a job is 95 % run where it computes for {19 * overhead.job:.0f} s")
    sweeps = [
        *paper(None, 15),
        *paper(None, 30),
        *paper(5000, 30),
        ("runs of 25 s, 10 seeds a job", 50, 10.0, 250.0),
        ("runs of 25 s, 1 seed a job", 50, 100.0, 25.0),
    ]
    print(f"{'sweep':>30} {'branches':>8} {'jobs':>5} {'s a job':>8} {'share':>6}")
    for name, branches, jobs, seconds in sweeps:
        share = overhead.share(branches, jobs, seconds)
        print(f"{name:>30} {branches:>8} {branches * jobs:>5.0f} {seconds:>8.1f} {share:>6.1%}")
    if arguments.output:
        arguments.output.write_text(json.dumps(overhead.__dict__) + "\n")


if __name__ == "__main__":
    main()
