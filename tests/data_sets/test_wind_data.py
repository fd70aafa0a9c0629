"""Wind: hand-made tables with each fault, and the carried files."""

import json

import numpy as np
import pytest

from bocu.core.io.files import read_netcdf
from bocu.problems.data.wind import prepare_wind, read_reference

ORIGIN = {"dataset": "wind", "record": "opsd", "source": "mirror", "title": "t", "licence": "l", "citation": "c"}
HEADER = "utc_timestamp,XX_other,DE_wind_capacity,DE_wind_generation_actual,DE_wind_profile"
ROWS = [
    "2017-01-01T00:00:00Z,,,,",
    "2017-01-01T01:00:00Z,,1000,400,0.4",
    "2017-01-01T02:00:00Z,x,1000,1100,1.1",
    "2017-01-01T03:00:00Z,,1000,250,",
    "2017-01-01T06:00:00Z,,1000,0,0",
]


def table(tmp_path, *rows, header=HEADER):
    path = tmp_path / "time_series_60min_singleindex.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def prepared(paths, tmp_path):
    output = tmp_path / "wind.nc"
    prepare_wind(paths, output, ORIGIN)
    dataset = read_netcdf(output)
    return dataset, json.loads(dataset.attrs["dropped"])


def test_profile_becomes_an_hourly_series_with_gaps_marked(tmp_path):
    dataset, dropped = prepared([table(tmp_path, *ROWS)], tmp_path)
    assert dataset["time"].values[[0, -1]].tolist() == [
        np.datetime64(hour).astype("datetime64[ns]").item() for hour in ("2017-01-01T01", "2017-01-01T06")
    ]
    np.testing.assert_allclose(dataset["capacity_factor"], [0.4, 1.0, 0.25, np.nan, np.nan, 0.0])
    assert dropped == {
        "hours_before_the_first_value": 1,
        "hours_after_the_last_value": 0,
        "profile_above_1_clipped": 1,
        "profile_computed_from_generation_and_capacity": 1,
        "hours_without_a_value": 2,
    }
    assert "2017-01-01T04 (2 h)" in dataset.attrs["notes"]
    assert dataset["capacity_factor"].attrs["units"] == "1"


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (["2017-01-01T01:00:00Z,,1000,4oo,0.4"], ["line 2", "'DE_wind_generation_actual'", "'4oo'", "a number"]),
        ([ROWS[2], ROWS[1]], ["line 3", "ascending"]),
        (["2017-01-01T01:30:00Z,,1000,400,0.4"], ["line 2", "whole hours"]),
        (["2017-01-01T01:00:00Z,,1000,400,-0.4"], ["line 2", "'DE_wind_profile'", "-0.4"]),
        ([ROWS[0]], ["'DE_wind_profile'", "no value"]),
    ],
)
def test_wrong_cells_are_named(tmp_path, refused, rows, parts):
    path = table(tmp_path, *rows)
    with refused(str(path), *parts):
        prepare_wind([path], tmp_path / "wind.nc", ORIGIN)
    assert not (tmp_path / "wind.nc").exists()


def test_a_missing_column_is_named(tmp_path, refused):
    path = table(tmp_path, header="utc_timestamp,DE_wind_capacity")
    with refused(str(path), "no column 'DE_wind_profile'", "utc_timestamp, DE_wind_capacity"):
        prepare_wind([path], tmp_path / "wind.nc", ORIGIN)


def levels(tmp_path, months, reference="0,0.5\n1,0.501\n"):
    path = tmp_path / "de_wind_2013_2014_levels.csv"
    rows = [f"{year},{month},{hour},{level}" for year, month, values in months for hour, level in enumerate(values)]
    path.write_text("\n".join(["year,month,hour_of_month,level_of_49", *rows]) + "\n")
    distribution = tmp_path / "de_wind_reference_distribution.csv"
    distribution.write_text("level_of_49,reference_probability\n" + reference)
    return [path, distribution]


