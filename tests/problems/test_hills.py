"""`bocu.problems.hills`: what is drawn, what is closed, and what prior elimination makes of it."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.core.randomness import Streams
from bocu.learners.algorithms.beliefs import squared_noise_bound
from bocu.learners.algorithms.time_varying import PEGPUCB, RegretBalancing
from bocu.problems.hills import CENTRES, ContinuousHills, Hills, HillsParameters
from bocu.problems.priors.statements import FittedPrior, StatedPrior

SEEDS_OF_BALANCING = 12


@pytest.fixture(scope="module")
def hills() -> Hills:
    return Hills(HillsParameters(), {})


def test_prior_n_has_its_nth_hill_tall_and_prior_0_none(hills: Hills) -> None:
    tops = np.array(
        [prior.mean[np.abs(hills.positions - centre).argmin()] for prior in hills.priors for centre in CENTRES]
    )
    expected = np.full((11, 10), 0.5)
    expected[1:][np.diag_indices(10)] = 1.5
    # Hills are seen on the grid, at most half a step from their tops.
    np.testing.assert_allclose(tops.reshape(11, 10), expected, rtol=2e-3)
    assert hills.prior_labels == tuple(str(n) for n in range(11))
    assert [prior.label for prior in hills.priors] == list(hills.prior_labels)
    assert hills.best_prior is hills.priors[2]
    valleys = hills.priors[0].mean[np.abs(hills.positions - 0.5 * (CENTRES[3] + CENTRES[4])).argmin()]
    assert valleys < 0.05


def test_draws_come_from_the_true_prior(hills: Hills) -> None:
    draws = np.array([hills.realise(Streams(seed)).draw for seed in range(600)])
    error = (draws - hills.best_prior.mean)[:, ::50]
    covariance = hills.best_prior.covariance[::50, ::50]
    np.testing.assert_allclose(error.mean(axis=0), 0.0, atol=4 * 0.1 / np.sqrt(600))
    np.testing.assert_allclose(error.T @ error / 600, covariance, atol=0.0025)


def test_even_rounds_close_the_tall_hill_and_odd_ones_nothing(hills: Hills) -> None:
    realisation = hills.realise(Streams(0))
    assert realisation.round(1).available is None
    assert realisation.round(7).t == 7
    open_arms = realisation.round(2).available
    assert open_arms is not None
    closed = np.setdiff1d(np.arange(500), open_arms)
    assert np.abs(hills.positions[closed] - 1 / 9).max() <= 0.05
    assert np.abs(hills.positions[open_arms] - 1 / 9).min() > 0.05
    assert len(closed) == 50


def test_parameters_move_what_they_name() -> None:
    hills = Hills(HillsParameters(grid=101, true_prior=9, closed=0.1, high=3.0, kernel_variance=1e-6), {})
    draw = hills.realise(Streams(0))
    assert draw.draw.argmax() == pytest.approx(100 * 8 / 9, abs=1)
    assert draw.draw.max() == pytest.approx(3.0, rel=0.05)
    available = draw.round(2).available
    assert available is not None
    assert np.abs(hills.positions[available] - 8 / 9).min() > 0.1
    assert Hills(HillsParameters(true_prior=0), {}).realise(Streams(0)).round(2).available is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"true_prior": 11}, "true_prior: found 11;.*less than or equal to 10"),
        ({"grid": 1}, "grid: found 1"),
        ({"noise": 0}, "noise: found 0"),
        ({"grid": True}, "grid: found True; a number is wanted"),
        ({"lengthscale": 0.1}, "lengthscale: unknown key; did you mean 'kernel_lengthscale'"),
    ],
)
def test_wrong_parameters_get_one_line(given: dict[str, object], message: str) -> None:
    with pytest.raises(BocuError, match=message):
        validate(HillsParameters, given, "")


def test_a_zone_that_closes_everything_is_refused() -> None:
    with pytest.raises(BocuError, match=r"hills: closed: found 1\.0; no arm is left"):
        Hills(HillsParameters(closed=1.0), {})


def rejections_of_the_true_prior(hills: Hills, seeds: int, rounds: int) -> tuple[int, int, float]:
    """Seeds in which prior 2 is rejected as corrected, as printed, and wrong priors rejected on average.

    The printed test takes widths after the observation (sigma_i for sigma_{i-1}); it is computed along the same run.
    """
    corrected = printed = wrong = 0
    for seed in range(seeds):
        streams = Streams(seed)
        realisation = hills.realise(streams)
        noise = realisation.description.noise
        algorithm = PEGPUCB(realisation.description, None, PEGPUCB.Parameters(delta=0.1), streams["algorithm"])
        error = width = 0.0
        plays = 0
        out = fallen = False
        for t in range(1, rounds + 1):
            arm = algorithm.ask(realisation.round(t))
            value = realisation.payoff(arm, t) + noise * streams["noise"].standard_normal()
            algorithm.tell(arm, t, value)
            report = algorithm.report()
            out |= report["rejected_prior"] == 2
            if report["chosen_prior"] == 2:
                plays += 1
                error += value - report["predicted_mean"]
                width += algorithm.sqrt_beta(t) * algorithm.posteriors(t)[1][2, arm]
                fallen |= abs(error) > np.sqrt(squared_noise_bound(noise, 11, t, 0.1) * plays) + width
        corrected += out
        printed += fallen
        wrong += int((report["active_priors"] == 0).sum() - out)
    return corrected, printed, wrong / seeds


def test_the_true_prior_survives_and_wrong_ones_fall(hills: Hills) -> None:
    corrected, _, wrong = rejections_of_the_true_prior(hills, seeds=40, rounds=200)
    assert corrected <= 1
    assert wrong > 9.0


def test_with_little_noise_the_printed_widths_would_reject_the_true_prior() -> None:
    hills = Hills(HillsParameters(noise=0.005, kernel_variance=1.0, kernel_lengthscale=0.1), {})
    corrected, printed, _ = rejections_of_the_true_prior(hills, seeds=40, rounds=100)
    assert corrected <= 1
    assert printed >= 36


@pytest.mark.parametrize(("closed", "kept"), [(0.0, True), (0.05, False)])
def test_the_valid_test_of_regret_balancing_keeps_the_true_prior_where_all_rounds_offer_the_same(closed, kept) -> None:
    """With a hill shut in even rounds, means of different rounds are no longer comparable, and it may go."""
    hills = Hills(HillsParameters(grid=100, closed=closed), {})
    rejected = []
    for seed in range(SEEDS_OF_BALANCING):
        streams = Streams(seed)
        realisation = hills.realise(streams)
        parameters = RegretBalancing.Parameters(mode="valid")
        algorithm = RegretBalancing(realisation.description, None, parameters, streams["algorithm"])
        for t in range(1, 81):
            arm = algorithm.ask(realisation.round(t))
            payoff = realisation.payoff(arm, t)
            algorithm.tell(arm, t, realisation.observe(arm, t, payoff, streams["noise"]))
        rejected.append(not algorithm.report()["active_priors"][2])
    assert any(rejected) is not kept


FLAT = StatedPrior(label="flat", kernel="matern-5/2", lengthscale=(0.1,), variance=0.3, mean=0.5)


def on_the_line(**parameters):
    return ContinuousHills(ContinuousHills.Parameters(**parameters), {})


@pytest.mark.parametrize("lengthscale", [0.05, 0.3])
def test_draws_have_the_kernel_of_the_prior(lengthscale: float) -> None:
    hills = on_the_line(kernel_lengthscale=lengthscale)
    points = np.sort(np.random.default_rng(0).random((40, 1)), axis=0)
    rank = len(hills.realise(Streams(0))._normal)
    root = np.stack([hills.payoffs_of(points, one) for one in np.eye(rank)]) - hills.best_prior.mean(points)
    assert root.T @ root == pytest.approx(0.01 * hills.best_prior.kernel(points, points), abs=1e-9)


def test_means_are_those_of_the_grid() -> None:
    grid, line = Hills(Hills.Parameters(grid=50, high=1.2), {}), on_the_line(high=1.2)
    for one, other in zip(grid.priors, line.priors, strict=True):
        assert other.mean(grid.positions[:, None]) == pytest.approx(one.mean, abs=1e-12)


def test_regret_is_against_the_best_open_position() -> None:
    hills = on_the_line().realise(Streams(1))
    closed = hills._problem.open_boxes
    positions = np.linspace(0.0, 1.0, 100_001)[:, None]
    values = hills.expected_payoffs(positions)[0]
    is_open = ((positions >= closed[:, 0].T) & (positions <= closed[:, 1].T)).any(axis=1)
    best = hills.expected_in_rounds(positions[:2], np.array([1, 2]))[1]
    assert best == pytest.approx([values.max(), values[is_open].max()], abs=1e-6)
    assert best[0] > best[1] + 0.5
    assert hills.payoff(positions[7], 3) == pytest.approx(values[7], abs=1e-9)


def test_stated_candidates_stand_after_the_hills() -> None:
    parameters = ContinuousHills.Parameters().with_candidates([FLAT])
    assert ContinuousHills.outline(parameters).priors[-2:] == ("10", "flat")
    prior = ContinuousHills(parameters, {}).priors[-1]
    assert (prior.label, prior.variance, prior.mean(np.zeros((1, 1)))[0]) == ("flat", 0.3, 0.5)
    assert prior.slope is not None
    with pytest.raises(BocuError, match="two have the name '3'"):
        ContinuousHills.Parameters().with_candidates([FLAT.model_copy(update={"label": "3"})])
    fitted = FittedPrior(label="fitted", kernel="matern-5/2", rows=None)
    assert ContinuousHills.Parameters().takes(fitted) == "no data stand behind it that a prior could be fitted to"


def test_a_closed_zone_over_everything_is_refused() -> None:
    with pytest.raises(BocuError, match=r"hills-continuous: closed: found 1.0; no arm is left"):
        ContinuousHills.outline(ContinuousHills.Parameters(closed=1.0))
