"""The stand-ins: deterministic, labelled, of the schema of the real files, and prepared by the same code."""

import gzip
import hashlib
import importlib
import json

import numpy as np
import pandas as pd
import pytest
import torch

from bocu.core.io.files import read_netcdf
from bocu.core.io.provenance import SIMULATED_LABEL
from bocu.problems.data import raw_files
from bocu.problems.data.infection import prepare_infection
from bocu.problems.data.intel import load_days, prepare_log
from bocu.problems.data.means import load_mean
from bocu.problems.data.plant import prepare_plant
from bocu.problems.data.portfolio import read_samples
from bocu.problems.data.simulated import portfolio
from bocu.problems.data.simulated.infection import infections
from bocu.problems.data.wind import prepare_wind

LIGHT = [
    ("intel", "mote_locs.txt"),
    ("intel", "data.txt.gz"),
    ("wind", "time_series_60min_singleindex.csv"),
    ("plant", "marchantia_leaf_area_svgp.npz"),
    ("infection", "infection_X_y.npz"),
]


def simulate(dataset, file, folder):
    path = folder / file
    importlib.import_module(f"bocu.problems.data.simulated.{dataset}").simulate(path)
    return path


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated")
    return {file: simulate(dataset, file, folder) for dataset, file in LIGHT}


@pytest.fixture(scope="module")
def intel(raw, catalogue, tmp_path_factory):
    output = tmp_path_factory.mktemp("intel") / "log-10min.nc"
    prepare_log([raw["mote_locs.txt"], raw["data.txt.gz"]], output, catalogue.origin("intel", "log", "simulate"), 10)
    return output


@pytest.mark.parametrize(("dataset", "file"), LIGHT)
def test_every_call_writes_the_same_bytes(raw, tmp_path, dataset, file):
    assert simulate(dataset, file, tmp_path).read_bytes() == raw[file].read_bytes()


@pytest.mark.parametrize(
    ("file", "digest"),
    [
        ("mote_locs.txt", "3f0479fbb3a225a3"),
        ("data.txt.gz", "35605c98fba68225"),
        ("time_series_60min_singleindex.csv", "67468f271a930562"),
        ("marchantia_leaf_area_svgp.npz", "c9fdb534f29bf814"),
        ("infection_X_y.npz", "4e5cd32d242e6850"),
    ],
)
def test_stand_ins_stay_what_they_are(raw, file, digest):
    if file.endswith(".npz"):
        with np.load(raw[file], allow_pickle=False) as arrays:
            numbers = np.concatenate([arrays[name].ravel() for name in arrays if arrays[name].dtype == float])
        found = (np.round(numbers, 6) + 0.0).tobytes()  # one zero
    else:
        found = (gzip.open if file.endswith(".gz") else open)(raw[file], "rb").read()
    assert hashlib.sha256(found).hexdigest()[:16] == digest


def test_every_simulated_file_of_the_catalogue_has_a_simulator(catalogue):
    named = {(dataset, file) for dataset in catalogue.datasets for file in catalogue.file_names(dataset, "simulate")}
    expected = set(LIGHT) | {("portfolio", f"port_n=100_seed={number}") for number in range(1, 31)}
    assert named == expected


def test_raw_files_say_that_they_are_simulated(raw):
    assert raw_files.read_comment(raw["data.txt.gz"]) == SIMULATED_LABEL
    assert raw["mote_locs.txt"].read_text().startswith(f"# {SIMULATED_LABEL}\n1 ")
    assert set(pd.read_csv(raw["time_series_60min_singleindex.csv"])["simulated"]) == {"yes"}
    for file in ("marchantia_leaf_area_svgp.npz", "infection_X_y.npz"):
        with np.load(raw[file], allow_pickle=False) as arrays:
            assert str(arrays["data_label"]) == SIMULATED_LABEL


def test_log_has_the_schema_and_the_faults_of_the_real_one(raw, intel):
    with gzip.open(raw["data.txt.gz"], "rt") as stream:
        first = stream.readline().split()
    assert first[0] == "2004-02-28"
    assert len(first) == 8
    dropped = json.loads(read_netcdf(intel).attrs["dropped"])
    for reason in ("short_line", "mote_without_a_position", "temperature_of_a_dying_battery", "implausible_voltage"):
        assert dropped[reason] > 0, reason


@pytest.mark.parametrize("dataset", ["intel", "wind", "plant", "infection"])
def test_a_stand_in_put_into_a_mirror_stays_labelled(raw, catalogue, tmp_path, dataset):
    prepare = {"wind": prepare_wind, "plant": prepare_plant, "infection": prepare_infection, "intel": prepare_log}
    record = catalogue.available_records(dataset, "simulate")[0]
    files = [raw[name] for name in catalogue.file_names(dataset, "simulate")]
    minutes = [10] if dataset == "intel" else []
    prepare[dataset](files, tmp_path / "p.nc", catalogue.origin(dataset, record, "mirror"), *minutes)
    attrs = read_netcdf(tmp_path / "p.nc").attrs
    assert attrs["source"] == "mirror"
    assert attrs["data_label"] == SIMULATED_LABEL
    assert attrs["simulated"] == "yes"


