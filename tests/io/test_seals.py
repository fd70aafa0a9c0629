import numpy as np
import pytest
import xarray as xr

from bocu.core.errors import BrokenFileError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.io.lineage import SEAL, seal

NAMED = {"long_name": "x", "units": "1"}


def dataset() -> xr.Dataset:
    """Every kind of variable and attribute that files have."""
    variables = {
        "floats": (("row", "column"), np.array([[1.5, np.nan], [-0.0, np.inf]]), NAMED),
        "transposed": (("column", "row"), np.arange(4.0).reshape(2, 2).T, NAMED),
        "single": ("row", np.array([1, 2], "f4"), NAMED),
        "integers": ("row", np.array([-1, 2**40]), NAMED),
        "small": ("row", np.array([-1, 2], "i1"), {**NAMED, "flag_values": np.array([1, 2], "i1")}),
        "truths": ("row", np.array([True, False]), NAMED),
        "texts": ("row", ["", "Süd, 東"], NAMED),
        "objects": ("row", np.array(["a", "bcd"], object), NAMED),
        "scalar": ((), 3.5, NAMED),
        "text": ((), "one", NAMED),
    }
    data = xr.Dataset(variables, {"column": ("column", ["a", "b"], NAMED), "row": ("row", [3, 4], NAMED)})
    return data.assign_attrs(text="t", number=3, real=0.1, one=[5], many=[1.0, 2.0], words=["a", "b"])


def written(tmp_path, data: xr.Dataset):
    write_netcdf(data, tmp_path / "a.nc")
    return tmp_path / "a.nc"


def test_a_file_has_the_seal_of_what_was_written(tmp_path):
    data = dataset()
    with xr.open_dataset(written(tmp_path, data)) as stored:
        assert stored.attrs[SEAL] == seal(data) == seal(stored.load())
    assert SEAL not in read_netcdf(tmp_path / "a.nc").attrs


def test_times_are_sealed_as_they_are_stored_and_read_as_times(tmp_path):
    hours = {"long_name": "hour", "units": "hours since 2020-01-01 00:00:00"}
    data = xr.Dataset({"a": ("time", [1.0, 2.0], NAMED)}, {"time": ("time", [0.0, 1.0], hours)})
    read = read_netcdf(written(tmp_path, data))
    assert [str(time)[:13] for time in read["time"].values] == ["2020-01-01T00", "2020-01-01T01"]


CHANGES = {
    "a value": lambda data: data.assign(integers=data["integers"] + [0, 1]),
    "the sign of a zero": lambda data: data.assign(floats=data["floats"].where(data["floats"] != 0, 0.0)),
    "a type": lambda data: data.assign(single=data["single"].astype("f8")),
    "a text": lambda data: data.assign_coords(column=["a", "c"]),
    "the order of dimensions": lambda data: data.assign(floats=data["floats"].transpose()),
    "a name": lambda data: data.rename(single="double"),
    "an attribute": lambda data: data.assign_attrs(number=4),
    "an attribute of a variable": lambda data: data.assign(scalar=data["scalar"].assign_attrs(units="m")),
    "a variable less": lambda data: data.drop_vars("scalar"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_gives_another_seal(change):
    data = dataset()
    changed = CHANGES[change](data.copy(deep=True))
    assert seal(changed) != seal(data)


def test_a_file_that_was_edited_with_other_tools_is_refused(tmp_path):
    import netCDF4

    path = written(tmp_path, dataset())
    with netCDF4.Dataset(path, "a") as file:
        file["floats"][0, 0] = 1.25
    with pytest.raises(BrokenFileError, match=r"a\.nc: its contents were changed \(SHA-256 .* written with ") as caught:
        read_netcdf(path)
    assert "\n" not in str(caught.value)


def test_a_file_without_a_seal_is_read_unless_one_is_asked_for(tmp_path):
    dataset().to_netcdf(tmp_path / "a.nc")
    assert "floats" in read_netcdf(tmp_path / "a.nc")
    with pytest.raises(BrokenFileError, match=f"no attribute '{SEAL}'"):
        read_netcdf(tmp_path / "a.nc", sealed=True)


def test_every_array_has_checksums(tmp_path):
    import netCDF4

    with netCDF4.Dataset(written(tmp_path, dataset())) as file:
        for name, variable in file.variables.items():
            assert not variable.ndim or variable.filters()["fletcher32"], name
