"""A whole sweep, through to its report: what it takes, by stage, and how much of it is inside ask and tell.

python tests/benchmarks/whole.py                                        # 100,000 runs: 32 problems, 5 algorithms
python tests/benchmarks/whole.py --file config/config.yaml --cores 2    # that of an experiment file
python tests/benchmarks/whole.py --finished results/tay2024             # of a sweep that stands already

Counted: wall seconds; processor seconds of all processes, and of Snakemake's own; its largest memory; for each stage
the jobs, what they lasted and took by their benchmarks, and the largest memory of one; files and bytes by folder; and
the seconds that the run files account for as inside ask and tell, and as inside runs, which record recommendations
too: as a share of what jobs lasted, of what run jobs lasted, and of the time of all cores.
"""

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import yaml
from netCDF4 import Dataset
from warm import of_process

ROOT = Path(__file__).parents[2]


def hundred_thousand(seeds: int, rounds: int) -> dict:
    """Return an experiment of 32 problems x 5 algorithms x seeds; 625 make 100,000 runs."""
    hills = "problems.hills"
    return {
        "name": "whole",
        "seeds": {"first": 0, "count": seeds, "per_job": "auto"},
        "iterations": rounds,
        "problems": ["hills"],
        "sweep": {
            "length": {"of": f"{hills}.kernel_lengthscale", "values": [0.1, 0.2, 0.3, 0.4]},
            "noise": {"of": f"{hills}.noise", "values": [0.05, 0.2]},
            "variance": {"of": f"{hills}.kernel_variance", "values": [0.0001, 0.01]},
            "height": {"of": f"{hills}.high", "values": [1, 1.5]},
        },
        "algorithms": ["regret-balancing", "fully-bayesian", "mle", "pe-gp-ucb", "random"],
        "metrics": ["so"],
        "figures": [
            {"name": "regret"},
            {
                "name": "region",
                "label": "ahead-of-mle",
                "parameters": {
                    "title": "PE-GP-UCB has less regret than MLE",
                    "check": "final(pe-gp-ucb) < final(mle)",
                    "x": "length",
                    "y": "noise",
                    "columns": "height",
                    "rows": "variance",
                },
            },
        ],
    }


def run(folder: Path, file: Path, name: str, executor: str, cores: int) -> float:
    """Make a sweep from the first job to its report, and print what it took. Returns wall seconds."""
    command = [
        "snakemake",
        "--snakefile",
        str(ROOT / "Snakefile"),
        "--workflow-profile",
        str(ROOT / "profiles/default"),
    ]
    command += ["--configfile", str(file), "--cores", str(cores), "--executor", executor]
    start = time.perf_counter()
    with (folder / "snakemake.txt").open("w") as output:
        child = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    benchmarks = folder / "results" / name / "benchmarks"
    planning = own = memory = planned = 0.0
    while child.poll() is None:
        own, memory = of_process(child.pid, own, memory)
        if not planned and benchmarks.exists():
            planning, planned = own, memory
        time.sleep(0.2)
    wall = time.perf_counter() - start
    if child.returncode:
        sys.exit((folder / "snakemake.txt").read_text()[-3000:])
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{wall:.0f} s on {cores} cores; processor time {usage.ru_utime + usage.ru_stime:.0f} s", end="")
    print(f", of which Snakemake's own {own:.1f} s ({planning:.1f} s before the first job)")
    print(f"Snakemake's largest memory {memory:.0f} MB ({planned:.0f} MB before the first job)")
    return wall


def jobs(results: Path) -> Iterator[tuple[str, float, float, float]]:
    """Yield stage, seconds, processor seconds and peak in MB of every benchmarked job."""
    benchmarks = results / "benchmarks"
    for file in benchmarks.rglob("*.tsv"):
        with file.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, delimiter="\t"):
                taken = [
                    float(row[key]) if row[key] not in ("NA", "-") else 0.0 for key in ("s", "cpu_time", "max_rss")
                ]
                yield file.relative_to(benchmarks).parts[0].removesuffix(".tsv"), *taken


def inside(results: Path) -> tuple[int, float, float]:
    """Return the number of runs, and the seconds of all inside ask and tell and inside the runs."""
    runs, told, whole = 0, 0.0, 0.0
    for file in results.glob("runs/**/*.nc"):
        with Dataset(file) as data:
            runs += data["seconds"].shape[0]
            told += float(data["seconds"][:].sum())
            whole += float(data.wall_seconds)
    return runs, told, whole


def report(results: Path, wall: float, cores: int) -> None:
    """Print stages, disk and shares of a sweep that stands; wall 0 where it is not known."""
    stages: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for stage, *taken in jobs(results):
        stages[stage].append((taken[0], taken[1], taken[2]))
    print(f"{'stage':>10} {'jobs':>6} {'lasted, s':>10} {'processor, s':>13} {'largest, MB':>12}")
    for stage, found in stages.items():
        lasted, took, peaks = zip(*found, strict=True)
        print(f"{stage:>10} {len(found):>6} {sum(lasted):>10.1f} {sum(took):>13.1f} {max(peaks):>12.0f}")
    for entry in sorted(results.iterdir()):
        files = [file for file in entry.rglob("*") if file.is_file()] if entry.is_dir() else [entry]
        print(f"{entry.name:>24} {len(files):>6} files {sum(file.stat().st_size for file in files) / 1e6:>10.1f} MB")
    runs, told, whole = inside(results)
    held = sum(lasted for found in stages.values() for lasted, _, _ in found)
    in_runs = sum(lasted for lasted, _, _ in stages["runs"])
    print(f"{runs} runs")
    for label, seconds in (("ask and tell", told), ("runs", whole)):
        print(f"inside {label} {seconds:.1f} s: {seconds / held:.1%} of all jobs, {seconds / in_runs:.1%} of", end="")
        print(" run jobs" + (f", {seconds / (cores * wall):.1%} of {cores} cores" if wall else ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=625, help="of the sweep of this benchmark")
    parser.add_argument("--rounds", type=int, default=20, help="likewise")
    parser.add_argument("--file", type=Path, help="experiment file, in place of that sweep")
    parser.add_argument("--finished", type=Path, help="results/NAME, in place of a new sweep")
    parser.add_argument("--folder", type=Path, help="an empty one to work in and keep, in place of a temporary one")
    parser.add_argument("--executor", default="warm")
    parser.add_argument("--cores", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.finished:
        report(arguments.finished, 0.0, 0)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        file = arguments.file.resolve() if arguments.file else folder / "experiment.yaml"
        if arguments.file is None:
            file.write_text(yaml.safe_dump(hundred_thousand(arguments.seeds, arguments.rounds)))
        name = yaml.safe_load(file.read_text())["name"]
        wall = run(folder, file, name, arguments.executor, arguments.cores)
        report(folder / "results" / name, wall, arguments.cores)


if __name__ == "__main__":
    main()
