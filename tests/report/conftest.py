"""A report of two synthetic problems, one of them simulated, with holes."""

from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest
import synthetic_cubes

from bocu.pages.figures.base import save
from bocu.pages.figures.priors import PriorsParameters, RejectionTimes
from bocu.pages.figures.regret import Regret, RegretParameters
from bocu.pages.report.build import Part, build_page
from bocu.sweep.evaluation.cubes import build_summary

EXPERIMENT = {
    "name": "synthetic",
    "title": "Wells <and> more",
    "description": "Two problems\nwithout a world.",
    "papers": ["ziomek2025", "nobody1900"],
    "data": {"source": "simulate", "mirror": None},
    "seeds": {"first": 0, "count": 5},
}
MISSING = [("mle", 1), ("mle", 2), ("mle", 4), ("random", 0)]


class Page(HTMLParser):
    """A page taken apart: tags with attributes, texts, tables by id."""

    VOID = frozenset({"meta", "img", "br", "link", "source"})

    def __init__(self, text):
        super().__init__()
        self.source = text
        self.tags, self.stack, self.text, self.faults = [], [], [], []
        self.tables: dict[str, list[list[str]]] = {}
        self._table = None
        self.feed(text)
        if self.stack:
            self.faults.append(f"never closed: {self.stack}")

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)
        if tag == "table":
            self._table = self.tables.setdefault(dict(attrs)["id"], [])
        if tag == "tr":
            self._table.append([])
        if tag in ("td", "th"):
            self._table[-1].append("")

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if {"style", "script"}.intersection(self.stack):
            return
        self.text.append(data)
        if self.stack and ("td" in self.stack or "th" in self.stack):
            self._table[-1][-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@dataclass
class Site:
    folder: Path
    cubes: list[Path]
    digests: list[Path]
    summary: Path
    figures: list[Path]
    output: Path
    rebuild: Callable[..., Page]

    @property
    def page(self):
        return Page(self.output.read_text(encoding="utf-8"))


@pytest.fixture
def taken_apart():
    return lambda file: Page(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def make_site(tmp_path_factory):
    def make(cubes, experiment=EXPERIMENT, drawn=False):
        folder = tmp_path_factory.mktemp("site")
        paths = [folder / "cubes" / f"{data.attrs['problem_label']}.nc" for data in cubes]
        digests = [synthetic_cubes.digest(data, path) for data, path in zip(cubes, paths, strict=True)]
        build_summary(digests, folder / "cubes" / "summary.nc")
        figures = []
        for path, digest in zip(paths, digests, strict=True) if drawn else []:
            for figure in (Regret(RegretParameters()), RejectionTimes(PriorsParameters())):
                base = folder / "figures" / path.stem / type(figure).__name__.lower()
                files = [base.with_suffix(suffix) for suffix in (".png", ".svg", ".json")]
                save(figure.draw({"digest": digest}), *files)
                figures.append(files[2])

        output = folder / "report" / "index.html"

        def rebuild(reference=None, claims=()):
            build_page(
                [Part(experiment, digests, folder / "cubes" / "summary.nc", figures, claims=claims)], output, reference
            )
            return Page(output.read_text(encoding="utf-8"))

        rebuild()
        return Site(folder, paths, digests, folder / "cubes" / "summary.nc", figures, output, rebuild)

    return make


@pytest.fixture(scope="session")
def site(make_site):
    simulated = synthetic_cubes.cube("simulated-wells", synthetic_cubes.SIMULATED, missing=MISSING, title="More wells")
    return make_site([synthetic_cubes.cube(), simulated], drawn=True)
