"""The archive in a run of the pipeline: submitted, checked as a stranger's file, refused where something is wrong."""

import csv
import json
import re

import netCDF4
import numpy as np
import pytest
from experiments import tiny
from workflow.conftest import Pipeline

from bocu.core.io.files import canonical_json, read_netcdf, write_netcdf
from bocu.sweep.archive.identities import identity_of

pytestmark = [pytest.mark.ci, pytest.mark.workflow]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    made = Pipeline(tmp_path_factory.mktemp("archive"))
    made.configuration(tiny(seeds={"first": 0, "count": 4, "per_job": 4}))
    made.snakemake("--configfile", "experiment.yaml", "--executor", "warm", "--jobs", "2")
    made.run("bocu", "submit", "results/tiny", "--by", "Jane Doe", "--how", "two cores", "--output", "tiny.nc")
    (made.folder / "archive").mkdir()
    return made


def test_labels_of_a_sweep_may_be_numbers_in_yaml(tmp_path):
    made = Pipeline(tmp_path)
    noises = {"of": "problems.hills.noise", "values": {"low": 0.05, 3: 0.1}}
    made.configuration(tiny(seeds={"first": 0, "count": 1, "per_job": 1}, sweep={"noise": noises}))
    made.snakemake("--configfile", "experiment.yaml", "--executor", "warm", "--jobs", "2")
    made.run("bocu", "reduce", "results/tiny", "--output", "tiny.nc")
    told = json.loads(read_netcdf(tmp_path / "tiny.nc").attrs["archived"])
    assert told["config"]["sweep"]["noise"]["values"] == {"low": 0.05, "3": 0.1}


def doctored(pipeline, change, name="doctored.nc"):
    """Write the submitted file anew, sealed, with a change."""
    data = read_netcdf(pipeline.folder / "tiny.nc")
    write_netcdf(change(data), pipeline.folder / name)
    return name


def checked(pipeline, file, *words):
    return pipeline.run(*("bocu", "archive", "check", file, "--folder", "archive", "--cores", "2", *words), check=False)


def restated(data, place, **changes):
    """Return a file in which what one identity states is another, with the identity that goes with it."""
    stated = json.loads(str(data["stated"].values[place])) | changes
    identities, texts = (data[name].values.astype(str).tolist() for name in ("identity", "stated"))
    was, now = identities[place], identity_of(stated)
    identities[place], texts[place] = now, canonical_json(stated)
    known = {"identity": identities, "stated": texts, "identities": data["identities"].values.astype(str).tolist()}
    made = {
        name: (data[name].dims, np.array([value.replace(was, now) for value in values]), data[name].attrs)
        for name, values in known.items()
    }
    return data.drop_vars(known).assign(made)


def place_of(data, kind):
    return next(place for place, text in enumerate(data["stated"].values.astype(str)) if f'"{kind}/' in text)


def archived(data, **changes):
    return data.assign_attrs(archived=canonical_json(json.loads(data.attrs["archived"]) | changes))


def test_what_is_submitted_comes_out_again_and_is_listed(pipeline):
    told = checked(pipeline, "tiny.nc", "--note", "--config", "iterations=10")
    assert told.returncode == 0, told.stdout + told.stderr
    assert ", to round 10\n" in told.stdout
    assert json.loads((pipeline.folder / "tiny.checked.json").read_text())["rounds"] == 10
    told = checked(pipeline, "tiny.nc", "--note")
    assert told.returncode == 0
    assert "tiny.nc: whole, 2 branches; no other file of archive is against it" in told.stdout
    assert "regrets have equal bits: seed " in told.stdout
    assert ", to round" not in told.stdout
    assert "rounds" not in json.loads((pipeline.folder / "tiny.checked.json").read_text())
    pipeline.run("bocu", "archive", "add", "tiny.nc", "--folder", "archive")
    (pipeline.folder / "tiny.checked.json").rename(pipeline.folder / "archive/tiny.checked.json")
    listed = pipeline.run("bocu", "archive", "list", "--folder", "archive").stdout
    assert "Jane Doe; two cores; 20" in listed
    assert "archive: 1 file, 8 runs" in listed
    assert "seeds [" in listed
    assert (
        "hills/any/pe-gp-ucb" in pipeline.run("bocu", "archive", "list", "--folder", "archive", "--find", "pe-").stdout
    )
    again = pipeline.run("bocu", "archive", "add", "tiny.nc", "--folder", "archive", check=False)
    assert again.returncode == 1  # the same file under the same name


