"""What products say of the jobs that made them."""

import json

import numpy as np
import pytest
import xarray as xr

from bocu.core.io.chunks import chunk_file
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.io.hashes import contents_sha256, hash_files, sha256
from bocu.core.io.lineage import lineage_file, making, read_lineage, unfold
from bocu.problems.data.prepare import record_raw

PARAMETERS = {"score": {"branch": '{"a":[1,2.5]}', "fingerprint": "0123"}, "known": {"x.csv": None}, "mirror": "[odd"}
PLAIN = {"branch": {"a": [1, 2.5]}, "fingerprint": "0123", "known": {"x.csv": None}, "mirror": "[odd"}


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.csv"
    path.write_text("1,2\n")
    return str(path)


def data(value=1.0):
    return xr.Dataset({"x": ("n", np.full(3, value), {"long_name": "x", "units": "1"})}, attrs={"title": "t"})


def write_whole(path):
    write_netcdf(data(), path)


def write_in_parts(path):
    with chunk_file(path, {"n": 3}) as file:
        file.define("x", ("n",), "f8", {"long_name": "x", "units": "1"})
        file.write("x", (slice(None),), np.ones(3))


@pytest.mark.parametrize("write", [write_whole, write_in_parts])
def test_a_product_says_what_it_was_made_from_and_nothing_else_does(tmp_path, source, write):
    product, other = str(tmp_path / "product.nc"), str(tmp_path / "other.nc")
    with making([product], PARAMETERS, [source]):
        write(product)
        write(other)
    write(str(tmp_path / "later.nc"))
    found = read_lineage(product)
    assert found.parameters == PLAIN == unfold(PARAMETERS)
    assert found.inputs == {source: sha256(source)}
    assert read_lineage(other) is None
    assert read_lineage(tmp_path / "later.nc") is None


def test_readers_see_no_lineage_and_its_seal_leaves_it_out(tmp_path, source):
    product, other = str(tmp_path / "product.nc"), str(tmp_path / "other.nc")
    with making([product], PARAMETERS, [source]):
        write_netcdf(data(), product)
    write_netcdf(data(), other)
    assert read_netcdf(product, sealed=True).attrs == {"title": "t"}
    assert sha256(product) != sha256(other)
    assert contents_sha256(product) == contents_sha256(other)
    write_netcdf(data(2.0), other)
    assert contents_sha256(product) != contents_sha256(other)


def test_a_file_without_a_seal_is_told_by_its_bytes(tmp_path, source):
    broken = tmp_path / "broken.nc"
    broken.write_bytes(b"nothing")
    assert hash_files({"a": source, "b": [str(broken)]}) == {
        source: sha256(source),
        str(broken): sha256(broken),
    }


def test_a_lineage_longer_than_an_attribute_may_be_is_kept_whole(tmp_path, source):
    product = str(tmp_path / "product.nc")
    long = {"cube": {"description": json.dumps(["x" * 70_000, "y" * 70_000]), "fingerprint": "f"}}
    with making([product], long, [source]):
        write_netcdf(data(), product)
    assert read_lineage(product).parameters == {"description": ["x" * 70_000, "y" * 70_000], "fingerprint": "f"}
    assert read_netcdf(product).attrs == {"title": "t"}


def test_the_lineage_of_a_raw_file_stands_beside_it(tmp_path, source):
    raw = tmp_path / "raw.json"
    raw.write_text("{}")
    with making([str(raw)], {"fingerprint": "f"}, []):
        record_raw(raw, "0" * 64)
        record_raw(source, "1" * 64)
    assert read_lineage(raw).parameters == {"fingerprint": "f"}
    assert not lineage_file(source).exists()


def test_what_cannot_be_read_has_no_lineage(tmp_path):
    for name in ("a.nc", "a.json", "a.html", "a.csv"):
        (tmp_path / name).write_bytes(b"\x00{")
        assert read_lineage(tmp_path / name) is None
    assert read_lineage(tmp_path / "missing.nc") is None


def test_an_input_may_be_a_folder(tmp_path, source):
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner/a.csv").write_text("1\n")
    product = str(tmp_path / "product.nc")
    with making([product], PARAMETERS, [str(folder), source]):
        write_netcdf(data(), product)
    found = read_lineage(product).inputs
    assert found == {str(folder): sha256(folder), source: sha256(source)}
    (folder / ".snakemake_timestamp").touch()
    assert found[str(folder)] == sha256(folder)
    (folder / "inner/a.csv").rename(folder / "inner/b.csv")
    assert found[str(folder)] != sha256(folder)
    (folder / "inner/b.csv").rename(folder / "inner/a.csv")
    (folder / "inner/a.csv").write_text("2\n")
    assert found[str(folder)] != sha256(folder)
