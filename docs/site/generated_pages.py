"""The pages that Sphinx is given beside those of this folder: one a method, asked of the classes themselves.

Each has the registered name, what the class says of itself, the formula and errata of docs/site/notes, a picture that
the library draws, where it runs, its parameters out of docs/experiment-file-*.md, and the class's own documentation.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pictures
from sphinx.application import Sphinx
from sphinx.util import logging

import bocu
from bocu.core.about import About
from bocu.sweep.experiment.combinations import Applicability, combinations
from bocu.sweep.experiment.registry import RegisteredClass, aliases, registered

DOCS = Path(__file__).parents[1]
TARGET = DOCS / "generated"
KINDS = {
    "algorithm": ("algorithms", "Algorithms", "What decides: asked for a decision, told what came of it."),
    "objective": ("objectives", "Objectives", "What a decision is worth when contexts are uncertain."),
    "set": ("sets", "Ambiguity sets", "Which distributions are feared, around a reference."),
    "problem": ("problems", "Problems", "What is decided upon."),
    "law": ("laws", "Laws", "Distributions that contexts come from."),
    "shift": ("shifts", "Shifts", "How a law changes over the rounds."),
    "metric": ("metrics", "Metrics", "What finished runs are scored by."),
    "figure": ("figures", "Figures", "What is drawn of the scores."),
}
WITH_NOTES = ("algorithm", "objective", "set")
DRAWN = {"algorithm": pictures.draw_algorithm, "objective": pictures.draw_objective, "set": pictures.draw_set}
logger = logging.getLogger(__name__)


def sections(page: Path) -> Mapping[str, str]:
    """Return what stands under each heading of the second level."""
    parts = re.split(r"^## (.+)$", page.read_text(), flags=re.MULTILINE)
    return {heading.strip(): body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}


def notes(kind: str) -> Mapping[str, str]:
    """Return formula and errata of every method of a kind, by registered name."""
    return sections(DOCS / "site" / "notes" / f"{KINDS[kind][0]}.md") if kind in WITH_NOTES else {}


def write_all() -> None:
    """Write every page, and draw the pictures that are older than the library."""
    parameters = {title: own for page in DOCS.glob("experiment-file*.md") for title, own in sections(page).items()}
    runs = list(combinations())
    for kind, (folder, title, lead) in KINDS.items():
        place = TARGET / folder
        place.mkdir(parents=True, exist_ok=True)
        written, entries = notes(kind), list(registered(kind))
        for entry in entries:
            picture = _picture(kind, entry.name, place)
            table = parameters.get(f"{kind.capitalize()} `{entry.name}`", "")
            text = page(kind, entry, written.get(entry.name, ""), picture, table, runs)
            _write(place / f"{entry.name}.md", text)
        _write(place / "index.md", listing(title, lead, entries))
    _write(TARGET / "api.md", api())


def api() -> str:
    """Return the page of all that `import bocu` offers, and of the modules for analyses and tests of one's own."""
    parts = [
        "# The library",
        "What `import bocu` offers by name; methods have [pages of their own](algorithms/index.md).",
    ]
    for name in bocu.__all__:
        thing = getattr(bocu, name)
        directive = "autoclass" if isinstance(thing, type) else "autofunction"
        options = "   :no-index:\n   :members:\n" if isinstance(thing, type) else "   :no-index:\n"
        parts += [f"## {name}", _documented(directive, f"{thing.__module__}.{thing.__qualname__}", options)]
    for module in ("bocu.testing", "bocu.sweep.evaluation.statistics", "bocu.sweep.evaluation.across_problems"):
        parts += [f"## {module}", _documented("automodule", module, "   :no-index:\n   :members:\n")]
    return "\n\n".join(parts) + "\n"


