"""What scoring finished runs on discretised contexts takes: searches for the best decisions, and scores under laws.

    OMP_NUM_THREADS=1 python tests/benchmarks/scoring_under_laws.py

Runs of Random on Hartmann-6 (one context) and modified Branin (two) are scored under ten laws; seconds of processor.
"""

from bocu.core.numerics import pin_kernel

pin_kernel()  # before NumPy is imported

import json
import os
import tempfile
import time
from pathlib import Path

from bocu.sweep.evaluation.optima import store_optima
from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.execution import Block, execute

SEEDS, ROUNDS = 10, 340
SETS = {
    "cvar": {"name": "cvar", "alpha": 0.1},
    "tv": {"name": "tv", "radius": 0.3},
    "kl": {"name": "kl", "radius": 0.1},
    "chi2mod": {"name": "chi2mod", "radius": 0.5},
    "mmd": {"name": "mmd", "radius": 0.1, "lengthscale": 0.1},
}
LAWS = [{"name": "normal", "parameters": {"mean": 0.5 + 0.04 * place, "std": 0.1}} for place in range(10)]


def main() -> None:
    for problem in ("hartmann-6", "modified-branin"):
        for name, stated in SETS.items():
            laws = LAWS if name != "mmd" else LAWS[:1]
            metric = {"name": "dro", "label": "dro", "parameters": {"set": stated}, "under": laws}
            plan = make_plan(
                {
                    "name": "measured",
                    "seeds": {"count": SEEDS, "per_job": SEEDS},
                    "iterations": ROUNDS,
                    "problems": [problem],
                    "algorithms": ["random"],
                    "metrics": [metric],
                    "figures": ["regret"],
                }
            )
            (branch,) = plan.branches.values()
            parameters = plan.parameters.run(branch, 0, SEEDS - 1)
            block = Block(json.loads(parameters["specification"]), {}, "code")
            (file,) = plan.products.runs(branch)
            if not Path(file).exists():
                execute(block, file, plan.paths.checkpoint(branch, 0, SEEDS - 1))
            asked = plan.parameters.optima(problem, "dro")
            began = time.process_time()
            unfolded = {**asked, **{key: json.loads(asked[key]) for key in ("problem", "metrics")}}
            store_optima(unfolded, {}, "optima.nc")
            searched = time.process_time() - began
            began = time.process_time()
            metrics = json.loads(plan.parameters.score(branch)["metrics"])
            score([file], {}, branch.specification, metrics, "score.nc", optima=["optima.nc"])
            scored = time.process_time() - began
            per = 1_000 / SEEDS * scored * len(LAWS) / len(laws) / 60
            print(
                f"{problem:16} {name:8} {len(laws):2} laws: search {searched:6.1f} s, {SEEDS} runs {scored:6.1f} s; "
                f"1,000 runs under ten laws {per:6.1f} core minutes",
                flush=True,
            )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
