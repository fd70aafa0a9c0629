"""Payoffs on a grid of decisions and contexts that change with time, while contexts come as on any grid.

The payoff of every pair of decision and context is an arm of Ziomek et al. (2025, section 2), with the process of
Bogunovic et al. (2016): `f_t = sqrt(1 - forgetting) f_(t-1) + sqrt(forgetting) g_t`, all g_t and the first f drawn
from one prior. Candidate priors differ in how fast they forget, and in their kernels where an experiment states some:
together with contexts that come after the decision this is ours.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About, Size, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Count, Number, Positive
from bocu.core.randomness import Streams
from bocu.core.rounds import Context, Decision, Outline
from bocu.learners.surrogates.grams import SpectralRoot
from bocu.learners.surrogates.time_varying import drifting
from bocu.problems.candidates import prior_named
from bocu.problems.finite import LENGTHSCALE, FiniteParameters, FiniteProblem, FiniteRealisation

MOST_PAIRS = 2_000  #: Of decision and context: every candidate prior keeps a matrix over all of them.

OWN = "own"  #: Name of the kernel that the problem states itself.

Forgetting = Annotated[Number, Field(ge=0.0, le=1.0)]


class DriftingParameters(FiniteParameters):
    """Parameters of the draws, which come from the kernel of the model."""

    protocol: Literal["general", "data-driven"] = Field(
        "general",
        description="`general`: reference and radius are given, contexts come from the truth; `data-driven`: the "
        "reference is the empirical distribution of the contexts seen",
    )
    decision_points: list[Count] = Field([32], description="points of the decision, evenly spaced over [0, 1]")
    context_points: list[Count] = Field([8], description="points of the context, evenly spaced over [0, 1]")
    lengthscale: Positive = Field(0.1, description=LENGTHSCALE)
    forgetting: Forgetting = Field(
        0.02, description="share of the payoff's variance that is new in every round; 0: nothing changes"
    )
    forgetting_tried: list[Forgetting] = Field(
        [0.0, 0.02, 0.2],
        min_length=1,
        description="rates of the candidate priors: each with the kernel stated here, or with every candidate that an "
        "experiment states",
    )

    @pydantic.field_validator("forgetting_tried")
    @classmethod
    def _distinct(cls, rates: list[float]) -> list[float]:
        if len({*rates}) < len(rates):
            raise ValueError("a rate stands twice")
        return rates

    def labels(self) -> tuple[str, ...]:
        """Return the names of the candidate priors."""
        stated = [candidate.label for candidate in self.candidates] or [OWN]
        return tuple(_label(name, rate) for name in stated for rate in self.forgetting_tried)


def _label(name: str, rate: float) -> str:
    return f"{name}-{rate:g}"


class DriftingSample(FiniteProblem[DriftingParameters]):
    """A draw of one decision and one context coordinate that drifts.

    Algorithms with one model believe that it stands still.

    Raises:
        BocuError: there are too many pairs of decision and context.
    """

    about = About(
        title="Drifting sample of a Gaussian process",
        summary="a draw that changes with time a seed, one decision, one context; candidates forget at several rates",
    )
    protocols = ("general", "data-driven")  # type: ignore[assignment]
    Parameters = DriftingParameters
    decision_names = ("x",)
    context_names = ("c",)

    def __init__(self, parameters: DriftingParameters, inputs: Mapping[str, object]) -> None:
        super().__init__(parameters, inputs)
        best = drifting(prior_named(self.priors, parameters.best, self.own_model), parameters.forgetting, "best")
        self.prior_labels = parameters.labels()
        # Candidates over pairs take the place of those that stand still.
        made: tuple[Any, ...] = tuple(
            drifting(kernel, rate, _label(kernel.label or OWN, rate))
            for kernel in self.priors or (self.own_model,)
            for rate in parameters.forgetting_tried
        )
        self.priors = made
        same = (prior for prior in made if prior.shares_kernel(best) and np.array_equal(prior.mean, best.mean))
        self.best_prior = next(same, best)

    def _lay_out(self) -> None:
        super()._lay_out()
        pairs = len(self.decisions) * len(self.contexts)
        if pairs > MOST_PAIRS:
            raise BocuError(f"decision_points, context_points: found {pairs} pairs; allowed: up to {MOST_PAIRS} here")

    @classmethod
    def outline(cls, parameters: DriftingParameters) -> Outline:
        return replace(super().outline(parameters), priors=parameters.labels(), drifting=True)

    @classmethod
    @planning_only
    def size(cls, parameters: DriftingParameters) -> Size:
        priors = len(parameters.labels())
        return replace(super().size(parameters), priors=priors, kernels=priors)

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Draw the payoffs of the first round."""
        return self.drawn(streams["problem"])

    def drawn(self, generator: np.random.Generator) -> np.ndarray:
        """Draw from the prior exactly, shape (decisions, contexts)."""
        model = self.own_model
        decisions, contexts = SpectralRoot(model.decision_gram), SpectralRoot(model.context_gram)
        normal = generator.standard_normal(model.shape)  # what is drawn next does not depend on ranks
        half = contexts.times(normal[: decisions.rank, : contexts.rank].T).T
        return np.sqrt(model.variance) * decisions.times(half)

    def realise(self, streams: Streams) -> "DriftingRealisation":
        entropy = int(streams["problem"].integers(2**63))
        return DriftingRealisation(self, self.payoff_table(streams), entropy)


class DriftingRealisation(FiniteRealisation):
    """One draw, round by round; what is new in a round depends on the seed and the round alone.

    Args:
        problem: the family.
        table: payoffs of the first round, shape (decisions, contexts).
        entropy: of the seed.
    """

    def __init__(self, problem: DriftingSample, table: np.ndarray, entropy: int) -> None:
        super().__init__(problem, table)
        self._sample = problem
        self._entropy = entropy
        self._tables = [table]

    def payoff_at(self, t: int, decision: Decision, context: Context) -> float:
        return float(self.payoffs(t)[decision, context])

    def payoffs(self, t: int) -> np.ndarray:
        forgetting = self._sample.parameters.forgetting
        if forgetting == 0.0:
            return self._tables[0]
        while len(self._tables) < t:
            news = np.random.default_rng(np.random.SeedSequence([self._entropy, len(self._tables)]))
            new = self._sample.drawn(news)
            self._tables.append(np.sqrt(1.0 - forgetting) * self._tables[-1] + np.sqrt(forgetting) * new)
        return self._tables[t - 1]
