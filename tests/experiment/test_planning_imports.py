"""What planning may import: each job of a cluster plans again."""

import subprocess
import sys

CODE = """
import sys
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
for file in sys.argv[1:]:
    make_plan(read_experiment_file(file), [file])
print([name for name in ("scipy", "pandas", "xarray", "torch", "cvxpy", "numba", "matplotlib") if name in sys.modules])
"""


def test_planning_shipped_experiments_imports_nothing_slow(root):
    files = [
        str(root / f"config/experiments/{name}.yaml")
        for name in ("grand-tour", "drifting", "ziomek2025", "botorch-baselines")
    ]
    done = subprocess.run([sys.executable, "-c", CODE, *files], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"
