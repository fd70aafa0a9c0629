"""The Intel lab: hand-made logs with each fault, the carried matrices, and the days that a problem asks for."""

import gzip
import json

import numpy as np
import pytest

from bocu.core.io.files import read_netcdf
from bocu.problems.data.intel import Cleaning, fill_gaps, load_days, prepare_log, prepare_matrices, read_positions

PLACES = "1 0.5 1\n2 2.5 1\n3 4 1\n"
ORIGIN = {"dataset": "intel", "record": "log", "source": "mirror", "title": "t", "licence": "l", "citation": "c"}


def line(mote, minute, temperature=20.0, day="2004-03-01", voltage=2.6):
    return f"{day} {minute // 60:02d}:{minute % 60:02d}:05.123 {minute} {mote} {temperature} 40.1 100.2 {voltage}"


def full_day(mote, day="2004-03-01", temperature=20.0):
    return [line(mote, minute, temperature, day) for minute in range(0, 1440, 60)]


@pytest.fixture
def prepare(tmp_path):
    """Prepare a log of these lines; gives the prepared file."""

    def run(lines, minutes=60, places=PLACES, origin=ORIGIN, **rules):
        raw = tmp_path / "raw"
        raw.mkdir(exist_ok=True)
        (raw / "mote_locs.txt").write_text(places)
        with gzip.open(raw / "data.txt.gz", "wt") as stream:
            stream.write("\n".join(lines) + "\n")
        output = tmp_path / "log.nc"
        prepare_log([raw / "mote_locs.txt", raw / "data.txt.gz"], output, origin, minutes, Cleaning(**rules))
        return output

    return run


def dropped(path):
    return json.loads(read_netcdf(path).attrs["dropped"])


def test_readings_of_an_interval_are_averaged(prepare):
    path = prepare([*full_day(1), line(1, 5, 26.0), line(1, 10, 23.0)])
    dataset = read_netcdf(path)
    assert dataset["temperature"].values[0, 0] == pytest.approx(23.0)
    assert dataset["readings"].values[0, :2].tolist() == [3, 1]
    assert dataset["temperature"].attrs["units"] == "degree_Celsius"


def test_time_is_real_time_over_whole_days(prepare):
    dataset = read_netcdf(prepare([line(1, 700), line(1, 700, day="2004-03-03")], minutes=30))
    assert dataset["time"].values[0] == np.datetime64("2004-03-01T00:00")
    assert dataset["time"].values[-1] == np.datetime64("2004-03-03T23:30")
    assert dataset["day"].values[[0, 47, 48, -1]].tolist() == ["2004-03-01", "2004-03-01", "2004-03-02", "2004-03-03"]
    assert dataset.attrs["step_seconds"] == 1800


def test_positions_are_in_metres(prepare):
    dataset = read_netcdf(prepare(full_day(1)))
    assert dataset["x"].values.tolist() == [0.5, 2.5, 4.0]
    assert dataset["x"].attrs["units"] == "m"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["2004-03-01 00:10:00 3 1 21.5", ""], "short_line"),
        ([line(77, 1), line(6401, 1)], "mote_without_a_position"),
        ([line(1, 1, day="2014-03-01"), line(1, 1, day="2004-02-27")], "outside_the_period"),
        ([line(1, 0), line(1, 0, 30.0)], "repeated_reading"),
        ([line(1, 1, 122.153), line(1, 2, 100.1)], "temperature_of_a_dying_battery"),
        ([line(1, 1, -38.4), line(1, 2, 65.0)], "temperature_impossible_in_an_office"),
        ([line(1, 1, voltage=2.03), line(1, 2, voltage=7.0)], "implausible_voltage"),
    ],
)
def test_each_fault_is_dropped_and_counted(prepare, lines, reason):
    path = prepare([*full_day(1), *lines])
    counts = dropped(path)
    assert counts.pop(reason) == 2
    assert set(counts.values()) == {0}
    assert (read_netcdf(path)["temperature"].values[0] == 20.0).all()


def test_an_interval_far_from_all_other_motes_is_dropped(prepare):
    places = "\n".join(f"{mote} {mote} 1" for mote in range(1, 7)) + "\n"
    lines = [reading for mote in range(1, 6) for reading in full_day(mote)]
    path = prepare([*lines, *full_day(6)[1:], line(6, 0, 40.0)], places=places)
    assert dropped(path)["interval_far_from_the_median_of_all_motes"] == 1
    dataset = read_netcdf(path)
    assert dataset["filled"].values[5, 0] == 1
    assert dataset["readings"].values[5, 0] == 0


