"""Decisions late in a run over a box, one step ahead, by the default way and by one without what makes it fast.

    python tests/benchmarks/one_step_ahead.py ackley hartmann-6 --at 50 100 200

Both ways are told the same rounds, those of GP-UCB on a problem of huang2024 (the portfolios want `--data
data/mirror/portfolio/samples.nc`, prepared), and the same fits of the last twenty; then each is asked once, in one
process by turns. Told are the seconds of processor time of that decision and of its fit alone, by how much decisions
differ in the unit cube, and what the acquisition function of the slow way loses by the fast way's decision, in units
of its standard deviation over the box.
"""

from bocu.core.numerics import pin_kernel

pin_kernel()  # before NumPy is imported

import argparse
import copy
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from late_rounds import INPUTS, Arrays, begun, branches_of, of_gp_ucb, tell

from bocu.core.plain import Specification
from bocu.learners.acquisition.base import SurfaceAcquisition
from bocu.learners.algorithms.continuous_base import ContinuousAlgorithm
from bocu.sweep.runs.seed_run import SeedRun

ALGORITHMS = ("gp-ucb", "sbo-kde", "drbo-kde", "stableopt", "drbo-mmd", "minimax-continuous")
SLOW: dict[str, Any] = {"search": {"raw": 1024, "restarts": 50, "merge": False}, "draft_samples": 0}
FITS = 20


def slowed(specification: Specification) -> Specification:
    """Return the specification of the same algorithm without what makes it fast."""
    changed = copy.deepcopy(specification)
    parameters = changed["algorithm"]["parameters"]
    parameters |= {key: value for key, value in SLOW.items() if key in parameters}
    parameters["model"] |= {"fit_afresh_every": 1}
    return changed


def told(specification: Specification, seed: int, arrays: Arrays, rows: int) -> SeedRun:
    """Return a run that was told so many rows, with what it reported where that is known."""
    run = begun(specification, seed)
    for done in (rows - 1, rows):
        tell(run, arrays, done)
        if done < rows:  # a curvature that later fits begin with is found once
            for model in run.algorithm.models:
                model.posterior(run.algorithm.generator)
    return run


def fitted(specification: Specification, seed: int, arrays: Arrays, rows: int) -> Arrays:
    """Return the rows with the reports of an algorithm that fits after each of the last few."""
    known = {key: array[:rows].copy() for key, array in arrays.items()}
    for done in range(rows - FITS, rows):
        run = told(specification, seed, known, done)
        for model in run.algorithm.models:
            model.posterior(run.algorithm.generator)
        for name, value in run.algorithm.report().items():
            known.setdefault(name, np.full(rows, np.nan))[done] = value
    return known


def asked(run: SeedRun) -> tuple[np.ndarray, float, float]:
    """Return the decision in the unit cube, the seconds of all and those of the fit."""
    algorithm = run.algorithm
    assert isinstance(algorithm, ContinuousAlgorithm)
    announced = run.announced()
    start = time.process_time()
    for model in algorithm.models:
        model.posterior(algorithm.generator)
    fit = time.process_time() - start
    decision = algorithm.ask(announced)
    return algorithm.decisions.inwards(decision), time.process_time() - start, fit


def lost(run: SeedRun, better: np.ndarray, other: np.ndarray, generator: np.random.Generator) -> float:
    """Return what a decision loses by the acquisition function of a run, over its deviation in the box."""
    algorithm = run.algorithm
    posteriors = [model.glance(generator) for model in algorithm.models]
    points, functional = algorithm._game(posteriors, run.announced(), generator)
    acquisition = SurfaceAcquisition(algorithm._explored(posteriors, points, run.announced()), functional)
    spread = acquisition.values(np.random.default_rng(0).random((128, acquisition.dimension))).std()
    values = acquisition.values(np.stack([better, other]))
    return float((values[0] - values[1]) / spread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="+", help="labels in huang2024")
    parser.add_argument("--algorithms", nargs="*", default=ALGORITHMS)
    parser.add_argument("--at", type=int, nargs="+", default=[50, 100, 200], help="rounds told")
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--data", type=Path, help="prepared file of problems that read one")
    arguments = parser.parse_args()
    INPUTS.update({"data": arguments.data} if arguments.data else {})
    print(f"{'':38} {'slow s':>8} {'fast s':>8} {'its fit':>8} {'fast fit':>8} {'apart':>8} {'lost':>8}")
    for problem in arguments.problems:
        branches = branches_of("huang2024", problem)
        arrays, initial = of_gp_ucb(branches, arguments.seed, max(arguments.at))
        for label in arguments.algorithms:
            fast = branches[label].specification
            asked(told(fast, arguments.seed, arrays, initial + 5))  # imports, compiles
            for t in arguments.at:
                known = fitted(fast, arguments.seed, arrays, initial + t)
                runs = [told(way, arguments.seed, known, initial + t) for way in (slowed(fast), fast)]
                generator = copy.deepcopy(runs[0].algorithm.generator)
                (slow_at, slow, its_fit), (fast_at, quick, fit) = (asked(run) for run in runs)
                print(
                    f"{problem:<17} {label:<18} {t:>3}"
                    f"{slow:>8.3f} {quick:>8.3f} {its_fit:>8.3f} {fit:>8.3f} {np.abs(slow_at - fast_at).max():>8.0e}"
                    f" {lost(runs[0], slow_at, fast_at, generator):>8.0e}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
