"""Scoreboards as tables of the page: each cell with its interval, tie groups marked."""

import csv
from pathlib import Path

from bocu.pages.figures.scoreboard import COLUMNS
from bocu.pages.report.tables import Table
from bocu.sweep.evaluation.statistics import CONFIDENCE

LEADS = "◆"


def scoreboard_tables(identifier: str, file: Path) -> tuple[Table, ...]:
    """Return a table for each block of a scoreboard; none where the file is the table of another figure.

    Args:
        identifier: what the figure is called on the page.
        file: the table beside the figure.
    """
    with file.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            return ()
        rows = list(reader)
    blocks = list(dict.fromkeys(row["block"] for row in rows))
    return tuple(
        _table(f"{identifier}-{place}", block, [row for row in rows if row["block"] == block])
        for place, block in enumerate(blocks)
    )


def _table(identifier: str, block: str, rows: list[dict[str, str]]) -> Table:
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    cells = {(row["algorithm"], row["problem"]): _cell(row) for row in rows}
    caption = (
        f"{block}: regret relative to {rows[0]['reference']} with {CONFIDENCE:.0%} intervals; {LEADS} the least of a "
        "column and what has hardly more, as the interval has it."
    )
    body = tuple((name, *(cells.get((name, problem), "") for problem in problems)) for name in algorithms)
    return Table(identifier, caption, ("algorithm", *problems), body)


def _cell(row: dict[str, str]) -> str:
    mark = f"{LEADS} " if row["leading"] == "True" else ""
    ends = f" [{float(row['low']):.2f}, {float(row['high']):.2f}]" if row["low"] else ""
    return f"{mark}{float(row['ratio']):.2f}{ends}"
