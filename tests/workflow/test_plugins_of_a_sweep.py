"""A real sweep of classes in one file beside the experiment: algorithm, problem, set, objective, metric and figure."""

import html
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from workflow.conftest import ROOT, Pipeline

from bocu.core.io.files import read_netcdf

pytestmark = [pytest.mark.workflow, pytest.mark.ci]

HALO = {"name": "own.py:Contamination", "radius": 0.3, "share": 0.5}
EXPERIMENT = {
    "name": "own",
    "seeds": {"count": 2, "per_job": 2},
    "iterations": 5,
    "problems": ["own.py:Seesaw"],
    "objectives": [{"name": "dro", "label": "contaminated", "parameters": {"set": HALO}}],
    "algorithms": ["random", {"name": "own.py:MyGreedy", "parameters": {"epsilon": 0.2}}, "own.py:Sober"],
    "metrics": [{"name": "dro", "label": "contaminated", "parameters": {"set": HALO}}, "own.py:Median"],
    # The contour builds the problem again from what a cube has recorded.
    "figures": ["regret", "contour", "own.py:LastRound"],
}
FILE = "mine/experiment.yaml"


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder with the finished sweep, started from another one than the file's."""
    folder = tmp_path_factory.mktemp("sweep")
    pipeline = Pipeline(folder, {"XDG_CACHE_HOME": str(folder / "cache")})
    (folder / "mine").mkdir()
    shutil.copyfile(ROOT / "tests/own_plugins.py", folder / "mine/own.py")
    pipeline.configuration(EXPERIMENT, FILE)
    pipeline.snakemake("--configfile", FILE)
    return pipeline


def test_its_files_say_what_the_classes_are_and_the_report_shows_them(swept):
    runs = sorted(swept.folder.glob("results/own/runs/*/*/*/*.nc"))
    assert [run.parent.name for run in runs] == ["my-greedy", "random", "sober"]
    specification = read_netcdf(runs[0]).attrs["specification"]
    assert json.loads(specification)["algorithm"]["class"].startswith("algorithm/MyGreedy@")
    assert "mine" not in specification
    assert (swept.folder / "results/own/figures/seesaw/last-round.png").is_file()
    caption = json.loads((swept.folder / "results/own/figures/seesaw/contour.json").read_text())["caption"]
    assert "Nothing to show" not in caption
    page = (swept.folder / "results/own/report/index.html").read_text()
    for shown in ("My greedy", "Sober", "median", "Last round"):
        assert shown in page
    cube = read_netcdf(swept.folder / "results/own/cubes/seesaw.nc")
    assert set(cube["metric"].values) == {"contaminated", "median"}


def test_the_pages_command_works_as_printed(swept):
    page = (swept.folder / "results/own/report/index.html").read_text()
    (printed,) = {html.unescape(found) for found in re.findall(r"snakemake [^<\n]*--cores all[^<\n]*", page)}
    done = swept.run(*shlex.split(printed), "--dry-run")
    assert "Nothing to be done" in done.stdout + done.stderr


def test_a_run_outside_the_pipeline_finds_them_too(swept):
    branch = ("--problem", "seesaw", "--algorithm", "my-greedy")
    swept.run("bocu", "run", "--experiment", FILE, *branch, "--output", "alone.nc", "--seeds", "2")
    alone = read_netcdf(swept.folder / "alone.nc")
    swept_run = read_netcdf(next(swept.folder.glob("results/own/runs/seesaw/any/my-greedy/*.nc")))
    assert alone.attrs["identity"] == swept_run.attrs["identity"]
    assert (alone["decision_index"] == swept_run["decision_index"]).all()


def test_a_moved_file_reruns_nothing_and_an_edited_one_its_branches(swept):
    shutil.copytree(swept.folder / "mine", swept.folder / "else/where")
    moved = "else/where/experiment.yaml"
    assert swept.planned("--configfile", moved) == {}
    file: Path = swept.folder / "else/where/own.py"
    file.write_text(file.read_text().replace("return self.recommend()", "return 0"))
    planned = swept.planned("--configfile", moved)
    assert {rule: planned[rule] for rule in ("run", "score", "cube")} == {"run": 1, "score": 1, "cube": 1}
    file.unlink()
    refused = swept.snakemake("--configfile", moved, check=False)
    assert refused.returncode == 1
    assert f"{moved}: problems.0.name: found 'own.py:Seesaw'; no file {file} on " in refused.stderr
    assert "Traceback" not in refused.stderr
