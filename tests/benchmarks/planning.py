"""Time and memory of planning: dry runs of this workflow beside a bare Snakefile with as many jobs, in one run.

    python tests/benchmarks/planning.py --jobs 1 100 1000 10000 --output planning.json
    python tests/benchmarks/planning.py --jobs 1000 10000 --finished

With --finished, dry runs of sweeps whose files all stand: nothing is to be done. The files are empty; Snakemake looks
at their names, times and records only. Each number is the median of `--repeats`; seconds are those of the processor,
which other work on the machine disturbs least (by the clock they are the same on an idle one, and stand in `--output`).
Ratios are of neighbouring pairs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from bocu.sweep.experiment.planning import make_plan

ROOT = Path(__file__).parents[2]

BARE = """
N = {jobs}
rule all:
    input: "all.txt"
rule gather:
    input: expand("scores/{{i}}.nc", i=range(max(1, N // 10)))
    output: "all.txt"
    shell: "touch {{output}}"
rule score:
    input: lambda w: [f"runs/{{i}}.nc" for i in range(int(w.i) * 10, min(N, int(w.i) * 10 + 10))]
    output: "scores/{{i}}.nc"
    shell: "touch {{output}}"
rule run:
    output: "runs/{{i}}.nc"
    shell: "touch {{output}}"
"""


def experiment(jobs: int) -> dict:
    """Hills on many grids, in blocks of ten seeds: ten blocks a branch, ten algorithms a problem."""
    blocks = min(10, jobs)
    algorithms = min(10, max(1, jobs // 10))
    problems = max(1, jobs // 100)
    return {
        "name": "planning",
        "seeds": {"count": 10 * blocks, "per_job": 10},
        "iterations": 10,
        "problems": [{"name": "hills", "label": f"hills-{i}", "parameters": {"grid": 60 + i}} for i in range(problems)],
        "algorithms": [
            {"name": "pe-gp-ucb", "label": f"a-{i}", "parameters": {"delta": (i + 1) / 100}} for i in range(algorithms)
        ],
        "figures": [],
    }


def pretend(outputs: list[str], command: list[str], folder: Path) -> None:
    """Make empty outputs, and let Snakemake record that its jobs made them."""
    for output in outputs:
        path = folder / output
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    measure([*(part for part in command if part != "--dry-run"), "--touch"], folder)


def our_outputs(jobs: int) -> list[str]:
    plan = make_plan(experiment(jobs))
    branches = plan.branches.values()
    runs = [file for branch in branches for file in plan.products.runs(branch)]
    scores = [plan.paths.score_file(branch) for branch in branches]
    table = f"{Path(plan.paths.report()).parent}/tables/final-regret.csv"
    return [*runs, *scores, *plan.products.cubes(), plan.paths.summary(), table, plan.paths.report()]


def bare_outputs(jobs: int) -> list[str]:
    scores = [f"scores/{i}.nc" for i in range(max(1, jobs // 10))]
    return [*(f"runs/{i}.nc" for i in range(jobs)), *scores, "all.txt"]


@dataclass(frozen=True)
class Usage:
    """What one command took: core seconds, seconds by the clock, peak of resident memory in MB."""

    core: float
    clock: float
    memory: float


def measure(command: list[str], folder: Path, wanted: str = "") -> Usage:
    """Run a command, which has to say what is `wanted`."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status or wanted not in output:
        sys.exit(f"{' '.join(command)} failed:\n{output}")
    return Usage(usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024)


def compare(jobs: int, finished: bool, repeats: int) -> dict[str, Any]:
    """Measure dry runs of as many run jobs, ours and bare in turn; whole, and of one run file."""
    seen: dict[str, list[Usage]] = {"bare": [], "ours": [], "bare_one": [], "ours_one": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "experiment.yaml").write_text(yaml.safe_dump(experiment(jobs)))
        (folder / "bare.smk").write_text(BARE.format(jobs=jobs))
        common = ["--dry-run", "--cores", "2", "--quiet", "rules"]
        bare = ["snakemake", "--snakefile", "bare.smk", *common]
        ours = ["snakemake", "--snakefile", str(ROOT / "Snakefile"), *common, "--configfile", "experiment.yaml"]
        if finished:
            pretend(bare_outputs(jobs), bare, folder)
            pretend(our_outputs(jobs), ours, folder)
        wanted = "Nothing to be done" if finished else ""
        for _ in range(repeats):
            seen["bare"].append(measure(bare, folder, wanted))
            seen["ours"].append(measure(ours, folder, wanted))
            # As each job of a cluster does: the whole workflow is parsed, one run is planned.
            seen["bare_one"].append(measure([*bare, "--", "runs/0.nc"], folder))
            seen["ours_one"].append(
                measure([*ours, "--", "results/planning/runs/hills-0/any/a-0/seeds-0-9.nc"], folder)
            )
    row: dict[str, Any] = {"jobs": jobs, "finished": finished}
    for kind, usages in seen.items():
        row[kind] = {name: median(getattr(usage, name) for usage in usages) for name in ("core", "clock", "memory")}
    row["ratios"] = sorted(a.core / b.core for a, b in zip(seen["ours"], seen["bare"], strict=True))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--finished", action="store_true", help="of sweeps that are done")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = []
    head = ("run jobs", "ours s", "bare s", "ratio", "least-most", "ours MB", "bare MB", "one, s", "bare one")
    line = "{:>9} {:>8} {:>8} {:>6} {:>11} {:>8} {:>8} {:>7} {:>9}"
    print(line.format(*head))
    for jobs in arguments.jobs:
        row = compare(jobs, arguments.finished, arguments.repeats)
        rows.append(row)
        seconds = [f"{row[kind]['core']:.2f}" for kind in ("ours", "bare", "ours_one", "bare_one")]
        ratios = f"{median(row['ratios']):.2f}", f"{row['ratios'][0]:.2f}-{row['ratios'][-1]:.2f}"
        memory = [f"{row[kind]['memory']:.0f}" for kind in ("ours", "bare")]
        print(line.format(jobs, *seconds[:2], *ratios, *memory, *seconds[2:]), flush=True)
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
