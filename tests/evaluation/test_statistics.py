"""Statistics against numbers worked out by hand and against properties."""

import numpy as np
import pytest
from scipy import stats

from bocu.sweep.evaluation.statistics import (
    benjamini_hochberg,
    growth_slopes,
    holm,
    mean_and_error,
    ranks,
    share_interval,
    student_intervals,
    student_mean,
    student_p_value,
    student_ratio,
)


def test_mean_and_error_of_four_numbers():
    mean, error = mean_and_error(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3.0
    assert error == pytest.approx(np.sqrt((4 + 1 + 0 + 9) / 3) / 2)


def test_mean_and_error_keep_the_other_axes():
    mean, error = mean_and_error(np.arange(24.0).reshape(4, 3, 2), axis=1)
    assert mean.shape == error.shape == (4, 2)
    assert mean[0, 0] == 2.0


def test_one_value_has_no_error_and_none_has_no_mean():
    mean, error = mean_and_error(np.array([[5.0, 6.0]]))
    assert mean.tolist() == [5.0, 6.0]
    assert np.isnan(error).all()
    mean, error = mean_and_error(np.empty((0, 2)))
    assert np.isnan(mean).all()
    assert np.isnan(error).all()


def test_students_interval_is_that_of_scipy():
    values = np.random.default_rng(3).normal(2.0, 1.0, 7)
    found = student_mean(values)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_interval_of_equal_single_or_no_values():
    equal = student_mean(np.full(5, 1.5))
    assert (equal.low, equal.value, equal.high) == (1.5, 1.5, 1.5)
    single = student_mean(np.array([4.0]))
    assert single.value == 4.0
    assert np.isnan(single.low)
    assert student_mean(np.array([])).count == 0


def test_ratio_of_means_keeps_seeds_paired():
    base = np.array([1.0, 2.0, 3.0, 4.0])
    exact = student_ratio(3 * base, base)
    # Three times as much in every seed is three times as much in the mean, however much seeds differ.
    assert (exact.low, exact.value, exact.high) == pytest.approx((3.0, 3.0, 3.0))
    assert np.isnan(student_ratio(base, np.zeros(4)).value)


def test_ratio_is_clear_of_one_just_where_the_paired_difference_is_clear_of_zero():
    random = np.random.default_rng(5)
    for _ in range(50):
        base = random.gamma(4.0, size=12)
        own = base * random.uniform(0.6, 1.5) + random.normal(scale=0.8, size=12)
        ratio = student_ratio(own, base)
        for end in (ratio.low, ratio.high):
            gap = student_mean(own - end * base)
            assert min(abs(gap.low), abs(gap.high)) < 1e-9
        difference = student_mean(own - base)
        assert (ratio.low <= 1 <= ratio.high) == (difference.low <= 0 <= difference.high)


def test_ratio_to_a_mean_that_may_be_zero_has_no_bounded_interval():
    found = student_ratio(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 1.0, 0.5]))
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_holm_by_hand():
    # Sorted: .01 * 3, then max(.03, .02 * 2), then max(.04, .04 * 1).
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert np.isnan(holm([float("nan"), 0.2])[0])
    assert holm([float("nan"), 0.2])[1] == pytest.approx(0.2)


def test_benjamini_hochberg_is_that_of_scipy():
    p_values = np.random.default_rng(3).random(40) ** 3
    p_values[5] = p_values[9]
    expected = stats.false_discovery_control(p_values)
    assert benjamini_hochberg(p_values.tolist()) == pytest.approx(expected.tolist(), rel=1e-14)
    # Sorted: .04 * 3 / 3, then min(.04, .02 * 3 / 2), then min(.03, .012 * 3).
    assert benjamini_hochberg([0.04, 0.012, 0.02]) == pytest.approx([0.04, 0.03, 0.03])


def test_ranks_by_hand_with_a_tie():
    found = ranks({"a": {0: 1.0, 1: 2.0}, "b": {0: 2.0, 1: 2.0}, "c": {0: 3.0, 1: 1.0, 5: 0.0}})
    assert found.mean == {"a": 1.75, "b": 2.25, "c": 2.0}
    assert found.count == 2


def test_friedman_sees_a_clear_order_and_needs_three_algorithms():
    order = {label: {seed: place + 0.01 * seed for seed in range(10)} for place, label in enumerate("abc")}
    assert ranks(order).p_value < 1e-3
    assert np.isnan(ranks({label: order[label] for label in "ab"}).p_value)
    assert ranks({"a": {}, "b": {0: 1.0}}).count == 0


