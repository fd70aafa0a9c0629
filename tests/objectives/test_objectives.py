"""Uncertainty objectives: the identities between them, their argmax, the finite-difference option."""

import numpy as np
import pytest
from ambiguity.cases import KINDS, PHI_KINDS, make_set, random_instance
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bocu.core.errors import BocuError
from bocu.core.ties import first_best
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, TotalVariation, squared_exponential_gram, worst_case
from bocu.robust.contexts.estimates import product_grid
from bocu.robust.objectives.functions import UncertaintyObjective

few = settings(max_examples=20)


@pytest.mark.parametrize("kind", KINDS)
@few
@example(seed=1248, n=2, epsilon=1.0, beta=0.0)  # the expectation differs in the last bit from the sum of products
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9), epsilon=st.floats(0.001, 2.0), beta=st.floats(0.0, 2.0))
def test_identities(kind: str, seed: int, n: int, epsilon: float, beta: float) -> None:
    contexts, payoffs, reference = random_instance(seed, n, 3, zeros=True)
    ambiguity_set = make_set(kind, epsilon, contexts)
    make = UncertaintyObjective
    at = lambda objective: objective(payoffs, reference)  # noqa: E731
    answer = worst_case(payoffs, reference, ambiguity_set)
    np.testing.assert_array_equal(at(make.gen(ambiguity_set, 1, 0)), at(make.dro(ambiguity_set)))
    np.testing.assert_array_equal(at(make.dro(ambiguity_set)), answer.value)
    np.testing.assert_array_equal(at(make.gen(ambiguity_set.with_epsilon(0), 0, 1)), at(make.wcs(ambiguity_set)))
    np.testing.assert_array_equal(
        at(make.gen(ambiguity_set.with_epsilon(0), 1, beta)), at(make.mr(ambiguity_set, beta))
    )
    size = 1 + np.abs(payoffs).max()
    assert (at(make.ro()) <= answer.value + 1e-9 * size).all()
    assert (answer.value <= at(make.so()) + 1e-9 * size).all()
    if kind == "cvar":
        return
    # MR lies below v, and the slope of v at epsilon is RS at the foot of its tangent.
    assert (at(make.mr(ambiguity_set, epsilon)) <= answer.value + 1e-7 * size).all()
    for row in range(3):
        f = payoffs[row]
        foot = answer.value[row] - epsilon * answer.slope[row]
        floor = f.min() if kind in ("tv", "mmd", "wass") else f[reference > 0].min()
        if answer.slope[row] < -1e-6 and floor + 1e-6 * size < foot < f @ reference - 1e-6 * size:
            k = make.rs(ambiguity_set, foot)(f, reference)
            assert k == pytest.approx(answer.slope[row], rel=1e-4, abs=1e-6 * size)
    at_mean = make.rs(ambiguity_set, float(payoffs[0] @ reference))(payoffs[0], reference)
    assert at_mean == pytest.approx(at(make.wcs(ambiguity_set))[0], rel=1e-6)


@pytest.mark.parametrize("kind", PHI_KINDS)
def test_slope_at_zero_is_minus_infinity_not_a_difference(kind: str) -> None:
    contexts, payoffs, reference = random_instance(0, 5, 2)
    ambiguity_set = make_set(kind, 0.3, contexts)
    assert (UncertaintyObjective.wcs(ambiguity_set)(payoffs, reference) == -np.inf).all()
    # A weight of 0 drops the slope: 0 times infinity is not a number.
    np.testing.assert_allclose(
        UncertaintyObjective.mr(ambiguity_set, 0.0)(payoffs, reference), payoffs @ reference, rtol=1e-13
    )


def test_robust_objective_looks_beyond_the_support() -> None:
    assert UncertaintyObjective.ro()([[1.0, -5.0, 2.0]], [0.5, 0.0, 0.5]) == -5.0


def test_finite_difference_reproduces_the_published_bias() -> None:
    # The largest payoff holds less than h / 2 of the mass: the difference spans a kink.
    f, p = [0.0, 1.0, 5.0], [0.5, 0.4999, 0.0001]
    ambiguity_set = TotalVariation(0.0)
    assert UncertaintyObjective.wcs(ambiguity_set)(f, p) == -2.5
    assert UncertaintyObjective.wcs(ambiguity_set, difference=1e-3)(f, p) == pytest.approx(-0.9, abs=1e-9)


