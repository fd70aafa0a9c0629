"""Time worst cases against CVXPY with Clarabel: `python tests/benchmarks/worst_case.py --output times.json`.

The setting is that of figure 2 of Tay et al. (2024): payoffs are a draw of a Gaussian process with lengthscale 0.1 over
1,024 decisions x 64 contexts, the reference is N(0.5, 0.2 I) on the grid, radii are its distance to the uniform
distribution (times `--scale`). The conic solver re-solves one parametrised problem a decision, measured on `--rows`
decisions and scaled up. Times are processor seconds of one numeric thread; what a ratio compares is called by turns.
"""

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from ambiguity.cases import KINDS, make_set, random_instance
from ambiguity.oracle import TIGHT, solve, worst_case_problem

from bocu.robust.ambiguity import (
    AmbiguitySet,
    ChiSquared,
    ConditionalValueAtRisk,
    CressieRead,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    ModifiedChiSquared,
    TotalVariation,
    Wasserstein,
    squared_exponential_gram,
    worst_case,
)
from bocu.robust.contexts.estimates import discretised, product_grid
from bocu.robust.objectives.functions import UncertaintyObjective

LENGTHSCALE = 0.1


def gaussian_process_payoffs(contexts: np.ndarray, decisions: np.ndarray, seed: int) -> np.ndarray:
    """One draw `(decisions, n)` with squared exponential kernels of the same lengthscale on both sides."""
    generator = np.random.default_rng(seed)
    left = np.linalg.cholesky(squared_exponential_gram(decisions, LENGTHSCALE))
    right = np.linalg.cholesky(squared_exponential_gram(contexts, LENGTHSCALE))
    return left @ generator.standard_normal((len(decisions), len(contexts))) @ right.T


def normal_reference(contexts: np.ndarray) -> np.ndarray:
    """N(0.5, 0.2 I) on the grid."""
    return discretised(lambda c: np.exp(-((c - 0.5) ** 2).sum(axis=1) / 0.4), contexts)


def at_margin(ambiguity_set: AmbiguitySet, reference: np.ndarray, scale: float) -> AmbiguitySet:
    """The set whose radius is the distance from the reference to the uniform distribution, times `scale`."""
    uniform = np.full(len(reference), 1.0 / len(reference))
    return ambiguity_set.with_epsilon(scale * float(ambiguity_set.distance(uniform, reference)))


def in_turns(*calls: Callable[[], Any], turns: int = 5) -> list[float]:
    """Least processor time of each call over turns in which each is called, in seconds; one turn before, to warm up."""
    batches, times = [1] * len(calls), []
    for turn in range(turns + 1):
        spent = []
        for call, batch in zip(calls, batches, strict=True):
            start = time.process_time()
            for _ in range(batch):
                call()
            spent.append((time.process_time() - start) / batch)
        if turn:
            times.append(spent)
        else:  # the first call of some compiles: how many calls fill some milliseconds is asked of a second one
            batches = [_batch(call) for call in calls]
    return [min(column) for column in zip(*times, strict=True)]


def _batch(call: Callable[[], Any]) -> int:
    """How many calls take five milliseconds, far above what the clock can tell."""
    start = time.process_time()
    call()
    return max(1, round(5e-3 / max(time.process_time() - start, 1e-6)))


def beside_solver(
    ambiguity_set: AmbiguitySet, reference: np.ndarray, payoffs: np.ndarray, rows: int, *calls: Callable[[], Any]
) -> tuple[float, list[float], float]:
    """Seconds of CVXPY for one whole acquisition, of each call, and the largest error of ours on the rows it solved."""
    problem, parameter = worst_case_problem(ambiguity_set, reference)
    values: list[float] = []

    def conic() -> None:
        values[:] = [solve(problem, parameter, row) for row in payoffs[:rows]]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver, *own = in_turns(conic, *calls)
    ours = worst_case(payoffs[:rows], reference, ambiguity_set).value
    return solver / rows * len(payoffs), own, float(np.abs(ours - values).max())


