"""What a run costs, as classes say it: how large a problem is, and how much work an algorithm does on it.

Both are said in counts; what one of each takes is measured (`experiment.costs`). They change no number of a run:
methods marked `planning_only` are left out of code fingerprints.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

_Method = TypeVar("_Method", bound=Callable[..., object])


def planning_only(method: _Method) -> _Method:
    """Mark a method of a class that only planning calls: editing it reruns nothing, so no run may call it."""
    return method


@dataclass(frozen=True)
class Size:
    """What of a problem the cost depends on.

    Attributes:
        arms: size of the decision space; 1 where it is continuous.
        contexts: size of the context space, where there is a payoff table; else 1.
        context_coordinates: coordinates of a continuous context; 0 where contexts are finite.
        priors: candidate priors.
        kernels: distinct kernels among them.
        rehearsal: rounds that are played on a simulator before each round, from nothing known.
    """

    arms: int = 1
    contexts: int = 1
    context_coordinates: int = 0
    priors: int = 1
    kernels: int = 1
    rehearsal: int = 0

    @property
    def points(self) -> int:
        """Points of the payoff table."""
        return self.arms * self.contexts

    @property
    def choices_per_round(self) -> int:
        """Choices among finite decisions in a round: what to try and, unless that is rehearsed, what to recommend."""
        return 1 if self.rehearsal else 2


@dataclass(frozen=True)
class Work:
    """What one seed takes.

    Attributes:
        counts: how often each kind of step is done, by its name; what one of them takes is measured.
        numbers: float64 that are held at once.
        tables: payoff tables that the objective pursued is worked out for.
        priors: candidate priors that the run file has columns for.
    """

    counts: Mapping[str, float] = field(default_factory=dict)
    numbers: float = 0.0
    tables: float = 0.0
    priors: int = 1
