"""What a problem is.

Its `Parameters` answer what planning needs to know (which data, how many rounds) without opening a file; the
problem itself is built by a job from its parameters and the files it asked for; a *realisation* is what one seed
meets.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from bocu.core.about import About, Size, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters
from bocu.core.plain import Plain
from bocu.core.randomness import Streams
from bocu.core.rounds import Context, Decision, Description, Domain, FiniteDomain, Outline, Payoff, Round
from bocu.problems.given_design import Design, GivenDesign, read_design
from bocu.robust.contexts.estimates import draw
from bocu.robust.contexts.references import Estimate

if TYPE_CHECKING:
    import xarray as xr

    from bocu.learners.surrogates.box_time_varying import BoxPrior
    from bocu.learners.surrogates.grid import GridPrior
    from bocu.learners.surrogates.time_varying import TimeVaryingPrior
    from bocu.problems.data.catalogue import Catalogue
    from bocu.problems.priors.statements import Candidate
    from bocu.robust.contexts.laws import JointLaw
    from bocu.sweep.experiment.branches import ProblemPaths


class ProblemParameters(Parameters):
    """The typed parameters of a problem, and what planning asks of them. Nothing here opens a file."""

    announces_radius: ClassVar[bool] = False  #: Whether the problem itself announces the radius of the ambiguity set.

    copy_of_data: ClassVar[str | None] = None
    """The parameter that says which copy of the data is read, which identities leave out: what they hold counts."""

    def read_of(self, data: "xr.Dataset") -> "xr.Dataset":
        """Return what the problem reads of a prepared file: its identity goes by that."""
        return data

    def resolve(self, catalogue: "Catalogue", source: str, mirror: str | None) -> Self:
        """Settle what depends on where data come from.

        Args:
            catalogue: the data sets that exist.
            source: of the experiment: "download", "mirror", "shipped" or "simulate".
            mirror: the folder of a mirror.

        Raises:
            BocuError: the source does not offer the data.
        """
        return self

    def horizon(self) -> int | None:
        """Return the number of rounds after which the problem ends, or None where it never does."""
        return None

    def rounds(self, wanted: int) -> int:
        """Return the number of rounds that are played of those wanted."""
        horizon = self.horizon()
        return wanted if horizon is None else min(horizon, wanted)

    @property
    def given_design(self) -> GivenDesign | None:
        """The initial design, where one is given in place of being drawn."""
        initial = getattr(self, "initial", None)
        return initial if isinstance(initial, GivenDesign) else None

    def initial_points(self) -> int:
        """Return the size of the initial design, which comes before round 1."""
        return 0

    def protocol_among(self, known: tuple[str, ...]) -> str:
        """Return the protocol that is played, of those that the problem is defined for."""
        return known[0]

    def inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        """Name the files that the problem is built from: prepared data, fitted priors.

        Their paths are what `Problem.__init__` gets under the same keys.
        """
        return {}

    @property
    def dear_optima(self) -> bool:
        """Whether the best decisions that there are take so long to find that it is done once, beside all scores.

        Then all seeds share payoffs and distributions, and there is one output.
        """
        return False

    def priors(self) -> dict[str, Plain]:
        """Return the candidate priors to be fitted, one job each, by label.

        Each is plain data: `fit`, what fits it, as module:function, and the `statement` that it is handed; None: the
        specification of the problem.
        """
        return {}

    def prior_inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        """Name the files that every prior is fitted to."""
        return {}

    def takes(self, candidate: "Candidate") -> str:
        """Say why a candidate prior that an experiment states cannot be one of this problem; empty where it can."""
        return "it takes no candidate priors"

    def with_candidates(self, candidates: "Sequence[Candidate]") -> Self:
        """Return the parameters with the candidate priors that an experiment states for the problem.

        Raises:
            BocuError: they do not go together, or a parameter names another one.
        """
        return self


@dataclass(frozen=True)
class Rehearsal:
    """What a learner plays before each round, under the protocol "rolling-simulator"."""

    initial: int  #: size of the initial design.
    steps: int  #: decisions and contexts tried after it.


class Realisation(ABC):
    """A problem as one seed meets it. Payoffs are to be maximised.

    To be written: `description`, `payoff`, `payoffs` and `reference`. All else says what is so of most problems and may
    stay: what is announced (`available`, `margin`, `weights`), where contexts come from (`truth`, `draw_context`),
    payoffs that change (`payoff_at`), what is observed (`observe`, `outcomes`, `initial_design`), and, of continuous
    decisions or contexts, `table`, `payoff_function`, `law`, `expected_payoffs` and what follows from them.
    """

    description: Description  #: what algorithms may know.
    rehearsal: Rehearsal | None = None  #: what comes before each round, where the protocol has such a thing.
    #: how the reference is estimated from the contexts seen; None where it is announced.
    estimate: Estimate | None = None
    #: what `best_in_rounds` says of all rounds from 1 on, where it was asked before; else empty.
    optima: Mapping[int, float] = {}

    @abstractmethod
    def payoff(self, decision: Decision, context: Context) -> Payoff:
        """Return the noise-free payoff, a number, or shape (outputs,) where there are several."""

    @abstractmethod
    def payoffs(self, t: int) -> np.ndarray:
        """Return the noise-free payoffs that round `t` is scored by, shape (decisions, contexts).

        A problem that stands still hands out the same array every time. Under the protocol "time-varying" the only
        context of a round is its own time step.
        """

    @abstractmethod
    def reference(self, t: int) -> np.ndarray:
        """Return the distribution over the contexts that is announced in round `t`, shape (contexts,).

        Where it is estimated: what stands before any context was seen.
        """

    def round(self, t: int) -> Round:
        """Return what is announced in round `t`, from 1 on, but for distributions, which are the protocol's."""
        return Round(t=t, available=self.available(t))

    def available(self, t: int) -> np.ndarray | None:
        """Return the decisions that may be taken in round `t`, as `Round` has them; None: all of them."""
        return None

    def margin(self, t: int) -> float | None:
        """Return the radius that the problem itself announces for round `t`; None where it announces none."""
        return None

    def payoff_at(self, t: int, decision: Decision, context: Context) -> Payoff:
        """Return the noise-free payoff in round `t`, from 1 on; `payoff` where it stands still."""
        return self.payoff(decision, context)

    def truth(self, t: int) -> np.ndarray:
        """Return the distribution that the context of round `t` comes from, shape (contexts,)."""
        return self.reference(t)

    def expected_payoffs(self, decisions: np.ndarray) -> tuple[np.ndarray, float]:
        """Return E_c f of continuous decisions, shape (n,), from (n, dimension), and the best there is."""
        raise NotImplementedError(f"{type(self).__name__} has a table of payoffs")

    def expected_in_rounds(self, decisions: np.ndarray, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return E_c f of continuous decisions under the law of their rounds, and the best there is, both (n,).

        Args:
            decisions: shape (n, dimension).
            rounds: shape (n,); those of 0 and below belong to the initial design.
        """
        values, best = self.expected_payoffs(decisions)
        return values, np.full(len(values), best)

    def best_in_rounds(self, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest E_c f that there is under the law of rounds (n,), and the decisions (n, dimension)."""
        raise NotImplementedError(f"{type(self).__name__} does not say where its optima are")

    @property
    def table(self) -> Callable[[np.ndarray], np.ndarray]:
        """What gives the payoffs of continuous decisions (m, dimension) in a finite set of contexts.

        Its answers have shape (m, contexts, outputs). Equal for seeds that share their payoffs: what is searched for in
        one then serves the others.
        """
        raise NotImplementedError(f"{type(self).__name__} has no finite set of contexts")

    @property
    def payoff_function(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """Payoffs (...,) of continuous decisions (..., Dx) and contexts (..., Dc), whose leading axes broadcast.

        Equal for seeds that share their payoffs.

        Raises:
            BocuError: it can be asked for one payoff at a time only.
        """
        raise BocuError(f"{type(self).__name__}: no `payoff_function`, which metrics over continuous contexts need")

    def law(self, t: int) -> "JointLaw":
        """Return the distribution that the continuous context of round `t` comes from.

        Raises:
            BocuError: it is not stated.
        """
        raise BocuError(f"{type(self).__name__}: no `law` of contexts, which metrics over continuous contexts need")

    def observe(self, decision: Decision, context: Context, payoff: Payoff, generator: np.random.Generator) -> Payoff:
        """Return what is observed where the noise-free payoff is `payoff`.

        Draws as many numbers whatever was decided, so that all algorithms meet the same noise.
        """
        shape = None if isinstance(payoff, float) else np.shape(payoff) or None
        return payoff + self.description.noise * generator.standard_normal(shape)

    def outcomes(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return all that may come of each decision in round `t`, and how probable it is under the truth.

        Returns:
            Payoffs (decisions, outcomes) and probabilities (outcomes,): by context, or finer where contexts gather
            outcomes that differ.
        """
        return self.payoffs(t), self.truth(t)

    def weights(self, t: int) -> np.ndarray | None:
        """Return the scalarisation weights of round `t`, shape (outputs,); None where there is one output."""
        return None

    def draw_context(self, t: int, generator: np.random.Generator) -> Context:
        """Draw the context of round `t` from the true distribution; one uniform number is one context."""
        return int(draw(self.truth(t), generator.random()))

    def initial_design(self, generator: np.random.Generator, size: int) -> Sequence[tuple[Decision, Context]]:
        """Draw decisions and contexts to start from; uniformly from finite spaces."""
        spaces = self.description.decisions, self.description.contexts
        chosen = [generator.integers(space.size, size=size) for space in spaces if isinstance(space, FiniteDomain)]
        return [(int(decision), int(context)) for decision, context in zip(*chosen, strict=True)]


ProblemType = TypeVar("ProblemType", bound=ProblemParameters)


class Problem(ABC, Generic[ProblemType]):
    """A family of realisations.

    To be written: `about`, `protocols`, `Parameters`, `units` and `realise`. What plans ask (`outline`, `check_rounds`,
    `size`) may stay.

    Attributes:
        about: what is told of it.
        protocols: those that it may be played under.
        protocol: the one that is played.
        initial: size of the initial design.
        units: unit of the payoff.
        simulated: whether the data behind it are stand-ins.
        prior_labels: names of the candidate priors, in order.
        best_prior: the best prior known, for oracles; None where there are no candidates.
        provenance: title, licence, citation and treatment of the data behind it, as its prepared files say.
    """

    about: ClassVar[About]
    protocols: ClassVar[tuple[str, ...]]
    Parameters: ClassVar[type[ProblemParameters]]
    units: str
    initial: int
    simulated: bool = False
    prior_labels: tuple[str, ...] = ()
    best_prior: "TimeVaryingPrior | BoxPrior | GridPrior | None" = None
    provenance: Mapping[str, Any] = {}

    def __init__(self, parameters: ProblemType, inputs: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self.inputs = inputs
        self.initial = parameters.initial_points()
        self.protocol = parameters.protocol_among(self.protocols)

    @abstractmethod
    def realise(self, streams: Streams) -> Realisation:
        """Draw what one seed meets, from the streams "problem" and, of several outputs, "weights" alone."""

    def _cite(self, prepared: Mapping[str, object]) -> None:
        """Take over what the attributes of a prepared file say of the data behind it."""
        self.provenance = dict(prepared)
        self.simulated = bool(self.provenance.get("data_label"))

    @classmethod
    def bare(cls, parameters: ProblemType) -> Self:
        """Return a problem before its files are read, of which planning asks what its parameters say."""
        found = cls.__new__(cls)
        Problem.__init__(found, parameters, {})
        return found

    @property
    def title(self) -> str:
        """What it is called in headings."""
        return self.about.title

    @classmethod
    def outline(cls, parameters: ProblemType) -> Outline:
        """Return what is known of the problem before its data are read. Opens no file.

        Raises:
            BocuError: no problem can be built from these parameters.
        """
        return Outline()

    @classmethod
    def check_rounds(cls, parameters: ProblemType, iterations: int) -> None:
        """Refuse parameters that do not go with so many rounds. Opens no file.

        Raises:
            BocuError: one line with the key, what was found and what is allowed.
        """

    @classmethod
    @planning_only
    def size(cls, parameters: ProblemType) -> Size:
        """Say how large a problem of these parameters is. Where nothing is said, planning assumes the worst."""
        return Size(arms=2_000, priors=11, kernels=11)

    def initial_design(self, realisation: Realisation, streams: Streams) -> Sequence[tuple[Decision, Context]]:
        """Return the decisions and contexts that a seed starts from: those given for it, or drawn ones.

        Raises:
            BocuError: the file of a given design is another one than was planned with, or has no such points.
        """
        if self._given is None:
            return realisation.initial_design(streams["initial-design"], self.initial)
        return self._given.members(streams.seed, realisation.description.decisions, self.contexts_given(realisation))

    def contexts_given(self, realisation: Realisation) -> Domain | None:
        """Return the space that contexts of a given design lie in; None: they may lie anywhere."""
        return realisation.description.contexts

    @cached_property
    def _given(self) -> Design | None:
        if self.parameters.given_design is None:
            return None
        design = read_design(self.inputs["initial"])
        if design.sha256 != self.parameters.given_design.sha256:
            raise BocuError(f"{design.file}: another file than the experiment was planned with; plan it again")
        return design
