"""Logs as people keep them, each read as documented or refused in one clear line."""

import codecs
import datetime
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import bocu

HEAD = "price,rain,profit"
ROWS = ["1,0,5", "2,1,6", "3,0,7", "4,1,8", "5,2,9", "6,0,7"]
ASKED = {"decisions": "price:1..20", "contexts": ["rain"], "outcome": "profit", "radius": 0.1}


@dataclass(frozen=True)
class Case:
    """A file, and what becomes of it.

    Attributes:
        text: of the file; bytes as they are.
        line: part of the one line that refuses it; empty where it is read.
        rows: number of rows learnt from where it is read.
        note: part of a note where it is read; empty: there is none.
    """

    text: str | bytes
    line: str = ""
    rows: int = 6
    note: str = ""


def csv(*rows: str, head: str = HEAD, end: str = "\n") -> str:
    return end.join([head, *rows]) + end


def with_row(row: str) -> str:
    return csv(*ROWS, row)


def column(*cells: str) -> str:
    """The log with other cells in its column of rain, in quotes where they hold a comma."""
    quoted = [f'"{cell}"' if "," in cell else cell for cell in cells]
    rows = [f"{i},{cell},{5 + i % 3}" for i, cell in enumerate(quoted, 1)]
    return csv(*rows)


