"""Verdicts on claims as a section of a Markdown page, between two marks."""

import functools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.io.files import write_text
from bocu.core.parameters import nearest
from bocu.core.written import NOTHING, counted
from bocu.pages.report.claims import CAPTION, HEADER, numbers, row, tally
from bocu.pages.report.records import Fields
from bocu.sweep.evaluation.claims.model import read_claims
from bocu.sweep.evaluation.claims.numbers import Numbers, Source, as_numbers
from bocu.sweep.evaluation.claims.places import Known
from bocu.sweep.evaluation.claims.planned import refuse_unknown
from bocu.sweep.evaluation.claims.records import checks_of
from bocu.sweep.evaluation.claims.records import record as record_of
from bocu.sweep.evaluation.claims.reduced import Reduced, read_reduced, record_in
from bocu.sweep.evaluation.claims.verdicts import verdicts
from bocu.sweep.experiment.paths import PARTIAL, RESULTS, ResultPaths
from bocu.sweep.experiment.record import config_of, settings_of, trial_of

BEGIN, END = "<!-- claims: begin -->", "<!-- claims: end -->"
PUBLISHED = Path("docs/results")
"""Where the project keeps published results, below the clone."""
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

    def experiments(self) -> list[str]:
        """Return the names of the experiments of which anything stands."""
        if self.folder.is_file():
            return [read_reduced(self.folder).experiment]
        made = {path.name for path in self.folder.glob("*/") if self.problems(path.name)}
        return sorted(made | {path.stem for path in self.folder.glob("*.nc")})

    def problems(self, experiment: str) -> set[str]:
        """Return the labels of an experiment's problems, planned or else with results; empty: nothing of it stands."""
        folder, reduced = self.folder / experiment, self._reduced_results(experiment)
        if planned := record_in(folder).get("iterations_of"):
            return set(planned)
        if reduced is not None:
            return set(reduced.problems)
        return {file.stem for part in ("", PARTIAL) for file in folder.glob(f".{part}/cubes/*.nc")} - {"summary"}

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

    def frozen(self, records: Sequence[Fields]) -> Iterator[str]:
        """Say, a line an experiment with published results, whether what is asked of them is what was frozen."""
        asked: dict[str, list[Fields]] = {}
        for record in records:
            asked.setdefault(record["experiment"], []).append(record)
        for experiment, own in asked.items():
            reduced = self._reduced_results(experiment)
            if reduced is None:
                continue
            if reduced.checks is None:
                yield f"What is asked of `{experiment}` was never frozen."
                continue
            files = {str(one["file"]) for one in own}
            then = {name: asked for name, asked in reduced.checks.items() if name.partition(":")[0] in files}
            now = checks_of(own)
            changed = [name for name, check in now.items() if then.get(name) != check]
            since = (("new or changed", changed), ("gone", [name for name in then if name not in now]))
            told = [f"{word}: {', '.join(ones)}" for word, ones in since if ones]
            yield f"What is asked of `{experiment}` is {'; '.join(told) or 'as frozen with it'}."

    def _reduced_results(self, experiment: str) -> Reduced | None:
        file = self.folder if self.folder.is_file() else self.folder / f"{experiment}.nc"
        if experiment not in self._reduced and file.is_file():
            found = read_reduced(file)
            self._reduced[found.experiment] = found
        return self._reduced.get(experiment)

    def _settings(self, experiment: str) -> str:
        """Say what the command line changed of the experiment; empty: nothing that matters."""
        record, reduced = record_in(self.folder / experiment), self._reduced_results(experiment)
        told, trial = settings_of(record), trial_of(record)
        if reduced is not None and not record:
            told, trial = reduced.settings, reduced.trial
        return (f", {trial}" if trial else "") + (f", by `{config_of(told)}`" if told else "")


def _scale(source: Source) -> str:
    with ExitStack() as files:
        numbers = as_numbers(source, files)
        label = f" ({numbers.data_label})" if numbers.data_label else ""
        return f"{counted(numbers.finished, 'seed')} and {counted(numbers.known.rounds, 'round')}{label}"