def test_identities_of_file_and_experiment_are_the_same(pipeline):
    of_file, of_experiment = (
        pipeline.run("bocu", "id", experiment).stdout for experiment in ("tiny.nc", "experiment.yaml")
    )
    assert of_file == of_experiment
    assert "pe-gp-ucb" in of_file


def test_seeds_run_elsewhere_join_those_that_were_submitted(pipeline, tmp_path):
    elsewhere = Pipeline(tmp_path)
    elsewhere.configuration(tiny(seeds={"first": 4, "count": 2, "per_job": 2}))
    elsewhere.snakemake("--configfile", "experiment.yaml", "--executor", "warm", "--jobs", "2")

    def join(file, folder="results/tiny", **options):
        file = pipeline.folder / file
        return elsewhere.run("bocu", "reduce", folder, "--add", str(file), "--output", "six.nc", **options)

    join("tiny.nc")
    told = checked(pipeline, str(tmp_path / "six.nc"))
    assert told.returncode == 0, told.stdout + told.stderr
    assert elsewhere.run("bocu", "id", "six.nc").stdout == pipeline.run("bocu", "id", "tiny.nc").stdout
    assert read_netcdf(tmp_path / "six.nc")["seed"].values.tolist() == list(range(6))

    revised = doctored(pipeline, lambda data: restated(data, place_of(data, "algorithm"), revision=7))
    told = join(revised, check=False).stderr
    assert re.match(r"error: \S+/doctored\.nc: algorithm '[\w-]+': known by \S+; wanted: \S+, as now\n", told)
    config = json.loads(read_netcdf(pipeline.folder / "tiny.nc").attrs["archived"])["config"]
    other = doctored(pipeline, lambda data: archived(data, config={**config, "threads": 2}))
    assert "doctored.nc: found another threads than the experiment has" in join(other, check=False).stderr
    (tmp_path / "results/tiny").rename(tmp_path / "tiny")
    assert "no record of what it was made from" in join("tiny.nc", "tiny", check=False).stderr


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data.drop_vars(["identity", "stated", "identities"]), "no identities"),
        (
            lambda data: restated(data, place_of(data, "problem"), revision=7),
            "of revision 7 of problem/hills; the code",
        ),
        (
            lambda data: data.assign(stated=data["stated"].copy(data=data["stated"].values[::-1])),
            "not that of what the file states",
        ),
        (lambda data: data, "duplicate: all of its 2 branches stand in tiny.nc, of the same seeds and rounds"),
        (
            lambda data: restated(data, place_of(data, "algorithm"), probe="0" * 16),
            "has another method under it",
        ),
        (lambda data: data.assign_attrs(reduced_version=99), "attribute 'reduced_version': found 99; allowed: 1"),
    ],
)
def test_what_does_not_belong_is_refused_before_anything_is_played(pipeline, change, told):
    found = checked(pipeline, doctored(pipeline, change))
    assert found.returncode == 1
    assert told in found.stdout + found.stderr
    assert "Traceback" not in found.stderr
    assert "Snakemake" not in found.stderr


