"""From cubes and figures to a page and its tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TABLES = ("final-regret", "differences", "ranks", "seconds", "holes")
"""The CSV files beside the page, `tables/<name>.csv`: one file a kind, all problems in it."""


def table_files(output: str | Path) -> list[str]:
    """Name the CSV files that `build` writes beside the page `output`."""
    return [(Path(output).parent / "tables" / f"{name}.csv").as_posix() for name in TABLES]


def build(
    experiment: Mapping[str, Any],
    cubes: Sequence[str | Path],
    summary: str | Path,
    figures: Sequence[str | Path],
    output: str | Path,
) -> None:
    """Write the report.

    Args:
        experiment: the configuration with every parameter as it stands, plain data, from `Plan.describe`.
        cubes: one file a problem, in the order of the report.
        summary: the experiment's summary.
        figures: descriptions (JSON) of the figures, in the order of the report; each names its pictures.
        output: the page; tables go to `table_files(output)`.

    Raises:
        BocuError: a file is missing or broken.
    """