def test_growth_of_a_power_law_is_its_power():
    rounds = np.arange(1, 1001)
    found = student_mean(growth_slopes(rounds, np.stack([scale * rounds**0.6 for scale in (1.0, 3.0, 10.0)])))
    assert (found.value, found.low, found.high) == pytest.approx((0.6, 0.6, 0.6))
    assert found.count == 3


def test_growth_has_students_interval_over_seeds_and_is_no_number_without_regret():
    rounds = np.arange(1, 101)
    powers = np.array([0.4, 0.5, 0.9])
    cumulative = np.stack([*(rounds**power for power in powers), np.zeros(100)])
    slopes = growth_slopes(rounds, cumulative)
    assert np.isnan(slopes).tolist() == [False, False, False, True]
    found = student_mean(slopes[:3])
    half = 4.302652729911275 * powers.std(ddof=1) / np.sqrt(3)  # Student's 97.5 % point at two degrees of freedom
    assert found.count == 3
    assert (found.low, found.high) == pytest.approx((powers.mean() - half, powers.mean() + half))


DRAWS = {
    "normal": lambda random, shape: random.normal(size=shape),
    "lognormal": lambda random, shape: random.lognormal(0.0, 0.75, shape) - np.exp(0.75**2 / 2),
    "heavy-tailed": lambda random, shape: random.standard_t(3, shape),
}


@pytest.mark.parametrize("law", DRAWS)
def test_intervals_hold_the_mean_as_often_as_they_say(law):
    """Floors of laws that are not normal are what was measured, rounded down (benchmarks/interval_coverage.py)."""
    floors = {"lognormal": [0.875, 0.86, 0.86, 0.87, 0.90, 0.925], "heavy-tailed": [0.945] * 6}
    random, samples = np.random.default_rng(11), 10_000
    margin = 5 * np.sqrt(0.95 * 0.05 / samples)
    for place, count in enumerate((3, 5, 6, 10, 30, 100)):
        _, low, high = student_intervals(DRAWS[law](random, (samples, count)))
        covered = np.mean((low <= 0) & (high >= 0))
        if law == "normal":
            assert covered == pytest.approx(0.95, abs=margin)
        else:
            assert covered >= floors[law][place]


@pytest.mark.parametrize("boundary", [-0.5, 0.0, 0.35, 1.0])
def test_a_p_value_is_below_5_percent_just_where_the_interval_excludes_the_boundary(boundary):
    samples = np.random.default_rng(4).normal(0.3, 1.0, (200, 12))
    found = [(student_p_value(sample, boundary), student_mean(sample)) for sample in samples]
    assert all((p < 0.05) == (not own.low <= boundary <= own.high) for p, own in found)
    assert 0 < sum(p < 0.05 for p, _ in found) < 200


def test_p_values_of_equal_numbers_and_of_too_few():
    assert student_p_value(np.full(10, 2.0), 2.0) == 1.0
    assert np.isnan(student_p_value(np.array([2.0]), 1.0))
    # No spread is no certainty: as many signs that are alike have this probability.
    assert student_p_value(np.full(10, 2.0), 1.0) == 2 * 0.5**10
    assert student_p_value(0.1 + np.array([0.0, 1e-17] * 5), 0.0) == 2 * 0.5**10


@pytest.mark.parametrize("boundary", [0.0, 0.05, 0.1, 0.2, 0.5, 0.8, 1.0])
def test_a_share_is_told_apart_just_where_its_interval_excludes_the_other(boundary):
    for count in (10, 12, 20, 30, 50):
        for times in range(count + 1):
            found, p_value = share_interval(np.arange(count) < times, boundary)
            assert (p_value < 0.05) == (not found.low <= boundary <= found.high), (count, times)


def test_a_share_that_was_seen_is_more_than_none():
    found, p_value = share_interval(np.array([1.0, *[0.0] * 29]), 0.0)
    assert (found.value, found.count, p_value) == (pytest.approx(1 / 30), 30, 0.0)
    assert 0 < found.low < found.value < found.high
    none, p_none = share_interval(np.zeros(30), 0.0)
    assert (none.low, p_none) == (0.0, 1.0)
    assert share_interval(np.zeros(10), 0.5)[1] == pytest.approx(2 * 0.5**10)


def test_ratios_hold_the_truth_as_often_as_they_say():
    """Paired regrets of two that are alike, skewed, of a common size on each seed (benchmarks/interval_coverage.py)."""
    random, samples, count = np.random.default_rng(7), 2_000, 10
    shared, own = random.lognormal(0.0, 0.5, (samples, 1, count)), random.lognormal(0.0, 0.5, (samples, 2, count))
    found = [student_ratio(*pair) for pair in shared * own]
    covered = np.mean([one.low <= 1.0 <= one.high for one in found])
    assert covered > 0.95 - 5 * np.sqrt(0.95 * 0.05 / samples)
