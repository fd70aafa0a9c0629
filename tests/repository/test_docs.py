"""What the documentation shows works as it stands."""

import os
import re
import subprocess
import sys
from pathlib import PurePosixPath

import pytest

from bocu.commands.main import COMMANDS


def blocks(root, page, language):
    return re.findall(rf"```{language}\n(.*?)```", (root / page).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize(("number", "peak"), [(0, 0.6), (1, 0.8)])
def test_the_loops_of_ones_own_run_and_find_the_peak(root, number, peak):
    code = blocks(root, "docs/extending.md", "python")[number]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert abs(float(done.stdout.split()[-1]) - peak) < 0.03


@pytest.mark.ci
def test_the_loops_of_the_page_on_botorch_run_and_say_what_they_are_for(root):
    said = []
    *loops, _, _ = blocks(root, "docs/botorch.md", "python")  # the last two: tests/interop/test_adapters_page.py
    for code in loops:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        said += [float(number) for number in re.findall(r"\d\.\d+", done.stdout)]
    believed, distrusted, _, _, *levels = said
    assert abs(believed - 0.7) < 0.05
    assert abs(distrusted - 0.18) < 0.1
    assert levels == [1.0, 0.9, 1.5]


def test_links_lead_to_files_of_the_clone(root):
    """Not to what only building the site makes; the notes of the site are parts of such pages."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    files = {path for path in map(PurePosixPath, listed.split("\0")[:-1]) if (root / path).exists()}
    there = files.union(*(path.parents for path in files))
    pages = [path for path in files if path.suffix == ".md" and not path.is_relative_to("docs/site/notes")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)", (root / page).read_text())]
    broken = [
        f"{page}: {link}"
        for page, link in links
        if not link.startswith("http") and PurePosixPath(os.path.normpath(page.parent / link)) not in there
    ]
    assert len(links) > 200
    assert not broken


def test_commands_that_pages_name_exist(root):
    pages = [path for place in ("*.md", "config/*.md", "docs/**/*.md") for path in root.glob(place)]
    assert len(pages) > 35
    for page in pages:
        for command in re.findall(r"`bocu ([a-z][a-z-]*)|^    bocu ([a-z][a-z-]*)", page.read_text(), re.MULTILINE):
            assert "".join(command) in {*COMMANDS, "where"}, (page, command)  # "where" is the reader's own
