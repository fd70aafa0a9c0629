"""Figures as the page embeds them: their words, pixels, links to their files, and scoreboards as tables."""

import base64
import csv
import json
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.hashes import refuse_edited
from bocu.pages.figures.base import NOTHING, link
from bocu.pages.figures.relative_regret import COLUMNS
from bocu.pages.report.tables import Table
from bocu.sweep.evaluation.statistics import CONFIDENCE

LEADS = "◆"
HEAVIEST_SVG = 400_000
"""Bytes from which on a picture stands in the page as PNG: of very many curves it is the lighter one."""
PICTURE_SCALE = 0.64
"""Pictures have 200 dots an inch: shown this much smaller they are sharp, and their text is as large as that around."""


@dataclass(frozen=True)
class Picture:
    """A figure of the page; links are relative to the page, those of its PDF and table empty where it has none.

    `empty` says why nothing is drawn; empty where something is.
    """

    identifier: str
    label: str
    problem: str
    title: str
    caption: str
    alternative: str
    simulated: bool
    embedded: str
    width: int
    height: int
    png: str
    svg: str
    pdf: str = ""
    table: str = ""
    narrow: str = ""
    empty: str = ""
    boards: tuple[Table, ...] = ()


def pictures(descriptions: Sequence[str | Path], folder: Path) -> list[Picture]:
    """Read the figures of a page: see `picture`.

    Those of one problem and title are told apart by the words of their labels; better words are the `title` among the
    parameters of a figure.
    """
    found = [picture(description, folder) for description in descriptions]
    headings = Counter((each.problem, each.title) for each in found)
    return [
        replace(each, title=f"{each.title}: {each.label.replace('-', ' ')}")
        if headings[each.problem, each.title] > 1
        else each
        for each in found
    ]


def picture(description: str | Path, folder: Path) -> Picture:
    """Read a figure for a page in `folder`.

    Args:
        description: its words, JSON; the pictures and the table stand beside it.
        folder: of the page.

    Raises:
        BocuError: a file is missing or broken.
    """
    path = Path(description)
    try:
        words = json.loads(path.read_text(encoding="utf-8"))
        png, svg = path.parent / words["png"], path.parent / words["svg"]
        for file in (path, png, svg):
            refuse_edited(file)
        pixels = png.read_bytes()
        identifier = f"figure-{path.parent.name}-{path.stem}"
        width, height = struct.unpack(">II", pixels[16:24])
        return Picture(
            identifier=identifier,
            label=path.stem,
            problem=words["problem"],
            title=words["title"],
            caption=words["caption"],
            alternative=words["alternative"],
            simulated=bool(words["data_label"]),
            embedded=_embedded(svg.read_bytes(), pixels),
            width=round(width * PICTURE_SCALE),
            height=round(height * PICTURE_SCALE),
            png=link(png, folder),
            svg=link(svg, folder),
            pdf=link(path.parent / words["pdf"], folder) if "pdf" in words else "",
            table=link(path.parent / words["csv"], folder) if "csv" in words else "",
            empty=words["caption"].removeprefix(NOTHING) if words["caption"].startswith(NOTHING) else "",
            narrow=_data_url("svg+xml", words["narrow"].encode()) if "narrow" in words else "",
            boards=_boards(identifier, path.parent / words["csv"]) if "csv" in words else (),
        )
    except FileNotFoundError as error:
        raise BocuError(f"{error.filename}: no such file; the figure is drawn again if you delete {path}") from None
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise BrokenFileError(path, f"not the description of a figure ({error})") from None


def _embedded(svg: bytes, png: bytes) -> str:
    """Return the picture as it stands in the page: as SVG, sharp and light on dark pages, unless that is heavy."""
    kind, content = ("png", png) if len(svg) > HEAVIEST_SVG else ("svg+xml", svg)
    return _data_url(kind, content)


def _data_url(kind: str, content: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _boards(identifier: str, file: Path) -> tuple[Table, ...]:
    """Return a table for each block of a scoreboard; none where the file is the table of another figure.

    Args:
        identifier: what the figure is called on the page.
        file: the table beside the figure.
    """
    with file.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if tuple(reader.fieldnames or ())[: len(COLUMNS)] != COLUMNS:
            return ()
        rows = list(reader)
    blocks = list(dict.fromkeys(row["block"] for row in rows))
    return tuple(
        _board(f"{identifier}-{place}", block, [row for row in rows if row["block"] == block])
        for place, block in enumerate(blocks)
    )


def _board(identifier: str, block: str, rows: list[dict[str, str]]) -> Table:
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    cells = {(row["algorithm"], row["problem"]): _ratio(row) for row in rows}
    caption = (
        f"{block}: regret relative to {rows[0]['reference']} with {CONFIDENCE:.0%} intervals; {LEADS} the least of a "
        "column and what has hardly more, as the interval has it."
    )
    body = tuple((name, *(cells.get((name, problem), "") for problem in problems)) for name in algorithms)
    return Table(identifier, caption, ("algorithm", *problems), body)


def _ratio(row: dict[str, str]) -> str:
    mark = f"{LEADS} " if row["leading"] == "True" else ""
    ends = f" [{float(row['low']):.2f}, {float(row['high']):.2f}]" if row["low"] else ""
    return f"{mark}{float(row['ratio']):.2f}{ends}"
