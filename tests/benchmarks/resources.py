"""What a block of seeds costs: the measurements behind the coefficients of `bocu.experiment.resources`.

python tests/benchmarks/resources.py --output resources.json

Each cell is a process of its own, one numeric thread: two seeds of an algorithm on hills, timed from after the imports
to the written run file; then the same once more with frequent checkpoints, for the peak memory. From Random comes what
the problem itself costs, block + cubic x arms^3; what is left of the others is fitted by non-negative least squares to

    seconds a round = round + prediction x priors x arms + update x kernels x arms x rounds / 2
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

GRIDS = (100, 500, 1000)
ROUNDS = (200, 800, 3200)
SEEDS = 2
ALGORITHMS = ("random", "regret-balancing", "fully-bayesian", "mle", "pe-gp-ucb", "oracle")


def cell(algorithm: str, grid: int, rounds: int) -> dict:
    """Run one block in this process."""
    start = time.perf_counter()
    from bocu.experiment.planning import make_plan
    from bocu.runs.execution import Block, execute

    experiment = {
        "name": "cell",
        "seeds": {"count": SEEDS, "per_job": SEEDS},
        "iterations": rounds,
        "problems": [{"name": "hills", "parameters": {"grid": grid}}],
        "algorithms": [algorithm],
        "figures": [],
    }
    plan = make_plan(experiment, sources_file=Path(__file__).parents[2] / "data/sources.yaml")
    (branch,) = plan.branches.values()
    with tempfile.TemporaryDirectory() as name:
        output = Path(name) / "run.nc"
        import filelock  # noqa: F401
        import threadpoolctl  # noqa: F401
        import xarray  # noqa: F401

        specification = {**branch.specification, "seeds": [0, SEEDS - 1]}
        block = Block(specification, {}, "measured")
        imported = time.perf_counter()
        execute(block, output, Path(name) / "checkpoints")
        seconds = time.perf_counter() - imported
        size = output.stat().st_size
        output.unlink()
        execute(block, output, Path(name) / "checkpoints", checkpoint_seconds=0.1)
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return {
        "algorithm": algorithm,
        "grid": grid,
        "rounds": rounds,
        "import_seconds": imported - start,
        "seconds": seconds,
        "peak_mb": peak / 1024,
        "disk_kb": size / 1000,
    }


def fit(rows: list[dict], terms: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the coefficients of `terms` beside the `known` seconds, and the largest measured over modelled time."""
    seconds = np.array([row["seconds"] for row in rows])
    coefficients, _ = nnls(terms / seconds[:, None], (seconds - known) / seconds)
    return coefficients, float((seconds / (known + terms @ coefficients)).max())


def report(rows: list[dict]) -> None:
    """Print the fitted coefficients."""
    cells = {algorithm: [row for row in rows if row["algorithm"] == algorithm] for algorithm in ALGORITHMS}
    arms = np.array([row["grid"] for row in cells["random"]], dtype=float)
    rounds = np.array([row["rounds"] for row in cells["random"]], dtype=float)
    total = SEEDS * rounds
    problem = np.column_stack([np.ones_like(arms), arms**3, total])
    (block, cubic, a_round), worst = fit(cells["random"], problem, np.zeros_like(arms))
    print(f"block {block:.2e} s, cubic {cubic:.2e} s; random: round {a_round:.2e} s, worst {worst:.2f}")
    print(f"{'algorithm':>18} {'round':>9} {'prediction':>10} {'update':>9} {'worst':>6}")
    for algorithm in ALGORITHMS[1:]:
        priors = 1 if algorithm == "oracle" else 11
        terms = np.column_stack([total, total * priors * arms, total * arms * rounds / 2])
        coefficients, worst = fit(cells[algorithm], terms, block + cubic * arms**3)
        a_round, prediction, update = coefficients
        print(f"{algorithm:>18} {a_round:>9.2e} {prediction:>10.2e} {update:>9.2e} {worst:>6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        algorithm, grid, rounds = arguments.cell
        print(json.dumps(cell(algorithm, int(grid), int(rounds))))
        return
    rows = []
    print(f"{'algorithm':>18} {'grid':>5} {'rounds':>6} {'import s':>8} {'seconds':>8} {'peak MB':>8} {'disk kB':>8}")
    for algorithm in ALGORITHMS:
        for grid in GRIDS:
            for rounds in ROUNDS:
                command = [sys.executable, __file__, "--cell", algorithm, str(grid), str(rounds)]
                rows.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
                print(
                    f"{algorithm:>18} {grid:>5} {rounds:>6} {rows[-1]['import_seconds']:>8.2f} "
                    f"{rows[-1]['seconds']:>8.3f} {rows[-1]['peak_mb']:>8.0f} {rows[-1]['disk_kb']:>8.1f}",
                    flush=True,
                )
    report(rows)
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
