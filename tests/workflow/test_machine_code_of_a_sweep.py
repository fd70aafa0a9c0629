"""What worst cases run is compiled before the first job, once, and never a reason to run one again."""

import shutil

import pytest
from experiments import tiny

pytestmark = [pytest.mark.workflow, pytest.mark.ci]

CUBE = "results/tiny/cubes/gp-sample.nc"
PROBLEM = {
    "name": "gp-sample",
    "parameters": {"decision_points": [4, 4], "context_points": [3, 3], "prior_points": 50},
}


def robust(distance):
    objective = {"name": "dro", "parameters": {"set": {"name": distance, "radius": 0.3}}}
    return tiny(
        problems=[PROBLEM],
        objectives=[objective],
        metrics=["so"],
        algorithms=["ucb-bocu-1"],
        iterations=3,
        seeds={"count": 2, "per_job": 1},
    )


@pytest.mark.drill
def test_jobs_find_compiled_what_they_run_and_losing_it_reruns_none(pipeline):
    pipeline.cold = True  # numba has read its settings nowhere yet
    folder = pipeline.folder / "named"
    pipeline.environment["NUMBA_CACHE_DIR"] = str(folder)
    arguments = ("--configfile", pipeline.configuration(robust("tv")), "--", CUBE)
    assert "compiling" not in (done := pipeline.snakemake(*arguments)).stdout + done.stderr
    assert not folder.exists()

    arguments = ("--configfile", pipeline.configuration(robust("mmd")), "--", CUBE)
    assert "compiling worst cases" in pipeline.snakemake(*arguments).stderr
    assert len(list(folder.glob("*/ready"))) == 1
    written = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb[ci]")}
    assert pipeline.planned(*arguments) == {}
    # More jobs compile nothing.
    more = ("--configfile", pipeline.configuration({**robust("mmd"), "seeds": {"count": 3, "per_job": 1}}), "--", CUBE)
    assert "compiling" not in (done := pipeline.snakemake(*more)).stdout + done.stderr
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb[ci]")} == written

    shutil.rmtree(folder)
    assert pipeline.planned(*more) == {}
    assert not list(pipeline.folder.glob("results/**/*.nb[ci]"))  # which may be somebody else's
