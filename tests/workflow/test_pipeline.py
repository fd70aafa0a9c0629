"""The contracts of the pipeline, on the pipeline itself: what reruns when, and what never does."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from experiments import tiny

from bocu.core.io.files import read_netcdf

pytestmark = pytest.mark.workflow

CUBE = "results/tiny/cubes/hills.nc"


def runs(folder: Path) -> dict[str, int]:
    files = sorted(folder.glob("results/tiny/runs/**/*.nc"))
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in files}


def numbers(path: Path):
    return read_netcdf(path).drop_vars("seconds").drop_attrs()


def test_metrics_seeds_algorithms_and_iterations_rerun_what_they_must_and_no_more(pipeline):
    folder = pipeline.folder
    pipeline.snakemake("--configfile", pipeline.configuration(tiny()), "--", CUBE)
    first = runs(folder)
    assert len(first) == 4
    assert not (folder / "results/tiny/checkpoints/hills/any/random/seeds-0-1").exists()

    # Nothing changed, nothing to do.
    assert pipeline.planned("--configfile", folder / "experiment.yaml", "--", CUBE) == {}

    # Another metric: scores and cube again, no run.
    config = pipeline.configuration(tiny(metrics=["so", "best-fixed-decision"]))
    assert pipeline.planned("--configfile", config, "--", CUBE) == {"score": 2, "cube": 1}
    pipeline.snakemake("--configfile", config, "--", CUBE)
    assert runs(folder) == first
    assert list(read_netcdf(folder / CUBE)["metric"].values) == ["so", "best-fixed-decision"]

    # More seeds: new blocks only.
    config = pipeline.configuration(tiny(seeds={"count": 7, "per_job": 2}))
    pipeline.snakemake("--configfile", config, "--", CUBE)
    more = runs(folder)
    assert {name: more[name] for name in first} == first
    assert len(more) == 8

    # The ragged last block is computed again when it fills up; no other is.
    config = pipeline.configuration(tiny(seeds={"count": 8, "per_job": 2}))
    assert pipeline.planned("--configfile", config, "--", CUBE)["run"] == 2

    # Another parameter of one algorithm: that branch only.
    changed = tiny(algorithms=["random", {"name": "pe-gp-ucb", "parameters": {"delta": 0.2}}])
    config = pipeline.configuration(changed)
    assert pipeline.planned("--configfile", config, "--config", "overwrite=true", "--", CUBE) == {
        "run": 2,
        "score": 2,
        "cube": 1,
    }

    # More iterations continue, and give what a run of that length gives (which must not be taken over, but run).
    config = pipeline.configuration(tiny(iterations=20))
    pipeline.snakemake("--configfile", config, "--config", "overwrite=true", "--", CUBE)
    log = folder / "results/tiny/logs/runs/hills/any/pe-gp-ucb/seeds-0-1.log"
    assert "continuing its 12 iterations" in log.read_text()
    shutil.rmtree(folder / "results/.run-cache")
    fresh = pipeline.configuration(tiny(iterations=20, name="fresh"), "fresh.yaml")
    pipeline.snakemake("--configfile", fresh, "--", "results/fresh/cubes/hills.nc")
    assert numbers(folder / CUBE).identical(numbers(folder / "results/fresh/cubes/hills.nc"))


def test_no_key_of_the_quick_start_leaks_into_an_experiment(pipeline, root):
    shutil.copytree(root / "config", pipeline.folder / "config")
    quick_start = yaml.safe_load((root / "config/config.yaml").read_text())
    experiment = tiny(figures=None)
    del experiment["figures"]
    pipeline.snakemake("--configfile", pipeline.configuration(experiment), "--", CUBE)
    record = yaml.safe_load((pipeline.folder / "results/tiny/experiment.json").read_text())
    assert [problem["name"] for problem in record["problems"]] == ["hills"]
    assert [metric["name"] for metric in record["metrics"]] == ["so"]
    assert record["title"] == record["description"] == ""
    assert record["papers"] == []
    assert not (pipeline.folder / "results" / quick_start["name"]).exists()
    assert not (pipeline.folder / "data").exists()


@pytest.mark.ci
def test_snakemake_killed_in_the_middle_is_taken_up_again_to_the_same_bits(pipeline):
    experiment = tiny(iterations=100, checkpoint_seconds=0)
    config = pipeline.configuration(experiment)
    environment = {**os.environ, **pipeline.environment}
    command = ["snakemake", "--snakefile", str(Path(__file__).parents[2] / "Snakefile"), "--cores", "2"]
    child = subprocess.Popen(
        [*command, "--configfile", str(config), "--", CUBE],
        cwd=pipeline.folder,
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while child.poll() is None and not list(pipeline.folder.glob("results/tiny/checkpoints/**/generation-*")):
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    assert not (pipeline.folder / CUBE).exists()
    told = pipeline.run("bocu", "status", config).stdout
    assert re.search(
        r"^results/tiny/logs/runs/hills/\S+\.log: ended without a word, as a job that is killed", told, re.M
    )
    again = pipeline.snakemake("--configfile", config, "--", CUBE)
    assert f"note: removed the lock of Snakemake of {time.strftime('%Y-%m-%d')}" in again.stderr
    shutil.rmtree(pipeline.folder / "results/.run-cache")
    undisturbed = pipeline.configuration({**experiment, "name": "undisturbed"}, "undisturbed.yaml")
    pipeline.snakemake("--configfile", undisturbed, "--", "results/undisturbed/cubes/hills.nc")
    assert numbers(pipeline.folder / CUBE).identical(numbers(pipeline.folder / "results/undisturbed/cubes/hills.nc"))
    assert not list(pipeline.folder.glob("results/**/.*.tmp"))


@pytest.mark.ci
def test_partial_shows_what_exists_and_starts_no_run(pipeline):
    config = pipeline.configuration(tiny())
    nothing = pipeline.snakemake("--configfile", config, "--", "partial", check=False)
    assert nothing.returncode != 0
    assert "no run file exists yet; nothing to aggregate" in nothing.stdout + nothing.stderr
    made = "results/tiny/runs/hills/any/pe-gp-ucb/seeds-2-3.nc"
    pipeline.snakemake("--configfile", config, "--", made)
    before = runs(pipeline.folder)
    pipeline.snakemake("--configfile", config, "--", "partial")
    assert runs(pipeline.folder) == before
    assert list(before) == [made]
    cube = read_netcdf(pipeline.folder / "results/tiny/partial/cubes/hills.nc").sel(objective="any")
    assert cube["status"].sel(algorithm="pe-gp-ucb").values.tolist() == [0, 0, 1, 1]
    assert (cube["status"].sel(algorithm="random") == 0).all()
    assert cube["regret"].sel(algorithm="pe-gp-ucb", seed=[0, 1]).isnull().all()
    page = (pipeline.folder / "results/tiny/partial/report/index.html").read_text()
    assert "6 missing" in page
