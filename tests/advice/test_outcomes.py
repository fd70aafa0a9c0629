"""Several outcomes: a weighted sum that adds up, and a front that no candidate beats."""

import numpy as np
import pandas as pd
import pytest

import bocu
from bocu.advice.outcomes import front, read_outcomes, read_weights


def shop(rows: int = 40) -> pd.DataFrame:
    """Profit is best at a price of 14, waste least at 4; rain lessens profit."""
    world = np.random.default_rng(8)
    price, rain = world.uniform(1.0, 20.0, rows), world.uniform(0.0, 10.0, rows)
    return pd.DataFrame(
        {
            "price": price,
            "rain": rain,
            "profit": 100.0 - (price - 14.0) ** 2 - rain,
            "waste": 3.0 + 0.1 * (price - 4.0) ** 2 + 0.05 * rain,
        }
    )


ASKED = {"decisions": "price:1..20", "contexts": ["rain"], "radius": 0.2}


@pytest.fixture(scope="module")
def weighed() -> bocu.Suggestion:
    return bocu.suggest(shop(), **ASKED, outcome="profit,waste:min", weights={"profit": 1.0, "waste": 5.0})


@pytest.fixture(scope="module")
def unweighed() -> bocu.Suggestion:
    return bocu.suggest(shop(), **ASKED, outcome=["profit", "waste:min"])


def test_a_weighted_sum_is_the_sum_of_its_outcomes(weighed):
    profit, waste = weighed.outcomes
    assert weighed.best.expected == pytest.approx(profit.expected - 5.0 * waste.expected)
    assert weighed.outcome == "profit - 5 waste"
    # The derivative of profit - 5 waste vanishes where (price - 14) + 0.5 (price - 4) does.
    assert weighed.decision["price"] == pytest.approx(16.0 / 1.5, abs=0.3)
    assert weighed.front == ()
    assert not weighed.minimise


def test_what_is_guaranteed_of_a_sum_is_no_less_than_the_sum_of_its_guarantees(weighed):
    profit, waste = weighed.outcomes
    assert profit.worst <= profit.expected
    assert waste.worst >= waste.expected
    assert weighed.best.worst >= profit.worst - 5.0 * waste.worst - 1e-6


def test_a_weighted_sum_decides_as_a_column_of_it_would(weighed):
    log = shop()
    one = bocu.suggest(log.assign(sum=log.profit - 5.0 * log.waste), **ASKED, outcome="sum")
    assert weighed.decision["price"] == pytest.approx(one.decision["price"], abs=0.2)
    assert weighed.best.expected == pytest.approx(one.best.expected, abs=0.5)


def test_without_weights_outcomes_count_by_their_spread_and_a_front_is_told(unweighed):
    log = shop()
    assert [one.weight for one in unweighed.outcomes] == pytest.approx([1 / log.profit.std(), 1 / log.waste.std()])
    assert any("none were stated: one over the spread" in note for note in unweighed.notes)
    told = {which: one for one in unweighed.front for which in one.which.split(", ")}
    assert told["most profit"].decision["price"] == pytest.approx(14.0, abs=0.4)
    assert told["least waste"].decision["price"] == pytest.approx(4.0, abs=0.4)
    assert told["suggested"].decision == unweighed.decision
    assert "Decisions that no other beats in all outcomes:" in str(unweighed)


def test_no_decision_of_the_front_beats_another_and_each_lies_between_the_extremes(unweighed):
    found = np.array([[one.worst["profit"], -one.worst["waste"]] for one in unweighed.front])
    for row in found:
        assert not ((found >= row).all(axis=1) & (found > row + 1e-9).any(axis=1)).any()
    prices = [one.decision["price"] for one in unweighed.front]
    assert min(prices) >= 3.6
    assert max(prices) <= 14.4
    assert 4 <= len(prices) <= 9


def test_a_front_holds_what_a_double_loop_finds():
    values = np.round(np.random.default_rng(0).uniform(size=(60, 3)), 2)
    best = {
        i for i, row in enumerate(values) if not any((other >= row).all() and (other > row).any() for other in values)
    }
    chosen = front(values, [int(values[:, 0].argmax())])
    assert set(chosen) <= best
    assert len(chosen) == len(set(chosen)) == min(9, len(best))


def test_minimised_outcomes_alone_are_as_maximised_ones_turned_round():
    log = shop()
    turned = bocu.suggest(
        log.assign(loss=-log.profit), **ASKED, outcome="loss,waste", minimise=True, weights={"loss": 1, "waste": 5}
    )
    straight = bocu.suggest(log, **ASKED, outcome="profit,waste:min", weights={"profit": 1, "waste": 5})
    assert turned.decision == straight.decision
    assert turned.outcome == "-loss - 5 waste"


@pytest.mark.parametrize(
    ("outcome", "weights", "line"),
    [
        ("profit,profit", None, "--outcome: 'profit' stands twice"),
        ("profit,", None, "--outcome: found 'profit,'"),
        ("profit,waste", {"profit": 1.0}, "--weights: 'waste' has none"),
        ("profit,waste", {"profit": 1.0, "wste": 1.0}, "did you mean 'waste'?"),
        ("profit,waste", {"profit": 1.0, "waste": -1.0}, "--weights: waste: found -1; allowed: positive"),
    ],
)
def test_bad_outcomes_and_weights_are_one_line(outcome, weights, line):
    with pytest.raises(bocu.BocuError) as raised:
        read_outcomes(outcome, False, weights)
    assert line in str(raised.value)


def test_weights_are_read_from_text():
    assert read_weights("profit=1, waste = 2e1") == {"profit": 1.0, "waste": 20.0}
    with pytest.raises(bocu.BocuError, match="--weights: found 'waste'; allowed: NAME=NUMBER"):
        read_weights("profit=1,waste")


def test_a_row_that_lacks_one_outcome_is_left_out_of_all():
    log = shop()
    log.loc[3, "waste"] = np.nan
    found = bocu.suggest(log, **ASKED, outcome="profit,waste:min")
    assert found.rows == 39
    assert any("left out 1 row (row 4)" in note for note in found.notes)
