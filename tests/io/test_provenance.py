"""The commit that a file says it was made by: that of the clone which the package lies in, and of no other."""

import os
import shutil
import subprocess
import sys

import pytest

from bocu.core.io.provenance import COLLECTED, collected


def git(folder, *words):
    own = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", "-C", folder, *own, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def commit_of(root, tmp_path):
    """Make a clone of a project with the package in a folder of it; return what that package says."""

    def made(folder):
        for name in ("__init__.py", "core"):
            source, target = root / "src/bocu" / name, tmp_path / folder / "bocu" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        for name in ("README.md", "docs/results/a.checked.json", "tests/test_a.py"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("written\n")
        git(tmp_path, "init", "--quiet")
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "--quiet", "--message", "all")
        git(tmp_path, "tag", "--annotate", "v1", "--message", "a version")

        def commit():
            code = "from bocu.core.io.provenance import commit; print(commit())"
            environment = {**os.environ, "PYTHONPATH": str(tmp_path / folder), "GIT_DIR": str(root / ".git")}
            done = subprocess.run([sys.executable, "-Bc", code], env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            return done.stdout.strip()

        return commit

    return made


def test_it_is_the_clones_with_a_mark_where_code_differs(commit_of, tmp_path):
    commit = commit_of("src")
    head = git(tmp_path, "rev-parse", "HEAD")
    assert commit() == head
    for name in ("README.md", "docs/results/a.checked.json", "tests/test_a.py"):
        (tmp_path / name).write_text("edited\n")
    assert commit() == head
    (tmp_path / "src/bocu/core/io/__init__.py").write_text("# edited\n")
    assert commit() == f"{head}-dirty"


def test_an_installed_package_within_another_projects_clone_has_none(commit_of):
    assert commit_of("environment/lib/site-packages")() == "unknown"


def test_of_a_file_and_of_what_is_gathered_the_values_are_read_alike():
    assert collected({"commit": "abc"})["commit"] == collected({"commit": '["abc"]'})["commit"] == ["abc"]
    assert collected({}) == {key: ["unknown"] for key in COLLECTED}
