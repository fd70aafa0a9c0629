"""A small prepared file of temperatures, and the catalogue."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bocu.core.io.files import write_netcdf
from bocu.problems.data.intel import intel_dataset

MINUTES = 60
STEPS = 24
SENSORS = 5


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """Three days of five sensors every hour; sensor 3 is silent on day 2."""
    generator = np.random.default_rng(0)
    walk = 20.0 + np.cumsum(0.4 * generator.standard_normal((SENSORS, 3 * STEPS)), axis=1)
    walk[2, STEPS : STEPS + 4] = np.nan
    positions = pd.DataFrame({"x": np.arange(5.0), "y": np.zeros(5)}, index=np.arange(1, 6))
    attrs = {"source": "simulate", "data_label": "simulated data", "title": "a stand-in"}
    dataset = intel_dataset(walk, np.isnan(walk), positions, ["1", "2", "3"], MINUTES, "min", attrs)
    path = tmp_path / "prepared.nc"
    write_netcdf(dataset, path)
    return path
