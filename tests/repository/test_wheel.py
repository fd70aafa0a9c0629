"""The wheel alone, in an empty folder, without a clone."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bocu.core.io.files import read_netcdf
from bocu.core.io.provenance import SIMULATED_LABEL

pytestmark = pytest.mark.ci

SMALL = ("--config", "iterations=3", "seeds={count: 2, per_job: 2}")


@pytest.fixture(scope="module")
def built(root, tmp_path_factory):
    """Both distributions: of each a source archive and the wheel that is made of it, from a copy of the clone."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE", "Snakefile"):
        shutil.copy(root / name, source)
    for name in ("src", "data", "config", "profiles", "workflow"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "download", "mirror", "simulate")
        shutil.copytree(root / name, source / name, symlinks=True, ignore=ignored)
    for folder in (source, source / "src/snakemake_executor_plugin_warm"):
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", source / "dist", folder]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return source / "dist"


@pytest.fixture(scope="module")
def wheel(built):
    (found,) = built.glob("bocu-*.whl")
    return found


@pytest.fixture(scope="module")
def bare(built, tmp_path_factory):
    """Run a command with the wheels, what they depend on, and nothing of the clone, in an empty folder."""
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    # What it depends on comes from the environment of the tests; its `.pth` files, which lead to the clone, do not.
    (packages / "dependencies.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    install = [sys.executable, "-m", "pip", "--python", environment / "bin/python", "install", "--quiet"]
    subprocess.run([*install, "--no-deps", "--no-index", "--ignore-installed", *built.glob("*.whl")], check=True)
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*command, folder):
        own = {**variables, "PATH": f"{environment / 'bin'}{os.pathsep}{variables['PATH']}"}
        return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)

    # Of what it depends on, commands are not there, and those of the tests' environment lead to the clone: `python -m`.
    for name in ("bocu", "snakemake_executor_plugin_warm"):
        where = run("python", "-c", f"import {name}; print({name}.__file__)", folder=environment).stdout
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
        "bocu/sweep/laid_out/Snakefile",
        "bocu/sweep/laid_out/data/sources.yaml",
        "bocu/sweep/laid_out/workflow/scripts/run.py",
        "bocu/pages/report/script/page.js",
        "bocu/core/style.css",
        "snakemake_logger_plugin_bocu/py.typed",
    }
    assert not [name for name in names if name.startswith("snakemake_executor_plugin_warm")]
    assert not [name for name in names if name.startswith(("tests", "workflow", "docs"))]
    assert not [name for name in names if name.endswith(".nc") and "/raw/" not in name]  # prepared: made anew


@pytest.mark.parametrize("kind", ["algorithms", "data"])
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


