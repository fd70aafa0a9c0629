"""Cubes of a problem with several objectives, on top of `synthetic_cubes`: every number is known."""

import json

import numpy as np
import synthetic_cubes

OBJECTIVES = ("any", "dro", "wcs")
ALGORITHMS = {"random": "random", "ts-bocu": "ts-bocu", "drbo": "ucb-bocu-2"}
METRICS = ("dro", "wcs")
SEEDS, ITERATIONS, INITIAL = 4, 12, 2
NAN = float("nan")


def level(problem, objective, algorithm, metric):
    """Instantaneous regret of every round, different for every index."""
    places = (OBJECTIVES.index(objective), list(ALGORITHMS).index(algorithm), METRICS.index(metric))
    return len(problem) + places[0] + 10.0 * (places[1] + 1) + 0.25 * places[2]


def defined(objective, algorithm):
    return (objective == "any") == (algorithm == "random")


def gain(algorithm):
    """Payoff of every round of the last seed; seed s has (1 + s) / SEEDS of it. Random loses."""
    return {"random": -3.0, "ts-bocu": 2.0, "drbo": 5.0}[algorithm]


def cube(problem="one", data_label="", units="1", iterations=ITERATIONS):
    """A problem whose algorithms, but for random, pursue two objectives; the initial design has rows of its own."""
    shape = (len(OBJECTIVES), len(ALGORITHMS))
    rounds = np.arange(1 - INITIAL, iterations + 1)
    regret = np.full((*shape, len(METRICS), SEEDS, len(rounds)), NAN)
    payoff = np.full((*shape, SEEDS, len(rounds)), NAN)
    status = np.full((*shape, SEEDS), 2, dtype=np.int8)
    for i, objective in enumerate(OBJECTIVES):
        for j, algorithm in enumerate(ALGORITHMS):
            if defined(objective, algorithm):
                status[i, j] = 1
                payoff[i, j] = gain(algorithm) * (1 + np.arange(SEEDS))[:, None] / SEEDS
                for k, metric in enumerate(METRICS):
                    own = level(problem, objective, algorithm, metric)
                    regret[i, j, k] = own * (1 + 0.1 * np.arange(SEEDS))[:, None]
    regret[..., :INITIAL] *= 1000.0
    recommended = regret / 2
    recommended[..., :INITIAL] = NAN
    recommended[0] = NAN  # random recommends nothing
    base = synthetic_cubes.cube(label=problem, data_label=data_label, title=f"Problem {problem}")
    attrs = {**base.attrs, "payoff_units": units, "specification": json.dumps({"problem": {}})}
    variables = {
        "regret": regret,
        "recommended_regret": recommended,
        "payoff": payoff,
        "status": status,
        "seconds": np.full((*shape, SEEDS, len(rounds)), 0.002),
    }
    return synthetic_cubes.dataset(variables, ALGORITHMS, METRICS, attrs, OBJECTIVES, first=1 - INITIAL)
