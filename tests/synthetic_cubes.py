"""Cubes whose every number is known, built to the contract that figures and reports read."""

import json
from pathlib import Path

import numpy as np
import xarray as xr

from bocu.core.io.files import write_netcdf
from bocu.core.io.provenance import SCHEMA_VERSION
from bocu.sweep.evaluation.cubes import ABOUT
from bocu.sweep.evaluation.digests import build_digest
from bocu.sweep.experiment.branches import Component
from bocu.sweep.experiment.looks import abouts
from bocu.sweep.experiment.registry import registered

ALGORITHMS = {"random": "random", "pe-gp-ucb": "pe-gp-ucb", "mle": "mle", "bold-mle": "mle", "oracle": "oracle"}
METRICS = ("so", "ro")
SEEDS, ITERATIONS, PRIORS = 5, 12, 3
SIMULATED = "SIMULATED stand-in, not measured data"
MACHINE = {"python": "3.11", "numpy": "2.0"}


def constant_regret(algorithm, metric, seed, t):
    """Regret of an algorithm in round t: known to the reader of a test, different for every index."""
    return (1 + list(ALGORITHMS).index(algorithm)) * (1 + 0.1 * seed) / (1 + METRICS.index(metric)) + 0.01 * t


def regret_array():
    return np.array(
        [
            [
                [
                    [[constant_regret(a, metric, seed, t + 1) for t in range(ITERATIONS)] for seed in range(SEEDS)]
                    for metric in METRICS
                ]
                for a in ALGORITHMS
            ]
        ]
    )


def told(algorithms):
    """What cubes hold of algorithms, given label -> registered name."""
    known = {entry.name: entry for entry in registered("algorithm")}
    abouts_of = abouts({label: Component(label, known[name], None) for label, name in algorithms.items()})
    return {f"algorithm_{key}": [about[key] for about in abouts_of.values()] for key in ABOUT}


BRANCH = ("objective", "algorithm")
BY_ROUND = (*BRANCH, "seed", "iteration")
DIMS = {
    "regret": (*BRANCH, "metric", "seed", "iteration"),
    "recommended_regret": (*BRANCH, "metric", "seed", "iteration"),
    "status": (*BRANCH, "seed"),
    "active_priors": (*BY_ROUND, "prior"),
}
"""Of variables that are not `BY_ROUND`."""


def dataset(variables, algorithms, metrics, attrs, objectives=("any",), first=1, units="1", **labels):
    """A data set to the contract of cubes: arrays by name, whose rounds begin at `first`."""
    seeds, rounds = variables["regret"].shape[-2:]
    coords = {
        "objective": list(objectives),
        "algorithm": list(algorithms),
        "metric": list(metrics),
        "seed": np.arange(seeds),
        "iteration": np.arange(first, first + rounds),
        "algorithm_name": ("algorithm", list(algorithms.values())),
        "algorithm_parameters": ("algorithm", ["{}"] * len(algorithms)),
        **{key: ("algorithm", values) for key, values in told(algorithms).items()},
        **labels,
    }
    data = xr.Dataset({name: (DIMS.get(name, BY_ROUND), array) for name, array in variables.items()}, coords, attrs)
    for name in data.variables:
        data[name].attrs = {"long_name": "a number", "units": units if name == "regret" else "1"}
    return data


def cube(label="wells", data_label="", missing=(), best_prior="b", title="Three wells"):
    """A data set of one problem, objective "any"; `missing` holds (algorithm, seed)."""
    names = list(ALGORITHMS)
    regret = regret_array()
    status = np.ones((1, len(names), SEEDS), dtype=np.int8)
    chosen = np.full((1, len(names), SEEDS, ITERATIONS), -1, dtype=np.int16)
    active = np.full((1, len(names), SEEDS, ITERATIONS, PRIORS), -1, dtype=np.int8)
    rejected = np.full((1, len(names), SEEDS, ITERATIONS), -1, dtype=np.int16)
    everyone = np.full((1, len(names), SEEDS, ITERATIONS), -1, dtype=np.int8)
    own = names.index("pe-gp-ucb")
    chosen[0, own] = 1  # prior b in all rounds but the first three, which go to a
    chosen[0, own, :, :3] = 0
    active[0, own] = 1
    everyone[0, own] = 0
    for seed in range(SEEDS - 1):  # the last seed rejects nothing
        rejected[0, own, seed, 2 + seed] = 0
        active[0, own, seed, 2 + seed :, 0] = 0
    chosen[0, names.index("mle")] = 2
    for algorithm, seed in missing:
        place = (0, names.index(algorithm), seed)
        status[place] = 0
        regret[0, place[1], :, seed] = np.nan
        chosen[place], active[place], rejected[place], everyone[place] = -1, -1, -1, -1
    seconds = np.where(status[..., None] == 1, 0.002, np.nan) * np.ones(ITERATIONS)

    provenance = {}
    if data_label:
        provenance = {
            "title": "Simulated stand-in for: wells",
            "source": "simulate",
            "licence": "CC BY 4.0",
            "citation": "Driller, D. (1999). Wells.",
            "homepage": "https://example.org/wells",
            "notes": "Depths <in> metres.",
            "dropped": json.dumps({"short_line": 3}),
            "raw_sha256": json.dumps({"wells.txt": "ab" * 32}),
            "step_seconds": 600.0,
        }
    attrs = {
        "title": title,
        "problem_label": label,
        "problem_name": "wells",
        "protocol": "time-varying",
        "payoff_units": "degree_Celsius",
        "data_label": data_label,
        "data_provenance": json.dumps(provenance),
        "experiment": "synthetic",
        "specification": json.dumps({"problem": {"class": "x:Y", "parameters": {"depth": 3}}}),
        "code_version": json.dumps(["0.1.0"]),
        "package_versions": json.dumps([json.dumps(MACHINE)]),
        "cpu": json.dumps(["A CPU"]),
        "numeric_threads": 1,
        "best_prior": best_prior,
        "schema_version": SCHEMA_VERSION,
    }
    variables = {
        "regret": regret,
        "status": status,
        "seconds": seconds,
        "chosen_prior": chosen,
        "active_priors": active,
        "rejected_prior": rejected,
        "all_rejected": everyone,
    }
    return dataset(variables, ALGORITHMS, METRICS, attrs, units="degree_Celsius", prior=["a", "b", "c"][:PRIORS])


def write(data, path):
    write_netcdf(data, path)
    return path


def digest(data, path):
    """Write a cube, and return its digest, which stands beside it."""
    own = Path(path).with_suffix(".digest.nc")
    build_digest(write(data, path), own)
    return own
