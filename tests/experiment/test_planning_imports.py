"""What processes may import: each job of a cluster plans again."""

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


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
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
