"""A log as strangers keep it: all faults are told at once, and the repaired copy can be asked."""

import pytest
from typer.testing import CliRunner

from bocu.advice.checking import check_log, csv_of_log
from bocu.advice.logs import read_log_table
from bocu.commands.main import app

MESSY = """day,order,temperature,rain,flag,profit
2024-05-01,40,16.5,low,1,"€1,250.50"
02.05.2024,45,17,low,1,"€1,100.00"
2024-05-03,50,HIGH,high,1,€900
2024-05-04,55,15,high,1,980
2024-05-05,60,12,low,1,1010
2024-05-05,60,12,low,1,1010
2024-05-07,65,13,high,1,940
"""


@pytest.fixture
def messy(elsewhere):
    (elsewhere / "messy.csv").write_text(MESSY, encoding="utf-8")
    return elsewhere


def run(*words: str):
    return CliRunner().invoke(app, ["suggest", *words])


def test_all_faults_are_told_at_once_by_column_and_line(messy):
    faults, _ = check_log(read_log_table("messy.csv", "log"), time="day")
    told = [(fault.column, fault.found, fault.lines) for fault in faults]
    assert told == [
        ("day", "two forms of dates are mixed, 2024-03-31 and 31.03.2024", ("line 3",)),
        ("temperature", "no number: HIGH", ("line 4",)),
        ("rain", "text, 2 different", ()),
        ("flag", "never changes: nothing can be learnt of it", ()),
        ("profit", "currency signs", ("line 2", "line 3", "line 4")),
        ("profit", "marks of thousands", ("line 2", "line 3")),
        ("rows", "stand more than once; each counts", ("line 6", "line 7")),
    ]


def test_a_messy_log_is_repaired_in_one_call_and_asked_in_the_next(messy):
    checked = run("messy.csv", "--time", "day", "--check", "--repaired", "mended.csv")
    assert checked.exit_code == 0
    assert checked.stdout.endswith("a repaired copy: mended.csv\n")
    lines = (messy / "mended.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "day,order,temperature,rain is high,rain is low,flag,profit"
    assert lines[1:4] == [
        "2024-05-01,40,16.5,0,1,1,1250.50",
        "2024-05-02,45,17,0,1,1,1100.00",
        "2024-05-03,50,,1,0,1,900",
    ]
    asked = [
        "--decisions",
        "order:20..90",
        "--contexts",
        "temperature,rain is low",
        "--outcome",
        "profit",
        "--time",
        "day",
    ]
    assert run("messy.csv", *asked, "--radius", "0.1").exit_code == 1
    assert run("mended.csv", *asked, "--radius", "0.1").stdout.count("Decision: order = ") == 1


def test_a_log_with_faults_fails_the_check_and_one_without_passes(messy):
    assert run("messy.csv", "--check").exit_code == 1
    (messy / "good.csv").write_text("a,b\n1,2\n2,3\n", encoding="utf-8")
    done = run("good.csv", "--check")
    assert (done.exit_code, done.stdout) == (0, "good.csv: found nothing wrong\n")


@pytest.mark.parametrize(
    ("cells", "mended"),
    [
        (["1.250,5", "12,5", "3"], ["1250.5", "12.5", "3"]),
        (["1 250", "1'000", "7"], ["1250", "1000", "7"]),
        (["12%", "3 %", "4"], ["12", "3", "4"]),
        (["$5", "6 €", "n/a"], ["5", "6", ""]),
        (["1,250", "2,500", "900"], ["1250", "2500", "900"]),
    ],
)
def test_numbers_as_people_write_them_are_repaired(cells, mended):
    faults, table = check_log(read_log_table({"x": cells, "y": [1, 2, 3]}, "log"))
    assert list(table.columns["x"]) == mended
    assert faults


def test_names_to_choose_from_stay_and_missing_values_are_empty():
    table = read_log_table({"shelf": ["low", "high", "low"], "x": [1.5, None, 2.5]}, "log")
    faults, mended = check_log(table, ["shelf"])
    assert faults == []
    assert csv_of_log(mended) == "shelf,x\nlow,1.5\nhigh,\nlow,2.5\n"
