"""What is told about a class that experiment files name, and changes no number.

It stands on the class, as one attribute that code fingerprints skip::

    class PEGPUCB(UnknownPriorAlgorithm):
        about = About(
            title="PE-GP-UCB",
            summary="GP-UCB with prior elimination",
            paper="Ziomek et al. 2025",
            look=Look("vermillion", "solid", "o"),
        )
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Look:
    """How the line of an algorithm is drawn in every figure.

    Attributes:
        colour: a name of `bocu.figures.style.COLOURS`.
        dash: a name of `bocu.figures.style.DASHES`.
        marker: a marker of matplotlib.
    """

    colour: str
    dash: str
    marker: str


@dataclass(frozen=True)
class About:
    """What listings, figures and reports say of a class.

    Attributes:
        title: as papers write its name: "PE-GP-UCB".
        summary: one line of what it is, a phrase without a full stop and without its paper.
        paper: where it comes from, "Ziomek et al. 2025"; of a figure with its number; empty where nowhere else.
        look: of an algorithm; where it states none, a free one is found.
        aliases: other names that the registry has for it, and how each is written: {"drbo": "DRBO"}.
    """

    title: str
    summary: str
    paper: str = ""
    look: Look | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The summary with its paper, for listings."""
        return f"{self.summary} ({self.paper})" if self.paper else self.summary
