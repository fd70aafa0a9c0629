"""Pages over finished experiments: made of several, and computed again from run files.

A page says of itself which experiments it shows. Their runs are scored anew, in a folder that is gone afterwards, and
the numbers of the page are compared with what comes of that.
"""

import csv
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import BaseModel

from bocu.core.errors import BocuError, BrokenFileError, one_line
from bocu.core.io.hashes import edit_of
from bocu.core.plain import Plain
from bocu.pages.report import embedded
from bocu.pages.report.build import Part, build_page
from bocu.sweep.experiment.paths import PARTIAL
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.opening import plan_of, sources_as_made

RELATIVE = 1e-9  #: By how much numbers may differ: other processors differ in the last bits.
RELATIVE_SINGLE = 1e-5  #: The same of those that the page holds in single precision.
_ISLAND = re.compile(r'<script type="application/json" id="([^"]+)">(.*?)</script>', re.DOTALL)
_PLACES = frozenset(("digest", "folder", "files", "command", "verify", "panels"))
"""What the page says of where its files lie and what makes them: no numbers, and others for a page elsewhere; what has
numbers of its own."""
_PACKED = frozenset(("mean", "error", "values"))
_SHOWN = 20


def part_of(plan: Plan) -> Part:
    """Return what a page shows of an experiment: of the whole, where it is finished, else of what exists.

    Raises:
        BocuError: there are no digests, or one of them or the summary is not as it was written.
    """
    for part in ("", PARTIAL):
        digests = plan.products.digests(part)
        if digests and all(Path(file).is_file() for file in [*digests, plan.paths.summary(part)]):
            return _part(plan, part, digests, plan.paths.summary(part))
    raise BocuError(
        f"{plan.results}: no digests to make a page of; run the experiment, or `snakemake partial` for what exists"
    )


def _part(plan: Plan, part: str, digests: Sequence[str | Path], summary: str | Path) -> Part:
    drawn = [plan.paths.beside_archive(part), *plan.products.figures("json", part)]
    figures = [file for file in drawn if Path(file).is_file()]
    claims = [file for file in plan.products.claims(part) if Path(file).is_file()]
    return Part(plan.describe(), digests, summary, figures, plan.products.audits(part), claims)


class _Panel(BaseModel):
    """What a page has to say of a comparison."""

    id: str
    experiment: str
    problem: str
    metric: str


class _Index(BaseModel):
    """What a page, which may be anybody's, has to say of itself."""

    version: int
    experiments: list[str]
    panels: list[_Panel]
    reference: str | None


@dataclass
class Recomputed:
    """What came of computing a page again."""

    numbers: int = 0  #: how many were compared.
    faults: list[str] = field(default_factory=list)  #: a line for each that does not stand.

    def compare(self, where: str, shown: Any, found: Any, labels: Sequence[str] = ()) -> None:
        """Compare numbers of any nesting, or texts; curves by the labels of their algorithms."""
        if isinstance(found, dict) and (shown is None or isinstance(shown, dict)):
            for key in sorted({*(shown or {}), *found} - _PLACES):
                one, other = (shown or {}).get(key), found.get(key)
                if key in _PACKED and isinstance(one, str) and isinstance(other, str):
                    self._compare_packed(f"{where}: {key}", one, other)
                else:
                    self.compare(f"{where}: {key}", one, other, labels)
            return
        if isinstance(shown, list) and isinstance(found, list) and len(shown) == len(found):
            of_curves = len(labels) == len(found) and any(isinstance(one, dict) for one in found)
            for place, (one, other) in enumerate(zip(shown, found, strict=True)):
                self.compare(f"{where}: {labels[place]}" if of_curves else where, one, other, labels)
            return
        self.numbers += 1
        numbers = isinstance(shown, int | float) and isinstance(found, int | float)
        if not (np.isclose(shown, found, rtol=RELATIVE, atol=0) if numbers else shown == found):
            self.faults.append(f"{where}: the page says {_told(shown)}; the run files say {_told(found)}")

    def _compare_packed(self, where: str, shown: str, found: str) -> None:
        """Compare numbers in single precision; one line names them all."""
        one, other = embedded.unpacked(shown), embedded.unpacked(found)
        self.numbers += len(one)
        if one.shape != other.shape or not np.allclose(one, other, rtol=RELATIVE_SINGLE, atol=1e-30, equal_nan=True):
            self.faults.append(f"{where}: not the curve that the run files give")


