"""Logs and forecasts as people keep them: read, noted, or refused in one line."""

import numpy as np
import pytest

import bocu
from bocu.advice.choices import read_decisions
from bocu.advice.logs import read_forecast, read_log_table, read_logs

HEAD = "price,rain,profit\n"


@pytest.fixture
def log(tmp_path):
    def read(text, decisions="price:1..20", contexts=("rain",), outcome="profit", encoding="utf-8"):
        file = tmp_path / "log.csv"
        file.write_bytes(text.encode(encoding))
        return read_logs(read_log_table(file, "log"), read_decisions(decisions), contexts, [outcome])[0]

    return read


def rows(found) -> list[list[float]]:
    return np.column_stack([found.decisions, found.contexts, found.outcome]).tolist()


def test_fractions_and_unknown_names_are_refused_where_they_may_not_be(log):
    with pytest.raises(bocu.BocuError, match=r"line 3, column 'price': found 2\.5; allowed: whole numbers"):
        log(HEAD + "1,0,5\n2.5,1,6\n3,0,7\n", decisions="price:int:1..8")
    with pytest.raises(bocu.BocuError, match="line 4, column 'price': found 'mid'; allowed: low, high"):
        log(HEAD + "low,0,5\nhigh,1,6\nmid,0,7\n", decisions="price:{low,high}")


DECISIONS = {
    "": "found ''",
    "price:1": "found 'price:1'",
    "price:a..b": "two numbers",
    "price:5..5": "the second number must exceed the first",
    "price:int:1..2.5": "bounds of whole numbers are whole",
    "price:bool:1..2": "found 'price:bool:1..2'",
    "price:{low}": "two different names or more",
    "price:1..2,price:3..4": "'price' stands twice",
}


@pytest.mark.parametrize(("text", "line"), DECISIONS.items())
def test_decisions_that_are_none_are_one_line(text, line):
    with pytest.raises(bocu.BocuError) as raised:
        read_decisions(text)
    assert line in str(raised.value)


def test_a_forecast_merges_equal_contexts_and_weighs_rows(tmp_path):
    found = read_forecast(read_log_table({"rain": [1, 0, 1], "weight": [1, 1, 2]}, "forecast"), ["rain"])
    assert found.contexts.tolist() == [[0], [1]]
    assert found.weights.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ({"rain": []}, "found no row"),
        ({"rain": [1, None]}, "1 row (row 2): a value is missing"),
        ({"rain": [1, 2], "weight": [1, -1]}, "weights must be 0 or more"),
        ({"rain": [1, 2], "weight": [0, 0]}, "one of them positive"),
        ({"wind": [1]}, "no column 'rain'"),
        ({"rain": [1, 2], "weight": [1]}, "columns have 1, 2 rows"),
    ],
)
def test_a_bad_forecast_is_one_line(columns, line):
    with pytest.raises(bocu.BocuError) as raised:
        read_forecast(read_log_table(columns, "forecast"), ["rain"])
    assert line in str(raised.value)


GOOD = {"price": [1, 2, 3, 4], "rain": [0, 1, 0, 1], "profit": [5, 6, 7, 9]}
ASKED = {"decisions": "price:1..20", "contexts": ["rain"], "outcome": "profit"}


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"objective": "dro"}, "--radius: the objective 'dro' over the set 'tv' needs one"),
        ({"radius": -1.0}, "--radius"),
        ({"radius": float("inf")}, "--radius: found inf"),
        ({"radius": float("nan")}, "--radius"),
        ({"radius": 0.1, "set": "tvv"}, "--set: "),
        ({"objective": "dor"}, "--objective: found 'dor'"),
        ({"objective": "cvar", "alpha": 0.0}, "--alpha: found 0"),
        ({"objective": "ro", "keys": {"lengthscale": 1}}, "--lengthscale: nothing takes it"),
        ({"radius": 0.1, "keys": {"lengthscale": 1}}, "--lengthscale"),
        ({"radius": 0.1, "set": "cvar"}, "has no radius"),
        ({"radius": 0.1, "contexts": []}, "--contexts: found none"),
        ({"radius": 0.1, "contexts": ["price"]}, "column 'price' has two roles"),
    ],
)
def test_what_does_not_go_together_is_one_line(changed, line):
    with pytest.raises(bocu.BocuError) as raised:
        bocu.suggest(GOOD, **{**ASKED, **changed})
    assert line in str(raised.value)


def test_a_context_that_never_changes_still_leads_to_a_decision():
    found = bocu.suggest({**GOOD, "rain": [2, 2, 2, 2]}, **ASKED, radius=0.1)
    assert found.best.worst == pytest.approx(found.best.expected)
    assert "Worst distribution: that of the log itself" in str(found)
