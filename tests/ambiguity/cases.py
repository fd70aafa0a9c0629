"""Test vectors and random instances shared by the tests of the ambiguity sets."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bocu.robust.ambiguity import (
    AmbiguitySet,
    ChiSquared,
    ConditionalValueAtRisk,
    CressieRead,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    ModifiedChiSquared,
    SetParameters,
    TotalVariation,
    Wasserstein,
    squared_exponential_gram,
)

KINDS = ("tv", "mmd", "chi2mod", "chi2", "kl", "cr", "cvar", "wass")
PHI_KINDS = ("chi2mod", "chi2", "kl", "cr")

#: What has to be stated of the sets that CVXPY solves.
CONVEX = {
    "moments": {"mean": 0.1, "square": 0.2},
    "intersection": {"of": [{"name": "tv", "radius": 0.5}, {"name": "moments", "mean": 0.1}]},
    "constraints": {"of": "own_constraints:near_in_each"},
}

#: What has to be stated of sets beside their names.
STATED: dict[str, dict[str, Any]] = {
    "cr": {"k": 3.0},
    "cvar": {"alpha": 0.5},
    "phi": {"phi": "own_divergences:MODIFIED_CHI_SQUARED"},
    **CONVEX,
}


@cache
def vectors() -> dict[str, Any]:
    """The committed test vectors."""
    return json.loads((Path(__file__).parents[1] / "data" / "vectors.json").read_text())


def set_of(case: dict[str, Any], epsilon: float | None) -> AmbiguitySet:
    """The set of a test vector."""
    name = case["distance"].removesuffix("_identity")
    keys = {key: case[key] for key in ("alpha", "k", "lengthscale", "jitter") if key in case}
    if name == "mmd":
        keys.setdefault("jitter", 0.0)
    contexts = np.array(case["contexts"]) if "contexts" in case else None
    built = SetParameters.model_validate({"name": name, **keys}).over(contexts)
    return built if epsilon is None else built.with_epsilon(epsilon)


def make_set(
    kind: str, epsilon: float, contexts: np.ndarray, *, k: float = 1.7, lengthscale: float = 0.3
) -> AmbiguitySet:
    """A set of any kind; for CVaR the radius sets alpha."""
    difference = np.sqrt(((contexts[:, None] - contexts[None]) ** 2).sum(-1))
    makers = {
        "tv": lambda: TotalVariation(epsilon),
        "mmd": lambda: MaximumMeanDiscrepancy(epsilon, squared_exponential_gram(contexts, lengthscale)),
        "chi2mod": lambda: ModifiedChiSquared(epsilon),
        "chi2": lambda: ChiSquared(epsilon),
        "kl": lambda: KullbackLeibler(epsilon),
        "cr": lambda: CressieRead(epsilon, k),
        "cvar": lambda: ConditionalValueAtRisk(1.0 / (1.0 + epsilon)),
        "wass": lambda: Wasserstein(epsilon, difference),
    }
    return makers[kind]()


def random_instance(
    seed: int, n: int, rows: int = 1, *, zeros: bool = False, dimension: int = 2
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contexts `(n, dimension)`, payoffs `(rows, n)` and a reference `(n,)`, with zeros if asked for."""
    generator = np.random.default_rng(seed)
    contexts = generator.random((n, dimension))
    payoffs = generator.normal(size=(rows, n)) * generator.choice([0.1, 1.0, 30.0]) + generator.normal() * 10.0
    reference = generator.dirichlet(np.full(n, 0.8))
    if zeros:
        reference = np.where(generator.random(n) < 0.4, 0.0, reference)
        reference[generator.integers(n)] += 1e-3
        reference /= reference.sum()
    return contexts, payoffs, reference


def assert_steepest(slope: np.ndarray, rate: np.ndarray, payoffs: np.ndarray, p: np.ndarray, gram: np.ndarray) -> None:
    """No direction out of p of MMD norm 1 is steeper: the conditions of optimality of slopes `(B,)`, rates `(B, n)`.

    The rate sums to 0 and takes no mass where there is none; scaled to d by the steepness, no context undercuts in
    `f + M d` those that it uses.
    """
    spread = np.ptp(payoffs, axis=1)
    np.testing.assert_allclose((payoffs * rate).sum(axis=1), slope, rtol=1e-9)
    np.testing.assert_allclose(np.einsum("bm,mn,bn->b", rate, gram, rate), 1.0, rtol=1e-9)
    np.testing.assert_allclose(rate.sum(axis=1), 0.0, atol=1e-9 * np.abs(rate).max())
    assert rate[:, p == 0.0].min(initial=0.0) >= 0.0
    slack = payoffs - slope[:, None] * (rate @ gram)
    slack -= slack[:, p > 0.0].mean(axis=1, keepdims=True)
    used = (p > 0.0) | (rate > 0.0)
    assert (np.abs(np.where(used, slack, 0.0)).max(axis=1) < 1e-8 * spread).all()
    assert (slack.min(axis=1) > -1e-8 * spread).all()