PLAIN = csv(*ROWS)
CASES = {
    # Forms of the same log.
    "plain": Case(PLAIN),
    "bom": Case(codecs.BOM_UTF8 + PLAIN.encode()),
    "utf-16-little": Case(codecs.BOM_UTF16_LE + PLAIN.encode("utf-16-le")),
    "windows-line-ends": Case(csv(*ROWS, end="\r\n")),
    "old-mac-line-ends": Case(csv(*ROWS, end="\r")),
    "no-last-line-end": Case(PLAIN.rstrip("\n")),
    "semicolons": Case(PLAIN.replace(",", ";")),
    "tabs": Case(PLAIN.replace(",", "\t")),
    "quotes": Case(csv(*[",".join(f'"{cell}"' for cell in row.split(",")) for row in ROWS])),
    "quoted-names": Case(csv(*ROWS, head='"price","rain","profit"')),
    "spaces-around": Case(PLAIN.replace(",", " , ")),
    "blank-lines": Case(PLAIN.replace("\n", "\n\n")),
    "blank-first-line": Case("\n" + PLAIN),
    "trailing-separators": Case(PLAIN.replace("\n", ",\n")),
    "trailing-separators-of-rows": Case(csv(*[f"{row},," for row in ROWS])),
    "empty-rows-of-separators": Case(PLAIN + ",,\n,,\n"),
    "another-column": Case(csv(*[f"{row},2024-01-0{i}" for i, row in enumerate(ROWS, 1)], head=f"{HEAD},day")),
    "another-column-with-commas": Case(csv(*[f'{row},"wet, cold"' for row in ROWS], head=f"{HEAD},remark")),
    "another-order": Case(csv("5,0,1", "6,1,2", "7,0,3", "8,1,4", head="profit,rain,price"), rows=4),
    "signs-and-exponents": Case(csv("+1,-0,5", "2e0,1,6", "3.,.5,7", "4,1E0,8.25"), rows=4),
    # Read, with a note.
    "decimal-commas": Case(
        csv("1,5;0;5", "2;1,5;6", "3;0;7,5", head="price;rain;profit"), rows=3, note="has decimal commas"
    ),
    "quoted-decimal-commas": Case(column("0,5", "1,25", "2", "0", "1", "3"), note="'rain' has decimal commas"),
    "per-cent": Case(column("10%", "20 %", "30%", "0%", "5%", "50%"), note="'rain' is in per cent: 12% is read as 12"),
    "empty-cells": Case(with_row("7,1,"), note="left out 1 row (line 8): a value is missing"),
    "missing-in-words": Case(csv(*ROWS, "NA,1,5", "n/a,1,5", "null,1,5", "?,1,5", "-,1,5"), note="left out 5 rows"),
    "not-a-number": Case(with_row("7,1,NaN"), note="left out 1 row (line 8)"),
    "missing-context": Case(with_row("7,,9"), rows=7, note="1 row (line 8): a context is missing; counted"),
    "out-of-bounds": Case(with_row("70,1,9"), rows=7, note="a decision out of bounds; learnt from, never suggested"),
    "repeated-rows": Case(csv(*ROWS, *ROWS), rows=12, note="6 of 12 rows repeat another"),
    "constant-context": Case(csv("1,2,5", "2,2,6", "3,2,8"), rows=3, note="column 'rain' never changes"),
    "constant-decision": Case(csv("1,2,5", "1,1,6", "1,0,8"), rows=3, note="column 'price' never changes"),
    "many-gaps": Case(csv(*ROWS, *["7,,9"] * 7), rows=13, note="line 8, line 9, line 10, line 11, line 12, ..."),
    # Refused: the file.
    "empty-file": Case("", "the file is empty; a first line with names of columns is wanted"),
    "head-alone": Case(HEAD, "found 0 whole rows; at least 3 are wanted"),
    "one-row": Case(csv(ROWS[0]), "found 1 whole rows; at least 3 are wanted"),
    "nothing-but-gaps": Case(csv("1,,5", "2,,6", "3,,7"), "found 0 whole rows"),
    "binary": Case(bytes(range(256)) * 4, "found text that is not in UTF-8"),
    "a-workbook": Case(b"PK\x03\x04\x14\x00\x06\x00\x08\x00", "found no text; a CSV file is wanted"),
    "latin-1": Case("price,rain,profit,café\n1,0,5,é\n".encode("latin-1"), "not in UTF-8; save it as UTF-8"),
    "open-quote": Case(PLAIN + '7,1,"9\n', "unexpected end of data"),
    # Refused: columns.
    "no-column": Case(csv("1,5", head="price,profit"), "no column 'rain' (context); found price, profit"),
    "no-head": Case("\n".join(ROWS), "no column 'price' (decision); found 1, 0, 5"),
    "column-twice": Case(csv(*[f"{row},1" for row in ROWS], head=f"{HEAD},rain"), "the column 'rain' stands twice"),
    "column-without-name": Case(csv(*ROWS, head="price,,profit"), "column 2 has no name"),
    "short-row": Case(with_row("7,1"), "line 8: found 2 values, the first line names 3"),
    "long-row": Case(with_row("7,1,9,4"), "line 8: found 4 values, the first line names 3"),
    "commas-for-points": Case(csv("1,5,0,5"), "decimal commas need semicolons between columns"),
    # Refused: values.
    "text": Case(with_row("7,wet,9"), "line 8, column 'rain': found 'wet'; a finite number is wanted"),
    "infinite": Case(with_row("7,1,inf"), "line 8, column 'profit': found 'inf'; a finite number is wanted"),
    "huge": Case(with_row("7,1,1e200"), "line 8, column 'profit': found '1e200'; allowed: up to 1e+100"),
    "constant-outcome": Case(csv("1,0,5", "2,1,5", "3,0,5"), "'profit': every value is 5; nothing can be learnt"),
    "both-marks": Case(column("0.5", "1,5", "2", "0", "1", "3"), "found decimal points and decimal commas"),
    "thousands": Case(column("1,250", "3,400", "2,100", "900", "1,000", "4,000"), "may be thousands or thousandths"),
    "thousands-and-points": Case(column("1,250.5", "1", "2", "0", "1", "3"), "'1,250.5'; a finite number is wanted"),
    "thousands-with-quotes": Case(column("1'250", "1", "2", "0", "1", "3"), "without marks of thousands"),
    "per-cent-in-one-row": Case(column("10%", "20", "30", "0", "5", "50"), "per cent signs stand in all rows"),
    "currency": Case(column("€5", "6", "7", "8", "9", "10"), "a finite number is wanted, without a currency"),
    "spreadsheet-error": Case(column("#DIV/0!", "1", "2", "0", "1", "3"), "found '#DIV/0!'"),
    "date-iso": Case(column(*[f"2024-01-0{i}" for i in range(1, 7)]), "a finite number is wanted, not a date"),
    "time-of-day": Case(column(*[f"0{i}:30" for i in range(1, 7)]), "not a date"),
}  # fmt: skip


SAME = list(CASES)[: list(CASES).index("another-order")]
"""The forms of one log."""


