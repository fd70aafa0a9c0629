"""The wheel alone, in an empty folder, without a clone."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """The wheel, built from a copy so that the clone stays as it is."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source)
    for name in ("src", "data"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "download", "mirror", "simulate")
        shutil.copytree(root / name, source / name, symlinks=True, ignore=ignored)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", source / "dist", source], check=True)
    (built,) = (source / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """Run a command with the wheel, what it depends on, and nothing of the clone, in an empty folder."""
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    # What it depends on comes from the environment of the tests; its `.pth` files, which lead to the clone, do not.
    (packages / "dependencies.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    install = [sys.executable, "-m", "pip", "--python", environment / "bin/python", "install", "--quiet"]
    subprocess.run([*install, "--no-deps", "--no-index", "--ignore-installed", wheel], check=True)
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*command, folder):
        own = {**variables, "PATH": f"{environment / 'bin'}{os.pathsep}{variables['PATH']}"}
        return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)

    where = run("python", "-c", "import bocu; print(bocu.__file__)", folder=environment).stdout
    assert Path(where.strip()).is_relative_to(environment)
    return run


def test_it_holds_types_tables_and_pages(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= {
        "bocu/py.typed",
        "bocu/commands/templates/algorithm.py.jinja",
        "bocu/problems/data/sources.yaml",
        "bocu/problems/data/shipped/plant/LICENSE",
        "bocu/problems/data/shipped/plant/raw/marchantia_leaf_area_svgp.npz.sha256",
        "bocu/sweep/experiment/papers.yaml",
        "bocu/pages/report/script/page.js",
        "bocu/core/style.css",
        "snakemake_executor_plugin_warm/py.typed",
        "snakemake_logger_plugin_bocu/py.typed",
    }
    assert not [name for name in names if name.startswith(("tests", "workflow", "docs"))]
    assert not [name for name in names if name.endswith(".nc") and "/raw/" not in name]  # prepared: made anew


@pytest.mark.parametrize("kind", ["problems", "objectives", "algorithms", "metrics", "figures", "data"])
def test_it_lists_what_there_is(bare, tmp_path, kind):
    done = bare("bocu", "list", kind, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 3


def test_it_answers_a_worst_case(bare, tmp_path):
    (tmp_path / "payoffs.csv").write_text("reference,one,other\n0.2,1,1.5\n0.5,2,1.8\n0.3,4,2.5\n")
    done = bare("bocu", "worst-case", "payoffs.csv", "--epsilon", "0.4", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    values = [float(line.split(",")[1]) for line in done.stdout.splitlines()[1:3]]
    assert values == pytest.approx([1.8, 1.75])  # 0.2 of the mass moves from the best context to the worst


def test_it_asks_and_is_told_as_the_first_page_says(bare, root, tmp_path):
    examples = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), flags=re.DOTALL)
    assert examples
    for code in examples:
        done = bare("python", "-c", code, folder=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_plan_without_a_clone_says_what_is_wanted(bare, root, tmp_path):
    shutil.copy(root / "config/config.yaml", tmp_path)
    done = bare("bocu", "check", "config.yaml", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"error: workflow/scripts: not in .*; start bocu in its clone: .*\n", done.stderr)
