"""Many small jobs under the local executor and under `--executor warm`: jobs a second, and what they cost.

python tests/benchmarks/warm.py                                       # 200 jobs of few rounds, under each
python tests/benchmarks/warm.py --jobs 10000 --rounds 20000 --executors warm --minutes 25  # a second each
python tests/benchmarks/warm.py --jobs 100000 --least --executors warm                # as little as a job can be

Each job is one seed of hills under one algorithm, as a sweep has it (checkpoint lock, log, benchmark, run cache, sealed
NetCDF file). With `--least` it is a rule's own script that writes a line, with what a run job has else of Snakemake:
`update`, benchmark, parameters and resources by functions.

Counted, of the jobs that were done: wall seconds; processor seconds of all processes a job; those of
Snakemake's own process a job, planning left out and planning; its memory before the first job and at most; the share of
the cores' time that the run files account for as inside runs; and the share of all processor time, which other work on
the machine does not lessen: runs are taken to have had the processor as much as their jobs had.

With `--minutes` a sweep is asked to stop after so long, jobs that run are ended first, and what was done is told.
"""

import argparse
import csv
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from bocu.core.io.files import read_netcdf

ROOT = Path(__file__).parents[2]
_TICKS = os.sysconf("SC_CLK_TCK")


_DONE = re.compile(rb"(\d+) of (\d+) jobs")
_FILES = 1_000  # run files at most that are read for the time inside runs
_SECONDS_OF_SILENCE = 30.0


def experiment(jobs: int, rounds: int, algorithm: str) -> dict:
    return {
        "name": "many",
        "seeds": {"count": jobs, "per_job": 1},
        "iterations": rounds,
        "problems": [{"name": "hills", "parameters": {"grid": 60}}],
        "algorithms": [algorithm],
        "figures": [],
    }


LEAST = """
from bocu.sweep.experiment.plan import signed
rule all:
    input: expand("results/least/{{number}}.txt", number=range({jobs}))
rule least:
    output: update("results/least/{{number}}.txt")
    benchmark: "results/benchmarks/{{number}}.tsv"
    resources:
        mem_mb=signed(lambda wildcards, attempt: 500 * attempt),
        runtime=signed(lambda wildcards, attempt: 10),
        script="least",
    params: seed=signed(lambda wildcards: {{"seed": int(wildcards.number), "problem": {{"name": "hills"}}}})
    script: "least.py"
"""
LEAST_SCRIPT = """
with open(snakemake.output[0], "w") as file:
    print(snakemake.params.seed["seed"] ** 2, file=file)
"""


@dataclass(frozen=True)
class Runs:
    """Jobs that run a seed each, under the workflow."""

    jobs: int
    rounds: int
    algorithm: str
    benchmarks = "results/many/benchmarks/runs"
    results = "results/many/runs/**/seeds-*.nc"
    target = "results/many/cubes/hills.nc"
    command = ("--snakefile", str(ROOT / "Snakefile"), "--configfile", "experiment.yaml", "--until", "run")

    def prepare(self, folder: Path) -> None:
        given = experiment(self.jobs, self.rounds, self.algorithm)
        (folder / "experiment.yaml").write_text(yaml.safe_dump(given))

    def seconds(self, file: Path) -> float:
        """Return seconds inside a run."""
        return float(read_netcdf(file).attrs["wall_seconds"])


@dataclass(frozen=True)
class Least:
    """Jobs that write a line each."""

    jobs: int
    benchmarks = "results/benchmarks"
    results = "results/least/*.txt"
    target = "all"
    command = ("--snakefile", "Snakefile", "--workflow-profile", str(ROOT / "profiles/default"))

    def prepare(self, folder: Path) -> None:
        (folder / "Snakefile").write_text(LEAST.format(jobs=self.jobs))
        (folder / "least.py").write_text(LEAST_SCRIPT)

    def seconds(self, file: Path) -> float:
        """Return seconds inside a run: there is none."""
        return 0.0


def measure(kind: Runs | Least, folder: Path, executor: str, cores: int, minutes: float) -> None:
    """Run a sweep in a folder, until so many minutes after the first job, and tell what it took."""
    command = ["snakemake", *kind.command, "--cores", str(cores), "--executor", executor, "--", kind.target]
    runs, said = folder / kind.benchmarks, folder / "snakemake.txt"
    before = _children()
    with said.open("w") as output:
        child = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    planning = own = memory = planned = begun = told = 0.0
    stopping = False
    while child.poll() is None:
        time.sleep(0.05)
        own, memory = of_process(child.pid, own, memory)
        now = time.perf_counter()
        done = _DONE.findall(_end(said))
        if not begun and (done or runs.exists()):
            planning, planned, begun, told = own, memory, now, now
        if done and now - told > _SECONDS_OF_SILENCE:
            told = now
            print(f"    {int(done[-1][0])} of {int(done[-1][1])} jobs after {now - begun:.0f} s", file=sys.stderr)
        if not stopping and begun and now - begun > 60 * minutes:
            stopping = True
            child.send_signal(signal.SIGTERM)
    wall = time.perf_counter() - begun
    if child.returncode and not stopping:
        sys.exit(said.read_text())
    rows = {file.stem: row for file in runs.rglob("*.tsv") for row in _rows(file)}
    files = sorted(file for file in folder.glob(kind.results) if file.stem in rows)
    assert len(files) == len(rows)
    assert stopping or len(files) == kind.jobs
    read = files[:: max(len(files) // _FILES, 1)]
    times = {file.stem: kind.seconds(file) for file in read}
    each = len(files) / max(len(read), 1)
    busy = {name: min(float(rows[name]["cpu_time"]) / max(float(rows[name]["s"]), 1e-3), 1.0) for name in times}
    inside = each * sum(times.values())
    processor = each * sum(seconds * busy[name] for name, seconds in times.items())
    spent = _children() - before - planning  # by all processes, from the first job on
    a_job = 1000 / max(len(files), 1)
    print(
        f"{executor:>12} {len(files):>7} {len(files) / wall:>8.1f} {wall * a_job:>9.0f}"
        f" {spent * a_job:>14.0f} {(own - planning) * a_job:>20.1f} {planning:>12.1f} {planned:>9.0f}"
        f" {memory:>8.0f} {inside / (cores * wall):>12.1%} {processor / spent:>18.1%}",
        flush=True,
    )


def _end(file: Path) -> bytes:
    with file.open("rb") as opened:
        opened.seek(max(file.stat().st_size - 4_096, 0))
        return opened.read()


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened, delimiter="\t"))


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
    parser.add_argument("--least", action="store_true", help="jobs that write a line, in place of runs")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--executors", nargs="+", default=["local", "warm"])
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop so long after the first job")
    arguments = parser.parse_args()
    jobs, cores, minutes = arguments.jobs, arguments.cores, arguments.minutes
    kind = Least(jobs) if arguments.least else Runs(jobs, arguments.rounds, arguments.algorithm)
    print(f"{jobs} jobs of {'a line' if arguments.least else f'{arguments.rounds} rounds'} on {cores} cores")
    print(
        f"{'':>12} {'jobs':>7} {'jobs/s':>8} {'ms a job':>9} {'core ms a job':>14} {'Snakemake, ms a job':>20}", end=""
    )
    print(f" {'planning, s':>12} {'MB before':>9} {'at most':>8} {'inside runs':>12} {'of processor time':>18}")
    for executor in arguments.executors:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            kind.prepare(folder)
            measure(kind, folder, executor, cores, minutes)


if __name__ == "__main__":
    main()
