"""Total variation at several radii at once, and the payoffs between bounds whose worst case falls least."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.robust.ambiguity import ModifiedChiSquared, TotalVariation


@pytest.mark.parametrize("own", [False, True])
def test_total_variation_at_many_radii_is_that_at_each_to_the_last_digit(own: bool) -> None:
    generator = np.random.default_rng(0)
    payoffs = np.round(generator.standard_normal((20, 9)), 1)  # with ties
    reference = generator.dirichlet(np.ones(9), size=20 if own else None)
    radii = [0.0, 0.3, 0.301, 2.0, np.inf]
    each = [TotalVariation(radius).values(payoffs, reference)[0] for radius in radii]
    assert (TotalVariation(0.1).values_at(payoffs, reference, radii) == np.stack(each, axis=-1)).all()


@pytest.mark.parametrize("radius", [0.0, 0.2, 0.7, 1.3, 2.0])
def test_no_payoffs_between_bounds_have_a_larger_slope_than_the_flattest(radius: float) -> None:
    generator = np.random.default_rng(1)
    ambiguity_set = TotalVariation(radius)
    for contexts in (2, 3, 5):
        for _ in range(20):
            reference = generator.dirichlet(np.ones(contexts)) * (generator.random(contexts) < 0.8)
            reference = reference / reference.sum() if reference.any() else np.full(contexts, 1.0 / contexts)
            upper = np.round(generator.normal(size=contexts), 1)  # with ties
            lower = upper - np.round(generator.gamma(1.0, size=contexts), 1)
            flattest = ambiguity_set.flattest(lower, upper)
            assert (flattest >= lower).all()
            assert (flattest <= upper).all()
            corners = generator.integers(0, 2, (200, contexts))
            shares = np.concatenate([corners, generator.random((200, contexts))])
            levels = np.clip(generator.choice(np.concatenate([lower, upper]), 200)[:, None], lower, upper)
            others = np.concatenate([lower + shares * (upper - lower), levels])
            largest = ambiguity_set.values(flattest, reference)[1]
            assert largest >= ambiguity_set.values(others, reference)[1].max() - 1e-12


def test_what_has_no_largest_slope_between_bounds_says_so() -> None:
    with pytest.raises(
        BocuError, match="ModifiedChiSquared has no largest slope between bounds in closed form; take tv"
    ):
        ModifiedChiSquared(0.1).flattest([0.0, 0.0], [1.0, 1.0])
