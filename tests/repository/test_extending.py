"""The page on adding to the project, performed in a fresh copy as it stands: files, lines, commands, in its order."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from printed import RECIPE as PAGE

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
ENVIRONMENT = Path(sys.executable).parents[1]
LEFT = (".git", ".venv", ".snakemake", "results", "__pycache__", ".pytest_cache", "*.egg-info")
KINDS = ("algorithm", "problem", "ambiguity set", "objective", "metric", "figure", "command")
SHORTCUTS = f"""
bocu() {{ python -m bocu.commands.main "$@"; }}
make() {{ command make VENV={ENVIRONMENT} --assume-old={ENVIRONMENT}/installed "$@"; }}
"""


def steps(page):
    """Language, file and text of every block that is to be performed."""
    return [(language, file, text) for language, file, text in BLOCK.findall(page) if file or language == "bash"]


def add_lines(file, text):
    """Add the lines that begin with + below those around them, which stand together once in the file."""
    lines = text.splitlines()
    before = "".join(f"{line[1:]}\n" for line in lines if line.startswith(" "))
    after = "".join(f"{line[1:]}\n" for line in lines)
    old = file.read_text()
    assert old.count(before) == 1, (file, before)
    file.write_text(old.replace(before, after))


@pytest.fixture(scope="module")
def copy(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh") / "clone"
    shutil.copytree(root, folder, ignore=shutil.ignore_patterns(*LEFT))
    return folder


def perform(command, folder):
    """Run commands of the page on the code of the copy; `make` takes this environment and installs nothing."""
    path = f"{ENVIRONMENT / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", SHORTCUTS + command],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.fail(f"{command}\nexited with {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def test_there_is_a_recipe_for_each_kind(root):
    page = (root / PAGE).read_text()
    for kind in KINDS:
        (recipe,) = re.findall(rf"^### An? {kind}\n(.*?)(?=^### )", page, flags=re.DOTALL | re.MULTILINE)
        code = [file for language, file, _ in steps(recipe) if language == "python" and file.startswith("src/")]
        lines = [text for language, _, text in steps(recipe) if language == "diff"]
        assert len(code) == 1, f"{kind}: {code}"
        assert sum(text.count("\n+") for text in lines) == 1, f"{kind}: one file of code, one line"


@pytest.mark.workflow
@pytest.mark.ci
def test_what_the_page_says_works_as_it_stands(root, copy):
    printed = ""
    for language, file, text in steps((root / PAGE).read_text()):
        if language == "bash":
            printed += perform(text, copy)
        elif language == "diff":
            add_lines(copy / file, text)
        else:
            assert not (copy / file).exists(), file
            (copy / file).write_text(text)
    assert f"{copy}/src/bocu/learners/algorithms/epsilon_greedy.py" in printed
    results = copy / "results/own"
    runs = {str(path.relative_to(results / "runs").parent) for path in (results / "runs").rglob("*.nc")}
    assert runs == {
        "seesaw/any/random",
        "seesaw/any/epsilon-greedy",
        "seesaw/contaminated/ts-bocu",
        "seesaw/optimism/ts-bocu",
    }
    report = (results / "report/index.html").read_text()
    for title in ("Epsilon-greedy", "Seesaw", "Last round", "median", "optimism", "contaminated"):
        assert title in report, title
