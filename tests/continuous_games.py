"""Small problems with continuous decisions for the tests of algorithms: played by hand, or by the run loop."""

from typing import Any

import numpy as np
from finite_games import seed_run

from bocu.core.about import About
from bocu.core.randomness import Streams
from bocu.core.rounds import CONTINUOUS, SCALARISED, BoxDomain, Description, FiniteDomain
from bocu.learners.acquisition.base import SurfaceAcquisition
from bocu.learners.acquisition.surfaces import surface
from bocu.problems.base import Problem, ProblemParameters, Realisation
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.seed_run import SeedRun
from bocu.testing.games import run_specification, stated

GRID = np.linspace(0.0, 1.0, 8)[:, None]
SEARCH = {"raw": 32, "restarts": 4}
SMALL: dict[str, dict[str, Any]] = {
    "gp-ucb": {},
    "sbo-kde": {"samples": 40},
    "drbo-kde": {"samples": 40, "infimum_points": 30},
    "stableopt": {"points": 30},
    "drbo-mmd": {"contexts": 12},
    "minimax-continuous": {"contexts": 16},
    "ts-bocu-kde": {"samples": 12, "others": 6, "features": 64},
    "ucb-bocu-kde": {"samples": 12, "others": 6},
    "dro-bo-phi": {"samples": 12, "others": 6},
    "erbo": {},
    "wdrbo": {"points": 8},
    "drmobo": {},
    "mobo": {},
}
"""Every algorithm but BoTorch's with few samples and starts, for speed."""

DRO = {"set": {"name": "tv", "radius": 0.4}}


def unit_box(dimension: int) -> BoxDomain:
    return BoxDomain(np.zeros(dimension), np.ones(dimension), ("",) * dimension, ("1",) * dimension)


class _Hill(Realisation):
    def payoff(self, decision: Any, context: Any) -> Any:
        x, c = np.asarray(decision), self.description.contexts.coordinates(context)
        bumps = [-((x - 0.3 * place - 0.4 * c[0]) ** 2).sum() for place in range(1, self.description.outputs + 1)]
        return bumps[0] if len(bumps) == 1 else np.array(bumps)

    def payoffs(self, t: int) -> np.ndarray:
        raise NotImplementedError

    def reference(self, t: int) -> np.ndarray:
        return np.full(len(GRID), 1.0 / len(GRID))

    def weights(self, t: int) -> np.ndarray | None:
        if self.description.outputs == 1:
            return None
        return np.random.default_rng(t).dirichlet(np.ones(self.description.outputs))


class _InBox(_Hill):
    def __init__(self) -> None:
        self.description = Description(unit_box(2), unit_box(1), 0.01, "continuous")

    def draw_context(self, t: int, generator: np.random.Generator) -> Any:
        return np.clip(generator.normal(0.5, 0.2, 1), 0.0, 1.0)

    def initial_design(self, generator: np.random.Generator, size: int) -> Any:
        return list(zip(generator.random((size, 2)), generator.random((size, 1)), strict=True))


class _OnGrid(_Hill):
    def __init__(self, outputs: int) -> None:
        contexts = FiniteDomain(GRID, ("c",), ("1",))
        self.description = Description(unit_box(2), contexts, 0.01, "scalarised", outputs=outputs)

    def initial_design(self, generator: np.random.Generator, size: int) -> Any:
        return list(zip(generator.random((size, 2)), generator.integers(len(GRID), size=size), strict=True))


class HillParameters(ProblemParameters):
    """Number of outputs; 0 stands for one, under the protocol "continuous"."""

    outputs: int = 0

    def initial_points(self) -> int:
        return 3


class Hill(Problem):
    """A hill whose top moves with the context."""

    Parameters = HillParameters
    about = About("hill", "made for tests")
    protocols = CONTINUOUS
    units = "1"
    parameters: HillParameters

    def __init__(self, parameters: ProblemParameters, inputs: Any) -> None:
        super().__init__(parameters, inputs)
        self.protocol = (SCALARISED if self.parameters.outputs else CONTINUOUS)[0]

    def realise(self, streams: Streams) -> Realisation:
        return _OnGrid(self.parameters.outputs) if self.parameters.outputs else _InBox()


def specification(
    algorithm: str, objective: tuple[str, dict[str, Any]] | None = None, iterations: int = 6, **parameters: Any
) -> dict[str, Any]:
    """Specify a run of a registered algorithm with `SMALL` settings; `outputs` goes to the problem."""
    outputs = parameters.pop("outputs", 2 if algorithm in ("drmobo", "mobo", "mars", "qnehvi") else 0)
    given = {"search": SEARCH, **SMALL.get(algorithm, {}), **parameters}
    if find("algorithm", algorithm).load().pursues_objective and objective is None:
        objective = ("dro", DRO)
    hill = {"class": "continuous_games:Hill", "parameters": {"outputs": outputs}}
    learner, pursued = stated("algorithm", algorithm, given), stated("objective", *objective) if objective else None
    return {**run_specification(hill, learner, pursued, iterations), "seeds": [0, 1]}


def after_design(algorithm: str, objective: Any = None, seed: int = 0, **parameters: Any) -> SeedRun:
    """A run whose initial design is played."""
    run = seed_run(specification(algorithm, objective, **parameters), seed)
    while run.t < 1:
        run.play()
    return run


DECISIONS = np.random.default_rng(9).random((40, 2))


def game(run: SeedRun, generator: Any = None) -> tuple[Any, np.ndarray, Any]:
    """Posterior, contexts, functional of the next round; the algorithm's own stream stays as it is."""
    posterior = run.algorithm.models[0].glance(np.random.default_rng(0))
    points, functional = run.algorithm._game([posterior], run.announced(), generator or np.random.default_rng(1))
    return posterior, points, functional


def upper(posterior: Any, points: np.ndarray, decisions: np.ndarray = DECISIONS) -> np.ndarray:
    """Return mu + 1.5 sigma (decisions, contexts), point by point."""
    rows = [posterior.moments(np.hstack([np.tile(x, (len(points), 1)), points])) for x in decisions]
    return np.array([mean + 1.5 * deviation for mean, deviation in rows])


def acquisition(run: SeedRun) -> tuple[Any, np.ndarray, SurfaceAcquisition]:
    """Posterior, contexts, and what the algorithm makes of the upper bounds in them."""
    posterior, points, functional = game(run)
    return posterior, points, SurfaceAcquisition(surface(posterior, points, 1.5), functional)


def acquired(run: SeedRun, decisions: np.ndarray = DECISIONS) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """Posterior, contexts, upper bounds in them point by point, and what the algorithm makes of these."""
    posterior, points, rate = acquisition(run)
    return posterior, points, upper(posterior, points, decisions), rate(decisions)[0]


def seen(run: SeedRun) -> np.ndarray:
    return run.record.arrays["context"][: run.done]


def assert_gradients(rate: Any, decisions: np.ndarray, step: float, rtol: float, atol: float) -> None:
    """Gradients are those of differences; `atol` in units of the spread of the values."""
    values, gradients = rate(decisions)
    for column, unit in enumerate(np.eye(decisions.shape[1])):
        slope = (rate(decisions + step * unit)[0] - rate(decisions - step * unit)[0]) / (2.0 * step)
        np.testing.assert_allclose(gradients[:, column], slope, rtol=rtol, atol=atol * np.ptp(values) + 1e-6)
