"""Random tests try the same examples whoever runs them, and new ones in drills."""

import os
import subprocess
import sys

import pytest

WRITES_ITS_EXAMPLES = """
import pathlib
import pytest
from hypothesis import given, strategies as st

@given(st.integers())
def test_anything(number):
    with pathlib.Path("tried").open("a") as file:
        file.write(f"{number} ")

@pytest.mark.ci
def test_more():
    test_anything()
"""


@pytest.mark.parametrize(("expression", "same"), [("not ci and not drill", True), ("", False)])
def test_examples_are_new_in_drills_only(expression, same, root, tmp_path):
    (tmp_path / "test_it.py").write_text(WRITES_ITS_EXAMPLES)
    tried = []
    for _ in range(2):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:xdist", "-m", expression]
        subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(root / "tests")},
            check=True,
            capture_output=True,
        )
        tried.append((tmp_path / "tried").read_text())
        (tmp_path / "tried").unlink()
    assert len(tried[0].split()) >= 100
    assert (tried[0] == tried[1]) == same
