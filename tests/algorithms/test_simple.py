"""`bocu.learners.algorithms.simple`: a uniform draw from what is available."""

import numpy as np
import pytest
from scipy.stats import chisquare

from bocu.core.errors import BocuError
from bocu.core.rounds import BoxDomain, Description, Domain, FiniteDomain, Round
from bocu.learners.algorithms.simple import Constant, Random

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


def constant(domain: Domain, protocol: str = "general", contexts: Domain = BOX, **parameters: object) -> Constant:
    settings = Constant.Parameters.model_validate(parameters)
    return Constant(Description(domain, contexts, 0.1, protocol), None, settings, np.random.default_rng(0))


def test_the_constant_decision_is_named_by_index_or_coordinates() -> None:
    for wanted, expected in ((3, 3), ([2.9], 3), ([-7.0], 0), ([1.5], 1)):
        assert constant(FIVE, decision=wanted).ask(Round(t=1)) == expected
    assert np.array_equal(constant(BOX, decision=[0.5, 12]).ask(Round(t=1)), [0.5, 12.0])
    for domain, wanted, message in (
        (FIVE, 5, "found 5; allowed: 0 to 4"),
        (FIVE, [1, 2], "found 2 coordinates; 1 wanted"),
        (BOX, [0.5, 21], "allowed: "),
        (BOX, 1, "allowed: coordinates"),
    ):
        with pytest.raises(BocuError, match=message):
            constant(domain, decision=wanted)
    with pytest.raises(BocuError, match="decision 3 is not available in round 2"):
        constant(FIVE, decision=3).ask(Round(t=2, available=np.array([0, 4])))


def test_under_the_simulator_contexts_are_uniform_and_a_decision_is_recommended() -> None:
    description = Description(FIVE, FIVE, 0.1, "simulator")
    for algorithm in (
        Random(description, None, Random.Parameters(), np.random.default_rng(0)),
        constant(FIVE, "simulator", FIVE, decision=2),
    ):
        contexts = [algorithm.choose_context(2, Round(t=t)) for t in range(2000)]
        assert chisquare(np.bincount(contexts, minlength=5)).pvalue > 1e-3
        algorithm.tell(2, contexts[0], 1.0)
        assert algorithm.recommend() == 2
        assert algorithm.reports == ()
        assert algorithm.report() == {}
