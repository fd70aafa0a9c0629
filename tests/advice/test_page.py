"""The page on suggestions: every command of it, as printed, says what the page says it does."""

import re
import runpy

import printed
import pytest
from typer.testing import CliRunner

from bocu.commands.main import app

PAGE = "docs/suggest.md"
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")


@pytest.fixture
def kiosk(root, tmp_path, monkeypatch):
    """A folder that holds what the page's first command writes."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(root / "docs/make_newsvendor_log.py"), run_name="__main__")
    return tmp_path


def test_the_worked_example_prints_what_the_page_shows(root, kiosk):
    (block,) = (block for block in printed.blocks(root, "console") if block.page == PAGE)
    command, _, shown = block.text.partition("\n")
    said = CliRunner().invoke(app, command.split()[2:]).stdout
    assert [line.split() for line in NUMBER.sub("#", said).splitlines()] == [
        line.split() for line in NUMBER.sub("#", shown).splitlines()
    ]
    # Fits end where rounding lets them: numbers agree as far as a reader would use them.
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (said, shown)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=0.05)


def test_the_python_of_the_page_suggests_an_order(root, capsys):
    (block,) = (block for block in printed.blocks(root, "python") if block.page == PAGE)
    names: dict = {}
    exec(compile(block.text, PAGE, "exec"), names)
    assert 20 <= names["found"].decision["order"] <= 90
    assert names["log"]["order"][-1] == names["found"].decision["order"]
    assert capsys.readouterr().out.startswith("{'order': ")


def test_the_settings_of_the_page_are_those_that_are_written(root, kiosk):
    (block,) = (block for block in printed.blocks(root, "yaml") if block.page == PAGE)
    assert block.text == (kiosk / "kiosk.yaml").read_text(encoding="utf-8")
    assert (
        "order = 62 papers" in CliRunner().invoke(app, ["suggest", "newsvendor.csv", "--settings", "kiosk.yaml"]).stdout
    )
