"""Files that are gone or broken, through the real pipeline: made again, and never passed over."""

import importlib.util
import re
import shutil
import subprocess

import netCDF4
import pytest
from experiments import tiny
from workflow.conftest import Pipeline

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_netcdf
from bocu.sweep.jobs import fault_told

pytestmark = [pytest.mark.ci, pytest.mark.workflow]

RUN = "results/tiny/runs/hills/any/random/seeds-0-1.nc"
SCORE = "results/tiny/scores/hills/any/random.nc"
CUBE = "results/tiny/cubes/hills.nc"
DIGEST = "results/tiny/digests/hills.nc"
FIGURE = "results/tiny/figures/hills/regret"
REPORT = "results/tiny/report"
FILES = 24 + 8 * (importlib.util.find_spec("pyarrow") is not None)  # with it tables stand as Parquet too
LOCAL = ("--executor", "local")  # which has no line of its own beside that of the job
PRODUCTS = {
    RUN: {"run", "score", "cube", "summary", "figure", "report"},
    SCORE: {"score", "cube", "summary", "figure", "report"},
    CUBE: {"cube", "summary", "figure", "report"},
    DIGEST: {"cube", "summary", "figure", "report"},
    "results/tiny/cubes/summary.nc": {"summary", "report"},
    f"{FIGURE}.svg": {"figure", "report"},
    f"{FIGURE}.json": {"figure", "report"},
    f"{REPORT}/tables": {"report"},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, root):
    pipeline = Pipeline(tmp_path_factory.mktemp("finished"))
    (pipeline.folder / "data").mkdir()
    shutil.copy(root / "data/sources.yaml", pipeline.folder / "data")
    pipeline.snakemake("--configfile", pipeline.configuration(tiny()))
    return pipeline


@pytest.fixture
def there(finished, pipeline):
    """A finished experiment, in a copy that a test may damage; links to the run cache stay links."""
    subprocess.run(["cp", "-a", f"{finished.folder}/.", pipeline.folder], check=True)
    return pipeline


def everything(pipeline, *options, check=True):
    return pipeline.snakemake("--configfile", pipeline.folder / "experiment.yaml", *options, check=check)


