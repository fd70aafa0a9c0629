"""Classes as a researcher from outside would write them, beside an experiment file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Integer, Number, Parameters
from bocu.core.rounds import EVERY, GRID
from bocu.learners.algorithms.base import Algorithm
from bocu.learners.algorithms.confidence import UCBBOCU1
from bocu.learners.algorithms.thompson import ThompsonSampling
from bocu.pages.figures.base import Drawing, Figure, FigureParameters
from bocu.pages.figures.results import Cube
from bocu.problems.finite import FiniteParameters, FiniteProblem
from bocu.problems.hartmann import Hartmann3
from bocu.problems.sensors import Sensors
from bocu.robust.ambiguity.base import AmbiguitySet, Rows, Tangent, expectation, pair
from bocu.robust.ambiguity.parameters import SetParameters, named
from bocu.robust.contexts.laws import IndependentLaw, LawParameters, Marginal
from bocu.robust.contexts.shifts import Shift
from bocu.robust.objectives.functions import Objective, UncertaintyObjective
from bocu.sweep.evaluation.metrics import Metric


class GreedyParameters(Parameters):
    """How often it explores."""

    epsilon: Annotated[Number, Field(ge=0.0, le=1.0)] = Field(0.1, description="share of rounds that explore")


class MyGreedy(Algorithm):
    """Best on average so far."""

    about = About(title="My greedy", summary="best on average so far")
    protocols = ("general", "data-driven")
    Parameters = GreedyParameters

    def __init__(self, description, objective, parameters, generator):
        super().__init__(description, objective, parameters, generator)
        self._total = np.zeros(description.decisions.size)
        self._count = np.zeros(description.decisions.size)

    def ask(self, round):
        if self.generator.random() < self.parameters.epsilon:
            return int(self.generator.integers(len(self._total)))
        return self.recommend()

    def tell(self, decision, context, value):
        self._total[decision] += value
        self._count[decision] += 1

    def recommend(self):
        return int(np.argmax(self._total / np.maximum(self._count, 1)))

    def state(self) -> dict[str, Any]:
        return {"total": self._total, "count": self._count}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._total, self._count = np.array(state["total"]), np.array(state["count"])


Points = Annotated[Integer, Field(ge=1)]


class SeesawParameters(FiniteParameters):
    """Its grids."""

    decision_points: list[Points] = Field([21], description="points of the seat")
    context_points: list[Points] = Field([11], description="points of the load")
    lengthscale: Number = Field(0.3, description="length-scale of the model")


class Seesaw(FiniteProblem):
    """What gains in one context loses in the opposite one."""

    about = About(title="Seesaw", summary="what gains in one context loses in the opposite one")
    Parameters = SeesawParameters
    units = "1"
    decision_names = ("seat",)
    decision_units = ("1",)
    context_names = ("load",)
    context_units = ("1",)

    def payoff_table(self, streams):
        tilt = 0.1 * streams["problem"].standard_normal()
        seat, load = self.decisions - 0.5, self.contexts[:, 0][None, :] - 0.5
        return seat * (load + tilt) - seat**2 / 2


class ContaminationParameters(SetParameters):
    """One key of its own."""

    name: str = named("contamination")
    share: Annotated[Number, Field(gt=0.0)] = Field(1.0, description="of the radius that counts")


class Contamination(AmbiguitySet):
    """A share of the mass may be put anywhere."""

    about = About(title="contamination", summary="a share of the mass may be put anywhere")
    Parameters = ContaminationParameters
    leaves_support = True

    def distance(self, q, p):
        first, second = pair(q, p)
        ratio = np.divide(first, second, out=np.ones_like(first), where=second > 0)
        return 1.0 - np.minimum(ratio.min(axis=-1), 1.0)

    def solve(self, f, p, wanted):
        share = min(self.epsilon, 1.0)
        mean = expectation(f, p)
        rows = Rows(value=(1.0 - share) * mean, slope=-mean if share < 1.0 else np.zeros(len(f)))
        worst = np.eye(f.shape[1])[f.argmin(axis=1)]
        if wanted.distribution:
            rows.distribution = (1.0 - share) * p + share * worst
        if wanted.rate:
            rows.rate = worst - p if share < 1.0 else np.zeros_like(f)
        return rows

    def tangent(self, f, p, tau):
        return Tangent(-tau, np.ones(len(f)), np.eye(f.shape[1])[f.argmin(axis=1)])


class Median(Metric):
    """The payoff in the median context."""

    about = About(title="Median", summary="payoff in the median context")
    protocols = GRID

    def values(self, payoffs, situation):
        return np.median(payoffs, axis=1)


class HopefulParameters(Parameters):
    """How hopeful it is."""

    weight: Annotated[Number, Field(ge=0.0, le=1.0)] = Field(0.5, description="weight of the best context")


@dataclass(frozen=True)
class BestAndWorst(UncertaintyObjective):
    """`weight max f + (1 - weight) min f`."""

    weight: float

    def __call__(self, payoffs: Any, reference: Any) -> Any:
        payoffs = np.asarray(payoffs)
        return self.weight * payoffs.max(axis=-1) + (1.0 - self.weight) * payoffs.min(axis=-1)


class Hopeful(Objective):
    """The best and the worst context, weighted."""

    about = About(title="Hopeful", summary="the best and the worst context, weighted")
    Parameters = HopefulParameters

    def over(self, contexts):
        return BestAndWorst(self.parameters.weight)


class Sober(ThompsonSampling):
    """One of ours under another name, which pursues an objective."""

    about = About(title="Sober", summary="Thompson sampling under another name")


class Choosy(UCBBOCU1):
    """One of ours that not every objective fits."""

    about = About(title="Choosy", summary="upper confidence bounds under another name")


class Cave(Hartmann3):
    """One of ours that takes candidate priors."""

    about = About(title="Cave", summary="Hartmann 3-D under another name")


class Weather(Sensors):
    """One of ours that needs data, priors and an initial outline."""

    about = About(title="Weather", summary="sensors under another name")


class LastParameters(FigureParameters):
    """Nothing to set."""


class LastRound(Figure):
    """Regret of the last round."""

    about = About(title="Last round", summary="regret of the last round")
    protocols = EVERY
    Parameters = LastParameters

    def compose(self, inputs):
        cube = Cube(inputs["cube"])
        picture = style.new_figure(1.5)
        axes = picture.subplots()
        for row, branch in enumerate(cube.branches()):
            regret = cube.regret(branch, cube.metrics[0])[0]
            axes.plot(regret[:, -1], np.full(len(regret), row), cube.looks[branch.algorithm].marker)
        return Drawing(picture, "Last round", "A dot a seed.", "Dots.", cube.problem, cube.data_label)


class BetaParameters(Parameters):
    """Its first shape."""

    a: Annotated[Number, Field(gt=0.0)] = Field(2.0, description="first shape")


@dataclass(frozen=True)
class Power(Marginal):
    """`P(c <= x) = x^a` on [0, 1]."""

    a: float

    def density(self, at):
        return np.where((at >= 0.0) & (at <= 1.0), self.a * np.maximum(at, 0.0) ** (self.a - 1.0), 0.0)

    def cumulative(self, at):
        return np.clip(at, 0.0, 1.0) ** self.a

    def quantile(self, uniforms):
        return uniforms ** (1.0 / self.a)


class Beta(IndependentLaw):
    """Contexts that lie high."""

    about = About(title="Beta", summary="the beta distribution of shapes a and 1")
    Parameters = BetaParameters

    def marginal(self):
        return Power(self.parameters.a)


class AlternatingParameters(Parameters):
    """What comes every other round."""

    storm: LawParameters = Field(description="law of the even rounds")


class Alternating(Shift):
    """Another law in every even round."""

    about = About(title="Alternating", summary="another law in every even round")
    Parameters = AlternatingParameters

    def law(self, base, t):
        return base if t % 2 else self.parameters.storm
