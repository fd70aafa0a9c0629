"""Edits of the code, and which jobs each of them makes anew: these and no others."""

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import own_package
import pytest
from empty_products import write_products
from experiments import tiny
from own_package import edit

from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.staleness import Staleness

ROOT = own_package.SOURCE.parents[1]
KIRSCHNER = {"name": "kirschner", "parameters": {"function": "b", "spread": "sd", "protocol": "general"}}
EXPERIMENT = tiny(
    data="simulate",
    problems=["hills", KIRSCHNER, "sensors", {"name": "plant", "parameters": {"decision_points": [8]}}],
    priors=[{"name": "fitted", "problems": ["plant"]}],
    objectives=[{"name": "dro", "parameters": {"set": {"name": "mmd", "radius": 0.2}}}],
    metrics=["so", {"name": "best-fixed-decision", "problems": ["hills"]}],
    algorithms=[
        "random",
        *({"name": name, "problems": ["hills", "sensors"]} for name in ("fully-bayesian", "mle", "pe-gp-ucb")),
        *({"name": name, "problems": ["kirschner"]} for name in ("ucb-so", "ucb-bocu-2")),
    ],
    figures=["regret", "chosen-priors", {"name": "contour", "problems": ["kirschner"]}, "summary"],
)
# hills and sensors: random, fully-bayesian, mle, pe-gp-ucb; kirschner: random, ucb-so and, under dro, ucb-bocu-2;
# plant: random.
RUNS, SCORES = ["run *"], ["score *"]
NOTHING: list[str] = []

EDITS: dict[str, tuple[str, str, str, list[str]]] = {
    # What no number depends on
    "a new class beside those used": (
        "learners/algorithms/time_varying.py",
        "class FullyBayesian(",
        "class HalfBayesian(_WeightedPriors):\n    half = 0.5\n\n\nclass FullyBayesian(",
        NOTHING,
    ),
    "a class that is not used": (
        "learners/algorithms/time_varying.py",
        "lower = mean - noise\n",
        "lower = mean - 2.0 * noise\n",
        NOTHING,
    ),
    "a margin of requests": ("sweep/experiment/resources.py", "TIME_MARGIN = 3.0", "TIME_MARGIN = 4.0", NOTHING),
    "the wrapper of jobs": ("sweep/jobs.py", "def job(", "def another():\n    return 1\n\n\ndef job(", NOTHING),
    # Runs
    "an algorithm": (
        "learners/algorithms/time_varying.py",
        "return first_best(weights), ratings.best_on_average(weights)",
        "return first_best(-weights), ratings.best_on_average(weights)",
        ["run */any/fully-bayesian"],
    ),
    "a compiled helper of the MMD's path": (
        "robust/ambiguity/mmd/critical_line.py",
        "    scale = 1.0 / pivot\n",
        "    scale = -1.0 / pivot\n",
        # Draws of functions whose optima differ take worst cases, and the contour draws one.
        ["run kirschner/*", "score kirschner/*", "figure kirschner/contour"],
    ),
    "the radius rules of sets": (
        "robust/ambiguity/parameters.py",
        "if self.takes_announced:",
        "if not self.takes_announced:",
        # The contour draws a worst case; what knows of several priors could pursue an objective.
        [
            "run kirschner/*/ucb-*",
            "run */any/mle",
            "run */any/*-bayesian",
            "run */any/pe-*",
            "figure kirschner/contour",
        ],
    ),
    "how a block of runs is executed": ("sweep/runs/seed_run.py", "if self.t < 1:", "if self.t <= 1:", RUNS),
    # Runs and what scores them by the problem
    "a problem": (
        "problems/hills.py",
        "CENTRES = np.arange(HILLS) / (HILLS - 1)",
        "CENTRES = np.arange(HILLS) / HILLS",
        ["run hills/*", "score hills/*"],
    ),
    # Scores
    "a metric": (
        "sweep/evaluation/metrics.py",
        "        return values[:, best] - value, value\n",
        "        return value - values[:, best], value\n",
        ["score hills/*"],
    ),
    # Cubes and what is drawn from them
    "how cubes are built": (
        "sweep/evaluation/cubes.py",
        "CHECKPOINTS = (0.1,",
        "CHECKPOINTS = (0.2,",
        # Of a cube, too, a figure takes what its digest holds.
        ["cube *", "summary", "figure */regret", "figure */chosen-priors", "figure all/*", "report"],
    ),
    "a figure": ("pages/figures/regret.py", "MARKED_LINES = 6", "MARKED_LINES = 7", ["figure */regret"]),
    "a colour": (
        "core/style.py",
        'GREY = "#1B1F24", "#6A6F76"',
        'GREY = "#1B1F24", "#707070"',
        ["figure *", "report"],
    ),
    "the report": ("pages/report/tables.py", "NO_WIDTH = 1e-9", "NO_WIDTH = 1e-8", ["report"]),
    "another line of the registry": (
        "sweep/experiment/registry.py",
        '        "constant": ',
        '        "own": "bocu.learners.algorithms.simple:Own",\n        "constant": ',
        NOTHING,
    ),
    # Data and priors
    "how priors over a grid are fitted": (
        "problems/priors/gaussian_process.py",
        "SEED = 20250",
        "SEED = 20251",
        ["prior plant/*"],
    ),
    "how priors of sensors are fitted": (
        "problems/priors/fit.py",
        "GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 81)])",
        "GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 82)])",
        ["prior sensors/*"],
    ),
    "how a data set is prepared": (
        "problems/data/intel.py",
        "DAY = 24 * 60  # minutes",
        "DAY = 24 * 61  # minutes",
        ["data prepare data/*/intel/log-*min.nc"],
    ),
    "a stand-in": (
        "problems/data/simulated/wind.py",
        "CUT_IN, RATED = 3.0",
        "CUT_IN, RATED = 4.0",
        ["data simulate wind"],
    ),
}
SCRIPT_EDITS: dict[str, tuple[str, str, str, list[str]]] = {
    "a comment in a script": ("run.py", '"""Run a block', '# A comment.\n"""Run a block', NOTHING),
    "the script of runs": ("run.py", "float(asked.checkpoint_seconds)", "20.0", RUNS),
    "the script of figures": ("figure.py", "dict(snakemake.output.items())", "dict(snakemake.output)", ["figure *"]),
    "the script of data sets": ("prepare.py", "snakemake.output[0]", "snakemake.output[-1]", ["data prepare *"]),
}