def error_lines(done):
    return {line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")}


def truncate(path):
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_product_that_was_deleted_is_made_again(there, product):
    path = there.folder / product
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    planned = there.planned("--configfile", there.folder / "experiment.yaml")
    assert set(planned) - {"all"} == PRODUCTS[product]


def test_what_was_deleted_stands_again_after_one_call(there):
    for product in (RUN, SCORE, f"{FIGURE}.json"):
        (there.folder / product).unlink()
    everything(there)
    assert all((there.folder / product).exists() for product in PRODUCTS)
    again = everything(there)
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.parametrize("product", [RUN, DIGEST])
def test_a_truncated_file_is_set_aside_and_made_by_the_next_call(there, product):
    truncate(there.folder / product)
    first = everything(there, check=False)
    assert first.returncode != 0
    lines = [line for line in error_lines(first) if line.startswith(f"error: {product}: its contents were changed")]
    name = product.rpartition("/")[2]
    assert lines
    assert all(line.endswith(f"; renamed to {name}.broken, the next call makes it again") for line in lines)
    assert "Traceback" not in first.stdout + first.stderr
    assert (there.folder / f"{product}.broken").exists()
    everything(there)
    assert verified(there, 0)[0] == []


def test_no_cube_is_made_from_scores_that_were_edited(there):
    before, cube = read_netcdf(there.folder / SCORE)["regret"], (there.folder / CUBE).read_bytes()
    with netCDF4.Dataset(there.folder / SCORE, "a") as file:
        file["regret"][:] += 5.0
    ((fault,), _) = verified(there, 1)
    assert re.fullmatch(
        rf"{SCORE}: its contents were changed: SHA-256 [0-9a-f]{{64}}; written by rule score, [-0-9]+ [:0-9]+, with "
        r"[0-9a-f]{64}; delete it, and `snakemake --snakefile \S+ --cores all --configfile \S+` makes it again",
        fault,
    )
    first = everything(there, *LOCAL, check=False)
    assert first.returncode != 0
    (line,) = error_lines(first)
    assert line.startswith(f"error: {SCORE}: its contents were changed: ")
    assert line.endswith("; renamed to random.nc.broken, the next call makes it again")
    assert not (there.folder / CUBE).exists() or (there.folder / CUBE).read_bytes() == cube
    everything(there)
    assert read_netcdf(there.folder / SCORE)["regret"].identical(before)
    assert verified(there, 0)[0] == []


@pytest.mark.parametrize("path", ["own.nc", "data/own.nc", "../results/own.nc"])
def test_a_file_of_the_users_own_is_never_renamed(tmp_path, monkeypatch, path):
    (tmp_path / "here/data").mkdir(parents=True)
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here" / path).write_text("not NetCDF")
    error = BrokenFileError(path, "broken")
    assert fault_told(error) == str(error) == f"{path}: broken; delete it and it will be made again"
    assert (tmp_path / "here" / path).exists()
    assert fault_told(BocuError("a fault")) == "a fault"


# bocu verify


def verified(pipeline, status):
    done = pipeline.run("bocu", "verify", "experiment.yaml", check=False)
    assert done.returncode == status, done.stdout + done.stderr
    *faults, count = done.stdout.splitlines()
    return faults, count


def test_verify_reads_all_and_finds_nothing_in_what_was_just_made(there):
    assert verified(there, 0) == ([], f"results/tiny: {FILES} files read, 0 faults, 0 not made yet")


def test_verify_names_each_fault_and_changes_nothing(there):
    pictures = [f"{FIGURE}.{suffix}" for suffix in ("png", "svg", "pdf", "json")]
    products = [RUN, SCORE, CUBE, "results/tiny/cubes/summary.nc", *pictures]
    for product in (*products, f"{REPORT}/index.html"):
        truncate(there.folder / product)
    (there.folder / RUN.replace("0-1", "2-3")).unlink()
    faults, count = verified(there, 1)
    assert [fault.partition(": ")[0] for fault in faults] == [*products, f"{REPORT}/index.html"]
    assert count == f"results/tiny: {FILES - 1} files read, 9 faults, 1 not made yet"
    assert not list(there.folder.rglob("*.broken"))


def test_results_of_an_earlier_version_are_recorded_once(there):
    recorded = list((there.folder / "results/tiny").rglob("*.sha256"))
    for record in recorded:
        record.unlink()
    told = "results/tiny: {} files read, 0 faults, 0 not made yet"
    first = f"{told.format(FILES)}, {FILES} without a record of their SHA-256, which they have from now on"
    assert verified(there, 0) == ([], first)
    assert verified(there, 0) == ([], told.format(FILES))
    truncate(there.folder / f"{FIGURE}.svg")
    ((fault,), _) = verified(there, 1)
    assert "; written by bocu verify, " in fault


def test_verify_compares_raw_files_and_those_of_the_mirror(pipeline, root):
    (pipeline.folder / "data").mkdir()
    shutil.copy(root / "data/sources.yaml", pipeline.folder / "data")
    table = "time_series_60min_singleindex.csv"
    own = pipeline.folder / "mirror/wind" / table
    own.parent.mkdir(parents=True)
    hours = [f"2013-01-{1 + hour // 24:02d}T{hour % 24:02d}:00:00Z,1000,{400 + hour},0.4" for hour in range(48)]
    own.write_text("\n".join(["utc_timestamp,DE_wind_capacity,DE_wind_generation_actual,DE_wind_profile", *hours, ""]))
    config = pipeline.configuration(tiny(problems=["wind-commitment"], mirror="mirror", algorithms=["random"]))
    prepared = "data/mirror/wind/opsd.nc"
    pipeline.snakemake("--configfile", config, "--", prepared)
    faults, count = verified(pipeline, 0)
    assert faults == []
    assert count.startswith("results/tiny: 5 files read, 0 faults, ")
    own.write_text(own.read_text().replace("447", "448"))
    copy = pipeline.folder / "data/mirror/wind/raw" / table
    copy.write_text(copy.read_text().replace("447", "449"))
    faults, _ = verified(pipeline, 1)
    raw = f"data/mirror/wind/raw/{table}"
    assert [fault.partition(": ")[0] for fault in faults] == [raw, f"mirror/wind/{table}"]
    assert "its contents were changed: SHA-256" in faults[0]
    assert f"{prepared} was made of a file with" in faults[1]