def test_bounds_are_combined_as_in_ucb_bocu_1() -> None:
    contexts, payoffs, reference = random_instance(4, 8, 5)
    ambiguity_set = make_set("mmd", 0.2, contexts)
    upper, lower = payoffs + 0.3, payoffs - 0.5
    h = 0.01
    objective = UncertaintyObjective.gen(ambiguity_set, 0.7, 0.4, difference=h)
    now, later = (ambiguity_set.with_epsilon(e).values(upper, reference)[0] for e in (0.2, 0.2 + h))
    below = ambiguity_set.values(lower, reference)[0]
    expected = 0.7 * now + 0.4 * (later - below) / h
    np.testing.assert_allclose(objective.from_bounds(upper, lower, reference), expected, rtol=1e-9)
    with pytest.raises(BocuError, match="difference is None"):
        UncertaintyObjective.gen(ambiguity_set, 1, 1).from_bounds(upper, lower, reference)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_argmax_agrees_with_solving_all(kind: str, seed: int) -> None:
    contexts, payoffs, reference = random_instance(seed, 12, 60, zeros=seed % 2 == 1)
    ambiguity_set = make_set(kind, 0.2, contexts)
    for objective in (
        UncertaintyObjective.so(),
        UncertaintyObjective.ro(),
        UncertaintyObjective.dro(ambiguity_set),
        UncertaintyObjective.gen(ambiguity_set, 0.5, 0.1),
        UncertaintyObjective.gen(ambiguity_set, 1.0, 1.0, difference=1e-3),
        UncertaintyObjective.rs(ambiguity_set, float(np.median(payoffs @ reference)) - 1.0),
    ):
        values = objective(payoffs, reference)
        best = objective.argmax(payoffs, reference)
        assert best.index == int(np.argmax(values))
        assert best.value == pytest.approx(values.max(), rel=1e-12, abs=1e-12)
        others = np.delete(values, best.index)
        assert best.bound >= others.max() - 1e-9 * (1 + np.abs(payoffs).max())
        assert best.bound <= best.value + 1e-9 * (1 + np.abs(payoffs).max())
        assert 1 <= best.solved <= 60


def related_payoffs() -> tuple[np.ndarray, np.ndarray, MaximumMeanDiscrepancy]:
    grid = product_grid([0, 0], [1, 1], 12)
    gram = squared_exponential_gram(grid, 0.2)
    factor = np.linalg.cholesky(gram)
    payoffs = factor @ np.random.default_rng(0).standard_normal((144, 144)) @ factor.T
    return payoffs, np.full(144, 1 / 144), MaximumMeanDiscrepancy(0.1, gram)


def test_argmax_solves_few_of_related_decisions() -> None:
    payoffs, reference, ambiguity_set = related_payoffs()
    objective = UncertaintyObjective.dro(ambiguity_set)
    best = objective.argmax(payoffs, reference)
    assert best.index == int(np.argmax(objective(payoffs, reference)))
    assert best.solved < 30


@pytest.mark.parametrize("kind", ["tv", "mmd", "wass"])  # one that is solved whole, and those that are searched
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.3, np.inf])
@pytest.mark.parametrize("seed", range(2))
def test_argmax_of_differences_agrees_with_solving_all(kind: str, epsilon: float, seed: int) -> None:
    contexts, payoffs, reference = random_instance(seed, 12, 100, zeros=seed % 2 == 1)
    width = np.random.default_rng(seed).random(payoffs.shape) * np.linspace(0.1, 2.0, 100)[:, None]
    ambiguity_set = make_set(kind, 0.2, contexts).with_epsilon(epsilon)
    for weights in ((1.0, 1.0), (0.0, 1.0), (1.0, 1e-4), (0.5, 0.0)):
        objective = UncertaintyObjective.gen(ambiguity_set, *weights, difference=1e-3)
        for spread in (width, 0.01 * width):
            values = objective.from_bounds(payoffs + spread, payoffs - spread, reference)
            best = objective.argmax_from_bounds(payoffs + spread, payoffs - spread, reference)
            assert best.index == int(np.argmax(values))
            assert best.value == pytest.approx(values.max(), rel=1e-9)
            assert best.bound >= np.delete(values, best.index).max() - 1e-6 * (1 + np.abs(values).max())
            assert best.bound <= best.value + 1e-6 * (1 + np.abs(values).max())
        values = objective(payoffs, reference)
        best = objective.argmax(payoffs, reference)
        assert best.value == pytest.approx(values.max(), rel=1e-9, abs=1e-9 / 1e-3)
        assert values[best.index] == pytest.approx(values.max(), rel=1e-9, abs=1e-9 / 1e-3)


