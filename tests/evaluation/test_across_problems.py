"""Statistics over problems against scipy, published tables and numbers worked out by hand."""

import itertools

import numpy as np
import pytest
from scipy import stats

from bocu.sweep.evaluation.across_problems import (
    effort_to_target,
    friedman_over_problems,
    interquartile_mean,
    performance_profile,
    probability_of_improvement,
    ranks_over_time,
    share_reached,
    surviving_ranking,
)
from bocu.sweep.evaluation.statistics import holm


def problems(count=12, gaps=(0.0, 0.2, 1.0, 2.0), seed=0):
    draws = np.random.default_rng(seed).normal(size=(count, len(gaps))) + gaps
    return {f"problem-{i}": dict(zip("abcdef"[: len(gaps)], row, strict=True)) for i, row in enumerate(draws)}


def test_friedman_is_that_of_scipy_over_complete_problems():
    means = problems()
    table = np.array([list(own.values()) for own in means.values()])
    found = friedman_over_problems({**means, "half": {"a": 0.0, "b": 1.0}})
    assert (found.problems, found.labels) == (12, tuple("abcd"))
    assert found.p_value == pytest.approx(stats.friedmanchisquare(*table.T).pvalue)
    assert found.mean == pytest.approx(stats.rankdata(table, axis=1).mean(axis=0))


@pytest.mark.parametrize(("algorithms", "quantile"), [(3, 2.343), (4, 2.569)])  # Demsar 2006, table 5, level 0.05
def test_critical_difference_has_the_published_quantiles_and_agrees_with_nemenyi(algorithms, quantile):
    means = {problem: dict(list(own.items())[:algorithms]) for problem, own in problems().items()}
    found = friedman_over_problems(means)
    expected = quantile * np.sqrt(algorithms * (algorithms + 1) / (6 * 12))
    assert found.critical_difference == pytest.approx(expected, rel=1e-3)
    apart = np.abs(found.mean[:, None] - found.mean) > found.critical_difference
    assert (apart == (found.nemenyi < 0.05)).all()
    assert apart.any()


def test_conover_by_its_formula():
    means = problems()
    ranked = stats.rankdata([list(own.values()) for own in means.values()], axis=1)
    blocks, count = ranked.shape
    squares, centre = (ranked**2).sum(), blocks * count * (count + 1) ** 2 / 4
    totals = ranked.sum(axis=0)
    statistic = (count - 1) * ((totals - blocks * (count + 1) / 2) ** 2).sum() / (squares - centre)
    freedom = (blocks - 1) * (count - 1)
    scale = np.sqrt(2 * blocks * (squares - centre) / freedom * (1 - statistic / (blocks * (count - 1))))
    pairs = np.triu_indices(count, 1)
    apart = np.abs(totals[pairs[0]] - totals[pairs[1]]) / scale
    expected = holm([float(p) for p in 2 * stats.t.sf(apart, freedom)])
    assert friedman_over_problems(means).conover[pairs] == pytest.approx(expected)


def test_too_few_problems_or_algorithms_have_no_ranks():
    assert friedman_over_problems(problems(1)) is None
    assert friedman_over_problems({key: {"a": own["a"], "b": own["b"]} for key, own in problems().items()}) is None
    assert friedman_over_problems({}) is None


def test_interquartile_mean_leaves_the_tails_out_and_draws_within_problems():
    values = [np.array([1.0, 2.0, 3.0, 1e6]), np.array([4.0, 5.0, 6.0, -1e6])]
    ones = [np.ones(4), np.ones(4)]
    found = interquartile_mean(values, ones)
    assert found.value == (2 + 3 + 4 + 5) / 4
    assert found.low < found.value < found.high
    assert found == interquartile_mean(values, ones)
    # Problems differ, their seeds do not: drawing within problems changes nothing.
    fixed = interquartile_mean([np.full(4, float(level)) for level in range(4)], [np.ones(4)] * 4)
    assert (fixed.low, fixed.value, fixed.high) == (1.5, 1.5, 1.5)


def test_the_interquartile_mean_knows_its_reference_no_better_than_its_seeds_do():
    base = [np.array([0.5, 1.0, 1.5, 3.0]), np.array([2.0, 4.0, 6.0, 8.0])]
    own = [np.full(4, 2.0), np.full(4, 5.0)]
    found = interquartile_mean(own, base)
    assert found.value == (2.0 / 1.5 + 5.0 / 5.0) / 2
    # What the algorithm has is the same in every seed: all the width is the reference's.
    assert found.low < 0.9 * found.value
    assert found.high > 1.1 * found.value


