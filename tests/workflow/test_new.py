"""What `bocu new` writes: checked as it stands, planned, and swept together to a report."""

import shutil
import subprocess
import sys

import pytest

from bocu.commands.new import KINDS, new_command
from bocu.core.errors import BocuError
from bocu.sweep.opening import open_plan

NAMES = {kind: f"my-{kind}" for kind in KINDS}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new") / "of-mine"
    for kind, name in NAMES.items():
        new_command(kind, name, folder)
    return folder


def test_each_is_a_class_an_experiment_and_a_test(written):
    expected = {file for kind in KINDS for file in (f"my_{kind}.py", f"my_{kind}.yaml", f"test_my_{kind}.py")}
    assert {path.name for path in written.iterdir()} == expected


@pytest.mark.ci
def test_each_keeps_the_promises_of_its_kind(written):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(written)],
        cwd=written.parent,
        capture_output=True,
        text=True,
    )
    assert f"{len(KINDS)} passed" in done.stdout, done.stdout


def test_each_is_as_tidy_as_our_own(written, root):
    ruff = shutil.which("ruff") or pytest.skip("ruff is not installed")
    for command in (["check", "--ignore", "D101,D103,D102"], ["format", "--check"]):
        done = subprocess.run(
            [ruff, *command, "--config", str(root / "pyproject.toml"), str(written)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_each_experiment_is_right(written, kind):
    plan = open_plan(str(written / f"my_{kind}.yaml"), None, [])
    assert f"my-{kind}" in str(plan.describe())


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("algoritm", "x", "unknown kind 'algoritm'; did you mean 'algorithm'"),
        ("set", "../up", "found name '../up'; allowed: letters and digits"),
        ("set", "über", "found name"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path, kind, name, said):
    with pytest.raises(BocuError, match=said):
        new_command(kind, name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_that_stands_is_written_over(tmp_path):
    (tmp_path / "test_mine.py").write_text("mine")
    with pytest.raises(BocuError, match=r"test_mine\.py stands already"):
        new_command("figure", "mine", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test_mine.py"]
