"""What real dry runs plan after an edit of the library, of a script and of the experiment."""

import os
import re
import shutil

import pytest
from experiments import tiny
from workflow.conftest import ROOT

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of the workflow and the library with the finished results of a small experiment."""
    from workflow.conftest import Pipeline

    folder = tmp_path_factory.mktemp("clone")
    for name in ("Snakefile", "data/sources.yaml"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("workflow", "profiles", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    pipeline = Pipeline(folder, {"PYTHONPATH": str(folder / "src")})
    pipeline.configuration(tiny(algorithms=["random", "fully-bayesian", "mle"], figures=["regret"]))
    pipeline.run("snakemake", "--cores", "2", "--configfile", "experiment.yaml")
    return pipeline


def planned(clone, **changes):
    """Return the outputs' labels that a dry run would make, by rule."""
    clone.configuration(tiny(**{"algorithms": ["random", "fully-bayesian", "mle"], "figures": ["regret"], **changes}))
    # By no profile, for its logger tells jobs in other words; with that profile's triggers.
    triggers = ("--rerun-triggers", "mtime", "input", "params", "software-env", "--workflow-profile", "none")
    command = ("snakemake", "--cores", "2", "--configfile", "experiment.yaml", "--dry-run", *triggers)
    text = clone.run(*command).stdout
    jobs = re.findall(r"^(?:local)?rule (\w+):\n(?:.*\n)*?    output: (\S+?),?(?: .*)?\n", text, re.MULTILINE)
    return {(rule, output.split("results/tiny/")[-1]) for rule, output in jobs}


def edit(clone, name, old, new):
    file = clone.folder / name
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    return lambda: file.write_text(text)


FULLY_BAYESIAN = "runs/hills/any/fully-bayesian/seeds-{}.nc"
LATER = {
    ("cube", "cubes/hills.nc"),
    ("summary", "cubes/summary.nc"),
    ("figure", "figures/hills/regret.png"),
    ("report", "report/index.html"),
}
DOWNSTREAM = LATER | {("score", "scores/hills/any/fully-bayesian.nc")}


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("src/bocu/algorithms/unknown_prior.py", "probability with which the conf", "chance that the conf", set()),
        ("src/bocu/experiment/resources.py", "TIME_MARGIN = 3.0", "TIME_MARGIN = 4.0", set()),
        ("workflow/scripts/run.py", '"""Run a block of seeds."""', '"""Run seeds."""', set()),
        (
            "src/bocu/algorithms/time_varying.py",
            "int(np.argmax(weights @ ucb))",
            "int(np.argmin(weights @ ucb))",
            {("run", FULLY_BAYESIAN.format(seeds)) for seeds in ("0-1", "2-3")} | DOWNSTREAM,
        ),
        (
            "src/bocu/report/templates/page.html.jinja",
            "<!DOCTYPE html>",
            "<!DOCTYPE html>\n",
            {("report", "report/index.html")},
        ),
    ],
)
def test_a_dry_run_after_an_edit_plans(clone, name, old, new, expected):
    undo = edit(clone, name, old, new)
    try:
        assert planned(clone) == expected
    finally:
        undo()


def test_a_script_reruns_its_jobs_when_its_code_changes_and_not_when_it_is_touched(clone):
    assert planned(clone) == set()
    os.utime(clone.folder / "workflow/scripts/run.py")
    os.utime(clone.folder / "workflow/scripts/figure.py")
    assert planned(clone) == set()
    undo = edit(
        clone,
        "workflow/scripts/figure.py",
        "from bocu.figures.base import draw_files\n",
        "from bocu.figures.base import draw_files\n\n    parameters = dict(parameters)\n",
    )
    try:
        assert planned(clone) == {("figure", "figures/hills/regret.png"), ("report", "report/index.html")}
    finally:
        undo()
    undo = edit(clone, "workflow/scripts/run.py", "    run_block(", "    parameters = dict(parameters)\n    run_block(")
    try:
        assert {rule for rule, _ in planned(clone)} == {"run", "score", "cube", "summary", "figure", "report"}
        said = clone.run(
            "bocu", "why", "results/tiny/" + FULLY_BAYESIAN.format("0-1"), "--experiment", "experiment.yaml"
        )
        # The whole of it is one block, which goes by the names that it binds.
        assert re.search(r"^  code: run\.py: .*\bblock, progress changed$", said.stdout, re.MULTILINE)
    finally:
        undo()


def test_a_title_reruns_the_report_alone(clone):
    assert planned(clone, title="Another title") == {("report", "report/index.html")}
    assert planned(clone, checkpoint_seconds=3.0) == set()
