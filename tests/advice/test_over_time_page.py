"""The page on logs over time: its commands, its replay and its code say what the page says they do."""

import runpy

import printed
import pytest
from test_page import NUMBER
from typer.testing import CliRunner

from bocu.commands.main import app

PAGE = "docs/suggest-over-time.md"


@pytest.fixture
def kiosk(root, tmp_path, monkeypatch):
    """A folder that holds the kiosk's log."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(root / "docs/make_newsvendor_log.py"), run_name="__main__")
    return tmp_path


def texts(root, language: str) -> list[str]:
    return [block.text for block in printed.blocks(root, language) if block.page == PAGE]


def same(said: str, shown: str) -> None:
    assert [line.split() for line in NUMBER.sub("#", said).splitlines()] == [
        line.split() for line in NUMBER.sub("#", shown).splitlines()
    ]
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (said, shown)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.05, abs=0.5)


def test_every_suggestion_of_the_page_is_printed_as_said(root, kiosk):
    commands = [command.words for command in printed.commands(root) if command.page == PAGE and not command.inline]
    suggestions = [words for words in commands if words[:2] == ("bocu", "suggest")]
    assert len(suggestions) == 4
    said = [CliRunner().invoke(app, words[1:]) for words in suggestions]
    assert [done.exit_code for done in said] == [0] * 4
    (note,) = texts(root, "text")
    same(said[0].stdout.splitlines()[0], note.strip())
    assert "count half as contexts after 30 days" in said[1].stdout
    assert "count half as contexts after 20 rows" in said[2].stdout


def test_the_replay_of_the_page_is_printed_as_said(root, kiosk):
    (block,) = texts(root, "console")
    command, _, shown = block.partition("\n")
    same(CliRunner().invoke(app, command.split()[2:]).stdout, shown)


def test_asking_and_telling_finds_orders_that_sell(root, capsys):
    names: dict = {}
    exec(compile(texts(root, "python")[0], PAGE, "exec"), names)
    assert len(names["log"]["order"]) == 9
    assert 50 <= names["found"].decision["order"] <= 90
    assert capsys.readouterr().out.startswith("{'order': ")


@pytest.mark.ci
def test_replays_of_outcomes_under_forecasts_and_their_page_are_made_as_said(root, kiosk):
    commands = [command.words for command in printed.commands(root) if command.page == PAGE and not command.inline]
    replays = [words for words in commands if words[:2] == ("bocu", "replay") and "--settings" in words]
    assert len(replays) == 3
    said = [CliRunner().invoke(app, words[1:]) for words in replays]
    assert [done.exit_code for done in said] == [0] * 3
    assert "Who says so" in (kiosk / "replay.html").read_text(encoding="utf-8")
    assert said[1].stdout.splitlines()[4].split()[-2:] == ["profit", "unsold"]
    assert "each row under the forecast that was at hand for it" in said[2].stdout
