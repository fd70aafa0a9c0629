"""What real dry runs plan after an edit of the library, of a script and of the experiment."""

import os
import re

import pytest
from experiments import tiny
from workflow.conftest import clone_in, would_make

pytestmark = pytest.mark.workflow


EXPERIMENT = {"algorithms": ["random", "fully-bayesian", "mle"], "figures": ["regret"]}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return clone_in(tmp_path_factory.mktemp("clone"), tiny(**EXPERIMENT))


def planned(clone, **changes):
    """Return the outputs' labels that a dry run would make, by rule."""
    clone.configuration(tiny(**{**EXPERIMENT, **changes}))
    text = would_make(clone)
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
        (
            "src/bocu/learners/algorithms/beliefs.py",
            "probability with which the conf",
            "chance that the conf",
            set(),
        ),
        ("src/bocu/sweep/experiment/resources.py", "TIME_MARGIN = 3.0", "TIME_MARGIN = 4.0", set()),
        ("workflow/scripts/run.py", '"""Run a block of seeds."""', '"""Run seeds."""', set()),
        (
            "src/bocu/learners/algorithms/time_varying.py",
            "first_best(weights), ratings",
            "first_best(-weights), ratings",
            {("run", FULLY_BAYESIAN.format(seeds)) for seeds in ("0-1", "2-3")} | DOWNSTREAM,
        ),
        (
            "src/bocu/pages/report/templates/page.html.jinja",
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
        "from bocu.pages.figures.base import draw_files\n",
        "from bocu.pages.figures.base import draw_files\n\n    parameters = dict(parameters)\n",
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
        assert re.search(
            r"^  code: run\.py: .*\bparameters, run_block, inputs, asked, accept changed$", said.stdout, re.MULTILINE
        )
    finally:
        undo()


def test_a_title_reruns_the_report_alone(clone):
    assert planned(clone, title="Another title") == {("report", "report/index.html")}
    assert planned(clone, checkpoint_seconds=3.0) == set()
