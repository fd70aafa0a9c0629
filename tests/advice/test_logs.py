"""Logs and forecasts as people keep them: read, noted, or refused in one line."""

import numpy as np
import pytest

import bocu
from bocu.advice.choices import read_decisions
from bocu.advice.logs import read_forecast, read_log, read_log_table

HEAD = "price,rain,profit\n"
BODY = "1,0,5\n2,1,6\n3,0,7\n4,1,8\n"


@pytest.fixture
def log(tmp_path):
    def read(text, decisions="price:1..20", contexts=("rain",), outcome="profit", encoding="utf-8"):
        file = tmp_path / "log.csv"
        file.write_bytes(text.encode(encoding))
        return read_log(read_log_table(file, "log"), read_decisions(decisions), contexts, outcome)

    return read


def rows(found) -> list[list[float]]:
    return np.column_stack([found.decisions, found.contexts, found.outcome]).tolist()


PLAIN = [[1, 0, 5], [2, 1, 6], [3, 0, 7], [4, 1, 8]]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (HEAD + BODY, "utf-8"),
        (HEAD + BODY, "utf-8-sig"),
        ((HEAD + BODY).replace("\n", "\r\n"), "utf-8"),
        ((HEAD + BODY).replace(",", ";"), "utf-8"),
        ((HEAD + BODY).replace(",", "\t"), "utf-8"),
        (HEAD + "\n" + BODY + "\n,,\n", "utf-8"),
        ("other," + HEAD + "".join(f"x,{line}\n" for line in BODY.split()), "utf-8"),
        ((HEAD + BODY).replace(",", " , "), "utf-8"),
    ],
    ids=["plain", "bom", "crlf", "semicolons", "tabs", "blank-lines", "another-column", "spaces"],
)
def test_forms_of_the_same_log_are_read_alike(log, text, encoding):
    found = log(text, encoding=encoding)
    assert rows(found) == PLAIN
    assert found.notes == ()


NOTED = {
    "decimal-commas": ("price;rain;profit\n1,5;0;5\n2;1;6\n3;0;7\n", "'price' has decimal commas", 3),
    "quoted-commas": (HEAD + '"1,5",0,5\n2,1,6\n3,0,7\n', "'price' has decimal commas", 3),
    "missing": (HEAD + BODY + ",1,9\n6,0,NA\n", "left out 2 rows (line 6, line 7): a value is missing", 4),
    "missing-context": (HEAD + BODY + "5,,9\n6,NA,9\n", "2 rows (line 6, line 7): a context is missing; counted", 4),
    "nan": (HEAD + BODY + "5,1,nan\n", "left out 1 row (line 6): a value is missing", 4),
    "out-of-bounds": (HEAD + BODY + "30,1,9\n", "1 row (line 6): a decision out of bounds", 5),
    "constant-context": (HEAD + "1,2,3\n2,2,4\n3,2,5\n", "column 'rain' never changes", 3),
    "constant-decision": (HEAD + "1,2,3\n1,1,4\n1,0,5\n", "column 'price' never changes", 3),
    "repeated": (HEAD + BODY + "1,0,5\n", "1 of 5 rows repeat another", 5),
}


@pytest.mark.parametrize(("text", "note", "kept"), NOTED.values(), ids=NOTED)
def test_what_was_done_to_read_a_log_is_noted(log, text, note, kept):
    found = log(text)
    assert len(found.outcome) == kept
    assert any(note in line for line in found.notes), found.notes


REFUSED = {
    "no-column": ("price,profit\n1,2\n", "log.csv: no column 'rain' (context); found price, profit"),
    "text": (HEAD + BODY + "5,wet,9\n", "line 6, column 'rain': found 'wet'; a finite number is wanted"),
    "infinite": (HEAD + BODY + "5,1,inf\n", "line 6, column 'profit': found 'inf'"),
    "date": (HEAD + BODY + "5,2026-01-02,9\n", "found '2026-01-02'"),
    "commas-for-columns": (HEAD + "1,5,0,5\n", "line 2: found 4 values, the first line names 3; decimal commas"),
    "short-row": (HEAD + BODY + "5,1\n", "line 6: found 2 values"),
    "both-marks": ("price;rain;profit\n1,5;0;5\n2.5;1;6\n3;0;7\n", "decimal points and decimal commas"),
    "column-twice": ("price,rain,rain,profit\n1,2,3,4\n", "the column 'rain' stands twice"),
    "empty": ("", "the file is empty"),
    "head-alone": (HEAD, "found 0 whole rows; at least 3 are wanted"),
    "one-row": (HEAD + "1,0,5\n", "found 1 whole rows; at least 3 are wanted"),
    "all-missing": (HEAD + "1,,5\n2,,6\n3,,7\n", "found 0 whole rows"),
    "constant-outcome": (HEAD + "1,0,5\n2,1,5\n3,0,5\n", "column 'profit': every value is 5"),
}


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED)
def test_a_bad_log_is_one_line(log, text, line):
    with pytest.raises(bocu.BocuError) as raised:
        log(text)
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


def test_text_in_another_encoding_and_no_file_are_one_line(log, tmp_path):
    with pytest.raises(bocu.BocuError, match="not in UTF-8"):
        log("pricé,rain,profit\n", encoding="latin-1")
    with pytest.raises(bocu.BocuError, match=r"none\.csv: No such file"):
        read_log_table(tmp_path / "none.csv", "log")


def test_fractions_and_unknown_names_are_refused_where_they_may_not_be(log):
    with pytest.raises(bocu.BocuError, match=r"line 3, column 'price': found 2\.5; allowed: whole numbers"):
        log(HEAD + "1,0,5\n2.5,1,6\n3,0,7\n", decisions="price:int:1..8")
    with pytest.raises(bocu.BocuError, match="line 4, column 'price': found 'mid'; allowed: low, high"):
        log(HEAD + "low,0,5\nhigh,1,6\nmid,0,7\n", decisions="price:{low,high}")


DECISIONS = {
    "": "found ''",
    "price": "found 'price'",
    "price:1": "found 'price:1'",
    "price:a..b": "two numbers",
    "price:5..5": "the second number must exceed the first",
    "price:1..inf": "the second number must exceed the first",
    "price:int:1..2.5": "bounds of whole numbers are whole",
    "price:bool:1..2": "found 'price:bool:1..2'",
    "price:{low}": "two different names or more",
    "price:{low,low}": "two different names or more",
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
        ({}, "--radius: the objective 'dro' over the set 'tv' needs one"),
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


def test_a_forecast_outside_the_log_is_said_to_be_extrapolation():
    found = bocu.suggest(GOOD, **ASKED, forecast={"rain": [0.5, 4.0]}, radius=0.1)
    assert any("outside the log's 0 to 1 in 1 of 2 contexts" in note for note in found.notes)
    assert "note: the forecast has 'rain' outside" in str(found)


def test_a_context_that_never_changes_still_leads_to_a_decision():
    found = bocu.suggest({**GOOD, "rain": [2, 2, 2, 2]}, **ASKED, radius=0.1)
    assert found.best.worst == pytest.approx(found.best.expected)
    assert "Worst distribution: the forecast itself" in str(found)
