"""What files say of themselves and Snakemake's records: `why` finds stale what a dry run would make, and no more."""

import json
import os
import re

import netCDF4
import pytest
from experiments import SENSORS, tiny
from workflow.conftest import clone_in, would_make

pytestmark = [pytest.mark.ci, pytest.mark.workflow]

EXPERIMENT = tiny(
    data="simulate",
    iterations=3,
    seeds={"count": 2, "per_job": 1},
    problems=[{"name": "hills", "parameters": {"grid": 60}}, SENSORS],
    algorithms=["random", "fully-bayesian"],
    figures=["regret", "chosen-priors", "summary"],
)

# In a process of its own, so that it sees the edited package.
STALE = """
import json, sys, yaml
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.staleness import Staleness, flat

plan = make_plan(yaml.safe_load(open("experiment.yaml")), sources_file="data/sources.yaml")
staleness, waiting, seen = Staleness(plan), list(plan.products.every()), set()
for problem in plan.problems:
    waiting += flat(plan.inputs.problem(problem)) + flat(plan.inputs.prior(problem))
for record in ("matrices", "log"):
    if record in plan.catalogue.available_records("intel", "simulate"):
        waiting += flat(plan.inputs.raw("intel", record, "simulate"))
print(json.dumps(sorted(file for file in set(waiting) if staleness.explain(file).is_stale)))
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return clone_in(tmp_path_factory.mktemp("clone"), EXPERIMENT)


def planned(clone):
    """Return what a dry run would make."""
    text = would_make(clone)
    lines = re.findall(r"^    output: (.*)$", text, re.MULTILINE)
    return {re.sub(r" \(.*\)$", "", name) for line in lines for name in line.split(", ")}


def stale(clone):
    """Return what the files themselves say is stale, without Snakemake's records."""
    records, aside = clone.folder / ".snakemake", clone.folder / "aside"
    records.rename(aside)
    try:
        return set(json.loads(clone.run("python", "-c", STALE).stdout))
    finally:
        aside.rename(records)


def test_nothing_is_stale_when_all_is_made_nor_when_scripts_are_touched(clone):
    for script in (clone.folder / "workflow/scripts").iterdir():
        os.utime(script)
    assert planned(clone) == stale(clone) == set()


# Which edit of the code makes what: tests/experiment/test_edits.py.
EDITS = {
    "a docstring": (
        "src/bocu/sweep/runs/execution.py",
        "Run a block of seeds and write its run file.",
        "Run seeds.",
        "",
    ),
    "an algorithm": (
        "src/bocu/learners/algorithms/time_varying.py",
        "first_best(weights), ratings",
        "first_best(-weights), ratings",
        "runs/hills/any/fully-bayesian/seeds-0-0.nc",
    ),
    "how priors are fitted": (
        "src/bocu/problems/priors/fit.py",
        "if temperatures.shape[1] < 2:",
        "if temperatures.shape[1] < 3:",
        "scores/sensors/any/fully-bayesian.nc",
    ),
    "a stand-in": (
        "src/bocu/problems/data/simulated/intel.py",
        "import numpy as np\n",
        "import numpy as np\n\nnp.seterr(under='ignore')\n",
        "runs/sensors/any/random/seeds-0-0.nc",
    ),
    "more iterations": ("experiment.yaml", "iterations: 3", "iterations: 4", "runs/hills/any/random/seeds-0-0.nc"),
    "the time between checkpoints": ("experiment.yaml", "name: tiny", "name: tiny\ncheckpoint_seconds: 3.0", ""),
}


@pytest.mark.parametrize("name", EDITS)
def test_files_say_themselves_what_a_dry_run_would_make(clone, name):
    file, old, new, among = EDITS[name]
    path = clone.folder / file
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    try:
        found = stale(clone)
        assert found == planned(clone)
    finally:
        path.write_text(text)
    assert any(product.startswith(f"results/tiny/{among}") for product in found) if among else not found


def test_a_deleted_data_set_makes_nothing_stale_and_its_stale_source_does(clone):
    (prepared,) = (clone.folder / "data/simulate/intel").glob("*.nc")
    kept = prepared.rename(clone.folder / "kept.nc")
    own = prepared.relative_to(clone.folder).as_posix()
    try:
        assert stale(clone) - {own} == planned(clone) == set()
    finally:
        kept.rename(prepared)


def test_the_command_follows_a_stale_prior_down_to_its_code(clone):
    file, old, new, _ = EDITS["how priors are fitted"]
    path = clone.folder / file
    text = path.read_text()
    path.write_text(text.replace(old, new))
    records = (clone.folder / ".snakemake").rename(clone.folder / "aside")
    try:
        said = clone.run(
            "bocu", "why", "results/tiny/cubes/sensors.nc", "--experiment", "experiment.yaml"
        ).stdout.splitlines()
    finally:
        path.write_text(text)
        records.rename(clone.folder / ".snakemake")
    assert said[0] == "results/tiny/cubes/sensors.nc: stale"
    assert any("because of results/tiny/priors/sensors/" in line for line in said)
    assert any("code: changed; edited since then: " in line and "bocu/problems/priors/fit.py" in line for line in said)


@pytest.mark.parametrize("kind", ["prior", "data set"])
def test_an_input_that_was_edited_by_hand_makes_stale_what_reads_it(clone, kind):
    places = {"prior": "results/tiny/priors/sensors", "data set": "data/simulate/intel"}
    path = min((clone.folder / places[kind]).glob("*.nc"))
    content, times = path.read_bytes(), path.stat()
    with netCDF4.Dataset(path, "a") as data:
        data.setncattr("title", "edited")
    try:
        found = stale(clone)
        assert found == planned(clone)
        run = "results/tiny/runs/sensors/any/random/seeds-0-0.nc"
        assert run in found
        said = clone.run("bocu", "why", run, "--experiment", "experiment.yaml").stdout
        assert f"input {path.relative_to(clone.folder)}: its contents were changed" in said
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
