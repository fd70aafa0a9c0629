"""The pages on suggestions, on logs over time and of worked examples: what they print is what their commands say.

Fits end where rounding lets them: numbers agree as far as a reader would use them.
"""

import re
import runpy
import subprocess
import sys

import printed
import pytest
from typer.testing import CliRunner

import bocu
from bocu.commands.main import app

PAGE, OVER_TIME, EXAMPLES = "docs/suggest.md", "docs/suggest-over-time.md", "docs/suggest-examples.md"
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")


@pytest.fixture
def kiosk(root, elsewhere):
    """A folder that holds what the first command of the page on suggestions writes."""
    runpy.run_path(str(root / "docs/make_newsvendor_log.py"), run_name="__main__")
    return elsewhere


def texts(root, page: str, language: str) -> list[str]:
    return [block.text for block in printed.blocks(root, language) if block.page == page]


def same(said: str, shown: str, rel: float = 0.02, nearly: float = 0.05) -> None:
    words = [[line.split() for line in NUMBER.sub("#", text).splitlines()] for text in (said, shown)]
    assert words[0] == words[1]
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (said, shown)]
    assert numbers[0] == pytest.approx(numbers[1], rel=rel, abs=nearly)


def said_by(block: str) -> tuple[str, str]:
    """What the command of a block prints, and what the block shows below it."""
    command, _, shown = block.partition("\n")
    return CliRunner().invoke(app, command.removeprefix("$ bocu ").split()).stdout, shown


@pytest.mark.parametrize(("page", "rel", "nearly"), [(PAGE, 0.02, 0.05), (OVER_TIME, 0.05, 0.5)])
def test_the_command_of_a_page_prints_what_it_shows(root, kiosk, page, rel, nearly):
    (block,) = texts(root, page, "console")
    same(*said_by(block), rel, nearly)


@pytest.mark.parametrize(("page", "least"), [(PAGE, 20), (OVER_TIME, 50)])
def test_the_python_of_a_page_suggests_an_order(root, capsys, page, least):
    names: dict = {}
    exec(compile(texts(root, page, "python")[0], page, "exec"), names)
    order, logged = names["found"].decision["order"], names["log"]["order"]
    assert least <= order <= 90
    assert logged[-1] == order if page == PAGE else len(logged) == 9
    assert capsys.readouterr().out.startswith("{'order': ")


def test_the_settings_of_the_page_are_those_that_are_written(root, kiosk):
    (block,) = texts(root, PAGE, "yaml")
    assert block == (kiosk / "kiosk.yaml").read_text(encoding="utf-8")
    assert (
        "order = 62 papers" in CliRunner().invoke(app, ["suggest", "newsvendor.csv", "--settings", "kiosk.yaml"]).stdout
    )


def commands(root, name: str) -> list[tuple[str, ...]]:
    found = (command for command in printed.commands(root) if command.page == OVER_TIME and not command.inline)
    return [command.words for command in found if command.words[:2] == ("bocu", name)]


def test_every_suggestion_of_the_page_is_printed_as_said(root, kiosk):
    suggestions = commands(root, "suggest")
    assert len(suggestions) == 4
    said = [CliRunner().invoke(app, words[1:]) for words in suggestions]
    assert [done.exit_code for done in said] == [0] * 4
    (note,) = texts(root, OVER_TIME, "text")
    same(said[0].stdout.splitlines()[0], note.strip(), 0.05, 0.5)
    assert "count half as contexts after 30 days" in said[1].stdout
    assert "count half as contexts after 20 rows" in said[2].stdout


@pytest.mark.ci
def test_replays_of_outcomes_under_forecasts_and_their_page_are_made_as_said(root, kiosk):
    replays = [words for words in commands(root, "replay") if "--settings" in words]
    assert len(replays) == 3
    said = [CliRunner().invoke(app, words[1:]) for words in replays]
    assert [done.exit_code for done in said] == [0] * 3
    assert "Who says so" in (kiosk / "replay.html").read_text(encoding="utf-8")
    assert said[1].stdout.splitlines()[4].split()[-2:] == ["profit", "unsold"]
    assert "each row under the forecast that was at hand for it" in said[2].stdout


@pytest.fixture(scope="module")
def made(root, tmp_path_factory):
    """A folder that holds the logs of the kiosk and of the field, and what was printed of the kiosk."""
    folder = tmp_path_factory.mktemp("examples")
    program = [sys.executable, str(root / "docs/make_suggest_examples.py")]
    subprocess.run([*program, "irrigation", "--only-log"], cwd=folder, check=True)
    return folder, subprocess.run([*program, "kiosk"], cwd=folder, capture_output=True, text=True, check=True).stdout


def stands_on_the_page(root, said: str, nearly: float) -> None:
    shown: dict[str, list[str]] = {}
    for line in (root / EXAMPLES).read_text().splitlines():
        shown.setdefault(NUMBER.sub("#", line), []).append(line)
    for line in filter(None, said.splitlines()):
        numbers = [float(number) for number in NUMBER.findall(line)]
        candidates = shown.get(NUMBER.sub("#", line), [])
        assert any(
            numbers == pytest.approx([float(number) for number in NUMBER.findall(each)], rel=0.02, abs=nearly)
            for each in candidates
        ), line


@pytest.mark.ci
def test_the_tables_of_the_kiosk_are_what_its_command_prints(root, made):
    assert made[1].count("| suggested, robust |") == 2
    stands_on_the_page(root, made[1], 0.05)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("example", "nearly"), [pytest.param("irrigation", 0.5, marks=pytest.mark.drill), ("wind", 0.003)]
)
def test_the_tables_of_real_data_are_what_their_commands_print(root, tmp_path, request, example, nearly):
    mirror = ["--mirror", str(request.getfixturevalue("mirror"))] if example == "wind" else []
    program = [sys.executable, str(root / "docs/make_suggest_examples.py"), example, *mirror]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    stands_on_the_page(root, done.stdout, nearly)


@pytest.mark.parametrize("log", ["newsvendor.csv", "potatoes.csv"])
def test_what_is_asked_of_a_log_begins_as_the_page_shows(root, made, monkeypatch, log):
    monkeypatch.chdir(made[0])
    (text,) = (text for text in texts(root, EXAMPLES, "console") if f"bocu suggest {log}" in text)
    said, shown = said_by(text)
    same("\n".join(said.splitlines()[: len(shown.splitlines())]), shown)


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
    assert "No decision is better if contexts come as in the log" in str(found)
