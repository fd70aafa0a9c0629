"""What is told about a class that experiment files name, and what its work costs: both change no number.

What is told stands on the class, as one attribute that code fingerprints skip::

    class PEGPUCB(UnknownPriorAlgorithm):
        about = About(
            title="PE-GP-UCB",
            summary="GP-UCB with prior elimination",
            paper="Ziomek et al. 2025",
            look=Look("vermillion", "solid", "o"),
        )

What a run costs classes say in counts: how large a problem is, and how much work an algorithm does on it. What one of
each takes is measured (`bocu.sweep.experiment.resources`). Methods marked `planning_only` are left out of fingerprints.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast, get_args

Colour = Literal[
    "vermillion", "blue", "green", "purple", "orange", "sky", "black", "wine", "olive", "indigo", "brown", "grey"
]
Dash = Literal["solid", "dashed", "dash-dot", "long-dash", "dash-dot-dot", "dotted"]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Look:
    """How the line of an algorithm is drawn in every figure."""

    colour: Colour  #: by its name; `bocu.core.style` says which it is.
    dash: Dash  #: likewise.
    marker: str  #: a marker of matplotlib.

    def __str__(self) -> str:
        return f"{self.colour} {self.dash} {self.marker}"


def read_look(text: str) -> Look:
    """Read what `str(look)` wrote.

    Raises:
        ValueError: it is no look.
    """
    colour, dash, marker = text.split(" ")
    if colour not in get_args(Colour) or dash not in get_args(Dash):
        raise ValueError(f"'{text}': no such colour or dash")
    return Look(cast("Colour", colour), cast("Dash", dash), marker)


@dataclass(frozen=True)
class About:
    """What listings, figures and reports say of a class."""

    title: str  #: as papers write its name: "PE-GP-UCB".
    summary: str  #: one line of what it is, a phrase without a full stop and without its paper.
    #: where it comes from, "Ziomek et al. 2025"; of a figure with its number; empty where nowhere else.
    paper: str = ""
    look: Look | None = None  #: of an algorithm; where it states none, a free one is found.
    #: of an algorithm: knows what the others have to learn, so that it is shown beside them and never called the best.
    yardstick: bool = False
    #: of an ambiguity set, the distance that no two distributions exceed, as experiment files state the set; a larger
    #: radius is noted. None: there is none.
    largest_radius: float | None = None
    #: other names that the registry has for it, and how each is written: {"drbo": "DRBO"}.
    aliases: Mapping[str, str] = field(default_factory=dict)
    #: of a problem or an algorithm, how often what it computes has changed its meaning: raised by whoever changes it,
    #: since results of before are no longer its own. Raising it reruns nothing.
    revision: int = 1

    @property
    def line(self) -> str:
        """The summary with its paper, for listings."""
        return f"{self.summary} ({self.paper})" if self.paper else self.summary


def told_by(about: About) -> Callable[[Function], Function]:
    """Return a decorator that puts on a function what stands on classes as `about`."""

    def put(function: Function) -> Function:
        function.about = about  # type: ignore[attr-defined]
        return function

    return put


_Method = TypeVar("_Method", bound=Callable[..., object])


def planning_only(method: _Method) -> _Method:
    """Mark a method of a class that only planning calls: editing it reruns nothing, so no run may call it."""
    return method


@dataclass(frozen=True)
class Size:
    """What of a problem the cost depends on."""

    arms: int = 1  #: size of the decision space; 1 where it is continuous.
    contexts: int = 1  #: size of the context space, where there is a payoff table; else 1.
    context_coordinates: int = 0  #: coordinates of a continuous context; 0 where contexts are finite.
    priors: int = 1  #: candidate priors.
    kernels: int = 1  #: distinct kernels among them.
    rehearsal: int = 0  #: rounds that are played on a simulator before each round, from nothing known.

    @property
    def points(self) -> int:
        """Points of the payoff table."""
        return self.arms * self.contexts


@dataclass(frozen=True)
class Work:
    """What one seed takes."""

    #: how often each kind of step is done, by its name; what one of them takes is measured.
    counts: Mapping[str, float] = field(default_factory=dict)
    numbers: float = 0.0  #: float64 that are held at once.
    tables: float = 0.0  #: payoff tables that the objective pursued is worked out for.
    priors: int = 1  #: candidate priors that the run file has columns for.
