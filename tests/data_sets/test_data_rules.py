"""The rules of the data stage through the real Snakefile, in a folder of its own."""

import os
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from experiments import tiny
from workflow.conftest import Pipeline

from bocu.core.io.files import read_netcdf

pytestmark = pytest.mark.workflow

TABLE = "time_series_60min_singleindex.csv"
HEADER = "utc_timestamp,DE_wind_capacity,DE_wind_generation_actual,DE_wind_profile\n"
GOOD = HEADER + "2013-01-01T00:00:00Z,1000,400,0.4\n2013-01-01T01:00:00Z,1000,500,0.5\n"


def snakemake_in(folder, root):
    """What runs Snakemake with a small experiment and a data source; gives its exit status and what it wrote."""

    def run(source, *targets, workflow=root, **environment):
        experiment = tiny(data=source, seeds=1, iterations=2, algorithms=["random"])
        pipeline = Pipeline(folder, environment)
        given = ("--snakefile", workflow / "Snakefile", "--configfile", pipeline.configuration(experiment))
        done = pipeline.run("snakemake", *given, "--cores", "1", *targets, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture
def snakemake(tmp_path, root):
    return snakemake_in(tmp_path, root)


def with_wind_table(folder):
    """A mirror, or the root of a web page, with a wind table."""
    path = folder / "elsewhere" / "wind" / TABLE
    path.parent.mkdir(parents=True)
    path.write_text(GOOD)
    return path.parents[1]


@pytest.fixture
def folder(tmp_path):
    return with_wind_table(tmp_path)


MIRROR = {"source": "mirror", "mirror": "elsewhere"}


@pytest.fixture(scope="module")
def mirrored_once(tmp_path_factory, root):
    """A folder whose mirror has a wind table, and what was made of it: one run for all tests that begin there."""
    there = tmp_path_factory.mktemp("mirrored")
    with_wind_table(there)
    status, output = snakemake_in(there, root)(MIRROR, "prepared_data")
    assert status == 0, output
    return there


@pytest.fixture
def mirrored(mirrored_once, tmp_path):
    """A copy of it, with its mirror."""
    shutil.copytree(mirrored_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "elsewhere"


def error_lines(output):
    """Return what jobs said, without the headline "error: RULE FILE failed" that each failed job gets."""
    return [line for line in output.splitlines() if line.startswith("error:") and not line.endswith(" failed")]


def files(folder):
    beside = ("log", "benchmark")
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and path.parent.name not in beside)


def test_simulated_data_are_prepared_once(snakemake, tmp_path):
    target = "data/simulate/plant/svgp.nc"
    status, output = snakemake("simulate", target)
    assert status == 0, output
    assert read_netcdf(tmp_path / target).attrs["simulated"] == "yes"
    raw = "marchantia_leaf_area_svgp.npz"
    assert files(tmp_path / "data") == sorted(
        name + record for name in (raw, f"{raw}.lineage.json", "svgp.nc") for record in ("", ".sha256")
    )
    assert {path.name for path in (tmp_path / "data/simulate/plant/benchmark").iterdir()} == {f"{raw}.tsv", "svgp.tsv"}
    status, output = snakemake("simulate", target)
    assert status == 0
    assert "Nothing to be done" in output


@pytest.mark.ci
def test_mirrored_data_lie_apart_from_simulated(mirrored, tmp_path):
    made = [name + record for name in ("opsd.nc", TABLE, f"{TABLE}.lineage.json") for record in ("", ".sha256")]
    assert files(tmp_path / "data/mirror") == sorted(made)
    assert {"runs.nc", "svgp.nc"} <= set(files(tmp_path / "data/shipped"))  # what the mirror lacks and the project has
    assert {path.name for path in (tmp_path / "data").iterdir()} == {"mirror", "shipped"}
    dataset = read_netcdf(tmp_path / "data" / "mirror" / "wind" / "opsd.nc")
    assert dataset.attrs["data_label"] == ""
    assert dataset["capacity_factor"].values.tolist() == [0.4, 0.5]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_downloads_come_from_another_address_where_one_is_set(snakemake, tmp_path, folder):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = {"BOCU_DATA_URL": f"http://127.0.0.1:{server.server_port}"}
        status, output = snakemake("download", "data/download/wind/opsd.nc", **address)
        assert status == 0, output
        (tmp_path / "data" / "download" / "wind" / "raw" / TABLE).unlink()
        (folder / "wind" / TABLE).write_text(GOOD + "\n")
        status, output = snakemake("download", f"data/download/wind/raw/{TABLE}", **address)
        server.shutdown()
        thread.join()
    assert status != 0
    (told,) = set(error_lines(output))
    assert f"recorded in data/download/wind/raw/{TABLE}.sha256" in told
    assert not (tmp_path / "data" / "download" / "wind" / "raw" / TABLE).exists()


def test_evaluations_of_the_simulated_portfolio_fan_out_over_jobs(snakemake):
    status, output = snakemake("simulate", "data/simulate/portfolio/samples.nc", "--dry-run")
    assert status == 0, output
    assert ["simulate", "30"] in [line.split() for line in output.splitlines()]


OPSD = "data/mirror/wind/opsd.nc"
RAW = f"data/mirror/wind/raw/{TABLE}"
MORE = GOOD + "2013-01-01T02:00:00Z,1000,600,0.6\n"


@pytest.mark.ci
def test_a_raw_file_that_was_changed_after_it_was_copied_is_set_aside_and_copied_again(snakemake, tmp_path, mirrored):
    (tmp_path / RAW).write_text(MORE)
    status, output = snakemake(MIRROR, OPSD)
    assert status != 0
    (told,) = set(error_lines(output))
    assert told.startswith(f"error: {RAW}: its contents were changed: SHA-256 ")
    assert told.endswith(f"renamed to {TABLE}.broken, the next call makes it again")
    assert (tmp_path / f"{RAW}.broken").read_text() == MORE
    status, output = snakemake(MIRROR, OPSD)
    assert status == 0, output
    assert (tmp_path / RAW).read_text() == GOOD
    assert read_netcdf(tmp_path / OPSD)["capacity_factor"].values.tolist() == [0.4, 0.5]


@pytest.mark.ci
def test_a_corrected_file_of_the_mirror_is_noticed_and_a_touched_one_is_none(snakemake, tmp_path, mirrored):
    os.utime(mirrored / "wind" / TABLE)
    assert "Nothing to be done" in snakemake(MIRROR, OPSD)[1]
    (mirrored / "wind" / TABLE).write_text(MORE)
    assert snakemake(MIRROR, OPSD)[0] != 0
    status, output = snakemake(MIRROR, OPSD)  # and not passed over the second time
    assert status != 0
    (told,) = set(error_lines(output))
    assert f"recorded in {RAW}.sha256; delete it to accept the change" in told
    (tmp_path / f"{RAW}.sha256").unlink()
    status, output = snakemake(MIRROR, OPSD)
    assert status == 0, output
    assert read_netcdf(tmp_path / OPSD)["capacity_factor"].values.tolist() == [0.4, 0.5, 0.6]
