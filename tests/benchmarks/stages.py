"""The most that jobs around the runs took, by rule, from the files of their `benchmark:`; what requests are made from.

    snakemake --cores 2 && snakemake --cores 2 prepared_data --config mirror=FOLDER
    python tests/benchmarks/stages.py results/*/benchmarks data/*/*/benchmark

writes src/bocu/sweep/experiment/stages.json. A rule of which no file is found keeps what was measured before. With
`--usual`, after the quick start alone, it writes the median of each rule's times instead.
"""

import argparse
import csv
import json
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bocu.sweep.experiment.resources import MEASURED

STAGES = {
    "priors": "fit_prior",
    "optima": "optima",
    "scores": "score",
    "cubes": "cube",
    "figures": "figure",
    "claims": "claims",
}


def rule_of(file: Path, folder: Path) -> str | None:
    """Return the rule that a benchmark is of, None of one that another benchmark measures: a block of runs."""
    if folder.name == "benchmark":
        if folder.parent.parent.name == "compute":
            return "table" if (folder.parent / f"{file.stem}.nc").is_file() else "table_part"
        # Beside the prepared files of a data set; those of raw files keep their endings.
        return "prepare" if (folder.parent / f"{file.stem}.nc").is_file() else "simulate"
    parts = [part for part in file.relative_to(folder).parts if part != "partial"]
    if parts[0] == "report.tsv":
        return "report"
    return "summary" if parts == ["cubes", "summary.tsv"] else STAGES.get(parts[0])


def measured(folders: Iterable[Path]) -> Iterator[tuple[str, float, float]]:
    """Yield rule, seconds and peak in MB of every job that was benchmarked."""
    for folder in folders:
        for file in folder.rglob("*.tsv"):
            rule = rule_of(file, folder)
            with file.open(encoding="utf-8", newline="") as stream:
                for row in csv.DictReader(stream, delimiter="\t") if rule else ():
                    # A job of less than a moment has no peak.
                    yield (
                        str(rule),
                        float(row["s"]),
                        float(row["max_rss"]) if row["max_rss"] not in ("NA", "-") else 0.0,
                    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--usual", action="store_true", help="write how long a usual job takes")
    arguments = parser.parse_args()
    content = json.loads(MEASURED.read_text(encoding="utf-8"))
    if arguments.usual:
        times: dict[str, list[float]] = {}
        for rule, seconds, _ in measured(arguments.folders):
            times.setdefault(rule, []).append(seconds)
        content["usual"] = {
            "command": "python tests/benchmarks/stages.py --usual results/quickstart/benchmarks data/*/*/benchmark",
            "seconds": {rule: round(statistics.median(mine), 2) for rule, mine in sorted(times.items())},
        }
    else:
        most_of_each(content, arguments.folders)
    MEASURED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def most_of_each(content: dict[str, Any], folders: Iterable[Path]) -> None:
    """Put the most that jobs of each rule took into what is written."""
    found: dict[str, dict[str, float]] = {}
    for rule, seconds, memory in measured(folders):
        most = found.setdefault(rule, {"seconds": 0.0, "memory_mb": 0.0})
        most["seconds"] = max(most["seconds"], round(seconds, 1))
        most["memory_mb"] = max(most["memory_mb"], round(memory))
    content["rules"].update(found)
    for rule, most in found.items():
        print(f"{rule:12} {most['seconds']:8.1f} s {most['memory_mb']:6.0f} MB")


if __name__ == "__main__":
    main()
