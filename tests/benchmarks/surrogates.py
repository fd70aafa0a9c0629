"""What posteriors and decisions cost, side by side with the plain way, and how it grows: `docs/developers`.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/surrogates.py [joint] [decisions] [rounds]``; under a minute each, but
`joint`. Times are processor time of this process, ways take turns, so that ratios hold on a machine that does other
things too.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from continuous import METHODS, SAMPLES, SQRT_BETA, STRUCTURES, observations

from bocu.core.kernels import Kernel, Matern52, SquaredExponential
from bocu.learners.acquisition.base import SurfaceAcquisition
from bocu.learners.acquisition.multistart import maximise
from bocu.learners.acquisition.surfaces import JointSurface
from bocu.learners.surrogates.cholesky import GrownCholesky
from bocu.learners.surrogates.continuous.model import ContinuousGP
from bocu.learners.surrogates.grams import EvaluatedGram, PointGram, StoredGram, gram_of
from bocu.learners.surrogates.grid import GridPosterior, GridPrior

KERNEL = SquaredExponential((0.1, 0.1))
CONTEXTS = 8  # an axis
CHOICES = (32, 64, 128)  # decisions an axis
TOLD = (500, 1000, 2500, 5000)


class EveryContext(JointSurface):
    """The joint kernel's surface, every context evaluated in screening and ascents."""

    def rough(self, indices: np.ndarray) -> JointSurface:
        return JointSurface(self.posterior, self.points[indices], self.sqrt_beta)

    def draft(self) -> None:
        return None


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Least processor time of a few calls."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def joint_kernel() -> None:
    """One decision under the joint Matern-5/2 kernel, with a draft and without."""
    print(
        f"joint kernel, Ackley, {SAMPLES} samples, 1,024 raw points, 50 ascents: seconds of a decision without its fit"
    )
    print("algorithm     points      fit   plain   draft  ratio   draft's value less plain's, in spreads")
    for count in (100, 350):
        inputs, outputs = observations(count)
        model = ContinuousGP(STRUCTURES["joint"])
        for row, value in zip(inputs, outputs[:, 0], strict=True):
            model.add(row[:2], row[2:], float(value))
        start = time.process_time()
        posterior = model.posterior(np.random.default_rng(0))
        fit = time.process_time() - start
        for name in ("sbo-kde", "stableopt", "drbo-kde"):
            built = METHODS[name]([posterior], inputs[:, 2:], np.random.default_rng(1))
            assert isinstance(built, SurfaceAcquisition)
            assert isinstance(built.surface, JointSurface)
            plain = SurfaceAcquisition(EveryContext(posterior, built.surface.points, SQRT_BETA), built.functional)
            taken, value = [], []
            for one in (plain, built):
                start = time.process_time()
                value.append(maximise(one, np.random.default_rng(2)).value)
                taken.append(time.process_time() - start)
            spread = plain.screen(np.random.default_rng(3).random((256, 2))).std()
            print(
                f"{name:12s} {count:7d} {fit:8.3f} {taken[0]:7.3f} {taken[1]:7.3f} {taken[0] / taken[1]:6.1f}"
                f"   {(value[1] - value[0]) / spread:9.1e}",
                flush=True,
            )


def square(size: int) -> np.ndarray:
    axis = np.linspace(0.0, 1.0, size)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def posterior_of(
    gram: Callable[[Kernel, np.ndarray], PointGram], kernel: Kernel, size: int, told: int
) -> GridPosterior:
    """A posterior of size^2 decisions x 64 contexts after so many observations, each of another decision."""
    prior = GridPrior(square(2), square(CONTEXTS), kernel, KERNEL)
    prior.decisions = square(size)
    prior.over_decisions = gram(kernel, prior.decisions)
    posterior = GridPosterior(prior)
    generator = np.random.default_rng(0)
    for decision in generator.permutation(size**2)[:told]:
        posterior.add(int(decision), int(generator.integers(CONTEXTS**2)), float(generator.standard_normal()))
    return posterior


def decisions() -> None:
    """A sum over all observations on the grid, most of a round, and a round, by the form of the covariances."""
    told = 500
    forms: dict[str, tuple[Callable[[Kernel, np.ndarray], PointGram], Kernel]] = {
        "matrix": (lambda kernel, points: StoredGram(kernel(points, points)), KERNEL),
        "rows": (EvaluatedGram, KERNEL),
        "as chosen": (gram_of, KERNEL),
        "as chosen, Matern-5/2": (gram_of, Matern52((0.1, 0.1))),
    }
    print(f"decisions x {CONTEXTS**2} contexts after {told} of them: milliseconds of a sum and a round, MiB at most")
    for size in CHOICES:
        for name, (gram, kernel) in forms.items():
            if name == "matrix" and size > 64:
                needed = 3 * 8 * size**4 / 2**20
                print(f"{size**2:7d} {name:22s}       -       -  {needed:7.0f} (three matrices, while it is built)")
                continue
            tracemalloc.start()
            posterior = posterior_of(gram, kernel, size, told)
            weights = np.random.default_rng(1).standard_normal(told)
            posterior.combination(weights)
            peak = tracemalloc.get_traced_memory()[1] / 2**20
            tracemalloc.stop()
            sums = seconds(lambda: posterior.combination(weights))  # noqa: B023
            whole = seconds_of_round(posterior)
            print(f"{size**2:7d} {name:22s} {1e3 * sums:7.1f} {1e3 * whole:7.1f}  {peak:7.0f}", flush=True)


def seconds_of_round(posterior: GridPosterior) -> float:
    """Least of a few rounds: one observation, mean and deviation of the whole grid."""
    posterior.deviation()

    def round() -> None:
        posterior.add(3, 5, 0.5)
        posterior.mean()
        posterior.deviation()

    return seconds(round, 5)


def rounds() -> None:
    """Parts of a round that grow with the observations: two triangular solves, and one sum on 1,024 x 64 points."""
    print("milliseconds of a round at t: solves, sum on 1,024 x 64 points with as many decisions as there can be")
    generator = np.random.default_rng(0)
    for told in TOLD:
        factor = GrownCholesky()
        lower = np.tril(0.01 * generator.standard_normal((told, told)))
        lower.flat[:: told + 1] = 1.0
        factor.restore(lower[np.tril_indices(told)])
        del lower
        right = generator.standard_normal(told)
        solves = seconds(lambda: factor.solve(right))  # noqa: B023
        posterior = posterior_of(gram_of, KERNEL, 32, min(told, 1024))
        weights = generator.standard_normal(posterior.count)
        sums = seconds(lambda: posterior.combination(weights))  # noqa: B023
        memory = 4 * told**2 / 2**20
        print(f"{told:6d} {1e3 * solves:8.2f} {1e3 * sums:8.2f}   factor {memory:5.0f} MiB", flush=True)


def main() -> None:
    parts = {"joint": joint_kernel, "decisions": decisions, "rounds": rounds}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
