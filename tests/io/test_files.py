import os
import re
import socket
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import atomic_path, canonical_json, read_netcdf, write_netcdf, write_text
from bocu.core.io.yaml_files import DEEPEST, parse_yaml


def dataset() -> xr.Dataset:
    data = xr.Dataset({"a": ("x", np.arange(5.0), {"long_name": "a", "units": "m"})})
    data["x"] = ("x", list("vwxyz"), {"long_name": "x", "units": "1"})
    return data


def leftovers(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]


def test_nothing_stays_when_writing_fails(tmp_path):
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_of_dead_processes_are_swept_and_others_kept(tmp_path):
    host = socket.gethostname().split(".")[0]
    dead = tmp_path / f".a.txt.{host}.999999999.tmp"
    alive = tmp_path / f".a.txt.{host}.{os.getppid()}.tmp"
    elsewhere = tmp_path / ".a.txt.another-host.999999999.tmp"
    for path in (dead, alive, elsewhere):
        path.write_text("half")
    write_text(tmp_path / "a.txt", "whole")
    assert sorted(leftovers(tmp_path)) == sorted([alive.name, elsewhere.name])


def test_netcdf_round_trip_keeps_values_coordinates_and_attributes(tmp_path):
    write_netcdf(dataset(), tmp_path / "a.nc")
    xr.testing.assert_identical(read_netcdf(tmp_path / "a.nc"), dataset())


def test_what_takes_more_memory_than_it_may_is_refused(tmp_path):
    write_netcdf(dataset(), tmp_path / "a.nc")
    assert read_netcdf(tmp_path / "a.nc", largest=100) is not None
    with pytest.raises(BrokenFileError, match="bytes in memory; allowed: 40"):
        read_netcdf(tmp_path / "a.nc", largest=40)


def test_variable_without_units_is_refused(tmp_path):
    data = dataset()
    del data["a"].attrs["units"]
    with pytest.raises(BocuError, match="variable 'a' has no attribute units"):
        write_netcdf(data, tmp_path / "a.nc")
    assert list(tmp_path.iterdir()) == []


def test_attribute_too_long_for_readers_is_refused(tmp_path):
    data = dataset().assign_attrs(note="x" * 70_000)
    with pytest.raises(BocuError, match="'note' has 70000 bytes"):
        write_netcdf(data, tmp_path / "a.nc")


@pytest.mark.parametrize("keep", [0, 100, 2000])
def test_truncated_netcdf_gets_one_line_with_its_name(tmp_path, keep):
    path = tmp_path / "a.nc"
    write_netcdf(dataset(), path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(BocuError, match=r"a\.nc: not a readable NetCDF file") as caught:
        read_netcdf(path)
    assert "\n" not in str(caught.value)


def test_missing_netcdf_gets_one_line_with_its_name(tmp_path):
    with pytest.raises(BocuError, match=r"a\.nc: no such file"):
        read_netcdf(tmp_path / "a.nc")


def test_canonical_json_ignores_the_order_of_keys():
    assert canonical_json({"b": 1, "a": [1.5, None]}) == canonical_json({"a": [1.5, None], "b": 1})


def test_canonical_json_refuses_what_is_not_a_number():
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"a": float("nan")})


NO_ROOM = """
import resource, sys
import numpy as np, xarray as xr
from bocu.core.errors import BocuError
from bocu.core.io.files import write_netcdf
numbers = np.random.default_rng(0).random(50_000)
data = xr.Dataset({"a": ("x", numbers, {"long_name": "a", "units": "1"})})
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
try:
    write_netcdf(data, sys.argv[1])
except BocuError as error:
    print(error)
"""


def test_a_netcdf_file_that_finds_no_room_is_named_in_one_line(tmp_path):
    path = tmp_path / "a.nc"
    done = subprocess.run([sys.executable, "-c", NO_ROOM, str(path)], capture_output=True, text=True)
    assert re.fullmatch(rf"{path}: could not be written: NetCDF: .*; \d+ MB are free there\n", done.stdout), done
    assert list(tmp_path.iterdir()) == []


def test_yaml_may_be_long_but_not_deep():
    siblings = "- []\n" * 3 * DEEPEST
    deep = "- " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1)
    assert len(parse_yaml(siblings + deep)) == 3 * DEEPEST + 1
    with pytest.raises(BocuError, match=f"line {3 * DEEPEST + 1}: nested too deeply; allowed: up to {DEEPEST} levels"):
        parse_yaml(siblings + deep.replace("- [", "- [["))
