r"""Time and memory of digests, figures and report of a large experiment.

    python tests/benchmarks/reporting.py --problems 2 8
    python tests/benchmarks/reporting.py --problems 1 3 --algorithms 20 --objectives 10 --metrics 10 --seeds 50 \
        --rounds 1000

One cube is fabricated (random regret of the shape asked for), its digest worked out once and copied under other labels:
neither figures nor report can tell them from real ones. Each stage runs in a process of its own. What is told at the
end for 100 problems is the line through the smallest and the largest number of problems, not a measurement.
"""

import argparse
import json
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FULL = 100
Sizes = Mapping[str, int]


def fabricate(sizes: Sizes, path: Path) -> None:
    """Write the cube of one problem, chunk by chunk."""
    from bocu.core.about import Look
    from bocu.core.io.chunks import chunk_file
    from bocu.core.io.provenance import SCHEMA_VERSION
    from bocu.sweep.experiment.looks import COLOURS, DASHES
    from bocu.sweep.runs.records import STATUS_ATTRIBUTES

    # Metrics are called as the objectives that runs pursue: of these pairs the page has tables.
    called = {"objective": "o", "algorithm": "a", "metric": "o"}
    labels = {dim: [f"{letter}-{i}" for i in range(sizes[f"{dim}s"])] for dim, letter in called.items()}
    numbers = {"seed": range(sizes["seeds"]), "iteration": range(1, sizes["rounds"] + 1)}
    shape = {dim: len(values) for dim, values in {**labels, **numbers}.items()}
    noise, described = np.random.default_rng(0), {"long_name": "a number", "units": "1"}
    with chunk_file(path, shape) as file:
        for name, dims in (("regret", ("metric", "seed", "iteration")), ("value", ("metric", "seed", "iteration"))):
            file.define(name, ("objective", "algorithm", *dims), "f8", described)
        for name in ("seconds", "payoff"):
            file.define(name, ("objective", "algorithm", "seed", "iteration"), "f8", described)
        file.define("status", ("objective", "algorithm", "seed"), "i1", STATUS_ATTRIBUTES)
        file.write("status", (slice(None),), np.ones([shape["objective"], shape["algorithm"], shape["seed"]], "i1"))
        fading = np.sqrt(np.arange(1, shape["iteration"] + 1))
        for place in np.ndindex(shape["objective"], shape["algorithm"]):
            regret = (1 + place[1]) * noise.random((shape["metric"], shape["seed"], shape["iteration"])) / fading
            for name, values in (("regret", regret), ("value", -regret), ("seconds", regret[0]), ("payoff", regret[0])):
                file.write(name, place, values)
        for dim, values in {**labels, **numbers}.items():
            file.coordinate(dim, dim, values, described)
        looks = [str(Look(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], "o")) for i in range(shape["algorithm"])]
        told = {"name": ["random"], "parameters": ["{}"], "title": labels["algorithm"], "look": looks}
        for key, values in {**told, "yardstick": ["no"]}.items():
            every = list(values) * (shape["algorithm"] if len(values) == 1 else 1)
            file.coordinate(f"algorithm_{key}", "algorithm", every, described)
        empty = {"data_label": "", "data_provenance": "{}", "best_prior": "", "title": "A problem"}
        traced = {key: json.dumps(["{}" if key == "package_versions" else "0"]) for key in _TRACED}
        specification = json.dumps({"problem": {}})
        rest = {"problem_label": "p-0", "payoff_units": "1", "numeric_threads": 1, "schema_version": SCHEMA_VERSION}
        file.attributes({**empty, **traced, **rest, "specification": specification, "protocol": "general"})


_TRACED = ("code_version", "cpu", "package_versions")


def digest(folder: Path) -> None:
    from bocu.sweep.evaluation.digests import build_digest

    build_digest(folder / "cube.nc", folder / "digest.nc")


def copies(file: Path, problems: int, folder: Path) -> list[Path]:
    """Copy the file of a problem under other labels."""
    import shutil

    import netCDF4

    found = []
    for number in range(problems):
        copy = folder / f"{file.stem}-{number}.nc"
        if not copy.exists():
            shutil.copy(file, copy)
            with netCDF4.Dataset(copy, "a") as data:
                data.setncattr("problem_label", f"p-{number}")
        found.append(copy)
    return found


