"""Processor seconds of a round of the algorithms that stand on BoTorch, with default settings.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/botorch_costs.py [NAME ...] [--observed 20 80] [--rounds 2]``: BoTorch's
acquisitions on Ackley (two outputs for those of several), and our algorithms with ``model: botorch-default`` on Ackley
and, beside, with our own model. Median over the rounds, after so many random observations; a first round, which
imports, is left out.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np

from bocu.core.randomness import Streams
from bocu.core.rounds import Round
from bocu.problems.base import Realisation
from bocu.sweep.experiment.registry import find

BASELINES = ("botorch-acquisition", "qlognei", "qkg", "mars", "qnehvi")
OURS = ("gp-ucb", "sbo-kde", "drbo-kde", "stableopt", "drbo-mmd", "minimax-continuous")


def realised(name: str) -> Realisation:
    several = name in ("mars", "qnehvi")
    kind = find("problem", "ackley-grid" if several else "ackley").load()
    given: dict[str, Any] = {"outputs": 2} if several else {}
    found: Realisation = kind(kind.Parameters(**given), {}).realise(Streams(0))
    return found


def seconds(name: str, given: dict[str, Any], observed: int, rounds: int) -> float:
    """Median processor seconds of a round after so many observations."""
    realisation = realised(name)
    kind = find("algorithm", name).load()
    parameters = kind.Parameters.model_validate(given)
    algorithm = kind(realisation.description, None, parameters, np.random.default_rng(0))
    generator = np.random.default_rng(1)
    for decision, context in realisation.initial_design(generator, observed):
        algorithm.tell(decision, context, realisation.payoff(decision, context))
    found = []
    for t in range(1, rounds + 1):
        weights = realisation.weights(t) if realisation.description.outputs > 1 else None
        start = time.process_time()
        decision = algorithm.ask(Round(t, weights=weights))
        found.append(time.process_time() - start)
        context = realisation.draw_context(t, generator)
        algorithm.tell(decision, context, realisation.payoff(decision, context))
    return float(np.median(found))


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*BASELINES, *OURS])
    parser.add_argument("--observed", type=int, nargs="+", default=[20, 80])
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    seconds("botorch-acquisition", {"search": {"raw": 4, "restarts": 1}}, 5, 1)
    for name in arguments.names:
        for given in [{}] if name in BASELINES else [{}, {"model": "botorch-default"}]:
            taken = [seconds(name, given, observed, arguments.rounds) for observed in arguments.observed]
            told = ", ".join(f"{s:.2f} s at {t}" for s, t in zip(taken, arguments.observed, strict=True))
            print(f"{name} {given or ''}: {told}", flush=True)


if __name__ == "__main__":
    main()