@pytest.mark.parametrize("case", [case for name, case in CASES.items() if name not in SAME], ids=lambda case: case.line)
def test_a_log_is_read_as_documented_or_refused_in_one_line(case, tmp_path):
    file = tmp_path / "log.csv"
    file.write_bytes(case.text if isinstance(case.text, bytes) else case.text.encode())
    if case.line:
        with pytest.raises(bocu.BocuError) as raised:
            bocu.suggest(file, **ASKED)
        assert case.line in str(raised.value)
        assert str(raised.value).startswith(f"{file}: ")
        assert len(str(raised.value).splitlines()) == 1
        return
    found = bocu.suggest(file, **ASKED)
    assert found.rows == case.rows
    assert 1.0 <= found.decision["price"] <= 20.0
    assert np.isfinite([found.best.expected, found.best.guaranteed, *found.best.interval]).all()
    told = [note for note in found.notes if "repeat" not in note or "repeat" in case.note]
    assert any(case.note in note for note in told) if case.note else found.notes == ()


def test_forms_of_the_same_log_lead_to_the_same_answer(tmp_path):
    answers = set()
    for name in SAME:
        text = CASES[name].text
        (tmp_path / "log.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        answers.add(str(bocu.suggest(tmp_path / "log.csv", **ASKED)).split("Outliers")[0])
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        ([datetime.date(2024, 1, 1)] * 6, "found 2024-01-01; a finite number is wanted"),
        (list(pd.date_range("2024-01-01", periods=6)), "a finite number is wanted"),
        ([True, False] * 3, "found True; a finite number is wanted"),
        ([10**400, 1, 2, 3, 4, 5], "a finite number is wanted"),
        ([[1], 1, 2, 3, 4, 5], "found [1]"),
        (["0,5", 1.5, 2, 3, 4, 5], None),
        (list(pd.array([1, None, 2, 3, 4, 5], dtype="Int64")), None),
        ([pd.NaT, 1, 2, 3, 4, 5], None),
        (list(np.float32([0, 1, 2, 3, 4, 5])), None),
    ],
)
def test_cells_of_tables_are_read_or_refused_in_one_line(cells, line):
    log = {"price": [1, 2, 3, 4, 5, 6], "rain": cells, "profit": [5, 6, 7, 8, 9, 7]}
    if line is None:
        assert bocu.suggest(log, **ASKED).rows == 6
        return
    with pytest.raises(bocu.BocuError) as raised:
        bocu.suggest(log, **ASKED)
    assert line in str(raised.value)
    assert str(raised.value).startswith("log: row 1, column 'rain': ")


FORECASTS = {
    "csv": ("tomorrow.csv", "rain,weight\n0,3\n1,1\n", ""),
    "members": ("tomorrow.csv", "member,rain\n1,0\n2,0\n3,0\n4,1\n", ""),
    "json-rows": ("tomorrow.json", '[{"rain": 0, "weight": 3}, {"rain": 1, "weight": 1}]', ""),
    "json-members": ("tomorrow.json", '[{"rain": 0}, {"rain": 0}, {"rain": 0}, {"rain": 1}]', ""),
    "json-gap": ("tomorrow.json", '[{"rain": 0}, {"weight": 1}]', "row 2): a value is missing; a forecast has none"),
    "json-broken": ("tomorrow.json", '[{"rain": 0}', "found no JSON"),
    "json-nan": ("tomorrow.json", '{"rain": [NaN, 1]}', "a value is missing"),
    "json-lengths": ("tomorrow.json", '{"rain": [0, 1], "weight": [3]}', "columns have 1, 2 rows"),
    "weight-text": ("tomorrow.csv", "rain,weight\n0,much\n", "column 'weight': found 'much'"),
}


@pytest.mark.parametrize(("name", "text", "line"), FORECASTS.values(), ids=FORECASTS)
def test_a_forecast_is_read_with_weights_or_members_or_refused(name, text, line, tmp_path):
    (tmp_path / "log.csv").write_text(PLAIN)
    (tmp_path / name).write_text(text)
    if line:
        with pytest.raises(bocu.BocuError) as raised:
            bocu.suggest(tmp_path / "log.csv", **ASKED, forecast=tmp_path / name)
        assert line in str(raised.value)
        assert "\n" not in str(raised.value)
        return
    found = bocu.suggest(tmp_path / "log.csv", **ASKED, forecast=tmp_path / name)
    assert found.means["rain"][0] == pytest.approx(0.25)
    assert found.contexts == 2


def test_a_forecast_outside_the_log_is_said_to_be_extrapolated(tmp_path):
    (tmp_path / "log.csv").write_text(PLAIN)
    found = bocu.suggest(tmp_path / "log.csv", **ASKED, forecast={"rain": [1.0, 30.0]})
    assert any(
        "outside the log's 0 to 2 in 1 of 2 contexts: there the model extrapolates" in note for note in found.notes
    )
