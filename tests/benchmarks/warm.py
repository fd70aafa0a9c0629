"""Many small jobs under the local executor and under `--executor warm`: jobs a second, and what they cost.

python tests/benchmarks/warm.py                                   # 200 jobs of few rounds, under each
python tests/benchmarks/warm.py --jobs 10000 --rounds 6000        # jobs of about a second: hours on few cores
python tests/benchmarks/warm.py --jobs 100000 --executors warm    # hours, too

Each job is one seed of hills under one algorithm, as a sweep has it (checkpoint lock, log, benchmark, run cache, sealed
NetCDF file). Counted: wall seconds; processor seconds of all processes a job; those of Snakemake's own process a job,
planning left out and planning; its largest memory; and the share of the cores' time that the run files account for as
inside runs.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from bocu.io.files import read_netcdf

ROOT = Path(__file__).parents[2]
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Measured:
    """One sweep of run jobs.

    Attributes:
        wall: seconds from the first job to the last.
        planning: processor seconds of Snakemake's process before the first job.
        own: processor seconds of Snakemake's process from then on.
        all: processor seconds of all processes from then on.
        inside: seconds inside runs, by the run files.
        memory: largest of Snakemake's process, MB.
    """

    wall: float
    planning: float
    own: float
    all: float
    inside: float
    memory: float


def experiment(jobs: int, rounds: int, algorithm: str) -> dict:
    return {
        "name": "many",
        "seeds": {"count": jobs, "per_job": 1},
        "iterations": rounds,
        "problems": [{"name": "hills", "parameters": {"grid": 60}}],
        "algorithms": [algorithm],
        "figures": [],
    }


def measure(folder: Path, executor: str, jobs: int, cores: int) -> Measured:
    command = ["snakemake", "--snakefile", str(ROOT / "Snakefile"), "--configfile", "experiment.yaml"]
    command += ["--cores", str(cores), "--executor", executor, "--until", "run", "--", "results/many/cubes/hills.nc"]
    before = _children()
    with (folder / "snakemake.txt").open("w") as output:
        child = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    runs = folder / "results/many/benchmarks/runs"
    planning = own = memory = begun = 0.0
    while child.poll() is None:
        own, memory = of_process(child.pid, own, memory)
        if not begun and runs.exists():
            planning, begun = own, time.perf_counter()
        time.sleep(0.05)
    wall = time.perf_counter() - begun
    if child.returncode:
        sys.exit((folder / "snakemake.txt").read_text())
    files = list(folder.glob("results/many/runs/**/seeds-*.nc"))
    assert len(files) == jobs
    inside = sum(float(read_netcdf(file).attrs["wall_seconds"]) for file in files)
    return Measured(wall, planning, own - planning, _children() - before - planning, inside, memory)


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def of_process(process: int, own: float, memory: float) -> tuple[float, float]:
    """Return processor seconds and largest memory of a process alone; what they were where it has ended."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return own, memory
    peaks = [int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")]
    return (int(words[11]) + int(words[12])) / _TICKS, peaks[0] if peaks else memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--algorithm", default="random")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--executors", nargs="+", default=["local", "warm"])
    arguments = parser.parse_args()
    print(f"{arguments.jobs} jobs of {arguments.rounds} rounds on {arguments.cores} cores")
    print(f"{'':>8} {'jobs/s':>8} {'ms a job':>9} {'core ms a job':>14} {'Snakemake, ms a job':>20}", end="")
    print(f" {'planning, s':>12} {'its MB':>7} {'inside runs':>12}")
    for executor in arguments.executors:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            given = experiment(arguments.jobs, arguments.rounds, arguments.algorithm)
            (folder / "experiment.yaml").write_text(yaml.safe_dump(given))
            found = measure(folder, executor, arguments.jobs, arguments.cores)
        each = 1000 / arguments.jobs
        print(
            f"{executor:>8} {arguments.jobs / found.wall:>8.1f} {found.wall * each:>9.0f} {found.all * each:>14.0f}",
            end="",
        )
        print(f" {found.own * each:>20.1f} {found.planning:>12.1f} {found.memory:>7.0f}", end="")
        print(f" {found.inside / (arguments.cores * found.wall):>12.1%}")


if __name__ == "__main__":
    main()
