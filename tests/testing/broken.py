"""Classes that each break one promise."""

import itertools

import numpy as np

from bocu.core import style
from bocu.core.about import About
from bocu.core.parameters import Parameters
from bocu.learners.algorithms.base import Algorithm, Reported
from bocu.pages.figures.base import Drawing, Figure, FigureParameters
from bocu.problems.finite import FiniteParameters, FiniteProblem
from bocu.robust.ambiguity.base import AmbiguitySet, Rows, Tangent, expectation, pair
from bocu.robust.contexts.laws import ContextLaw, Gaussian, IndependentLaw
from bocu.robust.contexts.shifts import Shift, restated
from bocu.robust.objectives.functions import Objective, UncertaintyObjective
from bocu.sweep.evaluation.metrics import Metric

ABOUT = About(title="Broken", summary="breaks one promise")
COUNT = itertools.count()


class Nothing(Parameters):
    """Nothing to set."""


class Sound(Algorithm):
    """Keeps them all."""

    about = ABOUT
    protocols = ("general",)
    Parameters = Nothing

    def __init__(self, description, objective, parameters, generator):
        super().__init__(description, objective, parameters, generator)
        self.total = np.zeros(description.decisions.size)

    def ask(self, round):
        return int(np.argmax(self.total + self.generator.random(len(self.total))))

    def tell(self, decision, context, value):
        self.total[decision] += value

    def recommend(self):
        return int(np.argmax(self.total))


class OutOfBounds(Sound):
    def ask(self, round):
        return 99


class NoIndex(Sound):
    def ask(self, round):
        return 1.0


class GlobalGenerator(Sound):
    def ask(self, round):
        return int(np.random.randint(len(self.total)))  # noqa: NPY002


class ElsewhereEachTime(Sound):
    def ask(self, round):
        return next(COUNT) % len(self.total)


class RecommendDraws(Sound):
    def recommend(self):
        return int(self.generator.integers(len(self.total)))


class RecommendCounts(Sound):
    def recommend(self):
        self.total[-1] += 100.0
        return 0


class Undeclared(Sound):
    def report(self):
        return {"extra": 1.0}


class TooLarge(Sound):
    reports = (Reported("kept", "kept", dtype="int8"),)

    def report(self):
        return {"kept": 1000}


class WritesReference(Sound):
    def ask(self, round):
        round.reference[:] = 0.0
        return 0


class HalfAState(Sound):
    def state(self):
        return {}

    def restore(self, state):
        pass


class LiveState(Sound):
    def state(self):
        return {"total": self.total}

    def restore(self, state):
        self.total = state["total"]


class Pickled(Sound):
    def state(self):
        return {"total": self.total.copy(), "model": lambda: 0}


class LearnsWhenAsked(Sound):
    def __init__(self, description, objective, parameters, generator):
        super().__init__(description, objective, parameters, generator)
        self.model = {frozenset([1]): 0}

    def ask(self, round):
        self.model[frozenset([1])] += 1
        return self.model[frozenset([1])] % len(self.total)


class Raises(Sound):
    def tell(self, decision, context, value):
        return 1 / 0


class Mixtures(AmbiguitySet):
    """Contamination, as it should be."""

    about = ABOUT
    leaves_support = True

    def distance(self, q, p):
        first, second = pair(q, p)
        return 1.0 - np.divide(first, second, out=np.ones_like(first), where=second > 0).min(axis=-1, initial=1.0)

    def solve(self, f, p, wanted):
        share, mean, worst = min(self.epsilon, 1.0), expectation(f, p), np.eye(f.shape[1])[f.argmin(axis=1)]
        moves = float(share < 1.0)
        return Rows((1.0 - share) * mean, -moves * mean, (1.0 - share) * p + share * worst, moves * (worst - p))

    def tangent(self, f, p, tau):
        return Tangent(-tau, np.ones(len(f)), np.eye(f.shape[1])[f.argmin(axis=1)])


class TooHopeful(Mixtures):
    def solve(self, f, p, wanted):
        rows = super().solve(f, p, wanted)
        half = self.with_epsilon(0.5 * self.epsilon)
        return Rows(super(TooHopeful, half).solve(f, p, wanted).value, rows.slope, rows.distribution, rows.rate)


