"""The page on the architecture says what the code does: its layers are the contract's, what it names is there."""

import importlib
import re
import runpy
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/architecture.md").read_text()


def test_the_layers_are_those_that_imports_are_held_to(root: Path, page: str) -> None:
    maker = runpy.run_path(str(root / "docs/make_layers.py"))
    assert maker["BLOCK"].search(page).group() == maker["drawn"](), "python docs/make_layers.py"
    rooms = {file.parent.name for file in (root / "src/bocu").glob("*/__init__.py")}
    assert {name for row in maker["layers"]() for name in row} == rooms


def test_the_lowest_wing_knows_none_above_it_by_its_types_either(root: Path) -> None:
    for file in (root / "src/bocu/core").rglob("*.py"):
        known = set(re.findall(r"^\s*(?:from|import) bocu\.(\w+)", file.read_text(), re.MULTILINE))
        assert known <= {"core"}, file


def test_what_the_page_names_is_there(root: Path, page: str) -> None:
    for name in re.findall(r"`(bocu\.[\w.]+)", page):
        module, rest = name, []
        while (
            not (root / "src" / module.replace(".", "/")).is_dir()
            and not (root / "src" / f"{module.replace('.', '/')}.py").is_file()
        ):
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
        found = importlib.import_module(module)
        for part in rest:
            found = getattr(found, part)
    for file in re.findall(r"`([\w/]+\.(?:py|smk))`", page):
        assert any((root / place / file).is_file() for place in ("", "src/bocu", "src/bocu/robust/ambiguity")), file
