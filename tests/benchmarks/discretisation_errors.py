"""How far metrics on discretised contexts lie from those on four times as many, problem by problem.

OMP_NUM_THREADS=1 python tests/benchmarks/discretisation_errors.py
"""

import json
import os
import tempfile

from bocu.sweep.evaluation.optima import read_optima, store_optima
from bocu.sweep.experiment.planning import make_plan

PROBLEMS = ["ackley", "hartmann-6", "complicated-hartmann", "newsvendor", "modified-branin", "ackley-2-4"]
METRICS = [
    {"name": "so", "label": "so", "under": {"to": "uniform", "s": 0}},
    {"name": "ro", "label": "ro"},
    {"name": "dro", "label": "cvar-0.1", "parameters": {"set": {"name": "cvar", "alpha": 0.1}}},
    {"name": "dro", "label": "tv-0.3", "parameters": {"set": {"name": "tv", "radius": 0.3}}},
    {"name": "dro", "label": "kl-0.1", "parameters": {"set": {"name": "kl", "radius": 0.1}}},
    {"name": "wcs", "label": "wcs-tv", "parameters": {"set": {"name": "tv"}}},
]


def main() -> None:
    labels = [str(metric["label"]).replace(".", "-") for metric in METRICS]
    experiment = {
        "name": "errors",
        "seeds": 1,
        "iterations": 1,
        "problems": PROBLEMS,
        "algorithms": ["random"],
        "metrics": [{**metric, "label": label} for metric, label in zip(METRICS, labels, strict=True)],
        "figures": ["regret"],
    }
    plan = make_plan(experiment)
    print(f"{'':22}" + "".join(f"{label:>20}" for label in labels))
    for problem in PROBLEMS:
        cells = []
        for label in labels:
            asked = plan.parameters.optima(problem, label)
            store_optima({**asked, **{key: json.loads(asked[key]) for key in ("problem", "metrics")}}, {}, "optima.nc")
            (found,) = read_optima("optima.nc").values()
            cells.append(f"{found.values[None][1]:.4g} ({found.error:.2g})")
        print(f"{problem:22}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
