"""Time and memory of planning: dry runs of this workflow beside a bare Snakefile with as many jobs, in one run.

    python tests/benchmarks/planning.py --jobs 1 100 1000 10000 --output planning.json
    python tests/benchmarks/planning.py --jobs 1000 10000 --finished

With --finished, dry runs of sweeps whose files all stand: nothing is to be done. The files are empty; Snakemake looks
at their names, times and records only.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from bocu.planning import make_plan

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
    plan = make_plan(experiment(jobs), sources_file=ROOT / "data/sources.yaml")
    branches = plan.branches.values()
    runs = [file for branch in branches for file in plan.run_files(branch)]
    scores = [plan.score_file(branch) for branch in branches]
    table = f"{Path(plan.report()).parent}/tables/final-regret.csv"
    return [*runs, *scores, *plan.cubes(), plan.summary(), table, plan.report()]


def bare_outputs(jobs: int) -> list[str]:
    scores = [f"scores/{i}.nc" for i in range(max(1, jobs // 10))]
    return [*(f"runs/{i}.nc" for i in range(jobs)), *scores, "all.txt"]


def measure(command: list[str], folder: Path, wanted: str = "") -> tuple[float, float]:
    """Give wall seconds and the peak resident memory in MB of one command, which has to say what is `wanted`."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status or wanted not in output:
        sys.exit(f"{' '.join(command)} failed:\n{output}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--finished", action="store_true", help="of sweeps that are done")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = []
    head = ("run jobs", "ours s", "bare s", "ratio", "ours MB", "bare MB", "one, s", "bare one")
    print("{:>9} {:>8} {:>8} {:>6} {:>8} {:>8} {:>7} {:>9}".format(*head))
    for jobs in arguments.jobs:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "experiment.yaml").write_text(yaml.safe_dump(experiment(jobs)))
            (folder / "bare.smk").write_text(BARE.format(jobs=jobs))
            common = ["--dry-run", "--cores", "2", "--quiet", "rules"]
            bare_command = ["snakemake", "--snakefile", "bare.smk", *common]
            command = ["snakemake", "--snakefile", str(ROOT / "Snakefile"), *common, "--configfile", "experiment.yaml"]
            if arguments.finished:
                pretend(bare_outputs(jobs), bare_command, folder)
                pretend(our_outputs(jobs), command, folder)
            wanted = "Nothing to be done" if arguments.finished else ""
            bare = measure(bare_command, folder, wanted)
            ours = measure(command, folder, wanted)
            # As each job of a cluster does: the whole workflow is parsed, one run is planned.
            one = measure([*command, "--", "results/planning/runs/hills-0/any/a-0/seeds-0-9.nc"], folder)
            one_bare = measure([*bare_command, "--", "runs/0.nc"], folder)
        row = {"jobs": jobs, "seconds": ours[0], "bare_seconds": bare[0], "mb": ours[1], "bare_mb": bare[1]}
        rows.append(row | {"one_target_seconds": one[0], "one_target_bare_seconds": one_bare[0]})
        whole = f"{ours[0]:>8.2f} {bare[0]:>8.2f} {ours[0] / bare[0]:>6.2f} {ours[1]:>8.0f} {bare[1]:>8.0f}"
        print(f"{jobs:>9} {whole} {one[0]:>7.2f} {one_bare[0]:>9.2f}", flush=True)
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
