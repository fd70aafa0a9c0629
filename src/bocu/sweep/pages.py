"""Pages over finished experiments: made of several, and computed again from run files.

A page says of itself which experiments it shows. Their runs are scored anew, in a folder that is gone afterwards, and
the numbers of the page are compared with what comes of that.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.errors import BocuError, BrokenFileError
from bocu.experiment.paths import PARTIAL
from bocu.experiment.plan import Plan
from bocu.report import embedded, records, tables
from bocu.report.build import Part
from bocu.report.origin_files import OriginFiles
from bocu.sweep.opening import open_plan_as_made

if TYPE_CHECKING:
    from bocu.figures.results import Results

RELATIVE = 1e-9
"""By how much numbers may differ: other processors differ in the last bits."""
RELATIVE_SINGLE = 1e-5
"""The same of those that the page holds in single precision."""
_ISLAND = re.compile(r'<script type="application/json" id="([^"]+)">(.*?)</script>', re.DOTALL)
_SHOWN = 20


def part_of(plan: Plan) -> Part:
    """Return what a page shows of an experiment: of the whole, where it is finished, else of what exists.

    Raises:
        BocuError: there are no digests.
    """
    for part in ("", PARTIAL):
        digests = plan.products.digests(part)
        if digests and all(Path(file).is_file() for file in [*digests, plan.paths.summary(part)]):
            figures = [file for file in plan.products.figures("json", part) if Path(file).is_file()]
            claims = [file for file in plan.products.claims(part) if Path(file).is_file()]
            return Part(plan.describe(), digests, plan.paths.summary(part), figures, plan.products.audits(part), claims)
    raise BocuError(
        f"{plan.results}: no digests to make a page of; run the experiment, or `snakemake partial` for what exists"
    )


@dataclass
class Recomputed:
    """What came of computing a page again.

    Attributes:
        numbers: how many were compared.
        faults: a line for each that does not stand.
    """

    numbers: int = 0
    faults: list[str] = field(default_factory=list)

    def compare(self, where: str, shown: Any, found: Any, relative: float = RELATIVE) -> None:
        """Compare numbers of any nesting, or texts."""
        if isinstance(shown, list) and isinstance(found, list) and len(shown) == len(found):
            for one, other in zip(shown, found, strict=True):
                self.compare(where, one, other, relative)
            return
        self.numbers += 1
        numbers = isinstance(shown, int | float) and isinstance(found, int | float)
        if not (np.isclose(shown, found, rtol=relative, atol=0) if numbers else shown == found):
            self.faults.append(f"{where}: the page says {_told(shown)}; the run files say {_told(found)}")

    def compare_packed(self, where: str, shown: str, found: str) -> None:
        """Compare numbers in single precision; one line names them all."""
        one, other = embedded.unpacked(shown), embedded.unpacked(found)
        self.numbers += len(one)
        if one.shape != other.shape or not np.allclose(one, other, rtol=RELATIVE_SINGLE, atol=1e-30, equal_nan=True):
            self.faults.append(f"{where}: not the curve that the run files give")


def _told(value: object) -> str:
    return "nothing" if value is None else str(value)


def verify_page(page: str | Path) -> Recomputed:
    """Compute the numbers of a page again, from the run files of its experiments.

    Args:
        page: the page; its experiments are looked for under results/ of the working folder.

    Raises:
        BocuError: it is no page of ours, an experiment is not there, or a run file is missing or broken.
    """
    text = _read(page)
    islands: dict[str, str] = dict(_ISLAND.findall(text))
    try:
        index = json.loads(islands["numbers"])
        version, shown = index["version"], index["panels"]
    except (KeyError, ValueError):
        raise BrokenFileError(page, "no page of a report, or of an earlier version: it holds no numbers") from None
    if version != embedded.VERSION:
        raise BocuError(f"{page}: its numbers are of version {version}; this code reads {embedded.VERSION}")
    written = _Tables.of(text)
    found = Recomputed()
    for name in index["experiments"]:
        plan = open_plan_as_made(name)
        mine = [panel for panel in shown if panel["experiment"] == name]
        origin = OriginFiles(plan.describe(), Path(plan.results), Path(page).parent)
        for problem in dict.fromkeys(panel["problem"] for panel in mine):
            with tempfile.TemporaryDirectory() as folder:
                results = _scored_anew(plan, problem.removeprefix(f"{name}/"), Path(folder))
                results.problem = problem
                kinds = _kinds(results, index["reference"])
                for panel in mine:
                    if panel["problem"] == problem:
                        _compare(found, panel, islands, written, results, kinds, origin, index["seeds_shown"])
                results.data.close()
    return found


def _read(page: str | Path) -> str:
    try:
        return Path(page).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BocuError(f"{page}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BrokenFileError(page, f"not a readable page ({error})") from None


def _scored_anew(plan: Plan, problem: str, folder: Path) -> "Results":
    """Score the runs of a problem, and return their digest, written under `folder`."""
    from bocu.evaluation.cubes import build_cube
    from bocu.evaluation.digests import build_digest
    from bocu.evaluation.scores import score_branch
    from bocu.figures.digest import Digest

    if problem not in plan.problems:
        raise BocuError(f"{plan.results}: the page shows a problem '{problem}' that the experiment no longer has")
    description = json.loads(plan.parameters.cube(problem)["description"])
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
    build_cube(description, folder / "cube.nc")
    build_digest(folder / "cube.nc", folder / "digest.nc")
    return Digest(folder / "digest.nc")


def _kinds(results: "Results", reference: str | None) -> dict[str, list[records.Fields]]:
    return {
        "final-regret": records.final_regret(results),
        "differences": records.difference_records(results, reference),
        "ranks": records.mean_ranks(results),
        "growth": records.growth(results),
        "seconds": records.seconds(results),
    }


def _compare(
    found: Recomputed,
    panel: Mapping[str, Any],
    islands: Mapping[str, str],
    written: Mapping[str, Sequence[Sequence[str]]],
    results: "Results",
    kinds: Mapping[str, Sequence[records.Fields]],
    origin: OriginFiles,
    seeds: int,
) -> None:
    """Compare one comparison: its table, totals, differences and curves."""
    objective, metric, where = panel["objective"], panel["metric"], f"{panel['problem']}, {panel['metric']}"
    table = tables.comparison(results, objective, metric, kinds)
    shown = {row[0]: row for row in written.get(table.identifier, ())[1:]}
    for row in table.rows:
        for heading, cell, now in zip(table.header, shown.get(row[0], [""] * len(row)), row, strict=True):
            found.compare(f"{where}: table: {row[0]}: {heading}", cell, now)
    one = json.loads(islands[f"numbers-{panel['id']}"])
    other = embedded.panel(results, objective, metric, kinds, origin, results.looks)
    for key in ("seeds", "totals", "pairs"):
        found.compare(f"{where}: {key}", one[key], other[key])
    for algorithm, again in zip(one["algorithms"], other["algorithms"], strict=True):
        for key in ("label", "mean", "error", "seeds"):
            found.compare(f"{where}: {algorithm['label']}: {key}", algorithm[key], again[key])
    labels = [algorithm["label"] for algorithm in one["algorithms"]]
    _compare_curves(found, where, labels, one["curves"], other["curves"])
    traces = json.loads(islands[f"traces-{panel['id']}"])
    anew = embedded.traces(results, objective, metric, seeds)
    _compare_curves(found, f"{where}, single seeds", labels, traces, anew)


def _compare_curves(
    found: Recomputed, where: str, labels: Sequence[str], shown: Mapping[str, Any], again: Mapping[str, Any]
) -> None:
    found.compare(f"{where}: kinds of curves", sorted(shown), sorted(again))
    for kind in sorted(set(shown) & set(again)):
        found.compare(f"{where}: {kind}: rounds", shown[kind]["rounds"], again[kind]["rounds"])
        for label, one, other in zip(labels, shown[kind]["of"], again[kind]["of"], strict=True):
            found.compare(f"{where}: {label}: {kind}: its seeds", one and one["seeds"], other and other["seeds"])
            for key in {"mean", "error", "values"}.intersection(one or {}, other or {}):
                found.compare_packed(f"{where}: {label}: {kind}: {key}", one[key], other[key])


class _Tables(HTMLParser):
    """The tables of a page, texts of cells by row, by id."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._table: list[list[str]] | None = None
        self._in_cell = False

    @classmethod
    def of(cls, text: str) -> dict[str, list[list[str]]]:
        parser = cls()
        parser.feed(_ISLAND.sub("", text))
        return parser.found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._table = self.found.setdefault(dict(attrs).get("id") or "", [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th") and self._table:
            self._table[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False
        elif tag == "table":
            self._table = None

    def handle_data(self, data: str) -> None:
        if self._in_cell and self._table:
            self._table[-1][-1] += data


def told_briefly(faults: Sequence[str]) -> Iterator[str]:
    """Return the first of many lines, and how many more there are."""
    yield from faults[:_SHOWN]
    if len(faults) > _SHOWN:
        yield f"... and {len(faults) - _SHOWN} more"
