"""Who leads a table, on average and usually, by hand and against properties."""

import numpy as np
import pytest

from bocu.sweep.evaluation.paired_means import paired_means
from bocu.sweep.evaluation.standings import (
    BEHIND,
    LEADING,
    LEANS_AHEAD,
    LEANS_BEHIND,
    LEANS_MORE,
    LESS,
    MORE,
    OPEN,
    TIED,
    TOO_FEW,
    Standings,
    tail,
)
from bocu.sweep.evaluation.statistics import share_interval


def table(seeds=40, **laws):
    """Regrets of algorithms over seeds that share a course: label -> what it adds, shape (seeds,), or a number."""
    random = np.random.default_rng(8)
    course = 10 + random.random(seeds)
    noise = {label: 0.1 * random.normal(size=seeds) for label in laws}
    return {label: dict(enumerate(course + noise[label] + law)) for label, law in laws.items()}


def fewer(regrets, seeds):
    return {label: dict(list(own.items())[:seeds]) for label, own in regrets.items()}


def stuck(seeds, share, by):
    return np.where(np.arange(seeds) % round(1 / share) == 0, by, 0.0)


def test_a_sticker_does_not_lead_though_it_is_as_good_on_most_seeds():
    """Thirteen of thirty seeds end far above: signed ranks do not see it, the mean does."""
    random = np.random.default_rng(3)
    fine = {label: random.normal(4.4, 0.5, 30) for label in ("a", "b")}
    sticker = np.where(np.arange(30) < 13, 25.0, random.normal(4.2, 0.5, 30))
    regrets = {label: dict(enumerate(own)) for label, own in {**fine, "sticker": sticker}.items()}
    found = Standings(regrets)
    assert found.least in ("a", "b")
    gap = found.against(found.least)["sticker"]
    assert (gap.on_average, gap.usually) == (MORE, TIED)
    assert found.standing["sticker"] == BEHIND
    assert found.leading == sorted(("a", "b"), key=found.means.__getitem__)
    spread = tail(sticker)
    assert (spread.stuck, spread.count, spread.sticks) == (13, 30, True)
    assert spread.worst_tenth == 25.0


def test_who_sticks_in_some_seeds_is_open_where_the_interval_holds_more_than_the_margin():
    regrets = table(a=0.0, sticker=stuck(40, 1 / 10, 30.0))
    found = Standings(regrets)
    gap = found.against("a")["sticker"]
    assert gap.difference.high > found.margin
    assert found.standing == {"a": OPEN, "sticker": OPEN}
    assert found.leading == []


def test_verdicts_take_thirty_seeds_lean_from_ten_and_say_nothing_below():
    regrets = table(a=0.0, b=5.0, same=0.02)
    expected = {40: (MORE, TIED), 30: (MORE, TIED), 29: (LEANS_MORE, TIED), 10: (LEANS_MORE, TIED)}
    for seeds, verdicts in expected.items():
        gaps = Standings(fewer(regrets, seeds)).against("a")
        assert (gaps["b"].on_average, gaps["same"].on_average) == verdicts
    few = Standings(fewer(regrets, 9))
    gap = few.against("a")["b"]
    assert (gap.on_average, gap.usually) == (TOO_FEW, TOO_FEW)
    assert gap.difference.value == pytest.approx(5.0, abs=0.2)
    assert np.isnan([gap.difference.low, gap.difference.high, gap.p_value, gap.p_usually]).all()
    assert set(few.standing.values()) == {TOO_FEW}
    assert Standings(fewer(regrets, 20)).standing == {"a": LEANS_AHEAD, "same": OPEN, "b": LEANS_BEHIND}
    assert Standings(regrets).standing == {"a": LEADING, "same": LEADING, "b": BEHIND}


def test_the_interval_and_the_p_value_are_of_one_test_over_all_pairs_of_the_table():
    regrets = table(a=0.0, b=0.05, c=0.1, d=0.3)
    found = Standings(regrets)
    values = np.array([list(own.values()) for own in regrets.values()])
    one, other = np.triu_indices(4, 1)
    expected = paired_means(values[one] - values[other])
    for place, (i, j) in enumerate(zip(one, other, strict=True)):
        gap, turned = found.against("abcd"[j])["abcd"[i]], found.against("abcd"[i])["abcd"[j]]
        assert gap.difference.value == -turned.difference.value == expected.mean[place]
        assert gap.difference.high == pytest.approx(expected.mean[place] + expected.half_together[place])
        assert (gap.difference.low, gap.difference.high) == (-turned.difference.high, -turned.difference.low)
        assert gap.p_value == turned.p_value == expected.p_together[place]
        assert (gap.p_value <= 0.05) == (not gap.difference.low <= 0 <= gap.difference.high)
        less, p = share_interval(values[i] < values[j], 0.5, 1 - 0.05 / 6)
        assert (gap.less.value, gap.less.low, gap.less.high) == pytest.approx((less.value, less.low, less.high))
        assert gap.p_usually == turned.p_usually == pytest.approx(min(1.0, 6 * p))


