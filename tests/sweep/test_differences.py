"""Results compared without their provenance, on files of the real run loop."""

import subprocess
import sys

import numpy as np
import pytest
from experiments import block
from typer.testing import CliRunner

from bocu.commands.main import app
from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.sweep.differences import file_differences, made_otherwise, pairs
from bocu.sweep.runs.execution import execute


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.nc"
    execute(block(), path, path.with_name("checkpoints"))
    return path


def edited(run_file, folder, edit):
    data = read_netcdf(run_file)
    data = edit(data) or data
    write_netcdf(data, folder / "edited.nc")
    return [f"{found.what}: {found.text}" for found in file_differences(run_file, folder / "edited.nc")]


def at(data, name, place, value):
    data[name].values[place] = value


def test_the_same_run_made_twice_is_identical_though_times_and_provenance_differ(run_file, tmp_path):
    execute(block(fingerprint="another"), tmp_path / "again.nc", tmp_path / "c")
    assert (tmp_path / "again.nc").read_bytes() != run_file.read_bytes()
    assert list(file_differences(run_file, tmp_path / "again.nc")) == []


def test_the_first_entry_that_differs_is_named_by_its_labels_with_the_largest_difference(run_file, tmp_path):
    payoff = read_netcdf(run_file)["payoff"].values

    def edit(data):
        at(data, "payoff", (1, 6), payoff[1, 6] + 0.5)
        at(data, "payoff", (2, 0), payoff[2, 0] - 2)

    (line,) = edited(run_file, tmp_path, edit)
    assert line.startswith("payoff: 2 of 120 entries differ, first at seed=1, iteration=7: ")
    assert line.endswith("largest difference 2")


def test_the_last_bit_counts(run_file, tmp_path):
    payoff = read_netcdf(run_file)["payoff"].values[0, 0]
    (line,) = edited(run_file, tmp_path, lambda data: at(data, "payoff", (0, 0), np.nextafter(payoff, 9)))
    assert line.startswith("payoff: 1 of 120 entries differ, first at seed=0, iteration=1: ")


def test_the_sign_of_zero_counts(run_file, tmp_path):
    base = tmp_path / "base.nc"
    data = read_netcdf(run_file)
    at(data, "payoff", (0, 0), 0.0)
    write_netcdf(data, base)
    (line,) = edited(base, tmp_path, lambda data: at(data, "payoff", (0, 0), -0.0))
    assert "0.0 against -0.0" in line


def test_a_hole_differs_from_a_number_but_not_from_a_hole(run_file, tmp_path):
    (line,) = edited(run_file, tmp_path, lambda data: at(data, "payoff", (0, 0), np.nan))
    assert "1 of them not a number in one file" in line
    holes = tmp_path / "holes.nc"
    data = read_netcdf(run_file)
    at(data, "payoff", (0, 0), np.nan)
    write_netcdf(data, holes)
    at(data, "payoff", (0, 0), np.copysign(np.nan, -1))  # another bit pattern, as a hole
    write_netcdf(data, tmp_path / "again.nc")
    assert list(file_differences(holes, tmp_path / "again.nc")) == []


EDITS = {
    "times": (lambda data: at(data, "seconds", (0, 0), 1e9), None),
    "fewer seeds": (lambda data: data.isel(seed=[0, 1]),
                    "payoff: sizes seed 3 x iteration 40 against seed 2 x iteration 40"),
    "other seeds": (lambda data: data.assign_coords(seed=("seed", [0, 1, 7], data.seed.attrs)),
                    "seed: 1 of 3 entries differ"),
    "variable gone": (lambda data: data.drop_vars("payoff"), "payoff: only in "),
    "variable new": (lambda data: data.assign(more=data.payoff), "more: only in "),
    "unit": (lambda data: data["payoff"].attrs.update(units="m"), "payoff: units: '1' against 'm'"),
    "label": (lambda data: data.attrs.update(data_label="simulated"), "attribute data_label: '' against 'simulated'"),
    "text": (lambda data: data.update({"stream_states": ("seed", ["a", "b", "c"], data.stream_states.attrs)}),
             "stream_states: 3 of 3 entries differ"),
    "type": (lambda data: data.update({"payoff": data.payoff.astype("f4")}), "payoff: type float64 against float32"),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_what_counts_as_a_difference(run_file, tmp_path, edit):
    change, wanted = EDITS[edit]

    def apply(data):
        changed = change(data)
        return changed if hasattr(changed, "data_vars") else None

    lines = edited(run_file, tmp_path, apply)
    if wanted is None:
        assert lines == []
    else:
        assert any(line.startswith(wanted) for line in lines), lines


def test_folders_are_matched_by_stage_and_logs_and_checkpoints_left_out(run_file, tmp_path):
    for name, files in (
        ("a", ["runs/p/x.nc", "scores/y.nc", "checkpoints/z.nc"]),
        ("b", ["runs/p/x.nc", "cubes/c.nc"]),
    ):
        for file in files:
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(run_file.read_bytes())
    both, alone = pairs(tmp_path / "a", tmp_path / "b")
    assert both == [(tmp_path / "a/runs/p/x.nc", tmp_path / "b/runs/p/x.nc")]
    assert alone == [tmp_path / "a/scores/y.nc", tmp_path / "b/cubes/c.nc"]
    told = CliRunner().invoke(app, ["diff", str(tmp_path / "a"), str(tmp_path / "b")])
    assert told.exit_code == 1
    assert told.stdout.splitlines() == [
        *(f"only {path}" for path in alone),
        "1 of 1 files identical, 2 only on one side",
    ]


def test_two_copies_of_what_is_no_result_are_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("the same")
    with pytest.raises(BocuError, match="not a readable NetCDF file"):
        list(file_differences(tmp_path / "a", tmp_path / "b"))


@pytest.mark.parametrize(
    ("other", "status", "output"), [("run.nc", 0, "identical"), ("edited.nc", 1, "differ"), ("none.nc", 2, "")]
)
def test_the_exit_status_is_that_of_diff(run_file, tmp_path, other, status, output):
    (tmp_path / "run.nc").write_bytes(run_file.read_bytes())
    edited(run_file, tmp_path, lambda data: at(data, "payoff", (0, 0), 5))
    command = [sys.executable, "-m", "bocu.commands.main", "diff", str(run_file), str(tmp_path / other)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status
    assert output in done.stdout
    if status == 2:
        assert done.stderr == f"error: {tmp_path / other}: no such file or folder\n"


def test_what_two_results_were_made_by_is_told_and_is_no_difference(run_file, tmp_path):
    def edit(data):
        data.attrs |= {"kernel": "SkylakeX, AVX512_SKX", "commit": "abc-dirty"}

    assert edited(run_file, tmp_path, edit) == []
    told, own = made_otherwise(run_file, tmp_path / "edited.nc"), read_netcdf(run_file).attrs
    assert told == f"kernel {own['kernel']} against SkylakeX, AVX512_SKX; commit {own['commit']} against abc-dirty"
    assert made_otherwise(run_file, run_file) == ""