def test_gaps_are_filled_linearly_within_a_day_and_flagged():
    values = np.array([[1.0, np.nan, 3.0, np.nan, np.nan, 5.0, 6.0, np.nan]])
    result, filled = fill_gaps(values, 4, 0.5)
    assert result.tolist() == [[1.0, 2.0, 3.0, 3.0, 5.0, 5.0, 6.0, 6.0]]
    assert filled.tolist() == [[False, True, False, True, True, False, False, True]]


def test_a_day_with_too_few_readings_is_not_filled():
    values = np.array([[1.0, np.nan, np.nan, np.nan, 5.0, np.nan, 6.0, 7.0]])
    result, filled = fill_gaps(values, 4, 0.5)
    assert np.isnan(result[0, 1:4]).all()
    assert result[0, 4:].tolist() == [5.0, 5.5, 6.0, 7.0]
    assert filled.sum() == 1


def test_attributes_tell_origin_and_drops(prepare):
    attrs = read_netcdf(prepare([*full_day(1), line(1, 1, 122.0)])).attrs
    assert set(json.loads(attrs["raw_sha256"])) == {"data.txt.gz", "mote_locs.txt"}
    assert attrs["source"] == "mirror"
    assert attrs["data_label"] == ""
    assert attrs["simulated"] == "no"
    assert "Motes without any complete day, faulty or silent: 2, 3." in attrs["notes"]


@pytest.mark.parametrize(
    ("bad", "parts"),
    [
        ("2004-03-01 00:10:00 3 1 2O.5 40 100 2.6", ["line 25", "column 'temperature'", "'2O.5'", "a number"]),
        ("2004-03-01 00:10:00 3 1 nan 40 100 2.6", ["line 25", "column 'temperature'", "'nan'"]),
        ("2004-03-01 00:10:00 3 1 20 40 100 2.6 9", ["line 25", "9 fields", "at most 8"]),
        ("2004-13-01 00:10:00 3 1 20 40 100 2.6", ["line 25", "'2004-13-01 00:10:00'", "yyyy-mm-dd"]),
    ],
)
def test_a_line_that_is_no_reading_is_refused(prepare, tmp_path, refused, bad, parts):
    with refused("data.txt.gz", *parts):
        prepare([*full_day(1), bad])
    assert not (tmp_path / "log.nc").exists()


def test_a_truncated_log_is_refused(tmp_path, prepare, refused):
    prepare(full_day(1))
    raw = tmp_path / "raw"
    whole = (raw / "data.txt.gz").read_bytes()
    (tmp_path / "log.nc").unlink()
    for content in (whole[: len(whole) // 2], b"not gzip at all", whole[:-12] + b"x" * 12):
        (raw / "data.txt.gz").write_bytes(content)
        with refused("data.txt.gz", "corrupt or truncated"):
            prepare_log([raw / "mote_locs.txt", raw / "data.txt.gz"], tmp_path / "log.nc", ORIGIN, 60)
        assert not (tmp_path / "log.nc").exists()


def test_an_empty_log_and_one_without_good_readings_are_refused(prepare, refused):
    with refused("data.txt.gz", "no reading is left", "short_line 1"):
        prepare([])
    with refused("data.txt.gz", "no reading is left", "temperature_of_a_dying_battery 1"):
        prepare([line(1, 1, 120.0)])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1 2 3\n2 x 4\n", ["line 2", "'2 x 4'", "mote x y"]),
        ("1 2 3\n1 2 3\n", ["line 2", "mote 1 comes twice"]),
        ("# nothing\n", ["no position"]),
    ],
)
def test_wrong_positions_are_refused(tmp_path, refused, text, parts):
    path = tmp_path / "mote_locs.txt"
    path.write_text(text)
    with refused(str(path), *parts):
        read_positions(path)