def test_march_has_thirteen_prior_days_and_a_target(intel):
    days = load_days(intel, [f"2004-03-{day:02d}" for day in range(1, 15)])
    assert days.temperatures.shape == (14, 50, 144)
    assert not {5, 15, 18, 29} & set(days.sensors.tolist())


def test_lab_warms_by_day_and_differs_from_sensor_to_sensor_and_day_to_day(intel):
    temperatures = load_days(intel, [f"2004-03-{day:02d}" for day in range(1, 13)]).temperatures
    assert 10 < temperatures.min() < temperatures.max() < 40
    assert (temperatures[:5, :, 90].mean(axis=1) > temperatures[:5, :, 30].mean(axis=1) + 1).all()
    assert temperatures.max(axis=2).std(axis=1).min() > 0.3
    assert temperatures.mean(axis=(1, 2)).std() > 0.3
    assert len(set(temperatures[-1].argmax(axis=0).tolist())) >= 3


def test_simulated_wind_resembles_wind(raw, catalogue, tmp_path):
    prepare_wind(
        [raw["time_series_60min_singleindex.csv"]], tmp_path / "w.nc", catalogue.origin("wind", "opsd", "simulate")
    )
    dataset = read_netcdf(tmp_path / "w.nc")
    series = dataset["capacity_factor"].to_series()
    assert series.index[0] == pd.Timestamp("2013-01-01")
    assert series.index[-1] == pd.Timestamp("2019-12-31 23:00")
    assert series.isna().sum() == 6
    assert 0.15 < series.mean() < 0.4
    assert series.autocorr(1) > 0.97
    assert 0.3 < series.autocorr(24) < 0.8
    monthly = series.groupby(series.index.month).mean()
    assert monthly[[12, 1, 2]].mean() > 1.2 * monthly[[6, 7, 8]].mean()
    assert dataset.attrs["data_label"] == SIMULATED_LABEL


def test_simulated_plant_grows_best_at_moderate_ph_and_little_ammonia(raw, catalogue, tmp_path):
    prepare_plant(
        [raw["marchantia_leaf_area_svgp.npz"]], tmp_path / "p.nc", catalogue.origin("plant", "svgp", "simulate")
    )
    mean = load_mean(tmp_path / "p.nc")
    assert mean(np.array([3000.0, 4.4])) > 1
    for bad in ([28000.0, 4.4], [3000.0, 2.5], [3000.0, 6.5]):
        assert mean(np.array(bad)) < mean(np.array([3000.0, 4.4])) - 1


def test_simulated_infections_follow_transmission_and_tests(raw, catalogue, tmp_path):
    with np.load(raw["infection_X_y.npz"], allow_pickle=False) as arrays:
        x, y = arrays["X"], arrays["y"]
    assert x.shape == (4085, 5)
    assert (x[:, :2].sum(axis=1) <= 1).all()
    assert (x[:, 2:4].sum(axis=1) <= 1).all()
    assert abs(y.mean()) < 1e-12
    assert y.std() == pytest.approx(1.0)
    rising = infections(np.column_stack([np.full((5, 4), 0.3), np.linspace(0, 1, 5)]))
    assert (np.diff(rising) > 0).all()
    assert rising[-1] < 19000
    aimed = infections(np.array([[0.4, 0.4, 0.3, 0.3, 0.6], [0.0, 0.0, 0.3, 0.3, 0.6]]))
    assert aimed[0] < aimed[1]


@pytest.fixture
def short_market(monkeypatch):
    monkeypatch.setattr(portfolio, "DAYS", 12)
    monkeypatch.setattr(portfolio, "EVALUATIONS", 6)


def test_simulated_portfolio_has_the_schema_and_repeats(short_market, tmp_path):
    path = simulate("portfolio", "port_n=100_seed=3", tmp_path)
    x, y, label = read_samples(path)
    assert label == SIMULATED_LABEL
    assert x.shape == (6, 5)
    assert y.shape == (6,)
    assert torch.load(path, weights_only=True)["data_label"] == SIMULATED_LABEL
    again = read_samples(simulate("portfolio", "port_n=100_seed=3", tmp_path))
    np.testing.assert_array_equal(x, again[0])
    np.testing.assert_array_equal(y, again[1])
    other = read_samples(simulate("portfolio", "port_n=100_seed=4", tmp_path))
    assert not np.array_equal(x, other[0])
