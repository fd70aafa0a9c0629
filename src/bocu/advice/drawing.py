"""How pictures of a page are drawn: as vector graphics that take the colours of their page, whose names are text."""

import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bocu.core import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Plain = Mapping[str, Any]

#: Inches: about the width of a phone, whose pictures are then shown at their own size.
_WIDTH, _HEIGHT = 4.3, 2.9

#: Colours that are drawn with, and the variables of the page that take their place.
PAGE_COLOURS: Mapping[str, str] = {
    style.INK: "var(--ink)",
    "#e4e4e4": "var(--rule)",
    style.BLUE: "var(--one)",
    style.VERMILLION: "var(--two)",
    style.GREY: "var(--soft)",
}

#: Letters of a name that a picture has room for.
_LETTERS = 22


def svg(figure: "Figure", name: str, description: str) -> str:
    """Return a picture as an element of a page, whose colours are the page's and whose identifiers are its own."""
    from xml.sax.saxutils import quoteattr

    target = io.StringIO()
    with style.applied():
        as_text()
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = target.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    for drawn, shown in PAGE_COLOURS.items():
        text = re.sub(re.escape(drawn), shown, text, flags=re.IGNORECASE)
    return text.replace("<svg", f'<svg role="img" aria-label={quoteattr(description)}', 1)


def opened(height: float = _HEIGHT) -> "tuple[Figure, Axes]":
    """Return an empty picture of a height in inches, and its axes."""
    with style.applied():
        as_text()
        figure = style.new_figure(height, _WIDTH)
        return figure, figure.add_subplot()


def as_text() -> None:
    """Let names be text, whatever is in them: nothing is read as a formula."""
    import matplotlib as mpl

    mpl.rcParams.update(
        {
            "text.parse_math": False,
            "axes.formatter.use_mathtext": False,
            "font.size": 9.0,
            "axes.labelsize": 9.0,
            "xtick.labelsize": 8.5,
            "ytick.labelsize": 8.5,
            "legend.fontsize": 8.5,
            "axes.titlesize": 9.0,
        }
    )


def labelled(axes: "Axes", x: str, y: str) -> None:
    """Name the axes, and rule lines across."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, axis="y")


def column_with_unit(plain: Plain, name: str) -> str:
    """Return a name as axes have it, with its unit."""
    unit = plain["units"].get(name, "")
    return f"{short(name)} [{short(unit)}]" if unit else short(name)


def short(text: str, most: int = _LETTERS) -> str:
    """Return a text, or its beginning where it is longer than there is room for."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