def _told(value: object) -> str:
    return "nothing" if value is None else f"{len(value)} of them" if isinstance(value, dict | list) else str(value)


def verify_page(page: str | Path, trust: bool = False) -> Recomputed:
    """Compute the numbers of a page again, from the run files of its experiments, and write it anew to compare.

    Args:
        page: the page; its experiments are looked for under results/ of the working folder.
        trust: import also what files under results/ ask for.

    Raises:
        BocuError: it is no page of ours, an experiment is not there, or a run file is missing or broken.
    """
    text = _read(page)
    islands: dict[str, str] = dict(_ISLAND.findall(text))
    try:
        index = json.loads(islands["numbers"])
        version, shown = _Index.model_validate(index).version, index["panels"]
    except (KeyError, ValueError, RecursionError):
        raise BrokenFileError(page, "no page of a report, or of an earlier version: it holds no numbers") from None
    if version != embedded.VERSION:
        raise BocuError(f"{page}: its numbers are of version {version}; this code reads {embedded.VERSION}")
    found = Recomputed()
    if edited := edit_of(page):
        found.faults.append(f"{page}: {edited}")
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for name in index["experiments"]:
            plan = plan_of(sources_as_made(name), trust)
            problems = [panel["problem"].removeprefix(f"{name}/") for panel in shown if panel["experiment"] == name]
            parts.append(_anew(plan, dict.fromkeys(problems), Path(folder, plan.results)))
        again = Path(folder, "index.html")
        build_page(parts, again, index["reference"])
        written = _read(again)
        anew: dict[str, str] = dict(_ISLAND.findall(written))
        now = json.loads(anew["numbers"])
        found.compare("numbers", index, now)
        for panel in shown:
            try:
                _compare_panel(found, panel, islands, anew)
            except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
                found.faults.append(f"{panel['problem']}, {panel['metric']}: no numbers of the form that reports have")
        _compare_words(found, _Words.of(text), _Words.of(written))
        for file in sorted(again.parent.glob("tables/*.csv")):
            if (beside := Path(page).parent / "tables" / file.name).is_file():
                _compare_rows(found, str(beside), _csv_rows(beside), _csv_rows(file))
    return found


def _read(page: str | Path) -> str:
    try:
        return Path(page).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BocuError(f"{page}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BrokenFileError(page, f"not a readable page ({error})") from None


def _anew(plan: Plan, shown: Iterable[str], folder: Path) -> Part:
    """Score the runs of an experiment, and return what a page shows of it, written under `folder`."""
    from bocu.sweep.evaluation.claims.records import write_verdicts
    from bocu.sweep.evaluation.cubes import build_cube, build_summary
    from bocu.sweep.evaluation.digests import build_digest

    for gone in set(shown) - set(plan.problems):
        raise BocuError(f"{plan.results}: the page shows a problem '{gone}' that the experiment no longer has")
    part = "" if all(map(Path.is_file, map(Path, plan.products.digests()))) else PARTIAL
    judged = [Path(cube).stem for cube in plan.inputs.claims(part)]
    for name in (plan.paths.record, plan.paths.per_job):
        if Path(name).is_file():
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, folder)
    digests = []
    for problem in plan.problems:
        if any(plan.products.existing_runs(branch) for branch in plan.branches_of(problem)):
            cube, digest = folder / f"cubes/{problem}.nc", folder / f"digests/{problem}.nc"
            with tempfile.TemporaryDirectory() as scores:
                build_cube(_scored(plan, problem, Path(scores)), cube)
            build_digest(cube, digest)
            if problem not in judged:
                cube.unlink()  # they are large
            digests.append(digest)
    build_summary(digests, folder / "cubes/summary.nc")
    made = _part(plan, part, digests, folder / "cubes/summary.nc")
    if not made.claims:
        return made
    told, verdicts = plan.parameters.claims(), folder / "claims/verdicts.json"
    cubes = [folder / f"cubes/{problem}.nc" for problem in judged]
    write_verdicts(json.loads(told["claims"]), told["experiment"], cubes, verdicts)
    return replace(made, claims=[verdicts])


