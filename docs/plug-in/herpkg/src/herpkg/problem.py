"""How fast to load a ship: what is gained in calm water is lost in swell."""

from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count
from bocu.problems.finite import FiniteParameters, FiniteProblem


class HarbourParameters(FiniteParameters):
    """Its grids."""

    decision_points: list[Count] = Field([15], description="speeds of the crane, evenly spaced over [0, 1]")
    context_points: list[Count] = Field([7], description="heights of the swell, evenly spaced over [0, 1]")


class Harbour(FiniteProblem):
    """The payoff is `x - (1 + 2 h) x^2 c`, where the harbour's own h is drawn by the seed."""

    about = About(title="Harbour", summary="a crane whose speed pays in calm water and costs in swell")
    Parameters = HarbourParameters
    units = "t"
    decision_names, decision_units = ("speed",), ("1",)
    context_names, context_units = ("swell",), ("1",)

    def payoff_table(self, streams):
        own = streams["problem"].uniform()
        return self.decisions - (1.0 + 2.0 * own) * self.decisions**2 * self.contexts.T
