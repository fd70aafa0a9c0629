"""A set is one file of code and one line of the registry: planned, run, scored and drawn in a copy that has no more."""

import shutil
from pathlib import Path

import pytest
from workflow.conftest import Pipeline

SET = '''
"""The reference in a share of cases, in the others the worst of the contexts with most mass."""

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from bocu.robust.ambiguity.base import AmbiguitySet, Rows, Tangent, Wanted, expectation, pair
from bocu.robust.ambiguity.parameters import SetParameters, named
from bocu.core.about import About
from bocu.core.parameters import Integer


class MixtureParameters(SetParameters):
    """How many contexts count."""

    name: str = named("mixture")
    heaviest: Annotated[Integer, Field(ge=1)] = Field(3, description="contexts of most mass that may come instead")


class Mixture(AmbiguitySet):
    """Mixtures of the reference and of any distribution on its heaviest contexts."""

    about = About(title="mixture", summary="the reference, and in a share of cases its worst heavy context")
    Parameters = MixtureParameters
    leaves_support = True

    def __init__(self, epsilon: float, heaviest: int) -> None:
        super().__init__(epsilon)
        self.heaviest = heaviest

    @classmethod
    def stated(cls, parameters: Any, contexts: Any) -> "Mixture":
        return cls(0.0, parameters.heaviest)

    def distance(self, q: Any, p: Any) -> Any:
        first, second = pair(q, p)
        return 1.0 - np.minimum(np.divide(first, second, out=np.ones_like(first), where=second > 0).min(axis=-1), 1.0)

    def solve(self, f: Any, p: Any, wanted: Wanted) -> Rows:
        share, worst = min(self.epsilon, 1.0), self._worst(f, p)
        value = (1.0 - share) * expectation(f, p) + share * expectation(f, worst)
        slope = expectation(f, worst) - expectation(f, p)
        return Rows(value, slope, (1.0 - share) * p + share * worst, worst - p)

    def tangent(self, f: Any, p: Any, tau: Any) -> Tangent:
        raise NotImplementedError

    def _worst(self, f: Any, p: Any) -> Any:
        weights = np.broadcast_to(p, f.shape)
        heavy = weights >= np.sort(weights, axis=1)[:, -self.heaviest][:, None]
        return np.eye(f.shape[1])[np.where(heavy, f, np.inf).argmin(axis=1)]
'''

EXPERIMENT = """
name: own
seeds: 2
iterations: 3
problems:
  - {name: gp-sample, parameters: {decision_points: [3, 3], context_points: [2, 2], initial: 2}}
objectives:
  - {name: dro, label: own, parameters: {set: {name: mixture, radius: 0.5, heaviest: 2}}}
  - {name: dro, label: known, parameters: {set: {name: tv, radius: 0.5}}}
algorithms: [random, ucb-bocu-2, ts-bocu]
metrics: [so, {name: wcs, parameters: {set: mixture}}, {name: dro, parameters: {set: {name: mixture, radius: 0.5}}}]
figures: [regret]
"""

PLAY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np
import xarray as xr
from experiments import run_all
from bocu.core.loading import load
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
from bocu.pages.figures.base import save

plan = make_plan(read_experiment_file("own.yaml"), ["own.yaml"])
run_all(plan)
cube = xr.load_dataset(plan.paths.cube("gp-sample"))
assert list(cube["metric"].values) == ["so", "wcs", "dro"]
regret = cube["regret"].sel(objective="own", algorithm="ts-bocu")
assert np.isfinite(regret).all()
figure = plan.figures["regret"].registered.load()
drawing = figure(figure.Parameters()).draw(plan.inputs.figure("regret", "gp-sample"))
save(drawing, "regret.png", "regret.svg", "regret.json")
"""

FINGERPRINTS = """
from pathlib import Path

from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan

plan = make_plan(read_experiment_file("own.yaml"), [Path("own.yaml")], sources_file="data/sources.yaml")
for branch in plan.branches.values():
    print(*branch.key, plan.parameters.fingerprint("run", *branch.roots))
"""

COMMANDS = """
from bocu.commands.main import app

for line in {lines}:
    app(line.split(), standalone_mode=False)
"""


@pytest.fixture
def copy(root, tmp_path):
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for folder in ("data", "workflow"):
        (tmp_path / folder).symlink_to(root / folder)
    (tmp_path / "src/bocu/robust/ambiguity/mixture.py").write_text(SET)
    registry = tmp_path / "src/bocu/sweep/experiment/registry.py"
    before = registry.read_text()
    registry.write_text(
        before.replace('    "set": {\n', '    "set": {\n        "mixture": "bocu.robust.ambiguity.mixture:Mixture",\n')
    )
    assert len(registry.read_text().splitlines()) == len(before.splitlines()) + 1
    (tmp_path / "own.yaml").write_text(EXPERIMENT)
    return tmp_path


def call(copy: Path, *arguments: str) -> str:
    return Pipeline(copy, {"PYTHONPATH": str(copy / "src")}).run("python", *arguments).stdout


def test_one_file_and_one_line_make_a_set(copy: Path, root: Path) -> None:
    (copy / "payoffs.csv").write_text("reference,a\n0.5,1\n0.3,0\n0.2,-9\n")
    worst_case = "worst-case payoffs.csv --set mixture --epsilon 0.5 --heaviest 2"
    lines = ["check own.yaml", "list sets", "list sets mixture", "schema", worst_case]
    told = call(copy, "-c", COMMANDS.format(lines=lines))
    assert "mixture: the reference, and in a share of cases its worst heavy context" in told
    assert "heaviest: contexts of most mass" in told
    assert "MixtureParameters" in told
    assert float(told.splitlines()[-1].split(",")[1]) == pytest.approx(0.5 * (0.5 - 1.8))
    call(copy, "-c", PLAY, str(root / "tests"))
    first = call(copy, "-c", FINGERPRINTS)
    # Its code belongs to the runs that name it, and to no other.
    module = copy / "src/bocu/robust/ambiguity/mixture.py"
    module.write_text(
        module.read_text().replace("share, worst = min(self.epsilon, 1.0)", "share, worst = self.epsilon")
    )
    second = call(copy, "-c", FINGERPRINTS)
    changed = {line.split()[1] for line in set(first.splitlines()) ^ set(second.splitlines())}
    assert changed == {"own"}
