"""Synthetic payoffs on a grid of decisions and contexts.

Hartmann 3-D (Tay et al. 2024, section 5): of three inputs two decide and one is the context.

GP sample (likewise): payoffs drawn from the Gaussian process that algorithms believe in, anew for every seed. As in the
published code, the prior is drawn at points that lie uniformly in the joint space, and the payoff is the
Gaussian-process mean through these values.

Two functions of one decision and one context (Kirschner et al. 2020, section 4 and figures 1 and 4a). The paper prints
neither; these are ours, made to have the properties that it states. Function a: the best decisions under the
stochastic, the worst-case and the distributionally robust objective all differ, and the robust one does better than the
stochastic one under the true distribution. Function b: they coincide. Both hold whether the spread of the reference
N(0.5, 0.05) and of the truth N(0.45, 0.1) is read as a standard deviation or as a variance. Both are sums of Gaussian
bumps no narrower than the length-scale 0.1 of the surrogate's squared exponential kernel, and so lie in its reproducing
kernel Hilbert space. Nobody made the draws from that kernel for a purpose: any, or the first whose optima differ.

A steady, a peaked and a flat decision for robust satisficing (Saday et al. 2023, section 5). The paper's function is
made by hand and comes with its code, `Bilkent-CYBORG/RoBOS`, as a table; ours are three bumps that follow it to within
0.025: over 8 decisions in [-3.5, 3.5] and 50 contexts in [-12, 12], here scaled to [0, 1], one decision is best where
the reference N(2, 1) lies, one is nearly as good under it and stays good under the truth N(0, 5^2), one is worth 0.3 in
every context. At the aspiration 0.6 only the first two are feasible, and the second is the less fragile one. The model
is the code's, with length-scale 0.2 for decisions: they know nothing of one another.
"""

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import Count, Positive
from bocu.core.randomness import Streams
from bocu.learners.surrogates.grid import GridPrior
from bocu.problems.candidates import Lengthscale
from bocu.problems.distributions import Distribution, Normal, NormalParameters, Reference
from bocu.problems.finite import LENGTHSCALE, FiniteParameters, FiniteProblem
from bocu.problems.functions import function_named
from bocu.problems.given_design import InitialDesign
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, squared_exponential_gram
from bocu.robust.ambiguity.mmd.gram import with_jitter
from bocu.robust.objectives.functions import UncertaintyObjective


class Hartmann3Parameters(FiniteParameters):
    """Parameters of the Hartmann function on a grid."""

    decision_points: list[Count] = Field(
        [32, 32], description="points a decision coordinate, evenly spaced over [0, 1]"
    )
    context_points: list[Count] = Field([64], description="points of the context, evenly spaced over [0, 1]")
    lengthscale: Lengthscale = Field(0.1, description=LENGTHSCALE)


class Hartmann3(FiniteProblem[Hartmann3Parameters]):
    """The function as it is maximised: the first two inputs decide."""

    about = About(
        title="Hartmann 3-D",
        summary="the Hartmann function of three inputs, two of which decide",
        paper="Tay et al. 2024",
    )
    Parameters = Hartmann3Parameters
    decision_names = ("x1", "x2")
    context_names = ("c",)

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return the same table to every seed."""
        return function_named("hartmann-3")(self.decisions[:, None, :], self.contexts[None, :, :])


class GPSampleParameters(FiniteParameters):
    """Parameters of the draws, which come from the kernel of the model."""

    decision_points: list[Count] = Field(
        [32, 32], description="points a decision coordinate, evenly spaced over [0, 1]"
    )
    context_points: list[Count] = Field([8, 8], description="points a context coordinate, evenly spaced over [0, 1]")
    lengthscale: Positive = Field(0.1, description=LENGTHSCALE)
    prior_points: Count = Field(1000, description="uniform points at which the prior is drawn")
    jitter: Positive = Field(
        1e-6, description="added to the diagonal of the kernel matrix of those points, relative to the variance"
    )


class GPSample(FiniteProblem[GPSampleParameters]):
    """A draw of two decision and two context coordinates."""

    about = About(
        title="Sample of a Gaussian process",
        summary="a draw from the model's own prior a seed, two decisions, two contexts",
        paper="Tay et al. 2024",
    )
    Parameters = GPSampleParameters
    decision_names = ("x1", "x2")
    context_names = ("c1", "c2")

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Draw the points, and the prior at them, from the stream "problem"."""
        generator = streams["problem"]
        size = self.parameters.prior_points
        decisions = generator.random((size, len(self.decision_names)))
        contexts = generator.random((size, len(self.context_names)))
        return interpolated_draw(
            self.own_model, decisions, contexts, generator.standard_normal(size), self.parameters.jitter
        )