def _scored(plan: Plan, problem: str, folder: Path) -> Plain:
    """Score the runs of a problem, and return the description of its cube, with files under `folder`."""
    from bocu.sweep.evaluation.scores import score_branch

    description: Plain = json.loads(plan.parameters.cube(problem)["description"])
    for entry, branch in zip(description["branches"], plan.branches_of(problem), strict=True):
        entry["score"] = str(folder / f"{branch.key[1]}-{branch.key[2]}.nc")
        existing = plan.products.existing_runs(branch)
        if existing:
            part = "" if existing == plan.products.runs(branch) else PARTIAL
            parameters = {
                key: json.loads(value) if key != "fingerprint" else value
                for key, value in plan.parameters.score(branch, part).items()
            }
            score_branch(parameters, plan.inputs.score(branch, part), entry["score"])
    return description


def _compare_panel(
    found: Recomputed, panel: Mapping[str, Any], islands: Mapping[str, str], anew: Mapping[str, str]
) -> None:
    """Compare one comparison: its totals, differences and curves, all and of single seeds."""
    where = f"{panel['problem']}, {panel['metric']}"
    if f"numbers-{panel['id']}" not in anew:
        found.faults.append(f"{where}: the run files give no such comparison")
        return
    for kind in ("numbers", "traces"):
        one, other = (json.loads(of[f"{kind}-{panel['id']}"]) for of in (islands, anew))
        if kind == "numbers":
            labels = [algorithm["label"] for algorithm in one["algorithms"]]
        found.compare(f"{where}{', single seeds' * (kind == 'traces')}", one, other, labels)


def _compare_words(found: Recomputed, page: "_Words", again: "_Words") -> None:
    """Compare the cells of all tables, and the sentences that hold a digit."""
    for table in {**again.tables, **page.tables}:
        _compare_rows(found, f"table {table}", page.tables.get(table, []), again.tables.get(table, []))
    for where in {**again.texts, **page.texts}:
        shown, now = page.texts.get(where, Counter()), again.texts.get(where, Counter())
        if any(map(str.isdigit, "".join(shown | now))):
            found.compare(f"after #{where[0]}", " ".join(shown - now), " ".join(now - shown))


def _compare_rows(
    found: Recomputed, where: str, shown: Sequence[Sequence[str]], again: Sequence[Sequence[str]]
) -> None:
    """Compare tables cell by cell; the first row has the headings, the first cell of each the name of its row."""
    found.compare(f"{where}: rows", len(shown), len(again))
    headings = again[0] if again else ()
    for one, other in zip(shown, again, strict=False):
        found.compare(f"{where}: columns", len(one), len(other))
        for heading, cell, now in zip(headings, one, other, strict=False):
            found.compare(f"{where}: {other[0]}: {heading}", _value(cell), _value(now))


def _csv_rows(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def _value(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


class _Words(HTMLParser):
    """What a page says: cells of tables by row, by id; lines of other texts by the id before and their number after it.

    Lines are counted, for the order of keys is none of the numbers.
    """

    _BLOCKS = frozenset(("p", "li", "dt", "dd", "div", "summary", "pre", "figcaption", "h1", "h2", "h3", "h4"))

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.texts: dict[tuple[str, int], Counter[str]] = {}
        self._table: list[list[str]] | None = None
        self._in_cell = self._unread = False
        self._where = ("", 0)

    @classmethod
    def of(cls, text: str) -> Self:
        parser = cls()
        parser.feed(_ISLAND.sub("", text))
        return parser

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        identifier = dict(attrs).get("id") or ""
        self._unread = tag in ("script", "style", "title")
        if identifier:
            self._where = (identifier, 0)
        elif tag in self._BLOCKS:
            self._where = (self._where[0], self._where[1] + 1)
        if tag == "table":
            self._table = self.tables.setdefault(identifier, [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th") and self._table:
            self._table[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._unread = False
        if tag in ("td", "th"):
            self._in_cell = False
        elif tag == "table":
            self._table = None

    def handle_data(self, data: str) -> None:
        if self._in_cell and self._table:
            self._table[-1][-1] += data
        elif self._table is None and not self._unread:
            self.texts.setdefault(self._where, Counter()).update(map(str.strip, data.splitlines()))


def told_briefly(faults: Sequence[str]) -> Iterator[str]:
    """Return the first of many lines, and how many more there are."""
    yield from map(one_line, faults[:_SHOWN])  # they hold what the page says
    if len(faults) > _SHOWN:
        yield f"... and {len(faults) - _SHOWN} more"
