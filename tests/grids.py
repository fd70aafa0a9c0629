"""A small problem on a grid that tests share."""

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.randomness import Streams
from bocu.core.rounds import Round
from bocu.learners.algorithms.simple import Random
from bocu.problems.candidates import Lengthscale
from bocu.problems.finite import FiniteParameters, FiniteProblem
from bocu.testing.games import run_specification


class WavesParameters(FiniteParameters):
    """A coarse grid."""

    decision_points: list[int] = Field([6])
    context_points: list[int] = Field([4])
    lengthscale: Lengthscale = Field(0.1)


class Waves(FiniteProblem):
    """Waves with a phase of each seed's own."""

    Parameters = WavesParameters
    about = About("Waves", "made for tests")
    units = "m"
    decision_names, decision_units = ("place",), ("1",)
    context_names, context_units = ("swell",), ("1",)

    def payoff_table(self, streams: Streams) -> np.ndarray:
        phase = streams["problem"].uniform()
        return np.sin(6.0 * (self.decisions + phase)) * np.cos(4.0 * self.contexts.T) + self.decisions


class First(Random):
    """Always the first decision; draws numbers of its own all the same."""

    def ask(self, round: Round) -> int:
        super().ask(round)
        self.generator.random(3)
        return 0


def specification(
    iterations=8, seeds=(0, 1), algorithm="bocu.learners.algorithms.simple:Random", objective=None, **problem
):
    """Return the specification of a run of random decisions on the waves."""
    waves, learner = {"class": "grids:Waves", "parameters": problem}, {"class": algorithm, "parameters": {}}
    return {**run_specification(waves, learner, objective, iterations), "seeds": list(seeds)}
