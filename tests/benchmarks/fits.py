"""How often a fit misses the maximum a posteriori, and what it costs, by where its ascents start.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/fits.py [--seeds 2] [--rounds 36] [--kernel product]``: SBO-KDE plays
newsvendor, Ackley and modified Branin; the hyper-parameters are fitted after every observation of its runs, each way of
starting from its own last optimum, and compared with the best end of 20 ascents from draws of the priors and of all
ways. A miss is a fit whose log posterior is more than 1 nat, or 0.01, below. Seconds are processor time of a fit.
"""

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

from bocu.learners.algorithms.continuous_base import ModelParameters
from bocu.learners.surrogates.continuous.fitting import NOISY, LogPosterior, Priors, best_hyperparameters
from bocu.learners.surrogates.continuous.model import standardise
from bocu.learners.surrogates.continuous.structure import Hyperparameters
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.seed_run import SeedRun, build_problem
from bocu.testing.games import run_specification, stated

PRIORS = Priors()
PROBLEMS = ("newsvendor", "ackley", "modified-branin")
KERNELS = {"product": ModelParameters(), "joint": ModelParameters(kernel="joint")}

Starts = Callable[[Hyperparameters | None, int, int], Sequence[Hyperparameters]]


def alone(last: Hyperparameters | None, count: int, inputs: int) -> list[Hyperparameters]:
    return [PRIORS.start(inputs)] if last is None else [last]


def one_level(last: Hyperparameters | None, count: int, inputs: int) -> list[Hyperparameters]:
    centred = last is None or count <= 50 or count % 10 == 0
    return [*([] if last is None else [last]), *([PRIORS.start(inputs)] if centred else [])]


def two_levels(last: Hyperparameters | None, count: int, inputs: int) -> list[Hyperparameters]:
    return PRIORS.starts(inputs, last, count)


def three(last: Hyperparameters | None, count: int, inputs: int) -> list[Hyperparameters]:
    return [*([] if last is None else [last]), PRIORS.wavy(inputs), PRIORS.start(inputs, NOISY)]


WAYS: dict[str, Starts] = {
    "last optimum": alone,
    "and quiet centre while few": one_level,
    "two noise levels (the model's)": two_levels,
    "three: last optimum, both others": three,
}


def observations(problem: str, seed: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and payoffs of a run, the ten initial points among them."""
    algorithm = stated("algorithm", "sbo-kde", {"samples": 256, "search": {"raw": 256, "restarts": 10}})
    specification = run_specification(stated("problem", problem, {}), algorithm, None, rounds)
    run = SeedRun(specification, build_problem(specification["problem"], {}), seed)
    while not run.finished:
        run.play()
    arrays = run.record.arrays
    return np.concatenate([arrays["decision"], arrays["context"]], axis=1), arrays["observation"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=36)
    parser.add_argument("--kernel", choices=KERNELS, default="product")
    arguments = parser.parse_args()
    generator = np.random.default_rng(0)
    short: dict[str, list[float]] = {way: [] for way in WAYS}
    seconds = dict.fromkeys(WAYS, 0.0)
    for problem in PROBLEMS:
        kind = find("problem", problem).load()
        structure = KERNELS[arguments.kernel].structure(*kind(kind.Parameters(), {}).dimensions)
        for seed in range(100, 100 + arguments.seeds):
            inputs, payoffs = observations(problem, seed, arguments.rounds)
            last: dict[str, Hyperparameters | None] = dict.fromkeys(WAYS)
            for count in range(10, len(payoffs)):
                posterior = LogPosterior(structure, inputs[:count], standardise(payoffs[:count])[2], PRIORS)
                reached = {}
                for way, starts in WAYS.items():
                    begun = time.process_time()
                    last[way] = found = best_hyperparameters(posterior, starts(last[way], count, structure.inputs))
                    seconds[way] += time.process_time() - begun
                    reached[way] = posterior(found.to_vector())[0]
                draws = [best_hyperparameters(posterior, [PRIORS.draw(structure.inputs, generator)]) for _ in range(20)]
                best = max(*reached.values(), *(posterior(end.to_vector())[0] for end in draws))
                for way, value in reached.items():
                    short[way].append(best - value)
    for way, gaps in short.items():
        misses = ", ".join(f"{sum(gap > nats for gap in gaps)} by more than {nats}" for nats in (1.0, 0.01))
        print(f"{way:32s} of {len(gaps)} fits {misses} nat; {1e3 * seconds[way] / len(gaps):.1f} ms a fit")


if __name__ == "__main__":
    main()
