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
    """How the line of an algorithm is drawn in every figure.

    Attributes:
        colour: by its name; `bocu.core.style` says which it is.
        dash: likewise.
        marker: a marker of matplotlib.
    """

    colour: Colour
    dash: Dash
    marker: str

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
    """What listings, figures and reports say of a class.

    Attributes:
        title: as papers write its name: "PE-GP-UCB".
        summary: one line of what it is, a phrase without a full stop and without its paper.
        paper: where it comes from, "Ziomek et al. 2025"; of a figure with its number; empty where nowhere else.
        look: of an algorithm; where it states none, a free one is found.
        yardstick: of an algorithm: knows what the others have to learn, so that it is shown beside them and never
            called the best.
        largest_radius: of an ambiguity set, the distance that no two distributions exceed, as experiment files state
            the set; a larger radius is noted. None: there is none.
        aliases: other names that the registry has for it, and how each is written: {"drbo": "DRBO"}.
        revision: of a problem or an algorithm, how often what it computes has changed its meaning: raised by whoever
            changes it, since results of before are no longer its own. Raising it reruns nothing.
    """

    title: str
    summary: str
    paper: str = ""
    look: Look | None = None
    yardstick: bool = False
    largest_radius: float | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
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
