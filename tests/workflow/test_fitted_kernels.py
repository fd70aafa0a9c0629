"""A new problem that states no kernel: a job fits one, once, and the page says which kernel is believed in."""

import re

import numpy as np
import pytest
from workflow.conftest import Pipeline

from bocu.core.io.files import read_netcdf

pytestmark = [pytest.mark.workflow, pytest.mark.ci]

#: Draws of a Gaussian process with length-scale 0.5 in all coordinates, by their spectral density; one of all seeds.
SMOOTH = '''
import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.problems.finite import FiniteParameters, FiniteProblem


class SmoothParameters(FiniteParameters):
    """Its grids."""

    decision_points: list[int] = Field([15, 15], description="points a coordinate")
    context_points: list[int] = Field([7], description="points")


class Smooth(FiniteProblem):
    """A smooth draw."""

    about = About(title="Smooth", summary="a draw of length-scale 0.5")
    Parameters = SmoothParameters
    units = "1"
    decision_names, decision_units = ("x", "y"), ("1", "1")
    context_names, context_units = ("c",), ("1",)

    def payoff_table(self, streams):
        generator = np.random.default_rng(3)
        waves = generator.standard_normal((3, 400)) / 0.5
        phases, heights = generator.uniform(0.0, 2.0 * np.pi, 400), 2.0 * np.sqrt(2.0 / 400.0)
        angles = (self.decisions @ waves[:2])[:, None] + self.contexts @ waves[2:] + phases
        return heights * np.cos(angles).sum(axis=2)
'''
EXPERIMENT = {
    "name": "new",
    "seeds": {"count": 10, "per_job": 10},
    "iterations": 25,
    "problems": [
        "smooth.py:Smooth",
        {"name": "smooth.py:Smooth", "label": "stated", "parameters": {"lengthscale": 0.1}},
    ],
    "objectives": [{"name": "dro", "label": "tv", "parameters": {"set": {"name": "tv", "radius": 0.2}}}],
    "algorithms": ["ucb-bocu-2", "ts-bocu", "random"],
    "metrics": [{"name": "dro", "label": "tv", "parameters": {"set": {"name": "tv", "radius": 0.2}}}],
    "figures": [],
}
FIT = "results/new/priors/smooth/own_kernel.nc"
RUNS = [f"results/new/runs/smooth/{name}/seeds-0-9.nc" for name in ("tv/ucb-bocu-2", "tv/ts-bocu")]
COMMAND = ("--configfile", "experiment.yaml")


def pipeline_in(folder):
    pipeline = Pipeline(folder, {"XDG_CACHE_HOME": str(folder / "cache")})
    (folder / "smooth.py").write_text(SMOOTH)
    pipeline.configuration(EXPERIMENT)
    return pipeline


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder with the finished sweep."""
    pipeline = pipeline_in(tmp_path_factory.mktemp("sweep"))
    assert pipeline.planned(*COMMAND)["fit_prior"] == 1
    assert not (pipeline.folder / "results").exists()
    pipeline.snakemake(*COMMAND)
    return pipeline


def test_who_explores_by_the_fitted_kernel_beats_its_own_run_at_a_tenth(swept):
    regret = {}
    for problem in ("smooth", "stated"):
        cube = read_netcdf(swept.folder / f"results/new/cubes/{problem}.nc")
        own = cube["regret"].sel(objective="tv", algorithm="ucb-bocu-2", metric="tv")
        regret[problem] = own.sel(iteration=slice(1, None)).sum("iteration").values
    assert regret["smooth"].mean() < 0.5 * regret["stated"].mean()
    assert (regret["smooth"] < regret["stated"]).mean() > 0.5


def test_the_page_says_which_kernel_it_is_and_that_a_wrong_one_is(swept):
    page = " ".join((swept.folder / "results/new/report/index.html").read_text().split())
    fitted, stated = re.findall(r"<p>(Algorithms with one model believe in.*?)</p>", page)
    assert "fitted on a design: length-scale 0." in fitted
    assert "It may be wrong" not in fitted
    assert "stated: length-scale 0.1 in every coordinate" in stated
    assert "It may be wrong: twice of it is likelier" in stated
    own, half, twice = (
        float(re.search(rf"{word} (-?\d+\.?\d*)", stated)[1]) for word in ("counts:", "at half", "at twice")
    )
    assert half < own < twice
    told = swept.run("bocu", "check", "experiment.yaml").stdout
    assert "length-scale fitted on a design: smooth\nlength-scale stated: stated\n" in told


def test_other_orders_of_the_jobs_make_the_same_bits(swept, tmp_path):
    other = pipeline_in(tmp_path)
    for target in reversed(RUNS):
        other.snakemake(target, *COMMAND)
    for file in [FIT, *RUNS]:
        one, again = (read_netcdf(folder / file) for folder in (swept.folder, tmp_path))
        for name, variable in one.data_vars.items():
            if name != "seconds" and variable.dtype.kind in "fi":
                assert variable.values.tobytes() == again[name].values.tobytes(), name
    assert np.isfinite(one["payoff"].values).all()
