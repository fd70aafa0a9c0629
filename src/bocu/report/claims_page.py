"""Verdicts on claims as a section of a Markdown page, between two marks."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.plain import Plain
from bocu.evaluation.claims.model import read_claims
from bocu.evaluation.claims.numbers import Numbers, Source, as_numbers
from bocu.evaluation.claims.records import record as record_of
from bocu.evaluation.claims.reduced import Reduced, read_reduced
from bocu.evaluation.claims.verdicts import verdicts
from bocu.experiment.paths import PARTIAL, RESULTS, ResultPaths
from bocu.experiment.record import config_of, settings_of
from bocu.figures.reading import counted
from bocu.io.files import write_text
from bocu.report.claims import CAPTION, HEADER, row
from bocu.report.records import Fields

BEGIN, END = "<!-- claims: begin -->", "<!-- claims: end -->"
BAR = r"\|"
"""A vertical line inside a cell of a Markdown table."""


@dataclass(frozen=True)
class StandingCubes:
    """The results that stand under a folder: cubes, and reduced results.

    Attributes:
        folder: `results/`, or another; or one file of reduced results.
    """

    folder: Path = Path(RESULTS)
    _reduced: dict[str, Reduced] = field(default_factory=dict, init=False, repr=False, compare=False)

    def cube(self, experiment: str, problem: str) -> "Path | Numbers | None":
        """Return the cube of a problem: of the whole experiment, else of what exists of it, else its reduced numbers.

        None where there is neither.
        """
        paths = ResultPaths(experiment)
        for part in ("", PARTIAL):
            file = self.folder / Path(paths.cube(problem, part)).relative_to(RESULTS)
            if file.is_file():
                return file
        reduced = self._reduced_results(experiment)
        return None if reduced is None else reduced.problems.get(problem)

    def scales(self, records: Sequence[Fields]) -> Iterator[str]:
        """Say at which scale claims were judged, a line an experiment."""
        about: dict[str, set[str]] = {}
        for record in records:
            found = {one["problem"] for one in record["comparisons"] if one["problem"] and one["seeds"]}
            about.setdefault(record["experiment"], set()).update(found)
        for experiment, problems in about.items():
            sources = [self.cube(experiment, problem) for problem in sorted(problems)]
            shown = [_scale(source) for source in sources if source is not None]
            if shown:
                same = ", ".join(dict.fromkeys(shown))
                yield f"`{experiment}` ({', '.join(sorted(problems))}): {same}{self._settings(experiment)}"

    def _reduced_results(self, experiment: str) -> Reduced | None:
        file = self.folder if self.folder.is_file() else self.folder / f"{experiment}.nc"
        if experiment not in self._reduced and file.is_file():
            found = read_reduced(file)
            self._reduced[found.experiment] = found
        return self._reduced.get(experiment)

    def _settings(self, experiment: str) -> str:
        """Say what the command line changed of the experiment; empty: nothing that matters."""
        record = self.folder / Path(ResultPaths(experiment).record).relative_to(RESULTS)
        reduced = self._reduced_results(experiment)
        told: Plain = {}
        if record.is_file():
            told = settings_of(json.loads(record.read_text(encoding="utf-8")))
        elif reduced is not None:
            told = reduced.settings
        return f", by `{config_of(told)}`" if told else ""


def _scale(source: Source) -> str:
    with ExitStack() as files:
        numbers = as_numbers(source, files)
        return f"{counted(numbers.finished, 'seed')} and {counted(numbers.known.rounds, 'round')}"


def judge(file: Path, cubes: StandingCubes, experiment: str | None = None) -> list[Fields]:
    """Return the records of the claims of a file, judged by the results that stand.

    Args:
        file: the claims.
        cubes: where results are looked for.
        experiment: judge by it what is said of the file's own experiment, and that alone; None: all claims as stated.

    Raises:
        BocuError: the file is faulty, or names no experiment of its own and another one is asked for.
    """
    known = read_claims(file)
    stated = known.claims if experiment is None else known.asked_of(experiment)
    return [record_of(file.name, claim, own) for claim, own in zip(stated, verdicts(stated, cubes.cube), strict=True)]


def section(records: Sequence[Fields], scales: Sequence[str], command: str) -> str:
    """Return the section: at which scale, how many of each verdict, and the table."""
    counts = Counter(record["verdict"] for record in records)
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    lines = [
        f"Made by `{command}`: {told}.",
        "",
        *([f"Judged by {'; '.join(scales)}."] if scales else ["No cube of these experiments stood."]),
        "",
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
        cells = list(row(record))
        cells[2] = cells[2].replace(record["verdict"], f"**{record['verdict']}**", 1)
        yield markdown_row(cells)


def markdown_row(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cell.replace('|', BAR).replace('<', '&lt;') for cell in cells)} |"


def write_section(page: Path, text: str, marks: tuple[str, str] = (BEGIN, END)) -> None:
    """Put a section between the marks of a page.

    Args:
        page: the Markdown file.
        text: whole lines.
        marks: the line above the section, and the one below it.

    Raises:
        BocuError: there is no such page, or it does not have the marks once each, in their order.
    """
    if not page.is_file():
        raise BocuError(f"{page}: no such page")
    whole = page.read_text(encoding="utf-8")
    above, below = marks
    begin, end = whole.find(above), whole.find(below)
    if not 0 <= begin < end or whole.count(above) > 1 or whole.count(below) > 1:
        raise BocuError(
            f"{page}: found no place for a section; allowed: one line '{above}', and one '{below}' below it"
        )
    write_text(page, f"{whole[: begin + len(above)]}\n{text}{whole[end:]}")