class HalfTheRadius(Mixtures):
    def solve(self, f, p, wanted):
        half = Mixtures(0.5 * self.epsilon).solve(f, p, wanted)
        return Rows(half.value, 0.5 * half.slope, half.distribution, half.rate)


class WrongSlope(Mixtures):
    def solve(self, f, p, wanted):
        rows = super().solve(f, p, wanted)
        return Rows(rows.value, 0.2 * rows.slope, rows.distribution, rows.rate)


class SupportDenied(Mixtures):
    leaves_support = False


class TooSteep(Mixtures):
    def tangent(self, f, p, tau):
        return Tangent(-1.5 * tau, np.ones(len(f)), np.eye(f.shape[1])[f.argmin(axis=1)])


class Mean(UncertaintyObjective):
    def __call__(self, payoffs, reference):
        return np.asarray(payoffs) @ np.asarray(reference)


class Denies(Objective):
    about = ABOUT
    Parameters = Nothing
    reference_matters = False

    def over(self, contexts):
        return Mean()


class Shrinks(UncertaintyObjective):
    def __call__(self, payoffs, reference):
        return (np.asarray(payoffs) - np.mean(payoffs)) @ np.asarray(reference)


class InCompany(Objective):
    about = ABOUT
    Parameters = Nothing

    def over(self, contexts):
        return Shrinks()


class Flat(FiniteProblem):
    """As it should be."""

    about = ABOUT
    Parameters = FiniteParameters
    units = "1"
    decision_names, decision_units = ("x",), ("1",)
    context_names, context_units = ("c",), ("1",)

    def payoff_table(self, streams):
        return self.decisions + self.contexts.T


class GridParameters(FiniteParameters):
    decision_points: list[int] = FiniteParameters.model_fields["decision_points"]
    context_points: list[int] = FiniteParameters.model_fields["context_points"]


class DrawsNoise(Flat):
    def payoff_table(self, streams):
        return super().payoff_table(streams) + streams["noise"].random()


class AnotherEachTime(Flat):
    def payoff_table(self, streams):
        return super().payoff_table(streams) + np.random.default_rng().random()


class NotANumber(Flat):
    def payoff_table(self, streams):
        return np.full((len(self.decisions), len(self.contexts)), np.nan)


class Turned(Metric):
    about = ABOUT
    protocols = ("general",)

    def values(self, payoffs, situation):
        return payoffs.mean(axis=0)


class Forgets(Metric):
    about = ABOUT
    protocols = ("general",)

    def values(self, payoffs, situation):
        return payoffs @ np.random.default_rng().random(payoffs.shape[1])


class FigureNothing(FigureParameters):
    """Nothing to set."""


class Wordless(Figure):
    about = ABOUT
    protocols = ("general",)
    Parameters = FigureNothing
    alternative = ""
    level = staticmethod(lambda: 0.5)

    def compose(self, inputs):
        picture = style.new_figure(1.0)
        picture.subplots().axhline(self.level())
        return Drawing(picture, "Broken", "A line.", self.alternative, "kirschner")


class Restless(Wordless):
    alternative = "A line."
    level = staticmethod(itertools.cycle([0.2, 0.8]).__next__)


class HalfMarginal(Gaussian):
    """Draws from another distribution than its density says."""

    def quantile(self, uniforms):
        return 0.5 * super().quantile(uniforms)


class TwoLaws(IndependentLaw):
    about = ABOUT
    Parameters = Nothing

    def marginal(self):
        return HalfMarginal(0.6, 0.1)


class Thirsty(ContextLaw):
    def sample(self, generator, size):
        generator.random(3)
        return super().sample(generator, size)


class Unpaired(IndependentLaw):
    about = ABOUT
    Parameters = Nothing

    def marginal(self):
        return Gaussian(0.5, 0.1)

    def over(self, dimension):
        return Thirsty((self.marginal(),) * dimension)


class Forgetful(Shift):
    """A law that depends on how often it is asked."""

    about = ABOUT
    Parameters = Nothing

    def law(self, base, t):
        return restated("normal", {"mean": 0.5 + 0.001 * next(COUNT)})


class Early(Shift):
    about = ABOUT
    Parameters = Nothing

    def law(self, base, t):
        return restated("uniform", {})

    def begins(self):
        return 5


class Outside(Shift):
    about = ABOUT
    Parameters = Nothing

    def law(self, base, t):
        return restated("normal", {"mean": 1.5}) if t > 3 else base
