"""Statistics against numbers worked out by hand and against properties."""

import numpy as np
import pytest
from scipy import stats

from bocu.evaluation.statistics import (
    _BOOTSTRAP_SEED,
    RESAMPLES,
    bootstrap_mean,
    bootstrap_means,
    bootstrap_ratio,
    growth_exponent,
    holm,
    mean_and_error,
    paired_differences,
    ranks,
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


def test_bootstrap_interval_contains_the_mean_and_is_repeatable():
    values = np.random.default_rng(3).normal(2.0, 1.0, 40)
    interval = bootstrap_mean(values)
    assert interval.low < interval.value < interval.high
    assert interval == bootstrap_mean(values)
    assert interval.value == pytest.approx(values.mean())
    # For a well-behaved mean the bootstrap comes close to Student's interval.
    student = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert interval.low == pytest.approx(student[0], abs=0.06)
    assert interval.high == pytest.approx(student[1], abs=0.06)


def test_bootstrap_intervals_cover_the_truth_about_as_often_as_they_say():
    random = np.random.default_rng(0)
    intervals = [bootstrap_mean(random.exponential(1.0, 30), resamples=999) for _ in range(200)]
    covered = np.mean([each.low <= 1.0 <= each.high for each in intervals])
    assert 0.88 <= covered <= 0.99


def test_bootstrap_of_equal_single_or_no_values():
    assert bootstrap_mean(np.full(5, 1.5)) == bootstrap_mean(np.full(5, 1.5))
    equal = bootstrap_mean(np.full(5, 1.5))
    assert (equal.low, equal.value, equal.high) == (1.5, 1.5, 1.5)
    single = bootstrap_mean(np.array([4.0]))
    assert single.value == 4.0
    assert np.isnan(single.low)
    assert bootstrap_mean(np.array([])).count == 0


def test_ratio_of_means_resamples_pairs():
    base = np.array([1.0, 2.0, 3.0, 4.0])
    exact = bootstrap_ratio(3 * base, base)
    # Seeds stay paired: three times as much in every seed is three times as much in every resample.
    assert (exact.low, exact.value, exact.high) == pytest.approx((3.0, 3.0, 3.0))
    assert np.isnan(bootstrap_ratio(base, np.zeros(4)).value)


def test_paired_difference_ignores_what_all_seeds_share():
    noise = {seed: 10.0 * seed for seed in range(8)}
    regrets = {"a": noise, "b": {seed: value + 1.0 for seed, value in noise.items()}}
    found = paired_differences(regrets, "a")["b"]
    assert (found.difference.low, found.difference.value, found.difference.high) == (1.0, 1.0, 1.0)
    assert found.worse == 1.0
    assert found.p_value == pytest.approx(2 / 2**8)


def test_paired_difference_uses_shared_seeds_only():
    regrets = {"a": {0: 1.0, 1: 2.0, 2: 3.0}, "b": {1: 5.0, 2: 5.0, 9: 100.0}}
    found = paired_differences(regrets, "a")["b"]
    assert found.difference.count == 2
    assert found.difference.value == pytest.approx((3.0 + 2.0) / 2)


def test_identical_algorithms_do_not_differ():
    same = {seed: float(seed) for seed in range(5)}
    found = paired_differences({"a": same, "b": dict(same)}, "a")["b"]
    assert found.p_value == 1.0
    assert found.worse == 0.0


def test_holm_by_hand():
    # Sorted: .01 * 3, then max(.03, .02 * 2), then max(.04, .04 * 1).
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert np.isnan(holm([float("nan"), 0.2])[0])
    assert holm([float("nan"), 0.2])[1] == pytest.approx(0.2)


def test_ranks_by_hand_with_a_tie():
    found = ranks({"a": {0: 1.0, 1: 2.0}, "b": {0: 2.0, 1: 2.0}, "c": {0: 3.0, 1: 1.0, 5: 0.0}})
    assert found.mean == {"a": 1.75, "b": 2.25, "c": 2.0}
    assert found.count == 2


def test_friedman_sees_a_clear_order_and_needs_three_algorithms():
    order = {label: {seed: place + 0.01 * seed for seed in range(10)} for place, label in enumerate("abc")}
    assert ranks(order).p_value < 1e-3
    assert np.isnan(ranks({label: order[label] for label in "ab"}).p_value)
    assert ranks({"a": {}, "b": {0: 1.0}}).count == 0


def test_growth_exponent_of_a_power_law_is_its_power():
    rounds = np.arange(1, 1001)
    found = growth_exponent(rounds, np.stack([scale * rounds**0.6 for scale in (1.0, 3.0, 10.0)]))
    assert (found.value, found.low, found.high) == pytest.approx((0.6, 0.6, 0.6))
    assert found.count == 3


def test_growth_exponent_has_students_interval_over_seeds_and_leaves_out_seeds_without_regret():
    rounds = np.arange(1, 101)
    powers = np.array([0.4, 0.5, 0.9])
    cumulative = np.stack([*(rounds**power for power in powers), np.zeros(100)])
    found = growth_exponent(rounds, cumulative)
    half = 4.302652729911275 * powers.std(ddof=1) / np.sqrt(3)  # Student's 97.5 % point at two degrees of freedom
    assert found.count == 3
    assert (found.low, found.high) == pytest.approx((powers.mean() - half, powers.mean() + half))


def test_one_round_has_no_growth():
    assert np.isnan(growth_exponent(np.array([1]), np.array([[1.0]])).value)


@pytest.mark.parametrize("count", [2, 7, 50, 400])  # the last is drawn in pieces
def test_intervals_are_those_of_scipys_own_resampling(count):
    # Sixty-fourths add up without rounding: samples whose mean is that of the data are found as such by both.
    values = np.random.default_rng(count).gamma(1.0, size=(3, count)).round(1) // (1 / 64) / 64
    found = bootstrap_means(values)
    for row, own in zip(values, found, strict=True):
        rng = np.random.default_rng(_BOOTSTRAP_SEED)
        expected = stats.bootstrap((row,), np.mean, method="BCa", n_resamples=RESAMPLES, rng=rng)
        assert own.value == row.mean()
        assert [own.low, own.high] == pytest.approx(list(expected.confidence_interval), rel=1e-12)
        assert bootstrap_mean(row).low == pytest.approx(own.low, rel=1e-12)


def test_rows_of_a_table_are_tested_as_if_each_were_alone():
    draws = np.random.default_rng(3).normal(size=(4, 12))
    draws[1, 4] = 0.0  # a zero
    draws[2, 5] = -draws[2, 6]  # a tie
    draws[3] = 0.0
    base = np.zeros(12)
    regrets = {"base": dict(enumerate(base)), **{f"a{i}": dict(enumerate(row)) for i, row in enumerate(draws)}}
    found = paired_differences(regrets, "base")
    for i, row in enumerate(draws):
        alone = paired_differences({"base": regrets["base"], "a": dict(enumerate(row))}, "base")["a"]
        assert found[f"a{i}"].difference.value == alone.difference.value
        assert found[f"a{i}"].difference.low == pytest.approx(alone.difference.low, rel=1e-12)
        assert found[f"a{i}"].worse == alone.worse
    expected = holm([stats.wilcoxon(row).pvalue for row in draws[:3]] + [1.0])
    assert [found[f"a{i}"].p_value for i in range(4)] == pytest.approx(expected, rel=1e-12)
