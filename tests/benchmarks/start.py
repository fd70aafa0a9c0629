"""Processor seconds of a cold run job before its first row, and in all.

    python tests/benchmarks/start.py [--repeats 9]

Each job is a process of its own that runs workflow/scripts/run.py as Snakemake has it run, on one seed of 20 rounds.
Beside them stand an empty interpreter and one that imports numpy and pydantic alone, below which no job can come.
Bytecode is read where it was kept, as it is wherever a package is installed: an environment that forbids to write it
(`PYTHONDONTWRITEBYTECODE`) measures the compiler.
"""

import argparse
import json
import os
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
HEAVY = ("torch", "cvxpy", "numba", "pandas", "matplotlib", "xarray", "scipy", "netCDF4")
BELOW = {"nothing": "pass", "numpy, pydantic": "import numpy, pydantic; pydantic.BaseModel"}
ALGORITHMS = {"hills": ["random", "pe-gp-ucb", "mle"], "grid": ["random", "ucb-ro", "ucb-bocu-2", "ts-bocu"]}
OUTPUT = "results/start/runs/problem/any/algorithm/seeds-0-0.nc"
EXPERIMENT = {
    "name": "start",
    "seeds": 1,
    "iterations": 20,
    "problems": [
        {"name": "hills", "parameters": {"grid": 60}},
        {"name": "gp-sample", "label": "grid", "parameters": {"decision_points": [6, 6], "context_points": [4, 4]}},
    ],
    "objectives": [{"name": "dro", "parameters": {"set": {"name": "tv", "radius": 0.3}}}],
    "algorithms": sorted({name for names in ALGORITHMS.values() for name in names}),
    "figures": [],
}


def jobs(folder: Path) -> dict[str, str]:
    """Return the parameters of a run job of each branch; hashes of their definitions lie below, as in a sweep."""
    from bocu.sweep.experiment.fingerprints.fingerprint import keep_definitions
    from bocu.sweep.experiment.paths import code_file
    from bocu.sweep.experiment.planning import make_plan

    plan, found = make_plan(EXPERIMENT, scripts=ROOT / "workflow/scripts"), {}
    for branch in plan.branches.values():
        if branch.algorithm.label in ALGORITHMS[branch.problem.label]:
            parameters = plan.parameters.run(branch, 0, 0)
            keep_definitions(folder / code_file(OUTPUT, parameters["fingerprint"]), plan.parameters.run_roots(branch))
            found[f"{branch.problem.label}, {branch.algorithm.label}"] = json.dumps(parameters)
    return found


def run(parameters: dict) -> None:
    """Run a job in this process, a new one, and print what it took."""
    from bocu.sweep.runs.seed_run import SeedRun

    play, before = SeedRun.play, []

    def first(seed_run: SeedRun) -> None:
        before.append(time.process_time())
        SeedRun.play = play  # type: ignore[method-assign]
        play(seed_run)

    SeedRun.play = first  # type: ignore[method-assign]
    script = str(ROOT / "workflow/scripts/run.py")
    job = SimpleNamespace(
        params=parameters,
        input={},
        output=[OUTPUT],
        resources=SimpleNamespace(script=script, checkpoint_seconds=20),
    )
    runpy.run_path(script, {"snakemake": job})
    heavy = [name for name in HEAVY if name in sys.modules]
    print(json.dumps({"before": before[0], "all": time.process_time(), "heavy": heavy}))


def alone(arguments: list[str], folder: Path) -> tuple[dict, float]:
    """Run an interpreter in a folder that holds no runs; return what it printed and its processor seconds."""
    from bocu.sweep.experiment.paths import RUN_CACHE

    for made in (RUN_CACHE, "results/start/runs"):
        shutil.rmtree(folder / made, ignore_errors=True)
    before = os.times()
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    after = os.times()
    took = after.children_user + after.children_system - before.children_user - before.children_system
    return json.loads(done.stdout or "{}"), took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        run(json.loads(arguments.job))
        return
    cases = {name: ["-c", code] for name, code in BELOW.items()}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        cases |= {name: [__file__, "--job", given] for name, given in jobs(folder).items()}
        found: dict[str, list[tuple[dict, float]]] = {name: [] for name in cases}
        for _ in range(arguments.repeats + 1):  # the first writes bytecode
            for name, case in cases.items():
                found[name].append(alone(case, folder))
    print(f"{'':24} {'before its first row':>22} {'in all':>22}   what it imported (least, median)")
    for name, each in found.items():
        before = [told.get("before", took) for told, took in each[1:]]
        took = [took for _, took in each[1:]]
        columns = " ".join(f"{min(row):14.3f} {statistics.median(row):7.3f}" for row in (before, took))
        print(f"{name:24} {columns}   {', '.join(each[-1][0].get('heavy', []))}")


if __name__ == "__main__":
    main()
