"""Verdicts on claims as a section of a Markdown page, between two marks."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bocu.core.errors import BocuError
from bocu.experiment.paths import PARTIAL, RESULTS, ResultPaths
from bocu.experiment.record import MADE_FROM
from bocu.io.files import open_netcdf, reading, write_text
from bocu.report.claims import CAPTION, HEADER, row
from bocu.report.records import Fields
from bocu.runs.status import DONE

BEGIN, END = "<!-- claims: begin -->", "<!-- claims: end -->"
_TOLD = ("name", "iterations", "seeds", "problems")
"""Settings of a command line that say at which scale results were made; others name places of one machine."""


@dataclass(frozen=True)
class StandingCubes:
    """The cubes that stand under a folder of results.

    Attributes:
        folder: `results/`, or another.
    """

    folder: Path = Path(RESULTS)

    def cube(self, experiment: str, problem: str) -> Path | None:
        """Return the cube of a problem: of the whole experiment, else of what exists of it, else None."""
        paths = ResultPaths(experiment)
        for part in ("", PARTIAL):
            file = self.folder / Path(paths.cube(problem, part)).relative_to(RESULTS)
            if file.is_file():
                return file
        return None

    def scales(self, records: Sequence[Fields]) -> Iterator[str]:
        """Say at which scale claims were judged, a line an experiment."""
        about: dict[str, set[str]] = {}
        for record in records:
            found = {one["problem"] for one in record["comparisons"] if one["problem"] and one["seeds"]}
            about.setdefault(record["experiment"], set()).update(found)
        for experiment, problems in about.items():
            shown = [self._scale(path) for problem in sorted(problems) if (path := self.cube(experiment, problem))]
            if shown:
                same = ", ".join(dict.fromkeys(shown))
                yield f"`{experiment}` ({', '.join(sorted(problems))}): {same}{self._settings(experiment)}"

    @staticmethod
    def _scale(file: Path) -> str:
        with open_netcdf(file, decode_times=False) as cube, reading(file):
            done = int((cube["status"].values == DONE).any(axis=(0, 1)).sum())
            return f"{done} seeds and {int(cube['iteration'].values[-1])} rounds"

    def _settings(self, experiment: str) -> str:
        """Say what the command line changed of the experiment; empty: nothing that matters."""
        record = self.folder / Path(ResultPaths(experiment).record).relative_to(RESULTS)
        made = json.loads(record.read_text(encoding="utf-8")).get(MADE_FROM) if record.is_file() else None
        if not made:
            return ""
        told = {key: value for key, value in made["config"].items() if key in _TOLD}
        settings = " ".join(_setting(key, value) for key, value in told.items())
        return f", by `--config {settings}`" if settings else ""


def _setting(key: str, value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("...\n").strip().replace("'", "")
    return f"'{key}={text}'" if " " in text else f"{key}={text}"


def section(records: Sequence[Fields], scales: Sequence[str], command: str) -> str:
    """Return the section: at which scale, how many of each verdict, and the table."""
    counts = Counter(record["verdict"] for record in records)
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    lines = [
        f"Made by `{command}`: {told}.",
        "",
        *([f"Judged by {'; '.join(scales)}."] if scales else ["No cube of these experiments stood."]),
        CAPTION,
        "",
        *markdown_table(records),
    ]
    return "\n".join(lines) + "\n"


def markdown_table(records: Sequence[Fields]) -> Iterator[str]:
    """Return the lines of the table of claims."""
    yield f"| {' | '.join(HEADER)} |"
    yield "|---" * len(HEADER) + "|"
    for record in records:
        cells = [cell.replace("|", "\\|").replace("<", "&lt;") for cell in row(record)]
        cells[2] = cells[2].replace(record["verdict"], f"**{record['verdict']}**", 1)
        yield f"| {' | '.join(cells)} |"


def write_section(page: Path, text: str) -> None:
    """Put a section between the marks of a page.

    Raises:
        BocuError: there is no such page, or it does not have the marks once each, in their order.
    """
    if not page.is_file():
        raise BocuError(f"{page}: no such page")
    whole = page.read_text(encoding="utf-8")
    begin, end = whole.find(BEGIN), whole.find(END)
    if not 0 <= begin < end or whole.count(BEGIN) > 1 or whole.count(END) > 1:
        raise BocuError(f"{page}: found no place for claims; allowed: one line '{BEGIN}', and one '{END}' below it")
    write_text(page, f"{whole[: begin + len(BEGIN)]}\n{text}{whole[end:]}")
