"""MMD worst cases of the tables that runs meet: `python tests/benchmarks/captured.py --output captured.json`.

A run of UCB-SO on a draw of a Gaussian process over 1,024 decisions and n = side x side contexts is played through the
runner, and the upper confidence bounds of its last round are kept. Measured on them, in processor seconds of one
thread: values of the best decisions a row, the same by the walk from the floor alone, by CVXPY with Clarabel on a few,
and the whole choice of a round by DRO and GEN. The exponent of n is that between the first and the last side.
"""

from bocu.core.numerics import pin_kernel

pin_kernel()  # before NumPy is imported

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from ambiguity.oracle import solve, worst_case_problem
from cells import branch_of

from bocu.robust.ambiguity import MaximumMeanDiscrepancy, squared_exponential_gram
from bocu.robust.ambiguity.mmd.path import PreparedReference
from bocu.robust.contexts.estimates import product_grid
from bocu.robust.objectives.functions import Expectation, UncertaintyObjective
from bocu.sweep.runs.execution import Block, execute

LENGTHSCALE = 0.1  # of both kernels, as the problem has it


def capture(side: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Play a run and return its last upper bounds `(1024, n)` and the reference `(n,)`."""
    branch = branch_of({"name": "gp-sample", "parameters": {"context_points": [side, side]}}, "ucb-so", rounds)
    tables: list[tuple[np.ndarray, np.ndarray]] = []
    argmax = Expectation.argmax

    def recording(self: Expectation, payoffs: Any, reference: Any, **options: Any) -> Any:
        tables[:] = [(np.array(payoffs), np.array(reference))]
        return argmax(self, payoffs, reference, **options)

    with tempfile.TemporaryDirectory() as folder, patch.object(Expectation, "argmax", recording):
        block = Block({**branch.specification, "seeds": [0, 0]}, {}, "captured")
        execute(block, Path(folder) / "run.nc", Path(folder) / "checkpoints")
    return tables[0]


def seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    """Least processor time of some calls after one to warm up; of one call where it takes more than two seconds."""
    times = []
    for attempt in range(repeats + 1):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
        if times[-1] > 2.0 and attempt:
            break
    return min(times[1:])


def measure(side: int, rounds: int, rows: int, conic_rows: int, choose: bool) -> dict[str, Any]:
    """One line of the table; the choice of a round where `choose`."""
    upper, reference = capture(side, rounds)
    gram = squared_exponential_gram(product_grid([0.0, 0.0], [1.0, 1.0], side), LENGTHSCALE)
    centre = MaximumMeanDiscrepancy(0.0, gram)
    uniform = np.full(len(reference), 1.0 / len(reference))
    around = centre.with_epsilon(float(centre.distance(uniform, reference))).prepare(reference)
    payoffs = np.ascontiguousarray(upper[np.sort(np.argsort(-upper @ reference)[:rows])])
    own = seconds(lambda: around.values(payoffs, reference)) / rows
    with patch.object(PreparedReference, "_interior", lambda self, f, left, *_: left):
        walk = seconds(lambda: around.values(payoffs, reference), 1) / rows
    few = payoffs[:: max(1, rows // conic_rows)][:conic_rows]
    problem, parameter = worst_case_problem(around, reference)
    solve(problem, parameter, few[0])
    start = time.process_time()
    values = [solve(problem, parameter, row) for row in few]
    conic = (time.process_time() - start) / len(few)
    found = {"n": side * side, "own_s": own, "walk_s": walk, "cvxpy_s": conic, "times_cvxpy": conic / own}
    found["largest_difference"] = float(np.abs(around.values(few, reference)[0] - values).max())
    for label, rule in (
        ("dro", UncertaintyObjective.dro(around)),
        ("gen", UncertaintyObjective.gen(around, 1.0, 1.0)),
    ):
        if not choose:
            break
        found[f"{label}_solved"] = rule.argmax(upper, reference).solved
        found[f"{label}_round_s"] = seconds(lambda rule=rule: rule.argmax(upper, reference), 1)
    return found


def exponent(table: Sequence[dict[str, Any]], key: str) -> float:
    """Growth of a column with n, between the ends of the table."""
    first, last = table[0], table[-1]
    return float(np.log(last[key] / first[key]) / np.log(last["n"] / first["n"]))


def draw(table: Sequence[dict[str, Any]], file: Path) -> None:
    """Draw the growth with n, with dashed lines of the growth that is wanted."""
    import seaborn as sns
    from matplotlib.figure import Figure

    names = {"own_s": "values", "walk_s": "values, walk alone", "cvxpy_s": "CVXPY"}
    n = [row["n"] for row in table]
    with sns.axes_style("whitegrid"):
        figure = Figure(figsize=(5.0, 3.6), layout="constrained")
        axes = figure.subplots()
        for key, label in names.items():
            sns.lineplot(x=n, y=[row[key] for row in table], marker="o", label=label, ax=axes)
        anchor = next((row for row in table if row["n"] >= 256), table[-1])
        wanted = [anchor["own_s"] * (x / anchor["n"]) ** 2.5 for x in n]
        sns.lineplot(x=n, y=wanted, linestyle="--", color="grey", label="growth of n^2.5", ax=axes)
        axes.set(xscale="log", yscale="log", xlabel="contexts n", ylabel="processor seconds a row")
        figure.savefig(file, dpi=150)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sides", type=int, nargs="+", default=[8, 12, 16, 24, 32])
    parser.add_argument("--rounds", type=int, default=40, help="of the run")
    parser.add_argument("--rows", type=int, default=32, help="best decisions of the table to solve")
    parser.add_argument("--conic-rows", type=int, default=3, help="of these by CVXPY")
    parser.add_argument("--choose-to", type=int, default=24, help="largest side at which whole choices are measured")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    parser.add_argument("--figure", type=Path, help="picture to draw")
    arguments = parser.parse_args()
    table = []
    for side in arguments.sides:
        table.append(
            row := measure(side, arguments.rounds, arguments.rows, arguments.conic_rows, side <= arguments.choose_to)
        )
        chosen = "  ".join(
            f"round of {label.upper()} {1e3 * row[f'{label}_round_s']:6.0f} ms ({row[f'{label}_solved']} solved)"
            for label in ("dro", "gen")
            if f"{label}_solved" in row
        )
        print(
            f"{row['n']:>5} contexts  {1e3 * row['own_s']:8.2f} ms a row  walk {1e3 * row['walk_s']:8.2f} ms  "
            f"CVXPY {1e3 * row['cvxpy_s']:7.0f} ms  ratio {row['times_cvxpy']:5.0f}  "
            f"difference {row['largest_difference']:.0e}  {chosen}",
            flush=True,
        )
    if len(table) > 1:
        growth = ", ".join(f"{key} n^{exponent(table, key):.2f}" for key in ("own_s", "cvxpy_s"))
        print(f"growth from {table[0]['n']} to {table[-1]['n']} contexts: {growth}")
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(table, indent=1) + "\n")
    if arguments.figure is not None:
        draw(table, arguments.figure)


if __name__ == "__main__":
    main()
