"""A small problem on a grid for the tests of algorithms: played by hand, or by the run loop."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.kernels import SquaredExponential
from bocu.core.randomness import Streams
from bocu.core.rounds import Description, FiniteDomain, Round
from bocu.learners.algorithms.base import Algorithm
from bocu.learners.surrogates.grid import GridPrior
from bocu.problems.finite import FiniteParameters, FiniteProblem
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.seed_run import SeedRun, build_problem
from bocu.testing import games

DECISIONS = np.linspace(0.0, 1.0, 7)[:, None]
CONTEXTS = np.array([[0.0, 0.0], [0.0, 1.0], [0.4, 0.5], [1.0, 0.2], [0.9, 1.0]])
REFERENCE = np.array([0.3, 0.1, 0.25, 0.15, 0.2])
UNIFORM = np.full(5, 0.2)
NOISE = 0.1
DISTANCES: dict[str, dict[str, float]] = {
    "tv": {},
    "mmd": {},
    "wass": {},
    "chi2": {},
    "chi2mod": {},
    "kl": {},
    "cr": {"k": 3.0},
    "cvar": {"alpha": 0.5},
}
BOUNDED = ("tv", "mmd", "wass")
"""Distances whose slope at radius 0 is finite."""

CANDIDATES = [
    {"label": label, "kernel": "squared-exponential", "lengthscale": [length], "variance": 0.5, "mean": mean}
    for label, length, mean in (("short", 0.1, 0.0), ("long", 0.8, 0.0), ("high", 0.3, 4.0))
]
"""Candidate priors of the waves, for algorithms that know of several."""

DATA = [(0, 1, 0.3), (3, 2, -0.5), (6, 0, 0.8), (3, 4, 0.1), (2, 3, 1.1), (5, 2, 0.4)]


def ambiguity_set(distance: str, epsilon: float = 0.0) -> Any:
    more = {"lengthscale": 0.5} if distance == "mmd" else DISTANCES[distance]
    return SetParameters.model_validate({"name": distance, **more}).over(CONTEXTS).with_epsilon(epsilon)


def described(protocol: str = "general") -> Description:
    kernels = SquaredExponential((0.3,)), SquaredExponential((0.5, 0.5))
    return Description(
        FiniteDomain(DECISIONS, ("x",), ("1",)),
        FiniteDomain(CONTEXTS, ("c1", "c2"), ("1", "1")),
        NOISE,
        protocol,
        model=GridPrior(DECISIONS, CONTEXTS, *kernels, variance=1.5, noise=NOISE),
    )


def start(
    name: str, objective: Any = None, protocol: str = "general", data: Any = DATA, seed: int = 0, **parameters: Any
) -> Any:
    """Build a registered algorithm and tell it the data."""
    kind = find("algorithm", name).load()
    algorithm = kind(described(protocol), objective, kind.Parameters(**parameters), np.random.default_rng(seed))
    for decision, context, value in data:
        algorithm.tell(decision, context, value)
    return algorithm


def announce(t: int = 1, epsilon: float | None = 0.3, reference: np.ndarray = REFERENCE, **more: Any) -> Round:
    return Round(t=t, reference=reference, epsilon=epsilon, **more)


def play(algorithm: Algorithm, rounds: int, epsilon: float | None = 0.3) -> list[int]:
    """Decide, meet a context, observe: the decisions of some rounds."""
    world = np.random.default_rng(5)
    decisions = []
    for t in range(1, rounds + 1):
        decisions.append(int(algorithm.ask(announce(t, epsilon))))
        context = int(world.integers(len(CONTEXTS)))
        algorithm.tell(decisions[-1], context, float(np.sin(5.0 * DECISIONS[decisions[-1], 0] + context)))
    return decisions


def posterior_of(data: Any = DATA) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean and standard deviation over the grid (decisions, contexts), by the textbook's dense formulas."""
    mean, covariance = dense_posterior(data)
    shape = len(DECISIONS), len(CONTEXTS)
    return mean.reshape(shape), np.sqrt(np.diag(covariance)).reshape(shape)


