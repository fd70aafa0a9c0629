"""How long an archive of very many runs takes to be listed and compared.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/archive.py [--files 10] [--branches 200] [--seeds 50]``: files of
synthetic regret with identities, in a temporary folder, listed by `bocu archive list` and compared as
docs/make_board.py does for the board.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import xarray as xr

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
KEPT = 3


def synthetic(file: Path, place: int, branches: int, seeds: int) -> None:
    """Write a file of problems with ten methods each, the same problems in two files each."""
    from bocu.core.io.files import canonical_json, write_netcdf
    from bocu.sweep.archive.identities import identity_of
    from bocu.sweep.evaluation.claims.reduced import REDUCED, VERSION, with_identities

    generator = np.random.default_rng(place)
    problems = [f"problem-{place // 2}-{number}" for number in range(branches // 10)]
    methods = [f"method-{place}-{number}" for number in range(10)]
    rows = [
        (word, problem, method) for problem in problems for method in methods for word in ("final", "payoff", "seconds")
    ]
    words = [row[0] for row in rows]
    curves = [number for number, word in enumerate(words) if word == "final"]

    def told(dim, values):
        return dim, np.asarray(values), {"long_name": dim, "units": "1"}

    about = {
        "algorithms": {method: ["any"] for method in methods}, "metrics": ["so"], "rounds": 100, "priors": None,
        "swept": {}, "finished": seeds, "variables": ["payoff", "regret", "seconds"], "kept": [10, 20, 50],
        "title": "", "payoff_units": "1", "data_label": "",
    }  # fmt: skip
    data = xr.Dataset(
        {
            "row_word": told("row", words),
            "row_problem": told("row", [row[1] for row in rows]),
            "row_objective": told("row", ["any"] * len(rows)),
            "row_algorithm": told("row", [row[2] for row in rows]),
            "row_metric": told("row", ["so" if word == "final" else "" for word in words]),
            "row_prior": told("row", [""] * len(rows)),
            "number": told(("row", "seed"), generator.lognormal(size=(len(rows), seeds))),
            "curve_row": told("curve", curves),
            "regret_until": told(
                ("curve", "kept", "seed"), generator.random((len(curves), KEPT, seeds), dtype=np.float32)
            ),
            "about": told("problem", [canonical_json(about)] * len(problems)),
        },
        {"problem": told("problem", problems), "seed": told("seed", np.arange(seeds))},
        {REDUCED: VERSION, "experiment": f"synthetic-{place}", "settings": "{}", "trial": "", "schema_version": 3},
    )
    known = [
        {"class": f"{kind}/{name}", "parameters": {}}
        for kind, names in (("problem", problems), ("algorithm", methods))
        for name in names
    ]
    metric = {"class": "metric/so", "parameters": {}}
    stated = {identity_of(one): one for one in [*known, metric]}
    by_name = {one["class"].partition("/")[2]: identity for identity, one in stated.items()}
    of = {
        "objectives": {},
        "metrics": {"so": by_name["so"]},
        "algorithms": {method: by_name[method] for method in methods},
    }
    looks = {method: {"title": method, "look": "blue solid o", "yardstick": "no"} for method in methods}
    described = {"algorithms": looks, "objectives": {"any": "none"}, "metrics": {"so": "SO"}}
    identities = {problem: {"problem": by_name[problem], **of} for problem in problems}
    write_netcdf(with_identities(data, stated, identities, described), file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--branches", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for place in range(asked.files):
            synthetic(Path(folder, f"synthetic-{place}.nc"), place, asked.branches, asked.seeds)
        stored = sum(file.stat().st_size for file in Path(folder).iterdir())
        begun = time.perf_counter(), time.process_time()
        told = subprocess.run(
            ["bocu", "archive", "list", "--folder", folder], check=True, capture_output=True, text=True
        )
        print(
            f"{told.stdout.splitlines()[-1]}; {stored / 1e6:.1f} MB; listed in {time.perf_counter() - begun[0]:.1f} s"
        )
        from make_board import rows, table, tallied

        from bocu.sweep.archive.comparing import board
        from bocu.sweep.archive.entries import Archive

        begun = time.perf_counter(), time.process_time()
        every = list(rows(board(Archive(Path(folder)))))
        lines = [tallied(every)[0], *table(every)]
        spent, worked = time.perf_counter() - begun[0], time.process_time() - begun[1]
        print(f"{len(every)} rows, {len(lines)} lines: written in {spent:.1f} s, {worked:.1f} s of work")


if __name__ == "__main__":
    main()
