"""Why files are stale: what needs no run of the pipeline."""

import os

import pytest
import xarray as xr
from experiments import tiny

from bocu.core.io.files import write_netcdf
from bocu.core.io.lineage import making
from bocu.sweep.experiment.fingerprints.fingerprint import source_files
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.staleness import Staleness, changed_inputs, changes


@pytest.fixture
def plan(elsewhere):
    return make_plan(tiny())


def test_of_edited_code_the_nearest_is_named(plan):
    summary = plan.paths.summary()
    with making([summary], {"fingerprint": "another"}, []):
        write_netcdf(xr.Dataset({"x": ("n", [1.0], {"long_name": "x", "units": "1"})}), summary)
    files = source_files([plan.parameters.script("summary")])
    names = [file.name for file in files]
    assert names[0] == "summary.py"
    assert names.index("cubes.py") < names.index("errors.py")
    os.utime(summary, (0, 0))  # every source file was edited since then
    (line,) = [line for line in Staleness(plan).explain(summary).reasons if line.startswith("code: ")]
    assert line == (
        f"code: changed; edited since then: {files[0]}, bocu/sweep/evaluation/cubes.py "
        f"and {len(files) - 2} further away"
    )


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ({"a": 1, "b": {"c": 2.0}}, {"a": 1, "b": {"c": 2.0}}, []),
        ({"a": {"b": 0.05}}, {"a": {"b": 0.07}}, ["a.b: 0.05 -> 0.07"]),
        ({"a": {"b": 1}}, {"a": {}}, ["a.b: 1 -> (none)"]),
        ({"a": {}}, {"a": {"b": None}}, ["a.b: (none) -> null"]),
        ({"a": None}, {"a": {"b": 1}}, ['a: null -> {"b": 1}']),
        ({"seeds": [0, 1]}, {"seeds": [0, 2]}, ["seeds.1: 1 -> 2"]),
        ({"l": [{"label": "x"}, {"label": "y"}]}, {"l": [{"label": "z"}, {"label": "y"}]},
         ['l.x: {"label": "x"} -> (none)', 'l.z: (none) -> {"label": "z"}']),
        ({"l": [{"label": "x", "v": 1}, {"label": "y"}]}, {"l": [{"label": "y"}, {"label": "x", "v": 2}]},
         ["l: other order", "l.x.v: 1 -> 2"]),
        ({"a": 1}, {"a": True}, ["a: 1 -> true"]),
        ({"a": 1}, {"a": 1.0}, ["a: 1 -> 1.0"]),
    ],
)  # fmt: skip
def test_every_key_that_differs_gets_a_line_and_no_other(old, new, lines):
    assert list(changes(old, new)) == lines


def test_branches_of_cubes_are_told_apart_by_objective_and_algorithm():
    old = [{"objective": "any", "algorithm": "mle", "p": 1}, {"objective": "any", "algorithm": "random", "p": 1}]
    (line,) = changes(old, old[1:], "branches")
    assert line.startswith("branches.any/mle: {")


def test_long_values_are_cut():
    line = next(changes({"a": "x" * 500}, {"a": 1}))
    assert line.endswith("... -> 1")
    assert len(line) < 100


OLD, NEW = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("recorded", "hashes", "lines"),
    [
        ({"x.nc": OLD}, {"x.nc": OLD}, []),
        ({"x.nc": OLD}, {"x.nc": NEW}, ["input x.nc: aaaaaaaaaaaa -> bbbbbbbbbbbb (SHA-256)"]),
        ({"x.nc": OLD}, {"x.nc": None}, []),
        ({"x.nc": OLD}, {"x.nc": OLD, "y.nc": NEW}, ["input y.nc: not used before"]),
        ({"x.nc": OLD}, {"y.nc": None, "x.nc": NEW}, ["input x.nc: aaaaaaaaaaaa -> bbbbbbbbbbbb (SHA-256)"]),
        ({"there/x.nc": OLD}, {"here/z.nc": OLD}, []),
        ({"there/x.nc": OLD}, {"here/x.nc": NEW}, ["input here/x.nc: aaaaaaaaaaaa -> bbbbbbbbbbbb (SHA-256)"]),
        ({"x.nc": OLD, "y.nc": NEW}, {"x.nc": OLD}, ["input y.nc: not used any more"]),
        ({"x.nc": OLD, "y.nc": NEW}, {"x.nc": OLD, "z.nc": None}, []),
    ],
)
def test_inputs_count_by_what_they_hold(recorded, hashes, lines):
    assert list(changed_inputs(recorded, hashes)) == lines