def judge(file: Path, cubes: StandingCubes, experiment: str | None = None) -> list[Fields]:
    """Return the records of the claims of a file, judged by the results that stand.

    Args:
        file: the claims.
        cubes: where results are looked for.
        experiment: judge by it what is said of the file's own experiment, and that alone; None: all claims as stated.

    Raises:
        BocuError: the file is faulty, or names no experiment of its own and another one is asked for; nothing stands of
            any of the experiments, or one that stands does not have what a claim names.
    """
    known = read_claims(file)
    stated = known.claims if experiment is None else known.asked_of(experiment)
    asked = sorted({claim.experiment for claim in stated if claim.check is not None})
    if asked and not any(map(cubes.problems, asked)):
        there = cubes.experiments()
        told = nearest(asked[0], there) if there else "it holds none" if cubes.folder.exists() else "it does not exist"
        where = published_of(file, asked)
        raise BocuError(f"{file}: no results of {', '.join(asked)} in {cubes.folder}; {told}{where and f'; {where}'}")
    with ExitStack() as files:

        @functools.cache
        def numbers(name: str, problem: str) -> Numbers | None:
            source = cubes.cube(name, problem)
            return None if source is None else as_numbers(source, files)

        def planned(name: str, problem: str) -> Known | None:
            found = numbers(name, problem)
            return None if found is None else found.known

        for position, claim in enumerate(stated if experiment is None else ()):
            if problems := cubes.problems(claim.experiment):
                own = functools.partial(planned, claim.experiment)
                refuse_unknown(claim, problems, own, f"{file}: claims.{position}")
        return [record_of(file.name, *judged) for judged in zip(stated, verdicts(stated, numbers), strict=True)]


def published_of(file: Path, experiments: Iterable[str]) -> str:
    """Say where published results of experiments stand beside a claims file of the clone; empty: there are none."""
    for folder in (PUBLISHED, file.resolve().parent.parent.parent / PUBLISHED):
        if found := [name for name in experiments if (folder / f"{name}.nc").is_file()]:
            return f"published results of {', '.join(found)}: --results {folder.as_posix()}"
    return ""


def section(records: Sequence[Fields], cubes: StandingCubes, command: str) -> str:
    """Return the section: how many of each verdict, a line a claim, and folded at which scale and all numbers."""
    scales, frozen = list(cubes.scales(records)), list(cubes.frozen(records))
    lines = [
        f"Made by `{command}`: {tally([record['verdict'] for record in records])}.",
        "",
        *markdown_row_of(("Claim", "Verdict", "Number")),
        *(markdown_row((one["statement"], f"**{one['verdict']}**", _number(one))) for one in records),
        "",
        "<details><summary>Where, by which numbers, seeds and p, and why</summary>",
        "",
        " ".join([f"Judged by {'; '.join(scales)}." if scales else "No cube of these experiments stood.", *frozen]),
        "",
        CAPTION,
        "",
        *markdown_table(records),
        "",
        "</details>",
    ]
    return "\n".join(lines) + "\n"


def markdown_table(records: Sequence[Fields]) -> Iterator[str]:
    """Return the lines of the table of claims."""
    yield from markdown_row_of(HEADER)
    for record in records:
        cells = list(row(record))
        cells[2] = cells[2].replace(record["verdict"], f"**{record['verdict']}**", 1)
        yield markdown_row(cells)


def markdown_row_of(heads: Sequence[str]) -> tuple[str, str]:
    """Return the two lines that a table begins with."""
    return markdown_row(heads), "|---" * len(heads) + "|"


def _number(record: Fields) -> str:
    """Return one number of a claim: with its interval, or how many of many comparisons are for it."""
    found = numbers(record)
    if not found or len(found) < len(record["comparisons"]):
        return found[0] if found else NOTHING
    return found[0].rpartition(": ")[2] + (f", and {len(found) - 1} more" if len(found) > 1 else "")


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
