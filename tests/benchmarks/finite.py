"""What a whole run on finite contexts costs: 1,024 decisions x 64 contexts, 1,000 rounds, one thread, all included.

    python tests/benchmarks/finite.py [--output finite.json] [--rounds 1000] [name ...]

Each case is a process of its own: one seed, from after the imports to the written run file. Core seconds are what to
compare on a machine that does other things as well. The growth is that of the seconds a round, the last tenth of the
rounds over the second one. `--seeds` runs a block of ten seeds beside one, for the cost of a further seed.
"""

from bocu.core.numerics import pin_kernel

pin_kernel()  # before NumPy is imported

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from cells import branch_of, in_a_process

SQUARE = {"name": "gp-sample", "parameters": {"context_points": [8, 8]}}
LINE = {"name": "hartmann-3"}


def gen(distance: str, alpha: float = 1.0) -> dict[str, Any]:
    weights = {"alpha": alpha, "beta": 1.0}
    return {"name": "gen", "parameters": {"set": distance, "slope": {"difference": 1e-3}, **weights}}


def dro(distance: str) -> dict[str, Any]:
    return {"name": "dro", "parameters": {"set": distance}}


def wcs(distance: str) -> dict[str, Any]:
    return {"name": "wcs", "parameters": {"set": distance, "slope": {"difference": 1e-3}}}


def fourier(features: int, pairs: bool) -> dict[str, Any]:
    return {"name": "ts-bocu", "parameters": {"posterior": "fourier", "features": features, "pairs": pairs}}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any] | None, Any, float]] = {
    # problem, objective, algorithm, core seconds that it may take
    "random": (SQUARE, None, "random", 5),
    "ucb-so": (SQUARE, None, "ucb-so", 25),
    "ucb-ro": (SQUARE, None, "ucb-ro", 25),
    "stableopt": (SQUARE, None, "stableopt-finite", 25),
    "tv-dro-ucb-2": (SQUARE, dro("tv"), "ucb-bocu-2", 25),
    "tv-gen-ucb-1": (SQUARE, gen("tv"), "ucb-bocu-1", 25),
    "tv-dro-ts": (SQUARE, dro("tv"), "ts-bocu", 25),
    "tv-gen-ts": (SQUARE, gen("tv"), "ts-bocu", 25),
    "tv-dro-minimax": (SQUARE, dro("tv"), "minimax-approximation", 25),
    "tv-gen-fourier-1024": (SQUARE, gen("tv"), fourier(1024, False), 60),
    "tv-gen-fourier-2048-pairs": (SQUARE, gen("tv"), fourier(2048, True), 90),
    "mmd-square-dro-ucb-2": (SQUARE, dro("mmd"), "ucb-bocu-2", 60),
    "mmd-square-gen-ucb-1": (SQUARE, gen("mmd"), "ucb-bocu-1", 60),
    "mmd-square-gen-ucb-2": (SQUARE, gen("mmd"), "ucb-bocu-2", 60),
    "mmd-square-wcs-ucb-1": (SQUARE, wcs("mmd"), "ucb-bocu-1", 60),
    "mmd-square-gen-ts": (SQUARE, gen("mmd"), "ts-bocu", 60),
    "mmd-square-wcs-ts": (SQUARE, wcs("mmd"), "ts-bocu", 60),
    "mmd-line-gen-ucb-1": (LINE, gen("mmd"), "ucb-bocu-1", 250),
    "mmd-line-gen-ucb-2": (LINE, gen("mmd"), "ucb-bocu-2", 250),
    "mmd-line-wcs-ucb-1": (LINE, wcs("mmd"), "ucb-bocu-1", 250),
    "mmd-line-gen-ts": (LINE, gen("mmd"), "ts-bocu", 150),
    "mmd-line-wcs-ts": (LINE, wcs("mmd"), "ts-bocu", 150),
}


def cell(name: str, rounds: int, seeds: int) -> dict[str, Any]:
    """Run one case in this process."""
    import filelock  # noqa: F401
    import numpy as np
    import threadpoolctl  # noqa: F401
    import xarray  # noqa: F401

    from bocu.core.io.files import read_netcdf
    from bocu.sweep.runs.execution import Block, execute

    problem, objective, algorithm, _ = CASES[name]
    branch = branch_of(problem, algorithm, rounds, [objective] if objective else [])
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "run.nc"
        specification = {**branch.specification, "seeds": [0, seeds - 1]}
        start = time.perf_counter(), time.process_time()
        execute(Block(specification, {}, "measured"), output, Path(folder) / "checkpoints")
        wall, core = time.perf_counter() - start[0], time.process_time() - start[1]
        tenths = np.array_split(read_netcdf(output)["seconds"].values[0], 10)
        size = output.stat().st_size
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return {
        "case": name,
        "core_seconds": core,
        "wall_seconds": wall,
        "peak_mb": peak / 1024,
        "disk_kb": size / 1000,
        "growth": float(tenths[-1].mean() / tenths[1].mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(CASES)}")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seeds", action="store_true")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        name, rounds, seeds = arguments.cell
        print(json.dumps(cell(name, int(rounds), int(seeds))))
        return
    rows = []
    print(f"{'case':>26} {'core s':>8} {'may take':>8} {'wall s':>8} {'peak MB':>8} {'disk kB':>8} {'growth':>7}")
    for name in arguments.names or CASES:
        rows.append(in_a_process(__file__, name, str(arguments.rounds), "1"))
        row = rows[-1]
        print(
            f"{name:>26} {row['core_seconds']:>8.1f} {CASES[name][3]:>8.0f} {row['wall_seconds']:>8.1f} "
            f"{row['peak_mb']:>8.0f} {row['disk_kb']:>8.1f} {row['growth']:>7.2f}",
            flush=True,
        )
        if arguments.seeds:
            rows.append(in_a_process(__file__, name, str(arguments.rounds), "10"))
            ratio = rows[-1]["core_seconds"] / row["core_seconds"]
            print(f"{'ten seeds':>26} {rows[-1]['core_seconds']:>8.1f} {ratio:>8.2f} times one", flush=True)
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
