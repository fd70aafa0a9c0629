"""Examples that stand in docstrings print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
MODULES = [
    ".".join(file.relative_to(SOURCE).with_suffix("").parts)
    for file in sorted((SOURCE / "bocu").rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.ci
@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    found = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert found.attempted
    assert not found.failed
