"""`bocu.algorithms.simple`: a uniform draw from what is available."""

import numpy as np
import pytest
from scipy.stats import chisquare

from bocu.algorithms.base import Description, Round
from bocu.algorithms.simple import Random
from bocu.domains import BoxDomain, Domain, FiniteDomain

BOX = BoxDomain(np.array([-1.0, 10.0]), np.array([1.0, 20.0]), ("a", "b"), ("1", "m"))
FIVE = FiniteDomain(np.arange(5.0)[:, None], ("arm",), ("1",))


def random(domain: Domain, seed: int = 0) -> Random:
    return Random(Description(domain, BOX, 0.1, "time-varying"), None, Random.Parameters(), np.random.default_rng(seed))


@pytest.mark.parametrize("available", [None, np.array([1, 3, 4])])
def test_draws_are_uniform_over_what_is_available(available: np.ndarray | None) -> None:
    algorithm = random(FIVE)
    drawn = [algorithm.ask(Round(t=t, available=available)) for t in range(3000)]
    allowed = np.arange(5) if available is None else available
    counts = np.bincount(drawn, minlength=5)
    assert counts.sum() == counts[allowed].sum()
    assert chisquare(counts[allowed]).pvalue > 1e-3


def test_a_box_is_filled() -> None:
    algorithm = random(BOX)
    drawn = np.array([algorithm.ask(Round(t=t)) for t in range(2000)])
    assert (drawn >= BOX.lower).all()
    assert (drawn <= BOX.upper).all()
    np.testing.assert_allclose(drawn.mean(axis=0), [0.0, 15.0], atol=0.3)


def test_the_best_seen_is_recommended_and_survives_an_interruption() -> None:
    for domain, decisions, first in ((FIVE, [3, 1, 2], 0), (BOX, [BOX.upper, BOX.lower, BOX.upper], BOX.lower)):
        algorithm = random(domain)
        assert np.array_equal(algorithm.recommend(), first)
        for decision, value in zip(decisions, [-2.0, -1.0, -3.0], strict=True):
            algorithm.tell(decision, 1, value)
        other = random(domain)
        other.restore(algorithm.state())
        assert np.array_equal(other.recommend(), decisions[1])
        assert type(other.recommend()) is type(algorithm.recommend())


def test_recommending_draws_nothing() -> None:
    one, other = random(FIVE, 7), random(FIVE, 7)
    one.recommend()
    assert [one.ask(Round(t=t)) for t in range(20)] == [other.ask(Round(t=t)) for t in range(20)]