def page(kind: str, entry: RegisteredClass, note: str, picture: str, parameters: str, runs: list[Applicability]) -> str:
    """Return the page of one method, as Markdown."""
    loaded: Any = entry.load()
    about: About = loaded.about
    others = "".join(f", also `{alias}`" for alias in aliases(kind, entry.name))
    parts = [
        f"# {_escaped(about.title)}",
        f"{_sentence(about.summary)}.",
        f"Name in experiment files: `{entry.name}`{others}.",
    ]
    if about.paper:
        parts.append(f"Source: {about.paper}.")
    parts += [part for part in (note, picture) if part]
    if kind == "algorithm":
        parts += ["## Where it runs", *where(entry.name, runs)]
    # The line under the heading in the experiment file's page is the summary once more.
    parts += ["## Parameters", parameters.split("\n\n", 1)[-1] or "None."]
    described = getattr(loaded, "described", None) or loaded
    target = f"{described.__module__}.{described.__qualname__}"
    options = "   :no-index:\n   :members:\n   :exclude-members: Parameters, about\n   :show-inheritance:\n"
    parts += ["## In Python", _documented("autoclass", target, options)]
    return "\n\n".join(parts) + "\n"


def where(name: str, runs: list[Applicability]) -> Iterator[str]:
    """Yield a list of the kinds of problems that an algorithm runs on, and what it pursues there."""
    places: dict[str, list[str]] = {}
    for answer in runs:
        if answer.algorithm == name and answer.runs:
            protocols = places.setdefault(answer.kind, [])
            if answer.protocol not in protocols:
                protocols.append(answer.protocol)
    yield "\n".join(f"- {kind}, played as {', '.join(f'`{p}`' for p in found)}" for kind, found in places.items())
    pursued = list(dict.fromkeys(a.objective for a in runs if a.algorithm == name and a.runs and a.objective))
    if pursued:
        named = ", ".join(f"[`{objective}`](../objectives/{objective}.md)" for objective in pursued)
        yield f"Pursues {named}; with which sets stands in [](../../combinations.md)."
    else:
        yield "It pursues no objective that is stated: the same runs are scored under every one."


def listing(title: str, lead: str, entries: list[RegisteredClass]) -> str:
    """Return the page that lists a kind."""
    abouts = [(entry, entry.load().about) for entry in entries]
    rows = "\n".join(
        f"| [{_escaped(about.title)}]({entry.name}.md) | `{entry.name}` | {_sentence(about.line)} |"
        for entry, about in abouts
    )
    tree = "\n".join(f"{about.title} <{entry.name}>" for entry, about in abouts)
    return f"# {title}\n\n{lead}\n\n| | name | |\n|---|---|---|\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"


def _picture(kind: str, name: str, place: Path) -> str:
    if kind not in DRAWN:
        return ""
    target = place / f"{name}.svg"
    newest = max(path.stat().st_mtime for path in (DOCS.parent / "src/bocu").rglob("*.py"))
    if not target.exists() or target.stat().st_mtime < max(newest, Path(pictures.__file__).stat().st_mtime):
        logger.info("drawing %s %s", kind, name)
        if not DRAWN[kind](name, target):
            return ""
    meaning = {
        "algorithm": "Its decisions in a game of the documentation's own (`docs/site/pictures.py`), one seed",
        "objective": "What every order of a newsvendor is worth under it, and the best",
        "set": "The worst distributions around a reference, and the worst expectation against the radius",
    }[kind]
    return f"```{{figure}} {name}.svg\n:alt: {meaning}\n\n{meaning}.\n```"


def _documented(directive: str, target: str, options: str) -> str:
    return f"```{{eval-rst}}\n.. {directive}:: {target}\n{options}```"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _write(path: Path, text: str) -> None:
    """Leave a page that says the same as it is, or Sphinx would read it again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def copy_pictures(target: Path) -> None:
    """Copy the pictures that pages choose by width or view: Sphinx copies those that Markdown names alone."""
    shutil.copytree(DOCS / "published", target / "published", dirs_exist_ok=True)
    for picture in DOCS.glob("*-claims.svg"):
        shutil.copy(picture, target)


def setup(app: Sphinx) -> dict[str, Any]:
    """Have Sphinx write the pages before it reads any."""
    app.connect("builder-inited", lambda app: write_all())
    app.connect("build-finished", lambda app, _: copy_pictures(Path(app.outdir)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
