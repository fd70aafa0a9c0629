"""Seconds of one decision over continuous contexts: fit, acquisition, multi-start ascent, at several numbers of data.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/continuous.py [KERNEL]``, KERNEL one of squared-exponential, matern-5/2,
joint; ``fit`` compares fits with those of BoTorch. Ackley with 2 decision and 1 context coordinates, 1,024 raw samples
and 50 restarts; DRMOBO with two outputs, 100 contexts, 128 raw samples and 10 restarts. Times are processor time of
this process, so that other work on the machine disturbs them little; the median of a few decisions.
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from bocu.core.randomness import scrambled_sobol
from bocu.learners.acquisition.base import Acquisition, SurfaceAcquisition
from bocu.learners.acquisition.functionals import ExpectedValue, MinimumValue, SampledTotalVariation, WorstCaseValue
from bocu.learners.acquisition.minimax import MinimaxFunctional
from bocu.learners.acquisition.multistart import maximise
from bocu.learners.acquisition.surfaces import WeightedSurface, surface
from bocu.learners.surrogates.continuous.model import ContinuousGP, Posterior, standardise
from bocu.learners.surrogates.continuous.structure import Structure, joint, product
from bocu.problems.functions import ackley
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, ModifiedChiSquared, TotalVariation
from bocu.robust.ambiguity.mmd.gram import mmd_radius, squared_exponential_gram, with_jitter
from bocu.robust.contexts.estimates import KernelDensity, box_around_mean, empirical, kde_radius, product_grid

SAMPLES = 1024
SQRT_BETA = 1.5
COUNTS = (10, 16, 100, 350)
REPEATS = 3
LOW, HIGH = np.zeros(1), np.ones(1)
STRUCTURES = {
    "squared-exponential": product(2, 1, "squared-exponential", "squared-exponential"),
    "matern-5/2": product(2, 1, "matern-5/2", "matern-5/2"),
    "joint": joint(2, 1, "matern-5/2"),
}


def mmd(size: int) -> tuple[np.ndarray, MaximumMeanDiscrepancy]:
    grid = product_grid(LOW, HIGH, size)
    return grid, MaximumMeanDiscrepancy(0.0, with_jitter(squared_exponential_gram(grid, 0.1)))


COARSE, FINE = mmd(100), mmd(SAMPLES)

Build = Callable[[list[Posterior], np.ndarray, np.random.Generator], Acquisition]


def gp_ucb(posteriors, seen, generator):
    return SurfaceAcquisition(surface(posteriors[0], np.empty((1, 0)), SQRT_BETA), ExpectedValue())


def sbo_kde(posteriors, seen, generator):
    samples = KernelDensity.fit(seen, LOW, HIGH).sample(generator, SAMPLES)
    return SurfaceAcquisition(surface(posteriors[0], samples, SQRT_BETA), ExpectedValue())


def stableopt(posteriors, seen, generator):
    points = scrambled_sobol(*box_around_mean(seen, LOW, HIGH), SAMPLES, generator)
    return SurfaceAcquisition(surface(posteriors[0], points, SQRT_BETA), MinimumValue())


def drbo_kde(posteriors, seen, generator):
    samples = KernelDensity.fit(seen, LOW, HIGH).sample(generator, SAMPLES)
    points = np.concatenate([samples, scrambled_sobol(LOW, HIGH, SAMPLES, generator)])
    functional = SampledTotalVariation(kde_radius(len(seen), 1), SAMPLES)
    return SurfaceAcquisition(surface(posteriors[0], points, SQRT_BETA), functional)


def drbo_mmd(posteriors, seen, generator):
    grid, ambiguity_set = COARSE
    functional = WorstCaseValue(ambiguity_set.with_epsilon(mmd_radius(len(seen), 0.1)), empirical(seen, grid))
    return SurfaceAcquisition(surface(posteriors[0], grid, SQRT_BETA), functional)


def minimax(posteriors, seen, generator):
    grid, ambiguity_set = FINE
    reference = empirical(seen, grid)
    functional = MinimaxFunctional(ambiguity_set.with_epsilon(mmd_radius(len(seen), 0.1)), reference)
    return SurfaceAcquisition(surface(posteriors[0], grid, SQRT_BETA), functional)


def drmobo(ambiguity_set):
    def build(posteriors, seen, generator):
        grid = COARSE[0]
        both = WeightedSurface([surface(each, grid, SQRT_BETA) for each in posteriors], np.array([0.4, 0.6]))
        return SurfaceAcquisition(both, WorstCaseValue(ambiguity_set, np.full(len(grid), 1.0 / len(grid))))

    return build


METHODS: dict[str, Build] = {
    "gp-ucb": gp_ucb,
    "sbo-kde": sbo_kde,
    "stableopt": stableopt,
    "drbo-kde": drbo_kde,
    "drbo-mmd": drbo_mmd,
    "minimax": minimax,
    "drmobo tv": drmobo(TotalVariation(0.1)),
    "drmobo chi2": drmobo(ModifiedChiSquared(0.1)),
}


def observations(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (count, 3) that gather around the best decision as runs do, and both outputs of Ackley (count, 2)."""
    generator = np.random.default_rng(count)
    decisions = generator.random((count, 2))
    decisions[count // 2 :] = np.clip(generator.normal(0.5, 0.1, (count - count // 2, 2)), 0.0, 1.0)
    contexts = np.clip(generator.normal(0.5, 0.15, (count, 1)), 0.0, 1.0)
    outputs = np.stack([ackley(decisions, contexts, ripple=sign) for sign in (1.0, -1.0)], axis=1)
    return np.concatenate([decisions, contexts], axis=1), outputs


def seconds_of_decision(method: str, structure: Structure, count: int) -> float:
    """Median over a few decisions, each after one more observation and a new fit."""
    inputs, outputs = observations(count)
    models = [ContinuousGP(structure) for _ in range(2 if method.startswith("drmobo") else 1)]
    if method == "gp-ucb":
        models = [ContinuousGP(joint(2, 0, "matern-5/2"))]
    raw, restarts = (128, 10) if method.startswith("drmobo") else (1024, 50)
    generator = np.random.default_rng(0)
    seconds = []
    for t, (row, values) in enumerate(zip(inputs, outputs, strict=True)):
        for model, value in zip(models, values, strict=False):
            model.add(row[:2], row[2:], float(value))
        if t + 1 < count - REPEATS:
            continue
        start = time.process_time()
        acquisition = METHODS[method]([model.posterior(generator) for model in models], inputs[: t + 1, 2:], generator)
        maximise(acquisition, generator, raw=raw, restarts=restarts)
        seconds.append(time.process_time() - start)
    # The first decision has no fit to go on from, and compiles.
    return float(np.median(seconds[1:]))


def seconds_of_fits(count: int) -> tuple[float, float]:
    """Our fit and BoTorch's of the joint Matern-5/2 kernel, from the centre of the priors, and their objectives."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.mlls import ExactMarginalLogLikelihood
    from gpytorch.priors import GammaPrior

    inputs, outputs = observations(count)
    model = ContinuousGP(STRUCTURES["joint"])
    for row, value in zip(inputs, outputs[:, 0], strict=True):
        model.add(row[:2], row[2:], float(value))
    start = time.process_time()
    model.posterior(np.random.default_rng(0))
    ours = time.process_time() - start
    start = time.process_time()
    kernel = ScaleKernel(
        MaternKernel(nu=2.5, ard_num_dims=3, lengthscale_prior=GammaPrior(3.0, 6.0)),
        outputscale_prior=GammaPrior(2.0, 0.15),
    )
    y = torch.tensor(standardise(outputs[:, 0])[2])[:, None]
    theirs = SingleTaskGP(torch.tensor(inputs), y, covar_module=kernel, outcome_transform=None)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(theirs.likelihood, theirs))
    return ours, time.process_time() - start


def main() -> None:
    kernel = sys.argv[1] if len(sys.argv) > 1 else "squared-exponential"
    if kernel == "fit":
        seconds_of_fits(10)
        for count in COUNTS:
            print("fit at {:3d} observations: ours {:.3f} s, BoTorch {:.3f} s".format(count, *seconds_of_fits(count)))
        return
    print(f"{kernel}: seconds of one decision at {', '.join(map(str, COUNTS))} observations")
    for method in METHODS:
        seconds = [seconds_of_decision(method, STRUCTURES[kernel], count) for count in COUNTS]
        print(f"{method:12s}", "  ".join(f"{each:7.3f}" for each in seconds), flush=True)


if __name__ == "__main__":
    main()
