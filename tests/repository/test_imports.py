"""What is imported late: each job of a cluster plans again, and whoever takes one set wants no other."""

import subprocess
import sys

import pytest

SLOW = ("torch", "botorch", "gpytorch", "matplotlib", "pandas", "cvxpy", "ot")
PLANNED = """
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
for name in ("grand-tour", "drifting", "ziomek2025", "botorch-baselines"):
    file = f"config/experiments/{name}.yaml"
    make_plan(read_experiment_file(file), [file])
"""
RUN = """
from bocu.sweep.jobs import block_job
import bocu.sweep.runs.job, bocu.problems.hills, bocu.learners.algorithms.time_varying
"""
ONE_SET = """
import bocu.robust.ambiguity as a, bocu.robust.objectives.functions as o
import bocu.robust.contexts.estimates
assert "TotalVariation" in dir(a)
assert getattr(a, "NoSuchSet", None) is None  # an attribute error
b = a.TotalVariation(0.3)
assert abs(float(a.worst_case([0., 1.], [.5, .5], b).value) - .35) < 1e-12
o.UncertaintyObjective.gen(b, 1., 1.)([[0., 1.]], [.5, .5])
"""
OTHERS = ("bocu.robust.ambiguity.wasserstein", "bocu.robust.ambiguity.divergences")
CLOSED_FORM = """
import numpy as np, bocu.robust.ambiguity as a
a.worst_case([0., 1., 3.], [.3, .3, .4], a.MaximumMeanDiscrepancy(1e-6, np.eye(3)))
"""


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import bocu, bocu.commands.main", ("torch", "numpy", "xarray", "matplotlib")),
        ("import bocu; bocu.TotalVariation", ("torch", "xarray", "scipy")),
        (ONE_SET, ("torch", "numba", "cvxpy", "scipy", *OTHERS)),
        (CLOSED_FORM, ("numba",)),
        (PLANNED, ("scipy", "xarray", "numba", *SLOW)),
        (RUN, SLOW),
        ("import bocu.sweep.snakefile", ("scipy", "torch")),
        ("import bocu.sweep.experiment.resources", ("numpy", "xarray", "pydantic", *SLOW)),
    ],
)
def test_a_process_starts_without_what_takes_long_to_import(root, code, heavy):
    told = f"{code}\nimport sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"
