"""Claims in a picture: a chip for each verdict, and for each claim a small forest plot of its comparisons.

One SVG holds all of them as views, FILE.svg#IDENTIFIER, so that a page of Markdown shows each in its own line.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from operator import itemgetter

import numpy as np

from bocu.core.style import COLOURS, DARK_COLOURS
from bocu.pages.report.tables import Fields
from bocu.sweep.evaluation.claims.verdicts import FAILS, HOLDS, LEANS_AGAINST, LEANS_FOR, OPEN, OUTCOMES
from bocu.sweep.evaluation.statistics import CONFIDENCE

HOW_TO_READ = (
    f"A line is a comparison, its dot the mean and its length the {CONFIDENCE:.0%} interval, drawn equally long for "
    f"all: right of the rule is for the claim, left against it, coloured where by itself at {1 - CONFIDENCE:.0%}."
)
WIDTH, EDGE = 150.0, 4.0  #: Width of a forest, and where it ends, in half intervals from the boundary.
PITCH, TALLEST = 6.0, 40.0  #: Height of a comparison at the most, and of all together.
APART = 40.0  #: What parts views, lest a page that squeezes one shows the next as well.
CHIP, LETTER = 18, 6.6  #: Height of a chip, and width of a letter on it.
FOR, AGAINST = "for", "against"


def chip(verdict: str, picture: str) -> str:
    """Return the chip of a verdict for a page, out of the picture that `drawn_claims` gave."""
    width = _chip_width(verdict)
    return f'<img src="{picture}#{_chip_id(verdict)}" alt="{verdict}" width="{width}" height="{CHIP}">'


def forest(record: Fields, picture: str) -> str:
    """Return the forest of a claim for a page, likewise; empty where it has no interval."""
    if not (found := _standardised(record)):
        return ""
    height = _height(len(found))
    return f'<img src="{picture}#{escape(record["id"])}" alt="" width="{WIDTH:.0f}" height="{height:.0f}">'


def drawn_claims(records: Sequence[Fields]) -> str:
    """Return the picture of claims as SVG."""
    parts: list[str] = []
    top = 0.0

    def place(identifier: str, drawn: Iterator[str], width: float, height: float) -> None:
        nonlocal top
        parts.append(f'<view id="{escape(identifier)}" viewBox="0 {top:g} {width:g} {height:g}"/>')
        parts.append(f'<g transform="translate(0 {top:g})">{"".join(drawn)}</g>')
        top += height + APART

    for verdict in OUTCOMES:
        place(_chip_id(verdict), _chip(verdict), _chip_width(verdict), CHIP)
    for record in records:
        if found := _standardised(record):
            place(record["id"], _forest(found), WIDTH, _height(len(found)))
    rules = [_rules(COLOURS, "#ffffff", "#545c66")]
    rules.append(f"@media (prefers-color-scheme: dark){{{_rules(DARK_COLOURS, '#14171b', '#a9b2bd')}}}")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {top:g}"><style>{"".join(rules)}</style>'
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def side(one: Fields) -> str:
    """Return which side a comparison is on by itself: "for" the claim, "against" it, or "open"."""
    level = 1 - CONFIDENCE
    return FOR if one["p_for"] < level else AGAINST if one["p_against"] < level else OPEN


def _rules(colours: Mapping[str, str], ground: str, ink: str) -> str:
    found = [f".rule{{stroke:{ink}}}text{{stroke:none;font:600 11px system-ui,sans-serif;text-anchor:middle}}"]
    for name, colour in ((FOR, colours["blue"]), (AGAINST, colours["vermillion"]), (OPEN, colours["grey"])):
        found.append(f".{name}{{stroke:{colour};fill:{colour}}}.{name}.hollow rect{{fill:none}}")
    return "".join([*found, f".filled text{{fill:{ground}}}"])


def _standardised(record: Fields) -> list[tuple[float, float, float, str]]:
    """Return ends and mean of each interval in half its widths from the boundary, positive for the claim; its side."""
    found = []
    for one in record["comparisons"]:
        ends = [one[key] for key in ("value", "low", "high")]
        if None in ends or not one["seeds"] or not ends[2] > ends[1]:
            continue
        unit = (ends[2] - ends[1]) / 2
        value, low, high = ((end - one["boundary"]) / unit for end in ends)
        turned = (value > 0) != (one["p_for"] < one["p_against"])
        found.append((-high, -value, -low, side(one)) if turned else (low, value, high, side(one)))
    return sorted(found, key=itemgetter(1))


def _height(comparisons: int) -> float:
    return max(12.0, min(TALLEST, PITCH * comparisons))


def _forest(found: Sequence[tuple[float, float, float, str]]) -> Iterator[str]:
    height = _height(len(found))
    yield f'<path class="rule" d="M{WIDTH / 2:g} 0V{height:g}" stroke-width="0.8"/>'
    for place, (*ends, on) in enumerate(found):
        left, middle, right = WIDTH / 2 * (1 + np.clip(ends, -EDGE, EDGE) / (EDGE * 1.03))
        y = height * (place + 0.5) / len(found)
        thick = min(1.2, 0.5 * height / len(found))
        yield f'<path class="{on}" d="M{left:.1f} {y:.1f}H{right:.1f}" stroke-width="{thick:.1f}"/>'
        yield f'<circle class="{on}" cx="{middle:.1f}" cy="{y:.1f}" r="{min(2.2, 1.2 * thick + 0.5):.1f}"/>'


def _chip_id(verdict: str) -> str:
    return f"verdict-{verdict.replace(' ', '-')}"


def _chip_width(verdict: str) -> int:
    return round(LETTER * len(verdict) + 14)


def _chip(verdict: str) -> Iterator[str]:
    on = FOR if verdict in (HOLDS, LEANS_FOR) else AGAINST if verdict in (FAILS, LEANS_AGAINST) else OPEN
    look, width = "filled" if verdict in (HOLDS, FAILS) else "hollow", _chip_width(verdict)
    yield f'<g class="{on} {look}"><rect x="0.75" y="0.75" width="{width - 1.5}" height="{CHIP - 1.5}" rx="8"/>'
    yield f'<text x="{width / 2:g}" y="13">{verdict}</text></g>'
