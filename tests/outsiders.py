"""Algorithms as somebody outside writes them: without a state of their own."""

import numpy as np

from bocu.core.about import About
from bocu.core.parameters import Parameters
from bocu.learners.algorithms.base import Algorithm


class Nothing(Parameters):
    """Nothing to set."""


class Plain(Algorithm):
    """Arrays, lists and a generator of its own; what it asks depends on all of them."""

    about = About(title="Plain", summary="made for tests")
    protocols = ("general",)
    Parameters = Nothing

    def __init__(self, description, objective, parameters, generator):
        super().__init__(description, objective, parameters, generator)
        self.total = np.zeros(description.decisions.size)
        self.asked = []
        self.own = np.random.default_rng(7)

    def ask(self, round):
        jitter = self.own.random(len(self.total)) + self.generator.random() + 0.01 * len(self.asked)
        self.asked.append(int(np.argmax(self.total * jitter + self.own.random(len(self.total)))))
        return self.asked[-1]

    def tell(self, decision, context, value):
        self.total[decision] += value

    def recommend(self):
        return int(np.argmax(self.total))


class Memory:
    """A model that nobody can write down."""

    def __init__(self, size):
        self.fits = [lambda: np.zeros(size)]

    def fit(self, decision, value):
        before = self.fits[-1]()
        before[decision] = 0.9 * before[decision] + value
        self.fits.append(lambda: before.copy())


class Modelled(Plain):
    """Believes in a model besides, which learns when told."""

    about = About(title="Modelled", summary="made for tests")

    def __init__(self, description, objective, parameters, generator):
        super().__init__(description, objective, parameters, generator)
        self.model = Memory(description.decisions.size)

    def ask(self, round):
        super().ask(round)
        self.asked[-1] = int(np.argmax(self.model.fits[-1]() + self.own.random(len(self.total))))
        return self.asked[-1]

    def tell(self, decision, context, value):
        super().tell(decision, context, value)
        self.model.fit(decision, value)