def test_probability_of_improvement_by_hand():
    own = [np.array([1.0, 1.0, 1.0, 1.0]), np.array([0.0, 2.0])]
    other = [np.array([2.0, 2.0, 1.0, 0.0]), np.array([1.0, 1.0])]
    found = probability_of_improvement(own, other)
    assert found.value == ((1 + 1 + 0.5 + 0) / 4 + (1 + 0) / 2) / 2
    assert 0 <= found.low < found.value < found.high <= 1
    certain = probability_of_improvement([np.zeros(5)], [np.ones(5)])
    assert (certain.value, certain.high) == (1.0, 1.0)
    # Clopper and Pearson's end of five in five, where a bootstrap would have it that no seed can be otherwise.
    assert certain.low == pytest.approx(0.025 ** (1 / 5))


def test_performance_profile_by_hand():
    regrets = {"a": np.array([1.0, 4.0, 0.0, np.nan]), "b": np.array([3.0, 2.0, 0.0, 1.0])}
    found = performance_profile(regrets, np.array([1.0, 2.0, 3.0]))
    assert found["a"].tolist() == [0.5, 0.75, 0.75]
    assert found["b"].tolist() == [0.75, 0.75, 1.0]
    with pytest.raises(ValueError, match="at least 0; found -1"):
        performance_profile({"a": np.array([-1.0])}, np.array([1.0]))


def test_rounds_and_seconds_to_a_target():
    regret = np.array([[5.0, 3.0, 4.0, 1.0], [5.0, 5.0, 5.0, 5.0], [2.0, 6.0, 6.0, 6.0]])
    rounds = np.arange(1, 5)
    found = effort_to_target(rounds, regret, 3.0)
    assert found.tolist() == [2, np.inf, 1]
    assert effort_to_target(rounds, regret, np.array([1.0, 5.0, 1.0])).tolist() == [4, 1, np.inf]
    assert effort_to_target(rounds * np.array([[0.5], [1.0], [3.0]]), regret, 3.0).tolist() == [1.0, np.inf, 3.0]
    assert share_reached(found, np.array([0, 1, 2, 4])) == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3])


def test_ranks_over_time_are_those_of_every_seed_and_round():
    regret = np.random.default_rng(4).random((3, 12, 5)).cumsum(axis=2)
    mean, low, high = ranks_over_time(regret)
    assert mean.shape == low.shape == high.shape == (3, 5)
    assert mean.sum(axis=0) == pytest.approx(np.full(5, 6.0))
    own = stats.rankdata(regret[:, :, 2], axis=0)[1]
    expected = stats.ttest_1samp(own, 0.0).confidence_interval(0.95)
    assert (low[1, 2], high[1, 2]) == pytest.approx((max(1, expected.low), expected.high))
    assert (low >= 1).all()
    assert (high <= 3).all()


def test_a_clear_ranking_survives_every_half_and_names_its_best():
    clear = {f"p{i}": {"a": 1.0, "b": 2.0, "c": 3.0} for i in range(12)}
    found = surviving_ranking(clear)
    assert (found.labels, found.leading, found.best) == (("a", "b", "c"), ("a",), "a")
    assert (found.same_order, found.same_first, found.halves, found.problems) == (1.0, 1.0, 50, 12)
    assert found.mean.tolist() == found.low.tolist() == found.high.tolist() == [1.0, 2.0, 3.0]


def test_of_equal_methods_none_is_best_and_few_halves_keep_the_order():
    found = surviving_ranking(problems(count=12, gaps=(0.0,) * 5 + (0.05,), seed=3) | {"short": {"a": 1.0}})
    assert found.best is None
    assert found.labels[0] in found.leading
    assert found.problems == 12
    assert found.same_order < 0.3
    assert (found.low <= found.mean).all()
    assert (found.mean <= found.high).all()
    assert found.high.max() <= 6.0


def test_the_share_of_halves_is_that_of_all_halves():
    means = problems(count=6, gaps=(0.0, 0.7, 1.4), seed=4)
    table = np.array([list(own.values()) for own in means.values()])
    ranked = stats.rankdata(table, axis=1)
    order = np.argsort(ranked.mean(axis=0), kind="stable")
    halves = [ranked[list(rows)].mean(axis=0)[order] for rows in itertools.combinations(range(6), 3)]
    expected = np.mean([(np.diff(half) >= 0).all() for half in halves])
    found = surviving_ranking(means, halves=1000)
    assert 0.0 < expected < 1.0
    assert found.same_order == pytest.approx(expected, abs=0.06)
