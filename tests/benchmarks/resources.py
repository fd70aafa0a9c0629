"""What steps of problems and algorithms take: measures the prices of `src/bocu/sweep/experiment/costs.json`.

    python tests/benchmarks/resources.py [line ...] [--write]

A line is a class of that file; one that ends in `@box` measures what the class does over a box of arms alone. Each cell
of a line is a process of its own, one numeric thread: one seed of a class that has the line's prices, on a problem that
needs no data. Half of its rounds and all of them (`timed_rounds.py`) are fitted by non-negative least squares, relative
to what was measured, to

    seconds of the rounds = sum over kinds of steps of count x price

with the counts that the class itself says (`Algorithm.work`), and the time before the rounds of a problem's line to
block + cubic x arms^3. Seconds are the processor's. Bytes a row are what the run file of the longest run has more than
that of the shortest; those of each prior have the share that they have uncompressed. Without --write the prices are
only printed, beside those that stand.
"""

from bocu.core.numerics import pin_kernel

pin_kernel()  # before NumPy is imported

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from cells import Entry, branch_of, in_a_process
from scipy.optimize import nnls

ROOT = Path(__file__).parents[2]
FILE = ROOT / "src/bocu/sweep/experiment/costs.json"
UNBOUNDED = 1e9  # seconds: all rounds are played


def hills(*grids: int) -> list[Entry]:
    return [{"name": "hills", "parameters": {"grid": grid}} for grid in grids]


def tables(*sides: tuple[int, int]) -> list[Entry]:
    parameters = [{"decision_points": [x, x], "context_points": [c, c]} for x, c in sides]
    return [{"name": "gp-sample", "parameters": each} for each in parameters]


HILLS, TABLES, BOXES = hills(100, 500, 1000), tables((16, 8), (32, 8), (24, 12)), ["newsvendor", "modified-branin"]
LONG, MIDDLE, SHORT, BRIEF = (200, 800, 3200), (100, 400, 1000), (20, 60, 120), (20, 60)
FOURIER = [
    {"name": "ts-bocu", "parameters": {"posterior": "fourier", "features": features}} for features in (256, 1024)
]

BOX = "@box"
Cells = tuple[Sequence[Entry], Sequence[Entry], Sequence[int]]
LINES: Mapping[str, Cells] = {
    "bocu.problems.hills:Hills": (HILLS, ["random"], LONG[:1]),
    "bocu.problems.hills:ContinuousHills": (["hills-continuous"], ["random"], BRIEF[:1]),
    "bocu.problems.finite:FiniteProblem": (TABLES, ["random"], MIDDLE[:1]),
    "bocu.problems.continuous:ContinuousProblem": (BOXES, ["random"], SHORT[:1]),
    "bocu.problems.scalarised:ScalarisedProblem": (["newsvendor-grid", "modified-branin-grid"], ["random"], SHORT[:1]),
    "bocu.learners.algorithms.simple:WithoutModel": (HILLS, ["random"], LONG),
    "bocu.learners.algorithms.unknown_prior:UnknownPriorAlgorithm": (HILLS, ["pe-gp-ucb"], LONG),
    "bocu.learners.algorithms.unknown_prior:UnknownPriorAlgorithm@box": (["hills-continuous"], ["pe-gp-ucb"], BRIEF),
    "bocu.learners.algorithms.time_varying:RegretBalancing@box": (["hills-continuous"], ["regret-balancing"], BRIEF),
    "bocu.learners.algorithms.time_varying:_WeightedPriors@box": (
        ["hills-continuous"],
        ["mle", "fully-bayesian"],
        BRIEF,
    ),
    "bocu.learners.algorithms.time_varying:Oracle@box": (["hills-continuous"], ["oracle"], BRIEF),
    "bocu.learners.algorithms.time_varying:RegretBalancing": (HILLS, ["regret-balancing"], LONG),
    "bocu.learners.algorithms.time_varying:_WeightedPriors": (HILLS, ["mle", "fully-bayesian"], LONG),
    "bocu.learners.algorithms.time_varying:Oracle": (HILLS, ["oracle"], LONG),
    "bocu.learners.algorithms.finite_base:FiniteAlgorithm": (TABLES, ["ucb-so"], MIDDLE),
    "bocu.learners.algorithms.thompson:ThompsonSampling": (TABLES, ["ts-bocu", *FOURIER], MIDDLE),
    "bocu.learners.algorithms.continuous:GPUCB": (BOXES, ["gp-ucb"], SHORT),
    "bocu.learners.algorithms.continuous:SBOKDE": (BOXES, ["sbo-kde"], SHORT),
    "bocu.learners.algorithms.continuous:DRBOKDE": (BOXES, ["drbo-kde"], SHORT),
    "bocu.learners.algorithms.continuous:ERBO": (BOXES, ["erbo"], BRIEF),
    "bocu.learners.algorithms.continuous:WDRBO": (BOXES, ["wdrbo"], BRIEF),
    "bocu.learners.algorithms.continuous:StableOptContinuous": (BOXES, ["stableopt"], SHORT),
    "bocu.learners.algorithms.grid_contexts:DRBOMMD": (BOXES, ["drbo-mmd"], SHORT),
    "bocu.learners.algorithms.grid_contexts:MinimaxContinuous": (BOXES, ["minimax-continuous"], SHORT),
    "bocu.learners.algorithms.sampled_reference:ThompsonDensity": (BOXES, ["ts-bocu-kde"], SHORT),
    "bocu.learners.algorithms.sampled_reference:UCBDensity": (BOXES, ["ucb-bocu-kde"], SHORT),
    "bocu.learners.algorithms.multi_objective:MOBO": (["newsvendor-grid"], ["mobo"], SHORT),
}


