"""An algorithm in a file beside the experiment: every decision in its turn."""

from bocu.core.about import About
from bocu.core.parameters import Parameters
from bocu.core.rounds import CONTEXTUAL
from bocu.learners.algorithms.base import Algorithm


class InTurnParameters(Parameters):
    """Nothing to set."""


class InTurn(Algorithm):
    """Tries all decisions one after the other, and recommends the one with the highest payoff seen."""

    about = About(title="In turn", summary="every decision in its turn")
    protocols = CONTEXTUAL
    Parameters = InTurnParameters

    def __init__(self, description, objective, parameters, generator):
        super().__init__(description, objective, parameters, generator)
        self.next, self.best = 0, (float("-inf"), 0)

    def ask(self, round):
        return self.next

    def choose_context(self, decision, round):
        return int(self.generator.integers(self.description.contexts.size))

    def tell(self, decision, context, value):
        self.next = (decision + 1) % self.description.decisions.size
        self.best = max(self.best, (float(value), decision))

    def recommend(self):
        return self.best[1]
