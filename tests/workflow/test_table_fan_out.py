"""Tables that simulators fill, computed anew by the workflow."""

import numpy as np
import pytest
import xarray as xr
from experiments import tiny

# In parts, and samples of the shipped tables: tests/data_sets/test_simulators.py.
pytestmark = [pytest.mark.workflow, pytest.mark.drill]
TABLE = "data/compute/wake-steering/row-of-three.nc"


def test_the_workflow_computes_the_shipped_table_of_wakes(pipeline, root):
    pytest.importorskip("floris")
    experiment = tiny(data="shipped", problems=["wake-steering"], algorithms=["random"])
    pipeline.snakemake("--configfile", pipeline.configuration(experiment), "--", TABLE)
    with (
        xr.open_dataset(pipeline.folder / TABLE) as found,
        xr.open_dataset(root / "data/shipped/wake-steering/raw/row_of_three.nc") as shipped,
    ):
        for name in shipped.data_vars:
            np.testing.assert_allclose(found[name], shipped[name], rtol=1e-12, atol=1e-9)
