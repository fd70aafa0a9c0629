"""Why files are stale: what needs no run of the pipeline."""

import os

import pytest
import xarray as xr
from experiments import tiny

from bocu.core.io.files import write_netcdf
from bocu.core.io.lineage import making
from bocu.sweep.experiment.fingerprints.fingerprint import source_files
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.staleness import Staleness


@pytest.fixture
def plan(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_plan(tiny(), sources_file=root / "data/sources.yaml", scripts=root / "workflow/scripts")


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