def jobs(plan: Plan) -> dict[str, Any]:
    """Return what Snakemake compares of every job, by a name."""
    plan = replace(plan)  # without what it remembers
    found: dict[str, Any] = {}
    for branch in plan.branches.values():
        found[f"run {'/'.join(branch.key)}"] = plan.parameters.run(branch, 0, 1)
        found[f"score {'/'.join(branch.key)}"] = plan.parameters.score(branch)
    for problem in plan.problems:
        found[f"cube {problem}"] = plan.parameters.cube(problem)
        for prior in plan.priors(problem):
            found[f"prior {problem}/{prior}"] = plan.parameters.prior(problem, prior)
    for figure, folders in plan.figure_problems.items():
        for folder in folders:
            found[f"figure {folder}/{figure}"] = plan.parameters.figure(figure, folder)
    found["report"] = plan.parameters.report()
    found["summary"] = plan.parameters.fingerprint("summary")
    for script in ("download", "mirror"):
        found[f"data {script}"] = plan.parameters.fingerprint(script)
    for path, made in plan.catalogue.prepared_files().items():
        found[f"data prepare {path}"] = plan.parameters.prepared(made.source, made.dataset, Path(path).stem)
    for data_set in ("wind", "intel", "portfolio", "plant", "infection"):
        found[f"data simulate {data_set}"] = plan.parameters.fingerprint(
            "simulate", f"bocu.problems.data.simulated.{data_set}:simulate"
        )
    return found


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of package and scripts, what the jobs come to there, and a file of each."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        folder = tmp_path_factory.mktemp("clone")
        package = own_package.copy(folder / "src/bocu", monkeypatch)
        scripts = folder / "scripts"
        own_package.shutil.copytree(ROOT / "workflow/scripts", scripts)
        plan = make_plan(EXPERIMENT, sources_file=ROOT / "data/sources.yaml", scripts=scripts)
        monkeypatch.chdir(folder)
        yield package, scripts, plan, jobs(plan), write_products(plan)
    own_package.forget()


def check(copied: Any, file: Path, old: str, new: str, expected: list[str]) -> None:
    _, _, plan, before, files = copied
    text = file.read_text(encoding="utf-8")
    if old == '"""':
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        own_package.forget()
    else:
        edit(file, old, new)
    try:
        after = jobs(plan)
        staleness = Staleness(replace(plan))
        stale = {name for name, made in files.items() if staleness.explain(made).reasons}
    finally:
        file.write_text(text, encoding="utf-8")
        own_package.forget()
    changed = {name for name, value in after.items() if value != before[name]}
    for pattern in expected:
        assert any(fnmatchcase(name, pattern) for name in before), pattern
    assert changed == {name for name in before if any(fnmatchcase(name, pattern) for pattern in expected)}
    assert stale == changed & files.keys()  # what was made says so itself


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_the_library_reruns(copied, name):
    file, old, new, expected = EDITS[name]
    check(copied, copied[0] / file, old, new, expected)


@pytest.mark.parametrize("name", SCRIPT_EDITS)
def test_an_edit_of_a_script_reruns(copied, name):
    file, old, new, expected = SCRIPT_EDITS[name]
    check(copied, copied[1] / file, old, new, expected)


def test_moving_a_module_reruns_nothing(copied):
    package, _, plan, before, _ = copied
    (package / "core/kernels.py").rename(package / "core/moved_kernels.py")
    users = [file for file in package.rglob("*.py") if "bocu.core.kernels" in file.read_text()]
    texts = {file: file.read_text() for file in users}
    assert users
    for file, text in texts.items():
        file.write_text(text.replace("bocu.core.kernels", "bocu.core.moved_kernels"))
    own_package.forget()
    try:
        assert jobs(plan) == before
    finally:
        (package / "core/moved_kernels.py").rename(package / "core/kernels.py")
        for file, text in texts.items():
            file.write_text(text)
        own_package.forget()