def cell(problem: Entry, algorithm: Entry, rounds: int) -> dict[str, Any]:
    """Measure one seed in this process."""
    from timed_rounds import measure

    from bocu.sweep.runs.execution import Block, execute

    specification = branch_of(problem, algorithm, rounds, ["so"]).specification
    timed = measure(specification, UNBOUNDED)
    with tempfile.TemporaryDirectory() as name:
        output = Path(name, "run.nc")
        execute(Block({**specification, "seeds": [0, 0]}, {}, "measured"), output, Path(name, "checkpoints"))
        return {"timed": asdict(timed), "bytes": output.stat().st_size}


def fit(terms: Sequence[Mapping[str, float]], measured: Sequence[float]) -> tuple[dict[str, float], float]:
    """Return the price of each term, and the largest measured over modelled time."""
    names = sorted({name for counts in terms for name in counts})
    matrix = np.array([[counts.get(name, 0.0) for name in names] for counts in terms])
    seconds = np.array(measured)
    scale = np.maximum(matrix.max(axis=0), 1e-300)
    prices, _ = nnls(matrix / scale / seconds[:, None], np.ones(len(seconds)))
    worst = float((seconds / (matrix / scale @ prices)).max())
    return {name: float(f"{price:.2g}") for name, price in zip(names, prices / scale, strict=True)}, worst


def measure_line(line: str) -> dict[str, float]:
    """Measure all cells of a line and fit its prices."""
    problems, algorithms, lengths = LINES[line]
    terms: list[dict[str, float]] = []
    seconds: list[float] = []
    rows: list[float] = []
    columns = 0.0
    is_problem = line.startswith("bocu.problems.")
    for problem in problems:
        for algorithm in algorithms:
            sizes: list[tuple[int, float]] = []
            for rounds in lengths:
                found = in_a_process(__file__, json.dumps([problem, algorithm, rounds]))
                branch, timed = branch_of(problem, algorithm, rounds, ["so"]), found["timed"]
                size = branch.problem.registered.load().size(branch.problem.parameters)
                chosen = branch.algorithm.registered.load()
                print(f"{line}: {problem} {algorithm} {rounds}: {timed['whole']['seconds']:.3f} s", flush=True)
                sizes.append((rounds, found["bytes"]))
                columns = _per_prior(chosen) / timed["row_bytes"]
                if is_problem:
                    terms.append({"block": 1.0, "cubic": float(size.arms) ** 3})
                    seconds.append(timed["set_up_seconds"] + timed["start_seconds"])
                    continue
                for length in (timed["half"], timed["whole"]):
                    terms.append(dict(chosen.work(branch.algorithm.parameters, size, length["rounds"]).counts))
                    seconds.append(length["seconds"])
            if len(sizes) > 1:
                (least, small), (most, large) = sizes[0], sizes[-1]
                rows.append((large - small) / (most - least))
    prices, worst = fit(terms, seconds)
    if not is_problem and not line.endswith(BOX):
        row = max(rows)
        prices["row"] = round(row * (1 - columns * size.priors), 1)
        if columns:
            prices["row_per_prior"] = round(row * columns, 1)
    print(f"{line}: {prices}; largest measured over modelled time {worst:.2f}", flush=True)
    return prices


def _per_prior(algorithm: Any) -> float:
    """Return the bytes a round and prior of what an algorithm reports."""
    return float(sum(np.dtype(report.dtype).itemsize for report in algorithm.reports if report.per_prior))


def write(measured: Mapping[str, dict[str, float]]) -> None:
    """Put measured lines into the file of prices."""
    from bocu.core.io.provenance import cpu

    costs = json.loads(FILE.read_text(encoding="utf-8"))
    for line, prices in measured.items():
        name = line.removesuffix(BOX)
        known = costs["problems" if line.startswith("bocu.problems.") else "algorithms"].setdefault(name, {})
        known.update(prices)  # what no cell here counts was measured elsewhere
        costs["measured_by"][line] = f"python tests/benchmarks/resources.py {line} --write, on {cpu()}"
    FILE.write_text(json.dumps(costs, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="*", metavar="line", help="class; all of them if left out")
    parser.add_argument("--write", action="store_true", help=f"put the prices into {FILE.relative_to(ROOT)}")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(cell(*json.loads(arguments.cell))))
        return
    if unknown := set(arguments.lines) - set(LINES):
        parser.error(f"no such line: {', '.join(sorted(unknown))}; allowed: {', '.join(LINES)}")
    measured = {}
    for line in arguments.lines or LINES:
        measured[line] = measure_line(line)
        standing = json.loads(FILE.read_text(encoding="utf-8"))
        stands = {**standing["problems"], **standing["algorithms"]}.get(line.removesuffix(BOX))
        print(f"{line}: stands {stands}", flush=True)
    if arguments.write:
        write(measured)


if __name__ == "__main__":
    main()