def compare(rows: int, scale: float, only: str = "") -> list[dict[str, Any]]:
    """The table: every set in whose name `only` is, at 1,024 x 64."""
    line, square = product_grid(0.0, 1.0, 64), product_grid([0.0, 0.0], [1.0, 1.0], 8)
    decisions = product_grid([0.0, 0.0], [1.0, 1.0], 32)
    on_line = (line, gaussian_process_payoffs(line, decisions, 0))
    on_square = (square, gaussian_process_payoffs(square, decisions, 1))
    sets: list[tuple[str, AmbiguitySet, tuple[np.ndarray, np.ndarray], float]] = [
        ("total variation", TotalVariation(0.0), on_line, 500),
        ("CVaR (alpha = 0.3)", ConditionalValueAtRisk(0.3), on_line, 500),
        ("chi-squared", ChiSquared(0.0), on_line, 500),
        ("modified chi-squared", ModifiedChiSquared(0.0), on_line, 500),
        ("Kullback-Leibler", KullbackLeibler(0.0), on_line, 200),
        ("Cressie-Read k = 1.5", CressieRead(0.0, 1.5), on_line, 200),
        ("Cressie-Read k = 3", CressieRead(0.0, 3.0), on_line, 200),
        ("1-Wasserstein", Wasserstein(0.0, np.abs(line - line.T)), on_line, 50),
        ("MMD, line", MaximumMeanDiscrepancy(0.0, squared_exponential_gram(line, LENGTHSCALE)), on_line, 30),
        ("MMD, 8 x 8", MaximumMeanDiscrepancy(0.0, squared_exponential_gram(square, LENGTHSCALE)), on_square, 300),
    ]
    table = []
    for name, centre, (contexts, payoffs), bar in sets:
        if only not in name:
            continue
        reference = normal_reference(contexts)
        ambiguity_set = at_margin(centre, reference, scale)
        is_mmd = isinstance(ambiguity_set, MaximumMeanDiscrepancy)
        dro, gen = UncertaintyObjective.dro(ambiguity_set), UncertaintyObjective.gen(ambiguity_set, 1.0, 1.0)
        stepped = UncertaintyObjective.gen(ambiguity_set, 1.0, 1.0, difference=1e-3)
        calls: list[Callable[[], Any]] = [lambda b=ambiguity_set, f=payoffs, p=reference: b.values(f, p)]
        if is_mmd:
            found = dro.argmax(payoffs, reference)
            assert found.index == int(np.argmax(dro(payoffs, reference)))
            calls.append(lambda o=dro, f=payoffs, p=reference: o.argmax(f, p))
            calls += [lambda o=each, f=payoffs, p=reference: o(f, p) for each in (gen, stepped)]
        solved = max(4, rows // 8) if "Wass" in name else rows
        conic, (values, *more), error = beside_solver(ambiguity_set, reference, payoffs, solved, *calls)
        table.append(entry(f"{name}: values", ambiguity_set, conic, values, bar, error))
        if not is_mmd:
            continue
        argmax, *slopes = more
        table.append(entry(f"{name}: DRO argmax, {found.solved} solved", ambiguity_set, conic, argmax, 100, None))
        for label, seconds in zip(("GEN, analytic slope", "GEN, difference 1e-3"), slopes, strict=True):
            table.append({"case": f"{name}: {label}", "own_s": seconds, "times_dro": seconds / values, "bar": 1.5})
    return table


def entry(
    case: str, ambiguity_set: AmbiguitySet, conic: float, own: float, bar: float, error: float | None
) -> dict[str, Any]:
    """One row of the table."""
    numbers = {"cvxpy_s": conic, "own_s": own, "ratio": conic / own, "bar": bar, "largest_error": error}
    return {"case": case, "epsilon": ambiguity_set.epsilon, **numbers}


def large(scale: float) -> list[dict[str, Any]]:
    """1,024 decisions x 1,024 contexts on a 32 x 32 grid, with independent and with related decisions."""
    grid = product_grid([0.0, 0.0], [1.0, 1.0], 32)
    gram = squared_exponential_gram(grid, LENGTHSCALE)
    smooth = gaussian_process_payoffs(grid, grid, 2)
    rough = np.random.default_rng(3).standard_normal((len(grid), len(grid))) @ np.linalg.cholesky(gram).T
    reference = normal_reference(grid)
    table = []
    for name, payoffs in (("related decisions", smooth), ("independent decisions", rough)):
        tv = at_margin(TotalVariation(0.0), reference, scale)
        (seconds,) = in_turns(lambda f=payoffs, b=tv: b.values(f, reference), turns=3)
        table.append({"case": f"1,024 x 1,024, TV values, {name}", "own_s": seconds, "bar_s": 0.2})
        ambiguity_set = at_margin(MaximumMeanDiscrepancy(0.0, gram), reference, scale).prepare(reference)
        objective = UncertaintyObjective.dro(ambiguity_set)
        solved = objective.argmax(payoffs, reference).solved
        (seconds,) = in_turns(lambda f=payoffs, o=objective: o.argmax(f, reference), turns=3)
        table.append({"case": f"1,024 x 1,024, MMD argmax ({solved} solved), {name}", "own_s": seconds, "bar_s": 5.0})
        (seconds,) = in_turns(lambda f=payoffs, b=ambiguity_set: b.values(f, reference), turns=1)
        table.append({"case": f"1,024 x 1,024, MMD all values, {name}", "own_s": seconds, "bar_s": None})
    return table


def transports(scale: float) -> list[dict[str, Any]]:
    """Wasserstein sets on a line against the matrix of costs, and the distance there against POT; `ratio` to ours."""
    table = []
    for n, rows in ((64, 1024), (256, 128), (1024, 16)):
        line = product_grid(0.0, 1.0, n)
        payoffs = gaussian_process_payoffs(line, product_grid([0.0, 0.0], [1.0, 1.0], 32), 4)[:rows]
        reference = normal_reference(line)
        ambiguity_set = at_margin(Wasserstein(0.0, np.abs(line - line.T)), reference, scale)
        matrix = ambiguity_set.with_epsilon(ambiguity_set.epsilon)
        matrix._line = None
        uniform = np.full(n, 1.0 / n)
        pairs: list[tuple[str, Callable[[AmbiguitySet], Any]]] = [
            (f"{rows:,} x {n:,}, values", lambda b, f=payoffs, p=reference: b.values(f, p)[0]),
            (f"{n:,} contexts, one distance", lambda b, q=uniform, p=reference: b.distance(q, p)),
        ]
        for name, call in pairs:
            error = float(np.abs(call(ambiguity_set) - call(matrix)).max())
            own, other = in_turns(*(lambda c=call, b=each: c(b) for each in (ambiguity_set, matrix)))
            numbers = {"own_s": own, "other_s": other, "times_faster": other / own, "largest_error": error}
            table.append({"case": f"1-Wasserstein on a line, {name}", **numbers})
    return table


def oracle_errors() -> list[dict[str, Any]]:
    """Largest difference from the conic solver by set, in ranges of the payoffs, over random instances."""
    table = []
    for kind in KINDS:
        errors, gaps = [], []
        sizes = (8, 32, 64, 64 if kind == "wass" else 256)
        for seed, n in enumerate(sizes * 3):
            contexts, payoffs, reference = random_instance(seed, n, zeros=seed % 2 == 1)
            for epsilon in (0.01, 0.1, 0.5):
                ambiguity_set = make_set(kind, epsilon, contexts)
                answer = worst_case(payoffs[0], reference, ambiguity_set)
                low, spread = float(payoffs.min()), float(np.ptp(payoffs))
                problem, parameter = worst_case_problem(ambiguity_set, reference)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    conic = solve(problem, parameter, (payoffs[0] - low) / spread, **TIGHT)
                errors.append(abs((float(answer.value) - low) / spread - conic))
                gaps.append(float(answer.gap) / spread)
        table.append({"set": kind, "instances": len(errors), "largest_error": max(errors), "largest_gap": max(gaps)})
    return table


def show(table: list[dict[str, Any]]) -> None:
    """Print one aligned line a case."""
    for row in table:
        parts = [f"{row['case']:<58}", f"{1e3 * row['own_s']:9.2f} ms"]
        if "ratio" in row:
            error = "" if row["largest_error"] is None else f"  error {row['largest_error']:.1e}"
            parts.append(f"CVXPY {row['cvxpy_s']:7.2f} s  ratio {row['ratio']:7.0f} (bar {row['bar']:g}){error}")
        elif "times_faster" in row:
            parts.append(f"otherwise {1e3 * row['other_s']:9.2f} ms  ratio {row['times_faster']:7.0f}")
            parts.append(f"error {row['largest_error']:.1e}")
        elif "times_dro" in row:
            parts.append(f"{row['times_dro']:.2f} times DRO (bar {row['bar']:g})")
        elif row["bar_s"] is not None:
            parts.append(f"bar {row['bar_s']:g} s")
        print("  ".join(parts))


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="JSON file to write")
    parser.add_argument("--rows", type=int, default=128, help="decisions that CVXPY solves")
    parser.add_argument("--oracle", action="store_true", help="also compare values on random instances")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the radii")
    parser.add_argument("--transports", action="store_true", help="only Wasserstein sets on a line")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only the sets in whose names this is, at 1,024 x 64"
    )
    arguments = parser.parse_args()
    errors = oracle_errors() if arguments.oracle else []
    for row in errors:
        print("  ".join(f"{key} {value:.1e}" if isinstance(value, float) else f"{value}" for key, value in row.items()))
    table = [] if arguments.only else transports(arguments.scale)
    if not arguments.transports:
        slow = [] if arguments.only else large(arguments.scale)
        table = compare(arguments.rows, arguments.scale, arguments.only) + slow + table
    show(table)
    if arguments.output is not None:
        machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
        arguments.output.write_text(json.dumps({"machine": machine, "table": table, "oracle": errors}, indent=1))


if __name__ == "__main__":
    main()