def interpolated_draw(
    prior: GridPrior, decisions: np.ndarray, contexts: np.ndarray, normal: np.ndarray, jitter: float
) -> np.ndarray:
    """Draw a zero-mean prior at points and give the Gaussian-process mean through the draw on the prior's grid.

    Args:
        prior: the grid and the kernels of decisions and contexts.
        decisions: decision coordinates of the points, shape (n, decision dimension).
        contexts: their context coordinates, shape (n, context dimension).
        normal: independent standard normal numbers, shape (n,).
        jitter: added to the diagonal of the kernel matrix of the points, at unit variance.

    Returns:
        Shape (decisions, contexts) of the grid.
    """
    from scipy.linalg import solve_triangular

    gram = prior.decision_kernel(decisions, decisions) * prior.context_kernel(contexts, contexts)
    factor = np.linalg.cholesky(with_jitter(gram, jitter))
    # With the draw L z and the matrix L L', the weights of its mean (L L')^-1 L z are L'^-1 z.
    weights = solve_triangular(factor, normal, lower=True, trans="T", check_finite=False)
    over_decisions = prior.decision_kernel(prior.decisions, decisions)
    over_contexts = prior.context_kernel(prior.contexts, contexts)
    return np.sqrt(prior.variance) * ((over_decisions * weights) @ over_contexts.T)


REFERENCE = (0.5, 0.05)
TRUTH = (0.45, 0.1)
"""Mean and spread, of which the paper does not say whether it is a standard deviation or a variance."""


class Bump(NamedTuple):
    """`height exp(-((x - decision) / decision_width)^2 / 2 - ((c - context) / context_width)^2 / 2)`."""

    height: float
    decision: float
    decision_width: float
    context: float
    context_width: float


#: High but for small contexts around decision 0.15; nearly as high but for large contexts around 0.5, and never as low;
#: flat around 0.85.
FUNCTION_A = (
    Bump(2.05, 0.15, 0.1, 0.75, 0.3),
    Bump(-2.0, 0.15, 0.1, 0.0, 0.14),
    Bump(1.5, 0.5, 0.1, 0.4, 0.6),
    Bump(-1.0, 0.5, 0.15, 0.8, 0.18),
    Bump(0.6, 0.85, 0.1, 0.5, 0.6),
)

#: One ridge above all else in every context, of two bumps of one profile over decisions; what lies beside it is too far
#: away to move its top by a grid step.
FUNCTION_B = (
    Bump(1.2, 0.65, 0.14, 0.45, 0.5),
    Bump(0.5, 0.65, 0.14, 0.3, 0.12),
    Bump(0.7, 0.15, 0.1, 0.6, 0.15),
    Bump(-0.5, 0.2, 0.1, 0.05, 0.15),
)


FUNCTIONS = {"a": FUNCTION_A, "b": FUNCTION_B}
TITLES = {"draw": "Draws of the prior", "differing-draw": "Draws whose optima differ"}
MOST_DRAWS = 10_000