def test_days_have_only_sensors_that_are_complete_on_all_of_them(prepare, caplog):
    caplog.set_level("INFO")
    first, second = "2004-03-01", "2004-03-02"
    lines = [*full_day(1, first), *full_day(1, second, 21.0), *full_day(2, first), *full_day(3, first, 19.0)]
    path = prepare([*lines, *full_day(3, second, 22.0), *full_day(2, second)[:3]])
    days = load_days(path, [second, first])
    assert days.temperatures.shape == (2, 2, 24)
    assert days.temperatures[:, :, 0].tolist() == [[21.0, 22.0], [20.0, 19.0]]
    assert days.sensors.tolist() == [1, 3]
    assert days.step_seconds == 3600
    assert days.labels == [second, first]
    assert "1 of 3 sensors left out (2: too few readings on 2004-03-02)" in caplog.text


def test_a_day_without_data_is_named(prepare, refused):
    lines = [*full_day(1), *full_day(1, "2004-03-03"), line(1, 0, day="2004-03-04")]
    path = prepare(lines)
    with refused(str(path), "'2004-03-09'", "2004-03-01 to 2004-03-04"):
        load_days(path, ["2004-03-01", "2004-03-09"])
    with refused(str(path), "'2004-03-02'", "no sensor without gaps"):
        load_days(path, ["2004-03-01", "2004-03-02"])
    with refused(str(path), "'2004-03-04'", "no sensor without gaps"):
        load_days(path, ["2004-03-04"])
    with refused(str(path), "no day is asked for"):
        load_days(path, [])


def test_days_without_a_common_sensor_are_refused(prepare, refused):
    path = prepare([*full_day(1), *full_day(2, "2004-03-02")])
    with refused(str(path), "no sensor is complete on all 2 days"):
        load_days(path, ["2004-03-01", "2004-03-02"])


def test_a_corrupt_prepared_file_is_named(tmp_path, refused):
    path = tmp_path / "log-10min.nc"
    path.write_bytes(b"CDF rubbish" * 100)
    with refused(str(path), "not a readable NetCDF file"):
        load_days(path, ["2004-03-01"])


def matrices(tmp_path, train=None, test=None):
    good = {3: np.arange(288).reshape(2, 144) / 10, 2: np.arange(192).reshape(2, 96) / 10}
    paths = []
    for name, days, text in (("intelTemperatureTrain.csv", 3, train), ("intelTemperatureTest.csv", 2, test)):
        path = tmp_path / name
        path.write_text(text or "\n".join(",".join(f"{v:.2E}" for v in row) for row in good[days]) + "\n")
        paths.append(path)
    return paths


def test_matrices_become_five_labelled_days(tmp_path):
    output = tmp_path / "matrices.nc"
    prepare_matrices(matrices(tmp_path), output, ORIGIN)
    days = load_days(output, ["5", 1])
    assert days.temperatures.shape == (2, 2, 48)
    assert days.temperatures[1, 0, :2].tolist() == [0.0, 0.1]
    assert days.temperatures[0, 0, 0] == 4.8
    assert days.step_seconds == 1800
    assert days.labels == ["5", "1"]


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"train": "1,2,3\n"}, ["Train.csv", "line 1", "3 columns", "144"]),
        ({"test": ",".join(["1"] * 95 + ["warm"]) + "\n"}, ["Test.csv", "line 1", "column 96", "'warm'"]),
        ({"test": ",".join(["1"] * 96) + "\n"}, ["Test.csv", "2 in intelTemperatureTrain.csv and 1"]),
    ],
)
def test_wrong_matrices_are_refused(tmp_path, refused, change, parts):
    with refused(*parts):
        prepare_matrices(matrices(tmp_path, **change), tmp_path / "matrices.nc", ORIGIN)
    assert not (tmp_path / "matrices.nc").exists()


@pytest.mark.real_data
def test_carried_matrices_are_fifty_sensors_on_five_days(real_files, tmp_path, catalogue):
    output = tmp_path / "matrices.nc"
    prepare_matrices(real_files("intel", "matrices"), output, catalogue.origin("intel", "matrices", "mirror"))
    days = load_days(output, ["1", "2", "3", "4", "5"])
    assert days.temperatures.shape == (5, 50, 48)
    assert days.temperatures.min() == 13.6
    assert days.temperatures.max() == 36.4


@pytest.mark.real_data
def test_carried_positions_are_54_motes(mirror):
    positions = read_positions(mirror / "intel" / "mote_locs.txt")
    assert positions.index.tolist() == list(range(1, 55))
    assert positions.loc[1].tolist() == [21.5, 23.0]
