"""Data sets that came with the project, and the reading of published pickles that they were made by."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pickles import arrays_within, main, read_pickle

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.io.hashes import sha256
from bocu.problems.data.catalogue import Catalogue
from bocu.problems.data.prepare import prepare

SHIPPED = [("plant", "svgp"), ("infection", "runs"), ("wind", "levels-2013-2014")]


@pytest.mark.parametrize(("dataset", "record"), SHIPPED)
def test_files_are_those_of_the_catalogue_with_their_licence(
    root: Path, catalogue: Catalogue, dataset: str, record: str
) -> None:
    folder = root / "data/shipped" / dataset
    known = catalogue.hashes(dataset, record, "shipped")
    for name, digest in known.items():
        assert sha256(folder / "raw" / name) == digest
        assert (folder / "raw" / f"{name}.sha256").read_text().split() == [digest, name]
    terms = (folder / "LICENSE").read_text()
    owner = re.search(r"Copyright \(c\) 20\d\d sebtsh", terms)
    assert "MIT License" in terms
    assert owner
    said = catalogue.dataset(dataset).licence + (catalogue.record(dataset, record).origin or "")
    assert owner[0] in said
    tracked = subprocess.run(
        ["git", "ls-files", "data/shipped"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    assert {f"data/shipped/{dataset}/raw/{name}" for name in known} <= set(tracked.split())
    assert not re.search(r"^data/shipped/[^/]+/[^/]+\.nc$", tracked, re.MULTILINE), "what is prepared is not shipped"


@pytest.mark.parametrize(
    ("dataset", "record"),
    [*SHIPPED, ("irrigation", "suffolk"), ("irrigation", "nebraska"), ("wake-steering", "row-of-three")],
)
def test_what_is_prepared_is_real_and_says_so(
    root: Path, catalogue: Catalogue, elsewhere: Path, dataset: str, record: str
) -> None:
    # No clone is at hand: the files are those of the package.
    raw = catalogue.raw_paths(dataset, record, "shipped")
    assert all(Path(file).is_absolute() for file in raw)
    before = {path: path.stat().st_mtime_ns for path in (root / "data/shipped").rglob("*")}
    function = catalogue.record(dataset, record).prepare
    prepare(function, raw, elsewhere / "out.nc", catalogue.origin(dataset, record, "shipped"))
    prepared = read_netcdf(elsewhere / "out.nc")
    attributes = prepared.attrs
    if dataset == "irrigation":
        price, of_water, fixed, unit = {"suffolk": (1000, 8, 6000, "GBP"), "nebraska": (180, 1, 1728, "USD")}[record]
        season = read_netcdf(raw[0])
        profit = price * season["dry_yield"].values.astype(float) - of_water * season["water"].values - fixed
        np.testing.assert_allclose(prepared["payoff"].values, profit, rtol=1e-12)
        assert (prepared["payoff"].attrs["units"], attributes["payoff_units"]) == (f"{unit}/ha", f"{unit}/ha")
    assert (attributes["simulated"], attributes["data_label"], attributes["source"]) == ("no", "", "shipped")
    assert {path: path.stat().st_mtime_ns for path in (root / "data/shipped").rglob("*")} == before


@pytest.mark.parametrize(
    ("dataset", "source", "served"),
    [
        ("plant", "download", "shipped"),
        ("plant", "shipped", "shipped"),
        ("plant", "simulate", "simulate"),
        ("intel", "shipped", "simulate"),
        ("intel", "download", "download"),
        ("infection", "mirror", "shipped"),
        ("wind", "mirror", "shipped"),
        ("wind", "download", "download"),
    ],
)
def test_what_a_source_does_not_bring_came_with_the_project(
    catalogue: Catalogue, tmp_path: Path, dataset: str, source: str, served: str
) -> None:
    assert catalogue.source_of(dataset, source, tmp_path) == served


def test_a_mirror_is_preferred_to_what_was_shipped(catalogue: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "infection").mkdir()
    (tmp_path / "infection/infection_X_y.npz").touch()
    assert catalogue.source_of("infection", "mirror", tmp_path) == "mirror"


class Published:
    """Stands for a class of some library that is not installed here."""

    def __init__(self, array: np.ndarray) -> None:
        self.itself = self
        self.array = array


class Harmful:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.write_text, (self.path, "run"))


def test_a_pickle_gives_its_arrays_and_runs_nothing(tmp_path: Path) -> None:
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(3)]
    content = {"first": Published(arrays[0]), "second": [arrays[1], Harmful(tmp_path / "left")]}
    (tmp_path / "file.p").write_bytes(pickle.dumps(content))
    found = arrays_within(read_pickle(tmp_path / "file.p"))
    assert len(found) == 2
    for one, other in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not (tmp_path / "left").exists()
    pickle.loads((tmp_path / "file.p").read_bytes())
    assert (tmp_path / "left").exists()


def test_runs_of_a_simulator_come_out_as_they_went_in(tmp_path: Path) -> None:
    inputs, values = np.random.default_rng(0).random((4, 5)), np.arange(4.0)
    (tmp_path / "runs.p").write_bytes(pickle.dumps((inputs, values[:, None])))
    main(["infection", str(tmp_path / "runs.p"), str(tmp_path / "runs.npz")])
    with np.load(tmp_path / "runs.npz", allow_pickle=False) as found:
        np.testing.assert_array_equal(found["X"], inputs)
        np.testing.assert_array_equal(found["y"], values)


def test_hours_of_wind_come_out_as_the_shipped_files_have_them(root: Path, tmp_path: Path) -> None:
    raw = root / "data/shipped/wind/raw"
    rows = np.loadtxt(raw / "de_wind_2013_2014_levels.csv", int, delimiter=",", skiprows=1)
    month = (rows[:, 0] - 2013) * 12 + rows[:, 1] - 1
    months = [np.linspace(0, 1, 50)[rows[month == each, 3]] for each in range(24)]
    shares = np.loadtxt(raw / "de_wind_reference_distribution.csv", delimiter=",", skiprows=1)[:, 1]
    (tmp_path / "wind.p").write_bytes(pickle.dumps((shares, months, [shares] * 24)))
    main(["wind", *(str(tmp_path / name) for name in ("wind.p", "levels.csv", "reference.csv"))])
    assert (tmp_path / "levels.csv").read_bytes() == (raw / "de_wind_2013_2014_levels.csv").read_bytes()
    assert (tmp_path / "reference.csv").read_bytes() == (raw / "de_wind_reference_distribution.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "found: nothing; allowed: plant"),
        (["plant", "one.p", "out.npz"], "allowed: plant PARAMETERS.p VARIABLES.p OUTPUT.npz"),
        (["infection", "missing.p", "out.npz"], "missing.p: cannot be read"),
        (["infection", "text.p", "out.npz"], "text.p: not a pickle that can be read"),
        (["infection", "none.p", "out.npz"], "none.p: 0 arrays; allowed: 2 or more"),
        (["plant", "none.p", "two.p", "out.npz"], r"none.p: 0 arrays under '.kernel.kernels\[0\].variance'"),
    ],
)
def test_what_is_not_such_a_pickle_is_refused(elsewhere: Path, arguments: list[str], message: str) -> None:
    Path("text.p").write_text("no pickle")
    Path("none.p").write_bytes(pickle.dumps({"a": 1}))
    Path("two.p").write_bytes(pickle.dumps([np.ones(1), np.ones(1)]))
    with pytest.raises(BocuError, match=message):
        main(arguments)
    assert not Path("out.npz").exists()


def test_the_command_ends_with_one_line(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(root / "data/pickles.py"), "infection", "nowhere.p", "out.npz"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
