"""Digests of the numbers of small runs of every shipped experiment: what no rearrangement may change.

    python tests/golden/make.py --cause "why the numbers changed" [--tree FOLDER] [--experiment NAME ...]

runs `branches.yaml` in a temporary folder by the pipeline of a tree, this one if none is named, and writes
`digests.json`. A branch whose numbers stay keeps its cause. It reads results from files only, and so serves other
states of the project too.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DIGESTS = HERE / "digests.json"
ITERATIONS = 6
NOT_NUMBERS = {"status", "seconds", "stream_states"}  # provenance, times, and states that name their generators
PACKAGES = ("numpy", "scipy", "numba", "torch", "gpytorch", "botorch")

Digests = dict[str, dict[str, str]]


def branches() -> dict[str, list[str]]:
    """Return the branches that are run, problem/objective/algorithm, by the name of their experiment file."""
    chosen = yaml.safe_load((HERE / "branches.yaml").read_text())
    return {name: listed for name, listed in chosen.items() if name not in ("unscored", "by_torch")}


def by_torch(name: str) -> set[str]:
    """Return the branches of an experiment whose numbers hold for one processor, since torch has a part in them."""
    listed = yaml.safe_load((HERE / "branches.yaml").read_text())["by_torch"]
    return set(listed.get(name, []))


def scored(chosen: Sequence[str]) -> list[str]:
    """Return those of the branches whose runs are scored too."""
    left_out = yaml.safe_load((HERE / "branches.yaml").read_text())["unscored"]
    first = {branch.partition("/")[0]: branch for branch in reversed(chosen)}
    return [branch for problem, branch in first.items() if problem not in left_out]


def experiment_file(tree: Path, name: str) -> Path:
    return tree / "config" / ("config.yaml" if name == "config" else f"experiments/{name}.yaml")


def digest(values: np.ndarray) -> str:
    """Return type, shape, hash and sum of an array: the sum tells how far two arrays are apart."""
    hashed = hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
    return f"{values.dtype} {values.shape} {hashed} {np.nansum(values):.12g}"


def digests(
    tree: Path, name: str, chosen: Sequence[str], folder: Path, cores: int = 2, **variables: str
) -> dict[str, Digests]:
    """Run branches of an experiment in a folder and return digests of runs and scores, by branch, file and variable."""
    seed = yaml.safe_load(experiment_file(tree, name).read_text())["seeds"]["first"]
    targets = {branch: {"runs": f"results/golden/runs/{branch}/seeds-{seed}-{seed}.nc"} for branch in chosen}
    for branch in scored(chosen):
        targets[branch]["scores"] = f"results/golden/scores/{branch}.nc"
    command = ["snakemake", "--snakefile", str(tree / "Snakefile"), "--cores", str(cores), "--quiet", "all"]
    command += ["--configfile", str(experiment_file(tree, name))]
    if (tree / "src/snakemake_executor_plugin_warm").exists():
        command += ["--executor", "warm"]
    command += ["--config", "name=golden", "data=simulate", f"iterations={ITERATIONS}", "seeds={count: 1}"]
    command += ["--", *(path for of in targets.values() for path in of.values())]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"PYTHONPATH": str(tree / "src"), **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\nexited with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return {branch: {kind: _of_file(folder / path) for kind, path in of.items()} for branch, of in targets.items()}


def _of_file(path: Path) -> dict[str, str]:
    with xr.open_dataset(path) as data:
        return {
            str(name): digest(variable.values)
            for name, variable in sorted(data.data_vars.items())
            if name not in NOT_NUMBERS and variable.dtype.kind in "fiu"
        }


def machine() -> dict[str, Any]:
    """Return what bits depend on besides the code: kernel and versions of numeric packages; by torch, the processor."""
    import importlib.metadata
    import platform

    from bocu.core.io.provenance import cpu
    from bocu.core.numerics import kernel

    versions = {package: importlib.metadata.version(package).partition("+")[0] for package in PACKAGES}
    return {"kernel": kernel(), "cpu": cpu(), "python": ".".join(platform.python_version_tuple()[:2]), **versions}


def merged(before: Mapping[str, Any], name: str, found: Mapping[str, Digests], cause: str) -> dict[str, Any]:
    """Return the entries of an experiment: those that stay keep their cause."""
    kept = before.get(name, {})
    entries = {}
    for branch, numbers in found.items():
        old = kept.get(branch)
        stays = old is not None and {key: old[key] for key in numbers} == numbers
        entries[branch] = old if stays else {"cause": cause, **numbers}
    return entries


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cause", required=True, help="why the numbers are new; kept beside each that changed")
    parser.add_argument("--tree", type=Path, default=ROOT, help="a clone of the project")
    parser.add_argument("--experiment", nargs="*", help="names of experiment files; all if left out")
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    stored = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {"experiments": {}}
    if not options.experiment:
        stored["machine"] = machine()
    elsewhere = {} if any(map(by_torch, options.experiment or ())) else {"cpu": machine()["cpu"]}
    if {**stored["machine"], **elsewhere} != machine():
        parser.error(f"{DIGESTS.name} is of another machine: make all experiments anew")
    for name, chosen in branches().items():
        if options.experiment and name not in options.experiment:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = digests(options.tree.resolve(), name, chosen, Path(folder), options.cores)
        stored["experiments"][name] = merged(stored["experiments"], name, found, options.cause)
        DIGESTS.write_text(json.dumps(stored, indent=1) + "\n")
        print(name, len(chosen), flush=True)


if __name__ == "__main__":
    main()
