import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.signal import lfilter

from bocu.sweep.evaluation.paired_means import RESAMPLES, moving_blocks, paired_means

TABLES = arrays(float, st.tuples(st.integers(1, 6), st.integers(2, 40)), elements=st.floats(-1e6, 1e6, width=32))


@given(TABLES)
def test_the_interval_excludes_0_just_where_the_p_value_says_so(gaps):
    found = paired_means(gaps)
    varying = found.half > 0
    assert ((np.abs(found.mean) > found.half) == (found.p_value <= 0.05))[varying].all()
    assert ((np.abs(found.mean) > found.half_together) == (found.p_together <= 0.05))[varying].all()


@given(TABLES)
def test_more_pairs_are_never_surer_and_never_less_than_students_interval(gaps):
    found = paired_means(gaps)
    assert (found.half_together >= found.half).all()
    assert (found.p_together >= found.p_value).all()
    half = stats.t.isf(0.025, found.count - 1) * stats.sem(gaps, axis=1)
    assert (found.half >= half * (1 - 1e-9))[found.half > 0].all()


def test_answers_hang_on_neither_order_of_pairs_nor_units_nor_sign():
    gaps = np.random.default_rng(0).lognormal(size=(5, 30)) - 1.5
    found = paired_means(gaps)
    turned = paired_means(-1000.0 * gaps[::-1])
    np.testing.assert_allclose(turned.half_together, 1000.0 * found.half_together[::-1], rtol=1e-12)
    np.testing.assert_array_equal(turned.p_together, found.p_together[::-1])


def test_one_pair_of_normal_numbers_has_students_interval_but_for_resampling():
    gaps = np.random.default_rng(1).normal(1.0, 1.0, (1, 100))
    found = paired_means(gaps)
    assert found.half[0] == pytest.approx(stats.t.isf(0.025, 99) * stats.sem(gaps[0]), rel=0.03)
    assert found.p_value[0] == max(1 / (RESAMPLES + 1), stats.ttest_1samp(gaps[0], 0).pvalue)


def test_numbers_that_are_equal_in_all_seeds_have_no_width_and_the_p_value_of_alike_signs():
    found = paired_means(np.array([[0.1] * 10, [0.0] * 10, list(range(10))]))
    assert found.half[:2].tolist() == found.half_together[:2].tolist() == [0.0, 0.0]
    assert found.p_value[:2].tolist() == [2.0**-9, 1.0]
    assert found.p_together[:2].tolist() == [3 * 2.0**-9, 1.0]


def test_a_pair_without_some_seeds_is_compared_over_those_it_has():
    gaps = np.random.default_rng(2).normal(size=(3, 30))
    gaps[1, 12:] = np.nan
    gaps[2, 1:] = np.nan
    found = paired_means(gaps)
    assert found.count.tolist() == [30, 12, 1]
    assert found.mean[1] == pytest.approx(gaps[1, :12].mean())
    assert np.isfinite(found.half[:2]).all()
    assert np.isnan([found.half[2], found.p_value[2], found.p_together[2]]).all()


def test_a_seed_in_which_one_of_many_got_stuck_widens_no_table_beyond_five_times():
    gaps = np.random.default_rng(3).normal(size=(10, 30))
    calm = paired_means(gaps).half_together[1:]
    gaps[0] = 0.01 * gaps[0]
    gaps[0, 0] = 100.0
    assert (paired_means(gaps).half_together[1:] <= 5 * calm).all()


def test_in_equal_tables_of_skewed_numbers_few_find_a_difference():
    random, false = np.random.default_rng(4), 0
    one, other = np.triu_indices(4, 1)
    for _ in range(300):
        numbers = np.concatenate([random.lognormal(-0.5, 1.0, (2, 30)), random.normal(1.0, 0.5, (2, 30))])
        false += bool((paired_means(numbers[one] - numbers[other]).p_together <= 0.05).any())
    assert false <= 0.1 * 300


def test_moving_blocks_count_every_round_alike_and_come_to_the_sum_on_average():
    rounds = np.random.default_rng(3).normal(size=50)
    for length in (1, 7, 50):
        assert moving_blocks(rounds, length).mean() == pytest.approx(rounds.sum())
    assert moving_blocks(np.arange(4.0), 3) == pytest.approx(np.array([3, 6, 5, 4]) * 4 / 3)


def test_blocks_hold_the_mean_of_rounds_that_hang_together_where_rounds_by_themselves_do_not():
    random = np.random.default_rng(4)
    held = np.zeros(2)
    for _ in range(200):
        rounds = lfilter([1], [1, -0.9], random.normal(size=2100))[100:]  # a spell lasts some ten rounds
        found = [paired_means(moving_blocks(rounds, length), blocks=len(rounds) // length) for length in (50, 5)]
        held += [abs(one.mean[0]) <= one.half[0] for one in found]
    assert held[0] >= 180
    assert held[1] <= 150
