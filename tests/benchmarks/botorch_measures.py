"""Time BoTorch's qUCB over our risk measures against the same over its CVaR, side by side.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/botorch_measures.py``: `optimize_acqf` from the same seed and the same
base samples, once for each measure, on 1,024 sampled contexts and on 64 of a line and of a grid; ratios are of core
seconds, of the whole search and of one evaluation (searches differ in how many they take). Also
`RobustUpperConfidenceBound` of the same measures, which draws no samples. BoTorch's defaults are
``--sampled 0 --samples 512 --restarts 10``.
"""

import argparse
import os
import time
import warnings
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import torch
from botorch.acquisition import AcquisitionFunction, qUpperConfidenceBound
from botorch.acquisition.risk_measures import CVaR, RiskMeasureMCObjective
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import AppendFeatures
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler

from bocu.interop.botorch import RobustMeasure, RobustUpperConfidenceBound
from bocu.robust.ambiguity import (
    AmbiguitySet,
    ChiSquared,
    ConditionalValueAtRisk,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    TotalVariation,
    Wasserstein,
    squared_exponential_gram,
)

DECISIONS = 2
SQRT_BETA = 2.0


def model_of(contexts: torch.Tensor, observations: int) -> SingleTaskGP:
    """A model of a smooth payoff, seen at random decisions and contexts, that spreads candidates over contexts."""
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(observations, DECISIONS + contexts.shape[1], dtype=torch.float64, generator=generator)
    payoffs = torch.sin(6.0 * inputs).prod(dim=1, keepdim=True) - 2.0 * (inputs[:, :1] - inputs[:, -1:]) ** 2
    model = SingleTaskGP(inputs, payoffs, input_transform=AppendFeatures(feature_set=contexts))
    return model.eval()


class Bench:
    """One model and one set of starting points, for every measure."""

    def __init__(self, where: str, contexts: torch.Tensor, arguments: argparse.Namespace) -> None:
        self.where, self.arguments = where, arguments
        self.model = model_of(contexts, arguments.observations)
        self.bounds = torch.tensor([[0.0] * DECISIONS, [1.0] * DECISIONS], dtype=torch.float64)

    def sampled(self, measure: RiskMeasureMCObjective) -> AcquisitionFunction:
        sampler = SobolQMCNormalSampler(torch.Size([self.arguments.samples]), seed=2)
        return qUpperConfidenceBound(self.model, beta=SQRT_BETA**2, sampler=sampler, objective=measure)

    def seconds(self, acquisition: AcquisitionFunction) -> tuple[float, int]:
        """Core seconds of a search, and how often it evaluated the acquisition, for as many candidates as restarts."""
        evaluations = 0

        def count(*_: object) -> None:
            nonlocal evaluations
            evaluations += 1

        hook = acquisition.register_forward_hook(count)
        torch.manual_seed(1)
        restarts = self.arguments.restarts
        limits = {"batch_limit": restarts, "init_batch_limit": restarts, "maxiter": self.arguments.iterations}
        start = time.process_time()
        optimize_acqf(
            acquisition, self.bounds, q=1, num_restarts=restarts, raw_samples=4 * restarts, options=dict(limits)
        )
        seconds = time.process_time() - start
        hook.remove()
        return seconds, evaluations

    def table(self, ours: dict[str, RiskMeasureMCObjective], theirs: RiskMeasureMCObjective) -> None:
        """Print a line for each measure."""
        print(f"{theirs.n_w} contexts {self.where}")
        print(f"{'':40s} {'search, s':>9s} {'times':>6s} {'evaluations':>12s} {'one, ms':>8s} {'times':>6s}")
        self.seconds(self.sampled(RobustMeasure(TotalVariation(0.1), n_w=theirs.n_w)))  # what is done once
        base = self.line("CVaR(0.9) of BoTorch", self.sampled(theirs))
        for name, measure in ours.items():
            self.line(name, self.sampled(measure), base)
        for name, measure in ours.items():
            self.line(f"{name}, upper bounds", self.bounded(measure), base)

    def line(self, name: str, acquisition: AcquisitionFunction, base: tuple[float, float] | None = None) -> Any:
        """Print the times of one acquisition and their ratios to others, and return the times."""
        seconds, evaluations = self.seconds(acquisition)
        one = seconds / evaluations
        first, second = base or (seconds, one)
        times = f"{seconds:9.2f} {seconds / first:6.2f} {evaluations:12d} {1e3 * one:8.1f} {one / second:6.2f}"
        print(f"{name:40s} {times}", flush=True)
        return seconds, one

    def bounded(self, measure: RiskMeasureMCObjective) -> AcquisitionFunction:
        return RobustUpperConfidenceBound(self.model, measure, SQRT_BETA)


def many(arguments: argparse.Namespace) -> None:
    """Contexts drawn at random, as many as samples of a distribution."""
    generator = torch.Generator().manual_seed(3)
    contexts = torch.rand(arguments.sampled, 1, dtype=torch.float64, generator=generator)
    n_w = len(contexts)
    sets: dict[str, AmbiguitySet] = {
        "total variation 0.3": TotalVariation(0.3),
        "Kullback-Leibler 0.1": KullbackLeibler(0.1),
        "chi-squared 0.1": ChiSquared(0.1),
        "CVaR 0.1": ConditionalValueAtRisk(0.1),
    }
    measures: dict[str, RiskMeasureMCObjective] = {
        name: RobustMeasure(ambiguity_set, n_w=n_w) for name, ambiguity_set in sets.items()
    }
    Bench("drawn at random", contexts, arguments).table(measures, CVaR(0.9, n_w=n_w))


def few(arguments: argparse.Namespace) -> None:
    """64 contexts, for the sets that know where contexts lie."""
    side = np.linspace(0.0, 1.0, 8)
    places = {
        "of a line": np.linspace(0.0, 1.0, 64)[:, None],
        "of a grid": np.array([[a, b] for a in side for b in side]),
    }
    for where, points in places.items():
        gram = squared_exponential_gram(points, 0.1)
        difference = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
        some: dict[str, RiskMeasureMCObjective] = {
            "total variation 0.3": RobustMeasure(TotalVariation(0.3), n_w=64),
            "MMD 0.1": RobustMeasure(MaximumMeanDiscrepancy(0.1, gram), n_w=64),
            "MMD 0.3": RobustMeasure(MaximumMeanDiscrepancy(0.3, gram), n_w=64),
            "Wasserstein 0.05": RobustMeasure(Wasserstein(0.05, difference), n_w=64),
        }
        Bench(where, torch.tensor(points), arguments).table(some, CVaR(0.9, n_w=64))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--observations", type=int, default=40)
    parser.add_argument("--samples", type=int, default=128)
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--sampled", type=int, default=1024, help="sampled contexts; 0 for none")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of jitter that 1,024 points beside each other need

    if arguments.sampled:
        brief = argparse.Namespace(**vars(arguments) | {"restarts": 2, "iterations": 3})
        many(brief)
    few(arguments)


if __name__ == "__main__":
    main()
