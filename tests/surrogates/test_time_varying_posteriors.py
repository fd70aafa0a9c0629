"""`surrogates.time_varying`: posteriors against dense solves and their own saved states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from bocu.core.errors import BocuError
from bocu.learners.surrogates.time_varying import INITIAL_CAPACITY, TimeVaryingPosteriors, TimeVaryingPrior

NOISE = 0.3
Observations = tuple[np.ndarray, np.ndarray, np.ndarray]


def a_prior(generator: np.random.Generator, arms: int = 7, rank: int = 7, forgetting: float = 0.0) -> TimeVaryingPrior:
    root = generator.standard_normal((arms, rank))
    return TimeVaryingPrior("p", generator.standard_normal(arms), root @ root.T, forgetting)


def observations(generator: np.random.Generator, count: int, arms: int = 7, gaps: bool = True) -> Observations:
    """Arms, times (with repeated times and gaps), values."""
    steps = generator.integers(0, 4, count) if gaps else np.ones(count, dtype=int)
    return generator.integers(0, arms, count), 1 + np.cumsum(steps), generator.standard_normal(count)


def gram(prior: TimeVaryingPrior, arms: np.ndarray, times: np.ndarray) -> np.ndarray:
    fade = (1.0 - prior.forgetting) ** (np.abs(np.subtract.outer(times, times)) / 2.0)
    return prior.covariance[np.ix_(arms, arms)] * fade + NOISE**2 * np.eye(len(arms))


def dense(prior: TimeVaryingPrior, seen: Observations, t: int) -> tuple[np.ndarray, np.ndarray]:
    arms, times, values = seen
    cross = prior.covariance[arms] * ((1.0 - prior.forgetting) ** ((t - times) / 2.0))[:, None]
    solved = np.linalg.solve(gram(prior, arms, times), cross)
    mean = prior.mean + solved.T @ (values - prior.mean[arms])
    return mean, np.sqrt(np.maximum(np.diag(prior.covariance - cross.T @ solved), 0.0))


def told(priors: list[TimeVaryingPrior], seen: Observations) -> TimeVaryingPosteriors:
    posteriors = TimeVaryingPosteriors(priors, NOISE)
    for arm, t, value in zip(*seen, strict=True):
        posteriors.observe(int(arm), int(t), float(value))
    return posteriors


@pytest.mark.parametrize("rank", [2, 7])
@pytest.mark.parametrize("forgetting", [0.0, 0.02, 0.4, 1.0])
@pytest.mark.parametrize("ahead", [0, 1, 5])
def test_prediction_is_the_dense_solve(rank: int, forgetting: float, ahead: int) -> None:
    generator = np.random.default_rng(rank)
    prior = a_prior(generator, rank=rank, forgetting=forgetting)
    seen = observations(generator, 50)
    t = int(seen[1][-1]) + ahead
    mean, sd = told([prior], seen).predict(t)
    expected_mean, expected_sd = dense(prior, seen, t)
    np.testing.assert_allclose(mean[0], expected_mean, atol=1e-9)
    np.testing.assert_allclose(sd[0] ** 2, expected_sd**2, atol=1e-9)


@pytest.mark.parametrize("forgetting", [0.0, 0.2, 1.0])
def test_evidence_grows_to_the_density_of_all_observations(forgetting: float) -> None:
    generator = np.random.default_rng(11)
    prior = a_prior(generator, rank=3, forgetting=forgetting)
    arms, times, values = observations(generator, 30)
    for count in (1, 2, 30):
        seen = arms[:count], times[:count], values[:count]
        expected = multivariate_normal(prior.mean[seen[0]], gram(prior, *seen[:2])).logpdf(seen[2])
        assert told([prior], seen).log_evidence[0] == pytest.approx(float(expected), abs=1e-9)


def test_prior_mean_is_subtracted_at_the_data_and_not_at_the_prediction() -> None:
    prior = TimeVaryingPrior("p", np.array([0.0, 5.0]), np.array([[1.0, 0.9], [0.9, 1.0]]))
    posteriors = told([prior], (np.array([1]), np.array([1]), np.array([5.0])))
    # The observation is exactly what the prior expected, so nothing moves. The printed formula would move arm 0 by 4.
    np.testing.assert_allclose(posteriors.predict(1)[0][0], prior.mean, atol=1e-12)


def test_several_priors_together_are_each_of_them_alone() -> None:
    generator = np.random.default_rng(2)
    shared = a_prior(generator)
    priors = [
        shared,
        a_prior(generator, forgetting=0.3),
        TimeVaryingPrior("equal kernel", generator.standard_normal(7), shared.covariance.copy()),
        TimeVaryingPrior("same covariance, other forgetting", shared.mean, shared.covariance, 0.3),
    ]
    seen = observations(generator, 25)
    together = told(priors, seen)
    assert together.state()["rows"].shape[0] == 3
    t = int(seen[1][-1]) + 2
    for k, prior in enumerate(priors):
        alone = told([prior], seen)
        np.testing.assert_allclose(together.predict(t)[0][k], alone.predict(t)[0][0], rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(together.predict(t)[1][k], alone.predict(t)[1][0], rtol=1e-13, atol=1e-13)
        assert together.log_evidence[k] == pytest.approx(alone.log_evidence[0], rel=1e-13)


def test_rows_once_grown_are_never_touched_again() -> None:
    generator = np.random.default_rng(3)
    priors = [a_prior(generator), a_prior(generator, forgetting=0.1)]
    arms, times, values = observations(generator, 2 * INITIAL_CAPACITY + 3)
    posteriors = TimeVaryingPosteriors(priors, NOISE)
    before = posteriors.state()["rows"]
    for count, (arm, t, value) in enumerate(zip(arms, times, values, strict=True)):
        posteriors.observe(int(arm), int(t), float(value))
        rows = posteriors.state()["rows"]
        assert np.array_equal(rows[:, :count], before)
        before = rows


@pytest.mark.parametrize("every", [1, 7, INITIAL_CAPACITY])
def test_restored_state_goes_on_bit_for_bit(every: int) -> None:
    generator = np.random.default_rng(4)
    priors = [a_prior(generator, arms=40, rank=40), a_prior(generator, arms=40, rank=3, forgetting=0.1)]
    arms, times, values = observations(generator, 3 * INITIAL_CAPACITY, arms=40)
    straight = told(priors, (arms, times, values))
    broken = TimeVaryingPosteriors(priors, NOISE)
    for count, (arm, t, value) in enumerate(zip(arms, times, values, strict=True)):
        if count % every == 0:
            state = broken.state()
            broken = TimeVaryingPosteriors(priors, NOISE)
            broken.restore(state)
        broken.observe(int(arm), int(t), float(value))
    for key, expected in straight.state().items():
        assert np.array_equal(broken.state()[key], expected), key
    t = int(times[-1]) + 1
    assert all(np.array_equal(one, other) for one, other in zip(straight.predict(t), broken.predict(t), strict=True))


def test_saved_state_is_a_copy() -> None:
    generator = np.random.default_rng(6)
    posteriors = told([a_prior(generator, forgetting=0.2)], observations(generator, 5))
    state = posteriors.state()
    kept = {key: np.array(value, copy=True) for key, value in state.items()}
    posteriors.observe(0, posteriors.time + 1, 1.0)
    other = TimeVaryingPosteriors(posteriors.priors, NOISE)
    other.restore(state)
    other.observe(1, other.time + 1, -1.0)
    assert all(np.array_equal(state[key], kept[key]) for key in state)


def test_full_forgetting_returns_to_the_prior_at_the_next_step() -> None:
    generator = np.random.default_rng(7)
    prior = a_prior(generator, forgetting=1.0)
    posteriors = told([prior], (np.array([2]), np.array([3]), np.array([9.0])))
    assert posteriors.predict(3)[0][0, 2] != pytest.approx(prior.mean[2])
    mean, sd = posteriors.predict(4)
    np.testing.assert_array_equal(mean[0], prior.mean)
    np.testing.assert_allclose(sd[0] ** 2, np.diag(prior.covariance), rtol=1e-15)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), order=st.permutations(range(12)))
def test_without_forgetting_the_order_of_observations_does_not_matter(seed: int, order: list[int]) -> None:
    generator = np.random.default_rng(seed)
    prior = a_prior(generator, rank=4)
    arms, times, values = observations(generator, 12)
    one = told([prior], (arms, times, values))
    other = told([prior], (arms[order], times, values[order]))
    np.testing.assert_allclose(one.predict(99)[0], other.predict(99)[0], atol=1e-8)
    assert one.log_evidence[0] == pytest.approx(other.log_evidence[0], abs=1e-7)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), forgetting=st.floats(0.0, 1.0))
def test_an_observation_never_widens_and_time_never_narrows(seed: int, forgetting: float) -> None:
    generator = np.random.default_rng(seed)
    posteriors = TimeVaryingPosteriors([a_prior(generator, forgetting=forgetting)], NOISE)
    for arm, t, value in zip(*observations(generator, 15), strict=True):
        before = posteriors.predict(int(t))[1]
        posteriors.observe(int(arm), int(t), float(value))
        after = posteriors.predict(int(t))[1]
        assert (after <= before + 1e-7).all()
        assert (posteriors.predict(int(t) + 3)[1] >= after - 1e-7).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mean": np.zeros((2, 2))}, r"'p': mean has shape \(2, 2\)"),
        ({"covariance": np.eye(3)}, r"'p': covariance has shape \(3, 3\); allowed: \(2, 2\)"),
        ({"covariance": np.array([[1.0, 0.5], [0.4, 1.0]])}, "not symmetric"),
        ({"mean": np.array([0.0, np.nan])}, "not finite"),
        ({"forgetting": 1.5}, "forgetting is 1.5; allowed: 0 to 1"),
        ({"forgetting": float("nan")}, "forgetting is nan"),
    ],
)
def test_a_wrong_prior_is_refused_by_name(change: dict[str, object], message: str) -> None:
    fields = {"label": "p", "mean": np.zeros(2), "covariance": np.eye(2), **change}
    with pytest.raises(BocuError, match=message):
        TimeVaryingPrior(**fields)  # type: ignore[arg-type]


def test_wrong_sets_of_priors_and_wrong_observations_are_refused() -> None:
    two, three = (TimeVaryingPrior("p", np.zeros(n), np.eye(n)) for n in (2, 3))
    with pytest.raises(BocuError, match="at least one"):
        TimeVaryingPosteriors([], NOISE)
    with pytest.raises(BocuError, match="2 and 3 arms"):
        TimeVaryingPosteriors([two, three], NOISE)
    with pytest.raises(BocuError, match=r"noise: found 0\.0"):
        TimeVaryingPosteriors([two], 0.0)
    posteriors = TimeVaryingPosteriors([two], NOISE)
    posteriors.observe(1, 4, 0.0)
    with pytest.raises(BocuError, match="found 3; allowed: 4"):
        posteriors.observe(1, 3, 0.0)
    with pytest.raises(BocuError, match="found 3; allowed: 4"):
        posteriors.predict(3)
    with pytest.raises(BocuError, match="arm: found 2; allowed: 0 to 1"):
        posteriors.observe(2, 5, 0.0)
    with pytest.raises(BocuError, match="found nan"):
        posteriors.observe(1, 5, float("nan"))
    assert posteriors.count == 1


def test_a_covariance_that_is_not_positive_semidefinite_is_named() -> None:
    wrong = TimeVaryingPrior("wrong", np.zeros(2), np.array([[1.0, 2.0], [2.0, 1.0]]))
    fine = TimeVaryingPrior("fine", np.zeros(2), np.eye(2))
    posteriors = TimeVaryingPosteriors([fine, wrong], 0.1)
    posteriors.observe(0, 1, 0.0)
    with pytest.raises(BocuError, match="prior 'wrong': covariance is not positive semi-definite"):
        posteriors.predict(1)


@pytest.mark.parametrize("shape", ["of all arms", "of each"])
def test_a_mean_that_changes_with_time_is_taken_off_what_is_told_and_added_again(shape: str) -> None:
    """As if payoffs less their mean were told to a prior of mean 0; beyond the last time its mean stays."""
    generator = np.random.default_rng(8)
    prior = a_prior(generator, arms=4, rank=4, forgetting=0.2)
    course = generator.standard_normal(5 if shape == "of all arms" else (5, 4))
    moving = TimeVaryingPrior("moving", prior.mean, prior.covariance, 0.2, course)
    still = TimeVaryingPrior("still", np.zeros(4), prior.covariance, 0.2)
    both = TimeVaryingPosteriors([moving], NOISE), TimeVaryingPosteriors([still], NOISE)
    for t, arm in ((1, 2), (3, 0), (4, 2), (7, 1)):
        mean = prior.mean + course[min(t, 5) - 1]
        np.testing.assert_array_equal(moving.mean_at(t), mean)
        value = float(generator.standard_normal())
        both[0].observe(arm, t, value)
        both[1].observe(arm, t, value - mean[arm])
        found, around = (posteriors.predict(t) for posteriors in both)
        np.testing.assert_allclose(found[0][0], mean + around[0][0], atol=1e-10)
        np.testing.assert_array_equal(found[1], around[1])
    assert both[0].log_evidence == pytest.approx(both[1].log_evidence, abs=1e-10)
    with pytest.raises(BocuError, match=r"course has shape \(5, 3\); allowed: \(times,\) or \(times, 4\)"):
        TimeVaryingPrior("wrong", prior.mean, prior.covariance, 0.2, np.zeros((5, 3)))


def test_what_is_asked_for_again_is_what_was_predicted_until_an_observation():
    priors = [TimeVaryingPrior("a", np.zeros(3), np.eye(3), 0.1), TimeVaryingPrior("b", np.ones(3), 2.0 * np.eye(3))]
    posteriors = TimeVaryingPosteriors(priors, 0.3)
    posteriors.observe(1, 1, 0.7)
    for t in (1, 2, 2, 5):
        mean, deviation = posteriors.predict(t)
        fresh = TimeVaryingPosteriors(priors, 0.3)
        fresh.observe(1, 1, 0.7)
        assert np.array_equal((mean, deviation), fresh.predict(t))
        with pytest.raises(ValueError, match="read-only"):
            mean += 1.0
    known = posteriors.state()
    posteriors.observe(0, 5, -1.0)
    told = posteriors.predict(5)[0]
    assert not np.array_equal(told, mean)
    posteriors.restore(known)
    assert np.array_equal(posteriors.predict(5)[0], mean)