def test_repeated_rows_are_dropped_and_short_months_marked(tmp_path):
    months = [(2013, 1, [*range(24)] * 31), (2013, 2, [23, *([7] * 670)]), (2013, 3, [7, *([5] * 744)])]
    dataset, dropped = prepared(levels(tmp_path, months), tmp_path)
    values = dataset["capacity_factor"].values
    assert len(values) == (31 + 28 + 31) * 24
    assert values[1] == 1 / 49
    assert values[744] == 7 / 49
    assert np.flatnonzero(np.isnan(values)).tolist() == [744 + 670, 744 + 671]
    assert values[744 + 672] == 5 / 49
    assert dropped == {"repeated_first_row_of_a_month": 2, "hours_without_a_value": 2}
    assert "2013-02 (2)" in dataset.attrs["notes"]


def test_a_whole_month_that_begins_like_the_last_one_ended_keeps_its_first_row(tmp_path):
    dataset, dropped = prepared(levels(tmp_path, [(2013, 1, [4] * 744), (2013, 2, [4] * 672)]), tmp_path)
    assert dropped == {"repeated_first_row_of_a_month": 0, "hours_without_a_value": 0}
    assert len(dataset["time"]) == 744 + 672


def test_reference_distribution_is_normalised(tmp_path):
    dataset, _ = prepared(levels(tmp_path, [(2013, 1, [4] * 744)]), tmp_path)
    assert dataset["reference_probability"].sum() == pytest.approx(1.0, abs=1e-15)
    assert dataset["level"].values.tolist() == [0.0, 1 / 49]
    assert dataset.attrs["reference_sum_as_published"] == pytest.approx(1.001)


@pytest.mark.parametrize(
    ("months", "reference", "parts"),
    [
        ([(2013, 1, [50])], "0,1\n", ["line 2", "'level_of_49'", "50", "0 to 49"]),
        ([(2013, 13, [1])], "0,1\n", ["line 2", "2013, 13, 0"]),
        ([(2013, 1, [1] * 746)], "0,1\n", ["2013-01 has 746 hours", "at most 744"]),
        ([(2013, 1, [1] * 744)], "0,0.7\n", ["reference_distribution.csv", "sum to 0.7"]),
    ],
)
def test_wrong_levels_are_named(tmp_path, refused, months, reference, parts):
    with refused(*parts):
        prepare_wind(levels(tmp_path, months, reference), tmp_path / "wind.nc", ORIGIN)
    assert not (tmp_path / "wind.nc").exists()


@pytest.mark.real_data
def test_carried_profile_has_one_hour_above_capacity(real_files, tmp_path):
    dataset, dropped = prepared(real_files("wind", "opsd-2017-2019"), tmp_path)
    assert len(dataset["time"]) == 26254
    assert dropped["profile_above_1_clipped"] == 1
    assert dropped["hours_without_a_value"] == 0
    assert dataset["time"].values[0] == np.datetime64("2017-01-01T01:00")


@pytest.mark.real_data
def test_carried_levels_repeat_at_all_boundaries_and_lack_four_hours(real_files, tmp_path):
    dataset, dropped = prepared(real_files("wind", "levels-2013-2014"), tmp_path)
    assert dropped == {"repeated_first_row_of_a_month": 23, "hours_without_a_value": 4}
    assert len(dataset["time"]) == 2 * 365 * 24
    assert dataset.attrs["reference_sum_as_published"] == pytest.approx(1.0003, abs=5e-5)
    missing = dataset["time"].values[np.isnan(dataset["capacity_factor"].values)]
    assert missing[0] == np.datetime64("2014-03-31T20:00")


@pytest.mark.real_data
def test_carried_reference_covers_all_levels(mirror):
    level, probability, _ = read_reference(mirror / "wind" / "de_wind_reference_distribution.csv")
    assert level.tolist() == list(range(50))
    assert probability.sum() == pytest.approx(1.0, abs=1e-12)
