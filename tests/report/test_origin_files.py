"""Commands of a page make what it shows: with the settings that its results were made by."""

import json

import pytest

from bocu.pages.figures.results import CubeBranch
from bocu.sweep.experiment.record import trial_of
from bocu.sweep.origin_files import OriginFiles

SETTINGS = {"iterations": 30, "seeds": {"count": "6", "first": "0"}, "mirror": "/elsewhere", "threads": 2}


@pytest.fixture
def origin(tmp_path):
    def make(settings, **more):
        made_from = {"files": ["experiments/wind.yaml"], "config": settings, **more}
        (tmp_path / "experiment.json").write_text(json.dumps({"made_from": made_from}), encoding="utf-8")
        return OriginFiles({"name": "wind"}, tmp_path, tmp_path / "report")

    return make


def test_a_sweep_is_made_again_at_its_scale(origin):
    assert origin({}).sweep_command() == "snakemake --cores all --configfile experiments/wind.yaml"
    assert origin(SETTINGS).sweep_command() == (
        "snakemake --cores all --configfile experiments/wind.yaml --config iterations=30 'seeds={count: 6, first: 0}'"
    )


def test_a_trial_is_told_by_what_its_file_asks_for():
    stated = {"rounds": 200, "seeds": 30}
    record = {"iterations": 50, "seeds": {"count": 10}, "made_from": {"stated": stated, "config": {}}}
    assert trial_of(record) == "reduced: 50 of 200 rounds, 10 of 30 seeds"
    record["made_from"]["config"] = {"data": "simulate"}
    assert trial_of(record) == "reduced: 50 of 200 rounds, 10 of 30 seeds, simulated"
    assert trial_of({**record, "iterations": 200, "seeds": {"count": 40}}) == "simulated"
    assert trial_of({"iterations": 50, "made_from": {}}) == ""


def test_outside_of_the_clone_the_snakefile_is_named(origin):
    assert origin({}, snakefile="/opt/a clone/Snakefile").sweep_command() == (
        "snakemake --snakefile '/opt/a clone/Snakefile' --cores all --configfile experiments/wind.yaml"
    )


def test_simulated_data_stay_simulated(origin):
    assert origin({"data": "simulate"}).sweep_command().endswith(" --config data=simulate")
    assert "--config " not in origin({"data": {"source": "mirror", "mirror": "/elsewhere"}}).sweep_command()


def test_a_branch_is_played_again_for_as_many_rounds(origin):
    command = origin(SETTINGS).run_command("hours", CubeBranch("dro", "ucb"), [2, 3])
    assert command.endswith("--algorithm ucb --seed 2 --seeds 2 --iterations 30 --output again.nc")
    assert "--iterations" not in origin({}).run_command("hours", CubeBranch("dro", "ucb"), [2, 3])