def test_it_lays_the_workflow_out_beside_what_a_folder_holds(bare, root, tmp_path):
    (tmp_path / "mine.csv").write_text("x\n1\n")
    done = bare("bocu", "init", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    laid = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} - {"mine.csv"}
    tracked = ("Snakefile", "config", "data/sources.yaml", "profiles", "workflow")
    listed = subprocess.run(["git", "ls-files", *tracked], cwd=root, capture_output=True, text=True, check=True).stdout
    assert laid == set(listed.split()) - {"workflow/lint-allowed.yaml"}
    assert all((tmp_path / name).read_bytes() == (root / name).read_bytes() for name in laid)
    done = bare("python", "-m", "snakemake", "--dry-run", "--quiet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "run" in done.stdout + done.stderr


@pytest.fixture(scope="module")
def swept(bare, tmp_path_factory):
    """A folder in which the quick start was laid out from the wheel and run, small."""
    folder = tmp_path_factory.mktemp("swept")
    assert bare("bocu", "init", folder=folder).returncode == 0
    done = bare("python", "-m", "snakemake", "--cores", "2", "--executor", "warm", *SMALL, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "no warm start" not in done.stderr
    return folder


@pytest.mark.workflow
def test_the_quick_start_runs_from_it(bare, swept):
    results = swept / "results/quickstart"
    page = (results / "report/index.html").read_text()
    assert "<strong>Simulated data</strong> in sensors: " in page
    assert "Ten hills" in page
    for problem, label in (("hills", ""), ("sensors", SIMULATED_LABEL)):
        cube = read_netcdf(results / f"cubes/{problem}.nc")
        assert (cube["status"] == 1).all()
        assert cube.attrs["data_label"] == label
        assert cube.sizes["seed"] == 2
    # Only what its problems name is prepared, stand-ins apart from what came with the project.
    prepared = sorted(path.relative_to(swept / "data").parts[:2] for path in swept.glob("data/*/*"))
    assert prepared == [("shipped", "irrigation"), ("simulate", "intel")]
    for path in results.glob("figures/sensors/*.json"):
        assert json.loads(path.read_text())["data_label"] == SIMULATED_LABEL
    assert not list(results.glob("**/*.tmp"))
    done = bare("python", "-m", "snakemake", "--cores", "2", *SMALL, folder=swept)
    assert "Nothing to be done" in done.stdout + done.stderr


@pytest.mark.workflow
def test_results_go_into_a_crate_that_says_what_was_run(bare, swept):
    pytest.importorskip("repo2rocrate")
    done = bare("bocu", "crate", "quickstart", "--output", "crate", "--license", "CC-BY-4.0", folder=swept)
    assert (done.returncode, said(done)) == (0, "")
    graph = json.loads((swept / "crate/ro-crate-metadata.json").read_text())["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    root = entities["./"]
    assert {"name", "description", "datePublished", "license", "hasPart", "mainEntity"} <= set(root)
    assert root["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    profiles = {one["@id"] for one in root["conformsTo"]}
    assert {"https://w3id.org/ro/wfrun/workflow/0.6", "https://w3id.org/workflowhub/workflow-ro-crate/1.1"} <= profiles
    action = entities[root["mentions"][0]["@id"]]
    assert action["@type"] == "CreateAction"
    assert action["instrument"] == root["mainEntity"] == {"@id": "Snakefile"}
    assert action["result"] == [{"@id": "results/quickstart/"}]
    assert all(one["@id"] in entities for key in ("object", "result") for one in action[key])
    for part in root["hasPart"]:
        assert (swept / "crate" / part["@id"]).exists()
        assert part["@id"] in entities
    for path in (swept / "results/quickstart").rglob("*.nc"):
        assert (swept / "crate" / path.relative_to(swept)).read_bytes() == path.read_bytes()
    again = bare("bocu", "crate", "quickstart", "--output", "crate", folder=swept)
    assert again.returncode == 1
    assert said(again).startswith("error: --output: found crate, which stands already")


def test_an_index_would_take_what_is_built(built):
    pytest.importorskip("twine")
    assert len([*built.iterdir()]) == 4
    command = [sys.executable, "-m", "twine", "check", "--strict", *built.iterdir()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_it_lays_out_nothing_over_what_stands(bare, tmp_path):
    (tmp_path / "Snakefile").write_text("mine\n")
    done = bare("bocu", "init", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: init: Snakefile stands already; nothing was written; give another folder\n"
    assert [path.name for path in tmp_path.iterdir()] == ["Snakefile"]


@pytest.fixture(scope="module")
def light(root, wheel, tmp_path_factory):
    """Run a command in a new environment in which the wheel and what it asks for are installed, and nothing else."""
    environment = tmp_path_factory.mktemp("light")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    install = [environment / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--constraint", root / "requirements.txt", wheel], check=True)
    drop = ("PYTHONPATH", "VIRTUAL_ENV")
    variables = {key: value for key, value in os.environ.items() if key not in drop}

    def run(*command, folder):
        own = {**variables, "PATH": f"{environment / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"}
        return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)

    run.environment = environment
    return run


def said(done):
    """What a command told on standard error, but that it is at work, as it says on a busy machine."""
    return "".join(line for line in done.stderr.splitlines(keepends=True) if ": at work for " not in line)


def test_bare_it_is_light_and_does_what_the_first_page_says(light, root, tmp_path):
    size = sum(path.lstat().st_size for path in light.environment.rglob("*") if not path.is_symlink())
    assert size < 350e6
    test_it_asks_and_is_told_as_the_first_page_says(light, root, tmp_path)
    test_it_answers_a_worst_case(light, tmp_path)
    for kind in ("problems", "objectives", "algorithms", "metrics", "figures", "data"):
        test_it_lists_what_there_is(light, tmp_path, kind)
    assert json.loads(light("bocu", "schema", folder=tmp_path).stdout)["type"] == "object"


@pytest.mark.parametrize("command", ["suggest", "replay"])
def test_bare_it_answers_from_a_log(light, root, tmp_path, command):
    """Figures as with all extras: the same words on the same log, dates among its columns."""
    columns = ["--decisions", "order:int:20..90", "--contexts", "temperature,rain", "--outcome", "profit"]
    subprocess.run([sys.executable, root / "docs/make_newsvendor_log.py"], cwd=tmp_path, check=True)
    line = ["bocu", command, "newsvendor.csv", *columns, "--time", "day", "--radius", "0.2"]
    told = light(*line, folder=tmp_path)
    assert (told.returncode, said(told)) == (0, "")
    full = subprocess.run(
        [Path(sys.executable).parent / "bocu", *line[1:]], cwd=tmp_path, capture_output=True, text=True
    )
    assert told.stdout == full.stdout


def test_bare_every_command_answers_or_says_in_one_line_which_extra_to_install(light, root, tmp_path):
    experiment, published = root / "config/config.yaml", root / "docs/results"
    run = ["--problem", "hills", "--algorithm", "random", "--seed", "3", "--output", "run.nc"]
    calls = [[name, experiment] for name in ("check", "plan", "status", "resume", "prune", "verify", "audit")]
    calls += [["report", experiment], ["why", "results/quickstart/runs/hills/any/random/seeds-0-29.nc"]]
    calls += [["run", "--experiment", experiment, *run], ["diff", *[published / "tay2024.nc"] * 2]]
    calls += [["claims", root / "config/claims/tay2024.yaml", "--results", published]]
    others = [("report", ["new", "algorithm", "mine"]), ("crate", ["crate", experiment, "--output", "crate"])]
    for extra, call in [*(("sweep", call) for call in calls), *others]:
        done = light("bocu", *call, folder=tmp_path)
        line = rf"error: \w+: not installed; the extra brings it: pip install 'bocu\[{extra}\]'\n"
        assert done.returncode == 1
        assert re.fullmatch(line, said(done)), (call, done.stderr)


def test_bare_a_set_that_is_compiled_runs_and_says_so(light, tmp_path):
    code = (
        "import numpy as np, bocu; c = np.linspace(0, 1, 6); gram = np.exp(-8 * (c[:, None] - c) ** 2);"
        "s = bocu.MaximumMeanDiscrepancy(0.3, gram);"
        "print(repr(float(bocu.worst_case(np.sin(5 * c), np.full(6, 1 / 6), s).value)))"
    )
    told = light("python", "-c", code, folder=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "pip install 'bocu[fast]'" in told.stderr
    full = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(told.stdout) == pytest.approx(float(full.stdout), rel=1e-9)