def dense_posterior(data: Any = DATA) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean and covariance of all grid points, contexts varying fastest."""
    points = np.array([[*x, *c] for x in DECISIONS for c in CONTEXTS]) / [0.3, 0.5, 0.5]
    prior = 1.5 * np.exp(-0.5 * ((points[:, None] - points[None]) ** 2).sum(axis=2))
    told = np.array([decision * len(CONTEXTS) + context for decision, context, _ in data], dtype=int)
    gram = prior[np.ix_(told, told)] + NOISE**2 * np.eye(len(told))
    gain = np.linalg.solve(gram, prior[told]).T
    return gain @ np.array([value for *_, value in data]), prior - gain @ prior[told]


class WavyParameters(FiniteParameters):
    """Parameters of the waves."""

    decision_points: list[int] = Field([3, 3], description="points a decision coordinate")
    context_points: list[int] = Field([6], description="points of the context")
    lengthscale: float = Field(0.1, description="length-scale of the model")
    initial: int = Field(3, description="points of the initial design")


class Wavy(FiniteProblem):
    """Waves of a height that is drawn for each seed."""

    Parameters = WavyParameters
    about = About("waves", "made for tests")
    units = "1"
    decision_names = ("x1", "x2")
    decision_units = ("1", "1")
    context_names = ("c",)
    context_units = ("1",)

    def payoff_table(self, streams: Streams) -> np.ndarray:
        height = streams["problem"].random()
        return height * np.sin(4.0 * self.decisions.sum(axis=1)[:, None] + 6.0 * self.contexts[:, 0])


def specification(
    algorithm: str, objective: str | None = None, iterations: int = 6, problem: Any = None, **parameters: Any
) -> dict[str, Any]:
    """Specify a run on the waves. `objective` is `name` or `name:distance`; `parameters` are the algorithm's."""
    waves = WavyParameters.model_validate({"candidates": CANDIDATES, **(problem or {})})
    game = {"class": "finite_games:Wavy", "parameters": waves.model_dump(mode="json")}
    learner, pursued = games.stated("algorithm", algorithm, parameters), stated(objective) if objective else None
    return {**games.run_specification(game, learner, pursued, iterations), "seeds": [0, 1]}


def stated(objective: str) -> dict[str, Any]:
    name, _, distance = objective.partition(":")
    given: dict[str, Any] = {"set": {"name": distance, **DISTANCES[distance]}} if distance else {}
    if name in ("wcs", "mr", "gen"):
        given["slope"] = {"difference": 1e-3}
    if name == "rs":
        given["tau"] = -0.2
    return games.stated("objective", name, given)


def seed_run(specified: dict[str, Any], seed: int = 0) -> SeedRun:
    return SeedRun(specified, build_problem(specified["problem"], {}), seed)


def pairs() -> Iterator[tuple[str, str | None]]:
    """Every algorithm on finite contexts with every objective and set that it is defined for."""
    objectives = ["so", "ro", *(f"{name}:{distance}" for name in ("dro", "gen", "rs") for distance in DISTANCES)]
    objectives += [f"{name}:{distance}" for name in ("wcs", "mr") for distance in BOUNDED]
    for name in ("random", "ucb-so", "ucb-ro", "stableopt-finite"):
        yield name, None
    for name in (
        "ucb-bocu-1",
        "ucb-bocu-true",
        "ucb-bocu-2",
        "ts-bocu",
        "sensitivity-approximation",
        "minimax-approximation",
        "pe-gp-ucb",
    ):
        parameters = find("algorithm", name).load().Parameters()
        for objective in objectives:
            entry = find("objective", objective.partition(":")[0])
            pursued = entry.load().Parameters.model_validate(stated(objective)["parameters"])
            if not parameters.unfit(entry.name, pursued):
                yield name, objective
