import inspect

import pytest
import yaml

from bocu.core.loading import load
from bocu.problems.data.catalogue import SOURCES, load_catalogue


def entry(**changes):
    file = {"name": "a.csv", "url": "http://127.0.0.1/a.csv"}
    record = {
        "description": "d",
        "sources": ["download"],
        "prepare": "bocu.problems.data.wind:prepare_wind",
        "files": [file],
    }
    dataset = {"title": "t", "homepage": "http://127.0.0.1", "licence": "l", "citation": "c", "records": {"r": record}}
    for key, value in changes.items():
        section = {"file": file, "record": record, "dataset": dataset}[key]
        section.update(value)
    return {"datasets": {"d": dataset}}


def write(tmp_path, content):
    path = tmp_path / "sources.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def test_every_data_set_can_be_simulated_or_came_with_the_project(catalogue):
    assert all(catalogue.source_of(dataset, "simulate") in ("simulate", "shipped") for dataset in catalogue.datasets)
    assert all(
        catalogue.available_records(dataset, catalogue.source_of(dataset, "simulate")) for dataset in catalogue.datasets
    )


def test_paths_of_two_sources_never_meet(catalogue):
    paths = {}
    for source in SOURCES:
        for name, dataset in catalogue.datasets.items():
            for record, form in dataset.records.items():
                if source not in form.sources:
                    continue
                found = [catalogue.prepared_path(name, record, source), *catalogue.raw_paths(name, record, source)]
                assert all(path.startswith(f"data/{source}/{name}/") for path in found)
                paths.setdefault(source, set()).update(found)
    assert not set.intersection(*paths.values())


def test_prepared_path_carries_the_interval(catalogue):
    assert catalogue.prepared_path("intel", "log", "mirror", 30) == "data/mirror/intel/log-30min.nc"
    assert catalogue.prepared_path("intel", "log", "simulate") == "data/simulate/intel/log-10min.nc"
    assert catalogue.prepared_path("intel", "matrices", "mirror") == "data/mirror/intel/matrices-30min.nc"
    assert catalogue.prepared_path("wind", "opsd", "download") == "data/download/wind/opsd.nc"


def test_records_of_a_mirror_are_those_whose_files_exist(catalogue, tmp_path):
    assert catalogue.available_records("wind", "mirror", tmp_path) == []
    (tmp_path / "wind").mkdir()
    (tmp_path / "wind" / "de_wind_2013_2014_levels.csv").touch()
    assert catalogue.available_records("wind", "mirror", tmp_path) == []
    (tmp_path / "wind" / "de_wind_reference_distribution.csv").touch()
    assert catalogue.available_records("wind", "mirror", tmp_path) == ["levels-2013-2014"]
    (tmp_path / "wind" / "time_series_60min_singleindex.csv").touch()
    assert catalogue.available_records("wind", "mirror", tmp_path) == ["opsd", "levels-2013-2014"]
    catalogue.check("wind", "opsd", "mirror", tmp_path)


def test_missing_mirror_file_is_named(catalogue, tmp_path, refused):
    with refused("data.mirror", str(tmp_path / "intel" / "mote_locs.txt"), "no such file", "'log'"):
        catalogue.check("intel", "log", "mirror", tmp_path)


def test_missing_mirror_folder_is_named(catalogue, tmp_path, refused):
    with refused("data.mirror", str(tmp_path / "nowhere"), "not a folder"):
        catalogue.check("plant", "svgp", "mirror", tmp_path / "nowhere")
    with refused("data.mirror", "not set"):
        catalogue.check("plant", "svgp", "mirror")


@pytest.mark.parametrize(("dataset", "record"), [("plant", "svgp"), ("infection", "runs")])
def test_what_is_published_as_a_pickle_has_no_download(catalogue, refused, dataset, record):
    assert catalogue.available_records(dataset, "download") == []
    with refused("data.source", "'download'", dataset, "allowed: mirror or shipped or simulate"):
        catalogue.check(dataset, record, "download")


def test_wrong_names_and_intervals_are_refused(catalogue, refused):
    with refused("no data set is called 'winds'", "did you mean 'wind'"):
        catalogue.raw_paths("winds", "opsd", "download")
    with refused("record of data set 'intel'", "'logs'", "did you mean 'log'"):
        catalogue.prepared_path("intel", "logs", "mirror")
    with refused("data.source", "'internet'", "download, mirror, shipped, simulate"):
        catalogue.available_records("wind", "internet")
    with refused("interval 7 min", "allowed: 10, 5, 15, 20, 30, 60"):
        catalogue.prepared_path("intel", "log", "mirror", 7)
    with refused("interval 10 min", "allowed: none"):
        catalogue.prepared_path("wind", "opsd", "simulate", 10)


def test_patterns_match_offered_files_only(catalogue):
    import re

    pattern = catalogue.patterns("simulate")
    assert re.fullmatch(pattern["file"], "port_n=100_seed=7")
    assert not re.fullmatch(pattern["file"], "intelTemperatureTrain.csv")
    assert set(catalogue.patterns("download")["dataset"].split("|")) == {"wind", "intel", "portfolio"}


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (entry(file={"sha265": "0"}), ["datasets.d.records.r.files.0.sha265", "unknown key", "did you mean 'sha256'"]),
        (entry(file={"bytes": "many"}), ["files.0.bytes", "'many'", "integer"]),
        (entry(file={"url": None}), ["datasets.d.records.r", "a.csv", "no url"]),
        (entry(record={"sources": ["web"]}), ["datasets.d.records.r.sources.0", "'web'", "mirror"]),
        ({"data": {}}, ["data: unknown key", "did you mean 'datasets'"]),
        ({"datasets": {"d": []}}, ["datasets.d"]),
        ("[1, 2]", ["mapping"]),
        ("datasets: [", ["line 2", "not YAML"]),
        ("datasets:\n  d: {}\n  d: {}", ["line 3", "'d' stands twice"]),
    ],
)
def test_wrong_catalogue_gets_one_line(tmp_path, refused, content, parts):
    path = write(tmp_path, content)
    with refused(str(path), *parts):
        load_catalogue(path)


@pytest.mark.real_data
def test_mirror_has_the_files_that_the_catalogue_describes(catalogue, mirror):
    from bocu.core.io.hashes import sha256

    for name, dataset in catalogue.datasets.items():
        for record in catalogue.available_records(name, "mirror", mirror):
            for file in dataset.records[record].files_of("mirror"):
                path = mirror / name / file.name
                if file.sha256:
                    assert sha256(path) == file.sha256
                if file.bytes:
                    assert path.stat().st_size == file.bytes


def test_a_prepared_file_that_no_source_brings_is_refused(catalogue, refused):
    assert catalogue.prepared_file("mirror", "intel", "matrices-30min").record == "matrices"
    with refused("no prepared data set is called 'data/download/intel/matrices-30min.nc'"):
        catalogue.prepared_file("download", "intel", "matrices-30min")


def test_what_prepares_a_record_is_a_function_that_can_be_imported(catalogue):
    for dataset in catalogue.datasets.values():
        for record in dataset.records.values():
            parameters = inspect.signature(load(record.prepare)).parameters
            assert list(parameters)[:3] == ["raw", "output", "origin"]
            assert ("minutes" in parameters) == (record.intervals is not None)


def test_what_prepares_a_record_is_named_as_module_and_function(tmp_path, refused):
    path = write(tmp_path, entry(record={"prepare": "prepare_wind"}))
    with refused(str(path), "datasets.d.records.r.prepare", "prepare_wind"):
        load_catalogue(path)