class KirschnerParameters(FiniteParameters):
    """Parameters of the functions; the model, the noise and the grid are ours, the paper does not say."""

    function: Literal["a", "b", "draw", "differing-draw"] = Field(
        "a",
        description="a: the stochastic, worst-case and distributionally robust optima all differ; b: they coincide; "
        "`draw`: one from the model's prior, anew for every seed; `differing-draw`: the first such draw whose three "
        "optima lie more than a length-scale apart",
    )
    spread: Literal["sd", "variance"] = Field(
        "sd",
        description="what the second number of the paper's N(0.5, 0.05) and N(0.45, 0.1) is, where reference and truth "
        "are left out",
    )
    decision_points: list[Count] = Field([100], description="points of the decision, evenly spaced over [0, 1]")
    context_points: list[Count] = Field([100], description="points of the context, evenly spaced over [0, 1]")
    reference: Reference = Field(
        Normal(normal=NormalParameters(mean=REFERENCE[0], sd=REFERENCE[1])),
        description="reference distribution over the contexts; left out: N(0.5, 0.05), by `spread`",
    )
    truth: Distribution | list[Distribution] = Field(
        Normal(normal=NormalParameters(mean=TRUTH[0], sd=TRUTH[1])),
        description="distribution that contexts come from; left out: N(0.45, 0.1), by `spread`",
    )
    initial: InitialDesign = Field(
        0,
        description="points of the initial design, drawn uniformly from decisions and contexts; or `{file: ...}`: the "
        "design itself",
    )
    lengthscale: Lengthscale = Field(0.1, description=LENGTHSCALE)
    noise: Positive = Field(
        0.001**0.5, description="standard deviation of the observation noise, which algorithms know"
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _by_spread(cls, given: object) -> object:
        if not isinstance(given, dict) or given.get("spread") != "variance":
            return given
        read = {
            key: {"normal": {"mean": mean, "variance": number}}
            for key, (mean, number) in {"reference": REFERENCE, "truth": TRUTH}.items()
        }
        return {**read, **given}


class Kirschner(FiniteProblem[KirschnerParameters]):
    """One of the two functions, or a draw."""

    about = About(
        title="Synthetic functions",
        summary="two functions whose optima differ or coincide, or draws; one decision, one context",
        paper="Kirschner et al. 2020",
    )
    Parameters = KirschnerParameters
    decision_names = ("decision",)
    context_names = ("context",)

    @property
    def title(self) -> str:
        return TITLES.get(self.parameters.function, f"Synthetic function {self.parameters.function}")

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return the same table to every seed, but for draws.

        Raises:
            BocuError: of so many draws none had optima that differ.
        """
        function = self.parameters.function
        if function in FUNCTIONS:
            return bump_payoffs(FUNCTIONS[function], self.decisions[:, 0], self.contexts[:, 0])
        draws = itertools.islice(self.draws(streams["problem"]), MOST_DRAWS)
        found = next((table for table in draws if function == "draw" or self.differ(table)), None)
        if found is None:
            raise BocuError(
                f"function: of {MOST_DRAWS} draws none has optima that differ; move 'truth' from 'reference'"
            )
        return found

    def draws(self, generator: np.random.Generator) -> Iterator[np.ndarray]:
        """Draw payoffs (decisions, contexts) from the prior of the model, without end."""
        model = self.own_model
        over_decisions = _root(model.decision_kernel(self.decisions, self.decisions))
        over_contexts = _root(model.context_kernel(self.contexts, self.contexts))
        while True:
            normal = generator.standard_normal((len(over_decisions), len(over_contexts)))
            yield np.sqrt(model.variance) * (over_decisions @ normal @ over_contexts.T)

    def differ(self, table: np.ndarray) -> bool:
        """Whether stochastic, worst-case and robust optimum lie more than a length-scale apart from one another.

        The robust one is over the MMD of a squared exponential kernel of the model's length-scale, as far as the first
        truth is from the reference.
        """
        best = [objective.argmax(table, self.references[0]).index for objective in self._objectives]
        apart = (
            np.linalg.norm(self.decisions[one] - self.decisions[other])
            for one, other in itertools.combinations(best, 2)
        )
        return bool(min(apart) > self._lengthscales()[0])

    @functools.cached_property
    def _objectives(self) -> tuple[UncertaintyObjective, ...]:
        ambiguity_set = MaximumMeanDiscrepancy(0.0, squared_exponential_gram(self.contexts, self._lengthscales()[1]))
        margin = float(ambiguity_set.distance(self.truths[0], self.references[0]))
        dro = UncertaintyObjective.dro(ambiguity_set.with_epsilon(margin))
        return UncertaintyObjective.so(), UncertaintyObjective.ro(), dro


def _root(covariance: np.ndarray) -> np.ndarray:
    return np.linalg.cholesky(with_jitter(covariance, 1e-9))


def bump_payoffs(bumps: Sequence[Bump], decisions: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Sum bumps at decisions (X,) and contexts (C,), both in [0, 1]: payoffs (X, C)."""
    over_decisions = np.stack([_profile(decisions, bump.decision, bump.decision_width) for bump in bumps], axis=1)
    over_contexts = np.stack([_profile(contexts, bump.context, bump.context_width) for bump in bumps])
    return over_decisions * [bump.height for bump in bumps] @ over_contexts


def _profile(at: np.ndarray, centre: float, width: float) -> np.ndarray:
    return np.exp(-0.5 * ((at - centre) / width) ** 2)


DECISION_WIDTH, CONTEXT_WIDTH = 7.0, 24.0
"""Of the paper's intervals, which are scaled to [0, 1] and whose middle is 0."""

BUMPS = (
    Bump(0.75, 1.0 / 7.0, 0.35 / DECISION_WIDTH, 0.5 - 2.0 / CONTEXT_WIDTH, 7.0 / CONTEXT_WIDTH),
    Bump(0.98, 6.0 / 7.0, 0.7 / DECISION_WIDTH, 0.5 + 2.0 / CONTEXT_WIDTH, 2.5 / CONTEXT_WIDTH),
    Bump(0.35, 3.0 / 7.0, 0.35 / DECISION_WIDTH, 0.5 + 2.0 / CONTEXT_WIDTH, 26.0 / CONTEXT_WIDTH),
)
"""The steady, the peaked and the flat one."""


class SatisficingBumpsParameters(FiniteParameters):
    """Parameters of the function and its model, those of the published code."""

    decision_points: list[Count] = Field([8], description="points of the decision, evenly spaced over [0, 1]")
    context_points: list[Count] = Field([50], description="points of the context, evenly spaced over [0, 1]")
    reference: Reference = Field(
        Normal(normal=NormalParameters(mean=0.5 + 2.0 / CONTEXT_WIDTH, sd=1.0 / CONTEXT_WIDTH)),
        description="reference distribution over the contexts; left out: the paper's N(2, 1), scaled",
    )
    truth: Distribution | list[Distribution] = Field(
        Normal(normal=NormalParameters(mean=0.5, sd=5.0 / CONTEXT_WIDTH)),
        description="distribution that contexts come from; left out: the paper's N(0, 5^2), scaled",
    )
    initial: InitialDesign = Field(
        3,
        description="points of the initial design, drawn uniformly from decisions and contexts; or `{file: ...}`: the "
        "design itself",
    )
    lengthscale: Positive = Field(
        5.0 / CONTEXT_WIDTH, description="length-scale of the model's kernel over contexts, 5 in the paper's units"
    )
    decision_lengthscale: Positive = Field(
        0.2 / DECISION_WIDTH, description="length-scale of the model's kernel over decisions, 0.2 in the paper's units"
    )
    noise: Positive = Field(0.02, description="standard deviation of the observation noise, which algorithms know")


class SatisficingBumps(FiniteProblem[SatisficingBumpsParameters]):
    """The three bumps."""

    about = About(
        title="Steady or peaked",
        summary="a steady, a peaked and a flat decision; the truth is far wider than the reference",
        paper="after Saday et al. 2023",
    )
    Parameters = SatisficingBumpsParameters
    decision_names = ("decision",)
    context_names = ("context",)

    def _lengthscales(self) -> tuple[float, float]:
        return self.parameters.decision_lengthscale, self.parameters.lengthscale

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return the same table to every seed."""
        return bump_payoffs(BUMPS, self.decisions[:, 0], self.contexts[:, 0])