def test_a_pair_says_the_same_whoever_it_is_compared_with():
    regrets = table(a=0.0, b=0.05, c=0.1)
    alone = {label: regrets[label] for label in "ab"}
    both = Standings(regrets).against("b")["a"], Standings(regrets).against("a")["b"]
    assert both[0].p_value == both[1].p_value
    assert Standings(alone).against("b")["a"].p_value <= both[0].p_value


def test_pairs_use_shared_seeds_and_seeds_without_a_difference_say_nothing_of_what_is_usual():
    regrets = table(a=0.0, b=1.0)
    regrets["late"] = {seed: own for seed, own in regrets["b"].items() if seed < 3}
    regrets["twin"] = {seed: own if seed % 2 else own - 1.0 for seed, own in regrets["a"].items()}
    regrets["never"] = {}
    found = Standings(regrets)
    assert found.against("a")["late"].difference.count == 3
    assert found.against("a")["twin"].less.count == 20
    assert found.against("a")["twin"].less.value == 1.0
    assert found.against("a")["never"].difference.count == 0
    assert found.standing["late"] == found.standing["never"] == TOO_FEW
    # Pairs that say nothing change nothing for those that do.
    some = {label: regrets[label] for label in ("a", "b", "twin")}
    assert found.against("a")["b"] == Standings(some).against("a")["b"]


def test_the_same_regrets_lead_together():
    regrets = table(a=0.0, far=9.0)
    found = Standings({**regrets, "twin": dict(regrets["a"])})
    gap = found.against("a")["twin"]
    assert (gap.p_value, gap.on_average, gap.usually) == (1.0, TIED, TIED)
    assert found.standing == {"a": LEADING, "twin": LEADING, "far": BEHIND}


def test_the_margin_is_the_larger_of_two_shares():
    regrets = table(a=0.0, b=1.0, random=400.0)
    means = Standings(regrets).means
    assert Standings(regrets).margin == pytest.approx(0.25 * means["a"])
    assert Standings(regrets, random="random").margin == pytest.approx(0.02 * means["random"])
    assert Standings(regrets, margin={"least": 0.01, "random": 0.0}).margin == pytest.approx(0.01 * means["a"])
    # Told apart, and by less than the margin: it leads all the same.
    assert Standings(regrets).against("a")["b"].on_average == MORE
    assert Standings(regrets).standing["b"] == LEADING
    assert Standings(regrets, margin={"least": 0.0, "random": 0.0}).standing == {
        "a": LEADING,
        "b": BEHIND,
        "random": BEHIND,
    }


def test_yardsticks_do_not_lead_and_one_that_leads_alone_is_named():
    regrets = table(far=20.0, a=0.0, oracle=-3.0)
    found = Standings(regrets, ["far", "a"])
    assert (found.least, found.leading, found.alone) == ("a", ["a"], "a")
    assert "oracle" not in found.standing
    assert found.against("a")["oracle"].on_average == LESS
    assert Standings(regrets, []).least is None
    assert Standings({}).standing == {}


def test_a_seed_sticks_above_three_times_the_median_or_by_the_spread():
    assert tail([1.0, 2.0, 2.0, 2.0, 6.1]).stuck == 1
    assert tail([1.0, 2.0, 2.0, 2.0, 5.9]).stuck == 0
    # Median 0, or a negative regret: above the median by six median absolute deviations.
    assert tail([0.0] * 7 + [3.0] * 3).stuck == 3
    assert tail([-1.0, -0.5, 0.0, 0.5, 1.0, 4.8]).stuck == 1
    assert tail([-1.0, -0.5, 0.0, 0.5, 1.0, 4.7]).stuck == 0
    assert tail([]).count == 0
    few = tail(range(1, 12))
    assert (few.median, few.worst_tenth, few.sticks) == (6.0, 10.5, False)


def test_of_equal_algorithms_one_is_seldom_told_apart():
    random, apart = np.random.default_rng(21), 0
    for _ in range(60):
        draws = random.lognormal(0.0, 0.5, (5, 30))
        found = Standings({f"a{i}": dict(enumerate(row)) for i, row in enumerate(draws)})
        apart += BEHIND in found.standing.values()
    assert apart <= 8  # 3 in the mean at most, by the correction; without it 20
