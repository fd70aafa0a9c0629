"""From data sets to a report: a paper's experiment on real data. The quick start: tests/repository/test_wheel.py."""

import json

import numpy as np
import pytest
from experiments import tiny

from bocu.core.io.files import read_netcdf

pytestmark = pytest.mark.workflow

SENSORS = {"name": "sensors", "parameters": {"log": {"target": "2004-03-03"}}}


def test_snakemakes_own_report(pipeline):
    config = pipeline.configuration(tiny(iterations=6, seeds={"count": 2, "per_job": 2}))
    pipeline.snakemake("--configfile", config)
    pipeline.snakemake("--configfile", config, "--report", "own.html")
    page = (pipeline.folder / "own.html").read_text()
    assert "Cumulative regret on Ten hills: mean (lines) and one standard error (bands) over 2 seeds" in page
    assert "Robust Bayesian optimisation under a context" in page
    assert "the experiment <strong>tiny</strong>" in page
    assert all(f"tables/{table}.csv" in page for table in ("final-regret", "differences", "ranks"))
    assert (pipeline.folder / "own.html").stat().st_size > 100_000


@pytest.mark.real_data
def test_ziomek2025_on_the_real_temperatures(pipeline, root, mirror):
    # Simulated data of the same name lie about; nothing of them may get in.
    simulated = tiny(problems=[SENSORS], data="simulate", name="ziomek2025", seeds={"count": 2, "per_job": 2})
    pipeline.snakemake("--configfile", pipeline.configuration(simulated), "--", "data/simulate/intel/log-10min.nc")
    arguments = ("--configfile", root / "config/experiments/ziomek2025.yaml", "--config", f"mirror={mirror}")
    pipeline.snakemake(*arguments, "iterations=48", "seeds={first: 0, count: 2, per_job: 2}")
    results = pipeline.folder / "results/ziomek2025"
    cube = read_netcdf(results / "cubes/sensors.nc").sel(objective="any")
    assert cube.attrs["data_label"] == ""
    assert json.loads(cube.attrs["data_provenance"])["source"] == "mirror"
    assert (cube["status"] == 1).all()
    assert cube["prior"].values.tolist() == ["1", "2", "3", "4"]
    assert cube.sizes["iteration"] == 48
    regret = cube["regret"].sel(metric="so").mean(["seed", "iteration"])
    assert (regret > 0).all()
    # Any of the models beats a random sensor by far.
    assert float(regret.drop_sel(algorithm="random").max()) < 0.5 * float(regret.sel(algorithm="random"))
    forgetting = [float(read_netcdf(results / f"priors/sensors/{day}.nc")["forgetting"]) for day in "1234"]
    assert np.all((np.array(forgetting) > 0.05) & (np.array(forgetting) < 0.2))
    page = (results / "report/index.html").read_text()
    assert "<strong>Simulated data</strong>" not in page
    assert "Intel" in page
