"""What a problem is.

Its `Parameters` answer what planning needs to know (which data, how many rounds) without opening a file; the
problem itself is built by a job from its parameters and the files it asked for; a *realisation* is what one seed
meets.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bocu.algorithms.base import Context, Decision, Description, Round
from bocu.parameters import Parameters
from bocu.randomness import Streams

if TYPE_CHECKING:
    from bocu.branches import ProblemPaths
    from bocu.data.catalogue import Catalogue
    from bocu.surrogates.time_varying import TimeVaryingPrior


class ProblemParameters(Parameters):
    """The typed parameters of a problem, and what planning asks of them. Nothing here opens a file."""

    def resolve(self, catalogue: "Catalogue", source: str, mirror: str | None) -> Self:
        """Settle what depends on where data come from.

        Args:
            catalogue: the data sets that exist.
            source: "download", "mirror" or "simulate".
            mirror: the folder of a mirror.

        Raises:
            BocuError: the source does not offer the data.
        """
        return self

    def horizon(self) -> int | None:
        """Give the number of rounds after which the problem ends, or None where it never does."""
        return None

    def rounds(self, wanted: int) -> int:
        """Give the number of rounds that are played of those wanted."""
        horizon = self.horizon()
        return wanted if horizon is None else min(horizon, wanted)

    def inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        """Name the files that the problem is built from: prepared data, fitted priors.

        Their paths are what `Problem.__init__` gets under the same keys.
        """
        return {}

    def priors(self) -> dict[str, dict[str, Any]]:
        """Give the candidate priors to be fitted, as label -> plain specification, one job each."""
        return {}

    def prior_inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        """Name the files that every prior is fitted to."""
        return {}


class Realisation(ABC):
    """A problem as one seed meets it. Payoffs are to be maximised.

    Attributes:
        description: what algorithms may know.
    """

    description: Description

    @abstractmethod
    def round(self, t: int) -> Round:
        """Give what is announced in round `t`, from 1 on."""

    @abstractmethod
    def payoff(self, decision: Decision, context: Context) -> float:
        """Give the noise-free payoff."""

    @abstractmethod
    def payoffs(self, t: int) -> np.ndarray:
        """Give the noise-free payoffs that round `t` is judged by, shape (decisions, contexts).

        Under the protocol "time-varying" the only context of a round is its own time step.
        """

    @abstractmethod
    def reference(self, t: int) -> np.ndarray:
        """Give the distribution over the contexts of `payoffs` that round `t` is judged by, shape (contexts,)."""


class Problem(ABC):
    """A family of realisations.

    Attributes:
        title: for headings.
        protocol: registered name of the protocol.
        units: unit of the payoff.
        simulated: whether the data behind it are stand-ins.
        prior_labels: names of the candidate priors, in order.
        best_prior: the best prior known, for oracles; None where there are no candidates.
        provenance: title, licence, citation and treatment of the data behind it, as its prepared files say.
    """

    Parameters: ClassVar[type[ProblemParameters]]
    protocol: ClassVar[str]
    title: str
    units: str
    simulated: bool = False
    prior_labels: tuple[str, ...] = ()
    best_prior: "TimeVaryingPrior | None" = None
    provenance: Mapping[str, Any] = {}

    def __init__(self, parameters: ProblemParameters, inputs: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self.inputs = inputs

    @abstractmethod
    def realise(self, streams: Streams) -> Realisation:
        """Draw what one seed meets, from the stream "problem" alone."""
