"""Time and memory of planning: dry runs of this workflow beside a bare Snakefile with as many jobs, in one run.

python tests/benchmarks/planning.py --jobs 1 100 1000 10000 --output planning.json
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


def measure(command: list[str], folder: Path) -> tuple[float, float]:
    """Give wall seconds and the peak resident memory in MB of one command."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{output}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = []
    print(f"{'run jobs':>9} {'ours s':>8} {'bare s':>8} {'ratio':>6} {'ours MB':>8} {'bare MB':>8}")
    for jobs in arguments.jobs:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "experiment.yaml").write_text(yaml.safe_dump(experiment(jobs)))
            (folder / "bare.smk").write_text(BARE.format(jobs=jobs))
            common = ["--dry-run", "--cores", "2", "--quiet", "rules"]
            bare = measure(["snakemake", "--snakefile", "bare.smk", *common], folder)
            ours = measure(
                ["snakemake", "--snakefile", str(ROOT / "Snakefile"), *common, "--configfile", "experiment.yaml"],
                folder,
            )
        row = {"jobs": jobs, "seconds": ours[0], "bare_seconds": bare[0], "mb": ours[1], "bare_mb": bare[1]}
        rows.append(row)
        ratio = ours[0] / bare[0]
        print(f"{jobs:>9} {ours[0]:>8.2f} {bare[0]:>8.2f} {ratio:>6.2f} {ours[1]:>8.0f} {bare[1]:>8.0f}", flush=True)
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
