"""The page of worked examples: its logs, what is asked of them and its tables are what its commands print."""

import subprocess
import sys

import printed
import pytest
from test_page import NUMBER
from typer.testing import CliRunner

import bocu
from bocu.commands.main import app

PAGE = "docs/suggest-examples.md"


@pytest.fixture(scope="module")
def made(root, tmp_path_factory):
    """A folder that holds the logs of the kiosk and of the field, and what was printed of the kiosk."""
    folder = tmp_path_factory.mktemp("examples")
    program = [sys.executable, str(root / "docs/make_suggest_examples.py")]
    subprocess.run([*program, "irrigation", "--only-log"], cwd=folder, check=True)
    return folder, subprocess.run([*program, "kiosk"], cwd=folder, capture_output=True, text=True, check=True).stdout


def stands_on_the_page(root, said: str, nearly: float) -> None:
    """Fits end where rounding lets them: numbers agree as far as a reader would use them."""
    shown: dict[str, list[str]] = {}
    for line in (root / PAGE).read_text().splitlines():
        shown.setdefault(NUMBER.sub("#", line), []).append(line)
    for line in filter(None, said.splitlines()):
        numbers = [float(number) for number in NUMBER.findall(line)]
        candidates = shown.get(NUMBER.sub("#", line), [])
        assert any(
            numbers == pytest.approx([float(number) for number in NUMBER.findall(each)], rel=0.02, abs=nearly)
            for each in candidates
        ), line


def test_the_tables_of_the_kiosk_are_what_its_command_prints(root, made):
    assert made[1].count("| suggested, robust |") == 2
    stands_on_the_page(root, made[1], 0.05)


@pytest.mark.ci
@pytest.mark.parametrize(("example", "nearly"), [("irrigation", 0.5), ("wind", 0.003)])
def test_the_tables_of_real_data_are_what_their_commands_print(root, tmp_path, request, example, nearly):
    mirror = ["--mirror", str(request.getfixturevalue("mirror"))] if example == "wind" else []
    program = [sys.executable, str(root / "docs/make_suggest_examples.py"), example, *mirror]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    stands_on_the_page(root, done.stdout, nearly)


@pytest.mark.parametrize("log", ["newsvendor.csv", "potatoes.csv"])
def test_what_is_asked_of_a_log_begins_as_the_page_shows(root, made, monkeypatch, log):
    monkeypatch.chdir(made[0])
    (text,) = (b.text for b in printed.blocks(root, "console") if b.page == PAGE and f"bocu suggest {log}" in b.text)
    command, _, shown = text.partition("\n")
    printed_lines = CliRunner().invoke(app, command.removeprefix("$ bocu ").split()).stdout.splitlines()
    lines = shown.splitlines()
    begin = printed_lines[: len(lines)]
    assert [NUMBER.sub("#", line) for line in begin] == [NUMBER.sub("#", line) for line in lines]
    numbers = [[float(number) for number in NUMBER.findall("\n".join(each))] for each in (begin, lines)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=0.05)


def test_what_rounding_leaves_of_a_weight_is_none(made):
    found = bocu.suggest(
        made[0] / "potatoes.csv",
        alternatives=made[0] / "plans.csv",
        contexts=["rain", "evapotranspiration"],
        outcome="profit",
        radius=0.3,
    )
    assert [shifted.worst for shifted in found.shifted[1:]] == [0.0] * 3
    assert found.given_up == 0.0
    assert "No decision is better if the forecast is right" in str(found)
