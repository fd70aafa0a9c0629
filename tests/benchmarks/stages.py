"""The most that jobs around the runs took, by rule, from the files of their `benchmark:`; what requests are made from.

    snakemake --cores 2 && snakemake --cores 2 prepared_data --config mirror=FOLDER
    python tests/benchmarks/stages.py results/*/benchmarks data/*/*/benchmark

writes src/bocu/experiment/stages.json. A rule of which no file is found keeps what was measured before.
"""

import argparse
import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from bocu.experiment.stages import MEASURED

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
    arguments = parser.parse_args()
    rules = json.loads(MEASURED.read_text(encoding="utf-8"))["rules"]
    found: dict[str, dict[str, float]] = {}
    for rule, seconds, memory in measured(arguments.folders):
        most = found.setdefault(rule, {"seconds": 0.0, "memory_mb": 0.0})
        most["seconds"] = max(most["seconds"], round(seconds, 1))
        most["memory_mb"] = max(most["memory_mb"], round(memory))
    content = {
        "command": "python tests/benchmarks/stages.py results/*/benchmarks data/*/*/benchmark",
        "rules": {**rules, **found},
    }
    MEASURED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for rule, most in found.items():
        print(f"{rule:12} {most['seconds']:8.1f} s {most['memory_mb']:6.0f} MB")


if __name__ == "__main__":
    main()
