"""Seconds of one round of the algorithms with continuous decisions, as they run in the pipeline.

Run ``python tests/benchmarks/huang_runtime.py [--problem ackley] [--rounds 7] [--initial 10] [--published-search]
[--kernel product|matern|joint]``; the number of numeric threads is that of ``OMP_NUM_THREADS``. DRMOBO: Ackley with two
outputs on 100 contexts. Median over the rounds but the first, which compiles, of processor time (which other work on
the machine disturbs little) and of elapsed time.
"""

import argparse
import time
from typing import Any

import numpy as np

from bocu.core.randomness import Streams
from bocu.core.rounds import Description, FiniteDomain, Round
from bocu.problems.continuous import unit_cube
from bocu.problems.functions import ackley
from bocu.robust.ambiguity import TotalVariation
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.experiment.registry import find

TARGETS = {
    "gp-ucb": 0.25,
    "sbo-kde": 0.5,
    "stableopt": 0.5,
    "minimax-continuous": 0.6,
    "drbo-kde": 0.6,
    "drbo-mmd": 1.5,
    "drmobo": 0.6,
}
"""Seconds a round with two threads, 50 restarts and 1,024 raw points (DRMOBO: 10 and 128)."""

MODELS: dict[str, dict[str, str]] = {
    "product": {},
    "matern": {"decision_kernel": "matern-5/2", "context_kernel": "matern-5/2"},
    "joint": {"kernel": "joint", "decision_kernel": "matern-5/2"},
}
"""The product of huang2024.yaml, that of two Matern kernels, and the published kernel."""

PUBLISHED = {"raw": 32, "restarts": 5}


def algorithm_on(name: str, description: Description, arguments: argparse.Namespace) -> Any:
    kind = find("algorithm", name).load()
    given: dict[str, Any] = {"search": PUBLISHED} if arguments.published_search else {}
    if name != "gp-ucb":
        given["model"] = MODELS[arguments.kernel]
    objective = UncertaintyObjective.dro(TotalVariation(0.1)) if name == "drmobo" else None
    return kind(description, objective, kind.Parameters(**given), np.random.default_rng(0))


def seconds(name: str, arguments: argparse.Namespace) -> tuple[float, float]:
    """Processor and elapsed seconds of a round."""
    kind = find("problem", "ackley" if name == "drmobo" else arguments.problem).load()
    realisation = kind(kind.Parameters(initial=arguments.initial), {}).realise(Streams(0))
    description = realisation.description
    grid = np.linspace(0.0, 1.0, 100)[:, None]
    if name == "drmobo":
        contexts = FiniteDomain(grid, ("c",), ("1",))
        description = Description(unit_cube("decision", 2), contexts, 0.0, "scalarised", outputs=2)
    algorithm = algorithm_on(name, description, arguments)
    generator = np.random.default_rng(1)

    def observe(decision: np.ndarray) -> None:
        if name == "drmobo":
            context = int(generator.integers(len(grid)))
            values = [float(ackley(decision, grid[context], ripple=sign)) for sign in (1.0, -1.0)]
            algorithm.tell(decision, context, np.array(values))
        else:
            context = realisation.draw_context(1, generator)
            algorithm.tell(decision, context, realisation.payoff(decision, context))

    for decision, _ in realisation.initial_design(generator, arguments.initial):
        observe(decision)
    found = []
    for t in range(1, arguments.rounds + 1):
        announced = Round(t)
        if name == "drmobo":
            announced = Round(t, None, np.full(len(grid), 1.0 / len(grid)), 0.1, generator.dirichlet(np.ones(2)))
        start = time.process_time(), time.perf_counter()
        decision = algorithm.ask(announced)
        found.append((time.process_time() - start[0], time.perf_counter() - start[1]))
        observe(decision)
    processor, elapsed = np.median(found[1:], axis=0)
    return float(processor), float(elapsed)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--problem", default="ackley")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--initial", type=int, default=10)
    parser.add_argument("--kernel", choices=list(MODELS), default="product")
    parser.add_argument("--published-search", action="store_true")
    parser.add_argument("--algorithms", nargs="*", default=list(TARGETS))
    arguments = parser.parse_args()
    print(f"{arguments.kernel} kernel, {arguments.initial} to {arguments.initial + arguments.rounds} observations")
    print(f"{'algorithm':20s} processor   elapsed    target, seconds a round")
    for name in arguments.algorithms:
        processor, elapsed = seconds(name, arguments)
        print(f"{name:20s} {processor:9.3f} {elapsed:9.3f} {TARGETS.get(name, np.nan):9.2f}", flush=True)


if __name__ == "__main__":
    main()