def test_bounds_are_of_one_shape() -> None:
    objective = UncertaintyObjective.wcs(TotalVariation(0.0), difference=0.1)
    with pytest.raises(BocuError, match=r"bounds have shapes \(2, 3\) and \(1, 3\)"):
        objective.argmax_from_bounds(np.ones((2, 3)), np.ones((1, 3)), [0.2, 0.3, 0.5])


def test_argmax_of_differences_solves_few_of_related_decisions() -> None:
    payoffs, reference, ambiguity_set = related_payoffs()
    objective = UncertaintyObjective.wcs(ambiguity_set, difference=1e-3)
    width = np.linspace(0.1, 1.0, 144)[:, None] * np.ones(144)
    best = objective.argmax_from_bounds(payoffs + width, payoffs - width, reference)
    assert best.solved < 30
    some = np.append(np.arange(0, 144, 24), best.index)
    values = objective.from_bounds((payoffs + width)[some], (payoffs - width)[some], reference)
    assert values[-1] == pytest.approx(best.value)
    assert best.bound <= best.value
    assert (values[:-1] <= best.bound).all()


def test_a_search_that_excludes_nothing_is_given_up() -> None:
    contexts, payoffs, reference = random_instance(3, 12, 300)
    ambiguity_set = make_set("mmd", 0.2, contexts)
    flat = np.tile(payoffs[:1], (300, 1)) + 1e-7 * payoffs
    for objective in (UncertaintyObjective.gen(ambiguity_set, 1.0, 1.0), UncertaintyObjective.dro(ambiguity_set)):
        best = objective.argmax(flat, reference)
        values = objective(flat, reference)
        assert best.index == first_best(values)
        assert best.bound >= np.delete(values, best.index).max() - 1e-11


def test_argmax_with_a_tolerance_keeps_its_promise() -> None:
    payoffs, reference, ambiguity_set = related_payoffs()
    objective = UncertaintyObjective.dro(ambiguity_set)
    best = objective.argmax(payoffs, reference, tolerance=0.3)
    assert best.value >= objective(payoffs, reference).max() - 0.3
    assert best.bound <= best.value + 0.3
    assert best.solved <= objective.argmax(payoffs, reference).solved


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: UncertaintyObjective.gen(b, -1.0, 0.0), "alpha is -1.0"),
        (lambda b: UncertaintyObjective.gen(b, 1.0, np.inf), "beta is inf"),
        (lambda b: UncertaintyObjective.mr(b, -0.5), "beta is -0.5"),
        (lambda b: UncertaintyObjective.rs(b, np.nan), "tau is nan"),
        (lambda b: UncertaintyObjective.dro(b).argmax([1.0, 2.0], [0.5, 0.5]), r"payoffs has shape \(2,\)"),
        (lambda b: UncertaintyObjective.gen(b, 1.0, 1.0, difference=0.0), "difference is 0.0"),
        (lambda b: UncertaintyObjective.so()([1.0, 2.0], [0.5, 0.6]), "reference sums to 1.1"),
        (lambda b: UncertaintyObjective.ro()([1.0, 2.0], [0.5, 0.6]), "reference sums to 1.1"),
    ],
)
def test_faults(call, message: str) -> None:
    with pytest.raises(BocuError, match=message):
        call(TotalVariation(0.1))
