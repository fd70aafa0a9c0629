"""Seconds of 1,000 rounds with the surrogates on a grid, and how they grow: 32 x 32 decisions, 8 x 8 contexts.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/grid_posterior.py [ROUNDS]``. A round tells one observation and then
asks for what an algorithm needs: mean and deviation of the whole grid, or one sample of it. Times are processor time of
this process, so that other work on the machine disturbs them little.
"""

import resource
import sys
import time
from collections.abc import Callable

import numpy as np

from bocu.core.kernels import SquaredExponential
from bocu.learners.surrogates.fourier import FourierSampler
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.learners.surrogates.pathwise import PathwiseSampler

CHECKPOINTS = 10

Use = Callable[[GridPosterior, np.random.Generator], object]


def square_grid(size: int) -> np.ndarray:
    axis = np.linspace(0.0, 1.0, size)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def fields(posterior: GridPosterior, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return posterior.mean(), posterior.deviation()


def seconds_of_rounds(prior: GridPrior, use: Use, rounds: int) -> np.ndarray:
    """Play rounds with points drawn uniformly: no decision comes up often, the dearest case for the posterior."""
    generator = np.random.default_rng(0)
    posterior = GridPosterior(prior)
    seconds = np.empty(rounds)
    for t in range(rounds):
        x, c = (int(generator.integers(size)) for size in prior.shape)
        value = float(generator.standard_normal())
        start = time.process_time()
        posterior.add(x, c, value)
        use(posterior, generator)
        seconds[t] = time.process_time() - start
    return seconds


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    kernel = SquaredExponential((0.1, 0.1))
    prior = GridPrior(square_grid(32), square_grid(8), kernel, kernel)
    uses: dict[str, Use] = {
        "mean and deviation": fields,
        "pathwise sample": PathwiseSampler(prior).draw,
        "1,024 Fourier features, phases": FourierSampler(prior, 1024, pairs=False).draw,
        "2,048 Fourier features, pairs": FourierSampler(prior, 2048, pairs=True).draw,
    }
    ends = np.linspace(0, rounds, CHECKPOINTS + 1).astype(int)[1:]
    print(f"{'':32}{'all':>9}   milliseconds a round up to t = {', '.join(map(str, ends))}")
    for name, use in uses.items():
        seconds = seconds_of_rounds(prior, use, rounds)
        curve = [1e3 * part.mean() for part in np.split(seconds, ends[:-1])]
        print(f"{name:32}{seconds.sum():7.1f} s   " + " ".join(f"{value:6.2f}" for value in curve))
    print(f"largest memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
