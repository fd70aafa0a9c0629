"""Hourly wind power that tests share, and small runs on it."""

import json

import numpy as np
import xarray as xr
from experiments import scored_by

from bocu.core.io.files import write_netcdf
from bocu.core.io.provenance import SIMULATED_LABEL
from bocu.sweep.evaluation.cubes import build_cube
from bocu.sweep.evaluation.scores import score
from bocu.sweep.runs.execution import Block, execute
from bocu.testing.games import run_specification

ANNOUNCED = {"name": "mmd", "radius": "announced"}
DRO = {"class": "bocu.robust.objectives.functions:DistributionallyRobust", "parameters": {"set": ANNOUNCED}}
ALGORITHMS = {
    "drbo": ("ucb-bocu-2", "bocu.learners.algorithms.confidence:UCBBOCU2", {"sqrt_beta": 2.0}, DRO),
    "ucb": ("ucb-so", "bocu.learners.algorithms.confidence:UCBSO", {"sqrt_beta": 2.0}, None),
    "stableopt": ("stableopt-finite", "bocu.learners.algorithms.confidence:StableOpt", {"set": ANNOUNCED}, None),
    "random": ("random", "bocu.learners.algorithms.simple:Random", {}, None),
    "commit-zero": ("constant", "bocu.learners.algorithms.simple:Constant", {"decision": 0}, None),
}
METRICS = [
    {"label": "so", "class": "bocu.sweep.evaluation.metrics:ExpectedPayoff", "parameters": {"under": "truth"}},
    {"label": "dro", **scored_by("DistributionallyRobust", **DRO["parameters"])},
]
LOOKS = ["blue solid <", "sky dash-dot >", "purple dashed h", "grey dotted x", "black dotted X"]
SMALL = {
    "record": "opsd",
    "source": "mirror",
    "start": "2013-02-01",
    "hours": 40,
    "window": 24,
    "margin": {"days": 5},
    "steps": 6,
    "initial": 3,
    "decision_points": 12,
    "context_points": 9,
    "lengthscale": 0.2,
}


def write_series(path, hours=24 * 40, missing=(), label=""):
    """Write an autoregressive capacity factor from January 2013 on, some hours of which have no value."""
    generator = np.random.default_rng(7)
    state = np.zeros(hours)
    for hour in range(1, hours):
        state[hour] = 0.95 * state[hour - 1] + 0.3 * generator.standard_normal()
    factor = 1.0 / (1.0 + np.exp(1.0 - state))
    factor[list(missing)] = np.nan
    data = xr.Dataset(
        {"capacity_factor": ("time", factor, {"long_name": "wind power", "units": "1"})},
        {
            "time": (
                "time",
                np.arange(float(hours)),
                {"long_name": "hour", "units": "hours since 2013-01-01 00:00:00"},
            )
        },
        {"title": "drawn for a test", "data_label": label},
    )
    write_netcdf(data, path)
    return factor


def specification(algorithm, iterations=6, seeds=(0, 1), **parameters):
    """Return the specification of a run on a coarse grid."""
    _, target, own, objective = ALGORITHMS[algorithm]
    problem = {"class": "bocu.problems.wind_commitment:WindCommitment", "parameters": {**SMALL, **parameters}}
    specified = run_specification(problem, {"class": target, "parameters": own}, objective, iterations)
    return {**specified, "seeds": list(seeds)}


def run(folder, data, algorithm, name="run.nc", seconds=1e9, **parts):
    """Run a block and read its file."""
    block = Block(specification(algorithm, **parts), {"data": str(data)}, "0")
    execute(block, folder / name, folder / "checkpoints", seconds)
    return xr.load_dataset(folder / name)


def scored(folder, data, algorithm, **parts):
    """Run a block and give its scores."""
    run(folder, data, algorithm, f"{algorithm}-run.nc", **parts)
    branch = specification(algorithm, **parts)
    branch.pop("seeds")
    output = folder / f"{algorithm}.nc"
    score([folder / f"{algorithm}-run.nc"], {"data": str(data)}, branch, METRICS, output)
    return output


def cube(folder, data, algorithms, seeds=(0, 1), **parts):
    """Run and score several algorithms and return the path of their cube."""
    branches = [
        {
            "objective": "dro" if ALGORITHMS[label][3] else "any",
            "algorithm": label,
            "algorithm_name": ALGORITHMS[label][0],
            "algorithm_about": {"title": label, "look": look, "yardstick": "no"},
            "algorithm_parameters": ALGORITHMS[label][2],
            "score": str(scored(folder, data, label, seeds=seeds, **parts)),
        }
        for label, look in zip(algorithms, LOOKS, strict=False)
    ]
    description = {
        "experiment": "wind",
        "problem_label": "wind",
        "problem_name": "wind-commitment",
        "branches": branches,
        "metrics": [metric["label"] for metric in METRICS],
        "metric_specifications": METRICS,
        "seeds": [seeds[0], seeds[1] - seeds[0] + 1],
        "iterations": parts.get("iterations", 6),
        "initial": 0,
    }
    build_cube(json.loads(json.dumps(description)), folder / "cube.nc")
    return folder / "cube.nc"


SIMULATED = SIMULATED_LABEL
