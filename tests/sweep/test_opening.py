import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from experiments import tiny

from bocu.core.errors import BocuError
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.record import trial_of, write_record
from bocu.sweep.opening import differences_from_record, name_in, open_plan, open_plan_as_made


@pytest.fixture
def folder(elsewhere, root):
    (elsewhere / "data").mkdir()
    (elsewhere / "data/sources.yaml").write_text((root / "data/sources.yaml").read_text())
    (elsewhere / "config/experiments").mkdir(parents=True)
    (elsewhere / "config/config.yaml").write_text(yaml.safe_dump(tiny(name="quickstart")))
    (elsewhere / "config/experiments/file.yaml").write_text(yaml.safe_dump(tiny(name="named", iterations=30)))
    return elsewhere


@pytest.mark.parametrize(
    ("experiment", "iterations"), [("quickstart", 12), ("named", 30), ("config/experiments/file.yaml", 30)]
)
def test_an_experiment_is_found_by_file_or_name(folder, experiment, iterations):
    assert open_plan(experiment).experiment.iterations == iterations


@pytest.mark.parametrize("moved", [False, True])
def test_what_pages_show_is_planned_with_the_settings_that_it_was_made_by(folder, moved):
    assert open_plan_as_made("named").experiment.iterations == 30  # no results yet
    file = folder / ("gone.yaml" if moved else "config/experiments/file.yaml")
    write_record(open_plan("named", settings=["iterations=7"]), [file], {"iterations": "7"})
    assert open_plan_as_made("named").experiment.iterations == 7
    assert open_plan_as_made("config/experiments/file.yaml").experiment.iterations == 30
    assert open_plan("named").experiment.iterations == 30


def test_keys_are_replaced_as_on_snakemakes_command_line(folder):
    plan = open_plan("named", settings=["iterations=7", "seeds={count: 9, per_job: 3}", "title=A=B"])
    assert plan.experiment.iterations == 7
    assert plan.blocks_of(next(iter(plan.branches.values()))) == [(0, 2), (3, 5), (6, 8)]
    assert plan.experiment.title == "A=B"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nmaed",), "nmaed: no experiment file of that name under config/; did you mean 'named'?"),
        (("some/file.yaml",), "some/file.yaml: no such file"),
        (("file.yaml",), "file.yaml: no such file"),
        (("named", None, ["iterations"]), "--config: found 'iterations'; KEY=VALUE is wanted"),
        (("named", None, ["iterations=[1"]), "--config: iterations: line 2, column 1: not YAML"),
        (("named", None, ["iterations=few"]), "--config: iterations: found 'few'"),
    ],
)
def test_what_is_not_there_or_no_setting_gets_one_line(folder, arguments, message):
    with pytest.raises(BocuError) as caught:
        open_plan(*arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_name_is_read_off_a_path():
    assert name_in("results/quickstart/runs/hills/any/mle/seeds-0-2.nc") == "quickstart"
    for path in ("runs/a.nc", "../results/a/b.nc", "results/a"):
        with pytest.raises(BocuError, match="not a file of an experiment"):
            name_in(path)


def test_only_what_changes_numbers_is_told_apart_from_the_last_run(folder):
    assert differences_from_record(open_plan("named")) == []
    write_record(open_plan("named"))
    assert differences_from_record(open_plan("named", settings=["title=Other", "checkpoint_seconds=3"])) == []
    changed = open_plan("named", settings=["iterations=40", "data=simulate"])
    assert differences_from_record(changed) == ['data.source: "download" -> "simulate"', "iterations: 30 -> 40"]
    assert json.loads((folder / "results/named/experiment.json").read_text())["iterations"] == 30


@pytest.mark.parametrize(
    "settings",
    [
        ["seeds={count: 3}"],
        ["seeds={count: 3}", "seeds={first: 2}"],
        ["seeds=5"],
        ["data={source: simulate}", "problems=[hills]"],
    ],
)
def test_settings_are_merged_as_snakemake_merges_them(folder, settings):
    from snakemake.cli import parse_config
    from snakemake.utils import update_config

    file = "config/experiments/file.yaml"
    merged = yaml.safe_load((folder / file).read_text())
    update_config(merged, parse_config(settings))
    assert open_plan(file, settings=settings).describe() == make_plan(merged).describe()


def test_an_experiment_that_was_run_under_another_name_is_found_by_that_name(folder):
    file, settings = "config/experiments/file.yaml", {"name": "trial", "iterations": "7", "seeds": {"count": "2"}}
    run = open_plan(file, settings=["name=trial", "iterations=7", "seeds={count: 2}"])
    write_record(run, [file], settings)
    assert open_plan("trial").describe() == run.describe()
    assert trial_of(json.loads(Path(run.paths.record).read_text())) == "reduced: 7 of 30 rounds, 2 of 4 seeds"
    plan = open_plan("trial", settings=["seeds={per_job: 1}"])
    assert plan.blocks_of(next(iter(plan.branches.values()))) == [(0, 0), (1, 1)]
    assert differences_from_record(open_plan("trial")) == []


def test_outside_of_a_clone_the_clone_of_the_installation_is_meant(elsewhere):
    assert open_plan("quickstart").results == "results/quickstart"


def test_outside_of_a_clone_the_workflow_is_that_of_the_package(tmp_path, root):
    shutil.copytree(root / "src/bocu", tmp_path / "installed/bocu", ignore=shutil.ignore_patterns("__pycache__"))
    found = []
    for experiment in (root / "config/config.yaml", "quickstart"):
        done = subprocess.run(
            [sys.executable, "-m", "bocu.commands.main", "check", experiment],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.splitlines()[-1].partition(": ")[2])
    assert found[0] == found[1] != ""