def test_a_broken_file_and_an_edited_one_are_refused(pipeline):
    content = bytearray((pipeline.folder / "tiny.nc").read_bytes())
    (pipeline.folder / "cut.nc").write_bytes(content[: len(content) // 2])
    assert "not a readable NetCDF file" in checked(pipeline, "cut.nc").stderr
    (pipeline.folder / "text.nc").write_text("import os")
    assert "not a readable NetCDF file" in checked(pipeline, "text.nc").stderr
    (pipeline.folder / "edited.nc").write_bytes(content)
    with netCDF4.Dataset(pipeline.folder / "edited.nc", "a") as data:
        data["number"][0, 0] = 0.5 * data["number"][0, 0]
    assert "its contents were changed" in checked(pipeline, "edited.nc").stderr


def test_what_a_file_names_is_neither_imported_nor_read(pipeline):
    (pipeline.folder / "own.py").write_text("open('imported', 'w').close()\n", encoding="utf-8")
    hills = {"name": "hills", "label": "hills", "parameters": {"grid": 60}}
    of_own = {"iterations": 12, "problems": [hills], "algorithms": ["random", "own.py:Mine"]}
    a_place = {"iterations": 12, "problems": [{**hills, "parameters": {"initial": {"file": "/etc/passwd"}}}]}
    settings, elsewhere = {"settings": '{"algorithms": ["own.py:Mine"]}'}, {"experiment": "elsewhere/own.yaml"}
    for change, told in (
        (lambda data: archived(data, config=of_own), "own.py:Mine"),
        (lambda data: archived(data, config=a_place), "'/etc/passwd', which may be a place; not read without"),
        (lambda data: data.assign_attrs(settings), "settings: found algorithms; allowed: "),
        (lambda data: data.assign_attrs(elsewhere), "experiment: found 'elsewhere/own.yaml'"),
    ):
        found = pipeline.run("bocu", "verify", doctored(pipeline, change), "--replay", "1", check=False)
        assert found.returncode == 1
        assert told in found.stderr
    assert not (pipeline.folder / "imported").exists()


def test_a_doctored_number_does_not_come_out_again(pipeline):
    def lucky(data):
        number = data["number"].copy()
        number[(data["row_word"] == "final") & (data["row_algorithm"] == "pe-gp-ucb")] *= 0.5
        return data.assign(number=number)

    found = pipeline.run("bocu", "verify", doctored(pipeline, lucky), "--replay", "4", "--cores", "2", check=False)
    assert found.returncode == 1
    assert "hills/any/pe-gp-ucb (so), final: differs by " in found.stdout
    assert "first between rounds 12 and 12" in found.stdout or "first between rounds" in found.stdout


def test_a_new_method_stands_beside_all_others_and_none_of_them_is_run(pipeline):
    published = pipeline.folder / "docs/results"
    published.mkdir(parents=True)
    (published / "tiny.nc").write_bytes((pipeline.folder / "tiny.nc").read_bytes())
    seeds = {"first": 0, "count": 4, "per_job": 4}
    mine = tiny(name="mine", seeds=seeds, iterations=15, algorithms=["mle", "oracle", "random"], compare="archive")
    pipeline.configuration(mine, "mine.yaml")
    told = pipeline.run("bocu", "plan", "mine.yaml").stdout
    assert "archive: 1 branch of other methods in docs/results, which took " in told
    assert "left out" not in told  # random is there, of fewer rounds
    pipeline.snakemake("--configfile", "mine.yaml")
    page = pipeline.folder / "results/mine/report/index.html"
    text = page.read_text(encoding="utf-8")
    assert "1 branch of tiny.nc (Jane Doe; two cores; " in text
    assert "On hills up to round 12, which all have." in text
    with (page.parent / "tables/beside-the-archive.csv").open(encoding="utf-8", newline="") as file:
        assert {row["algorithm"] for row in csv.DictReader(file)} >= {"MLE", "PE-GP-UCB", "Random"}
    assert not list((pipeline.folder / "results/mine/runs").rglob("pe-gp-ucb"))
    assert "all stand" in pipeline.run("bocu", "verify", page).stdout