def summary(paths: Sequence[Path], folder: Path) -> None:
    from bocu.sweep.evaluation.cubes import build_summary

    build_summary(paths, folder / "summary.nc")


def figures(paths: Sequence[Path], folder: Path) -> None:
    """Draw a figure of regret for every problem, and the three of the whole experiment."""
    from bocu.pages.figures.base import save
    from bocu.pages.figures.regret import Panels, PanelsParameters, Regret, RegretParameters
    from bocu.pages.figures.relative_regret import Scoreboard, ScoreboardParameters, Summary, SummaryParameters

    for figure in (
        Panels(PanelsParameters(rows=[{"metric": "o-0", "problems": [f"p-{i}" for i in range(min(5, len(paths)))]}])),
        Summary(SummaryParameters()),
        Scoreboard(ScoreboardParameters(blocks=[{"metric": "o-0", "pursued": ["o-0"]}])),
    ):
        figure.draw({"digests": list(paths)})
    drawn = Regret(RegretParameters(metrics=["o-0"]))
    for path in paths:
        save(drawn.draw({"digest": path}), *(folder / f"f{suffix}" for suffix in (".png", ".svg", ".json")))


def report(paths: Sequence[Path], folder: Path) -> None:
    from bocu.pages.report.build import Part, build_page

    build_page([Part({"name": "large"}, paths, folder / "summary.nc", [])], folder / "report" / "index.html")


def measured(queue: Any, stage: Callable[..., None], *arguments: Any) -> None:
    start = time.process_time()
    stage(*arguments)
    queue.put((time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def measure(stage: Callable[..., None], *arguments: Any) -> tuple[float, float]:
    """Run a stage in a process of its own: its processor seconds and its peak, MB."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=measured, args=(queue, stage, *arguments))
    process.start()
    found: tuple[float, float] = queue.get()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, nargs="+", default=[2, 8])
    for name, default in (("algorithms", 6), ("objectives", 2), ("metrics", 3), ("seeds", 30), ("rounds", 500)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    sizes = {key: getattr(arguments, key) for key in ("algorithms", "objectives", "metrics", "seeds", "rounds")}
    print(", ".join(f"{value} {key}" for key, value in sizes.items()))
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        os.chdir(folder)
        seconds, megabytes = measure(fabricate, sizes, folder / "cube.nc")
        size = (folder / "cube.nc").stat().st_size / 1e6
        print(f"a cube: {size:.0f} MB, written in {seconds:.1f} s, {megabytes:.0f} MB resident at most", flush=True)
        seconds, megabytes = measure(digest, folder)
        size = (folder / "digest.nc").stat().st_size / 1e6
        print(f"its digest: {size:.1f} MB, made in {seconds:.1f} s, {megabytes:.0f} MB resident at most", flush=True)
        print(f"{'stage':>10} {'problems':>8} {'s':>8} {'MB':>6}")
        rows: dict[str, list[tuple[int, float, float]]] = {}
        for problems in arguments.problems:
            paths = copies(folder / "digest.nc", problems, folder)
            for stage in (summary, figures, report):
                seconds, megabytes = measure(stage, paths, folder)
                rows.setdefault(stage.__name__, []).append((problems, seconds, megabytes))
                print(f"{stage.__name__:>10} {problems:>8} {seconds:>8.1f} {megabytes:>6.0f}", flush=True)
        for stage_name, found in rows.items():
            (few, s0, m0), (many, s1, m1) = found[0], found[-1]
            if many > few:
                slopes = (s1 - s0) / (many - few), (m1 - m0) / (many - few)
                whole = s1 + (FULL - many) * slopes[0], m1 + (FULL - many) * slopes[1]
                print(
                    f"{stage_name}: {slopes[0]:.2f} s and {slopes[1]:.1f} MB a problem; a line to {FULL} problems "
                    f"ends at {whole[0]:.0f} s and {whole[1]:.0f} MB"
                )
        os.chdir("/")


if __name__ == "__main__":
    main()
