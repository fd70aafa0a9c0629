"""What every picture gets when it is saved: few round ticks, titles that fit, colours that suit a dark page too.

A PDF embeds the letters that a picture has, without the tables that shape text: matplotlib has placed every letter
already, and cutting tables of ligatures, kerning and marks down to these letters would take half of a figure's time.
"""

import contextlib
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bocu.core import style

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

SHAPING = ("GDEF", "GPOS", "GSUB")
MOST_TICKS = 4
STEPS = [1, 2, 2.5, 5, 10]
LETTER = 0.52
"""Width of a letter of a title, on the average, in sizes of its type."""
_DARK = {
    **{light: style.DARK_COLOURS[name] for name, light in style.COLOURS.items()},
    style.INK: "#E6E6E6",
    style.GRID: "#3C4148",
    style.PALE: "#565C64",
}
"""What colours become on a dark page."""


def finish(figure: "matplotlib.figure.Figure") -> None:
    """Set on all axes two to four ticks where matplotlib chose them, and break titles that are too long."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _tick(axis)
        _fit_title(axes)


def _tick(axis: "Axis") -> None:
    from matplotlib.ticker import AutoLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    locator = axis.get_major_locator()
    if type(locator) is AutoLocator:
        low, high = sorted(axis.get_view_interval())
        whole = axis.get_label_text() == "round"
        many, few = (
            MaxNLocator(ticks, steps=STEPS, min_n_ticks=2, integer=whole) for ticks in (MOST_TICKS, MOST_TICKS - 1)
        )
        shown = [place for place in many.tick_values(low, high) if low <= place <= high]
        axis.set_major_locator(many if len(shown) <= MOST_TICKS else few)
    elif type(locator) is LogLocator:
        low, high = sorted(axis.get_view_interval())
        decades = [place for place in locator.tick_values(low, high) if low <= place <= high]
        if len(decades) > MOST_TICKS:
            axis.set_major_locator(LogLocator(numticks=MOST_TICKS))
            axis.set_minor_locator(NullLocator())
        elif len(decades) < 3:
            places = [digit * 10.0**power for power in range(-12, 13) for digit in (1, 2, 5)]
            shown = [place for place in places if low <= place <= high]
            if len(shown) > MOST_TICKS:
                shown = shown[:: -(-len(shown) // MOST_TICKS)]
            axis.set_ticks(shown)
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())


def _fit_title(axes: "Axes") -> None:
    place = axes.get_subplotspec()
    figure = axes.get_figure(root=True)
    if place is None or figure is None:
        return
    abreast = place.get_gridspec().ncols / len(place.colspan)
    for title in (axes.title, axes._left_title):  # type: ignore[attr-defined]
        size = float(title.get_fontsize()) * LETTER / 72.0
        letters = max(8, int(0.92 * figure.get_size_inches()[0] / abreast / size))
        lines = title.get_text().split("\n")
        if max(map(len, lines)) > letters:
            title.set_text("\n".join(textwrap.fill(line, letters, break_on_hyphens=False) for line in lines))


def themed(svg: str) -> str:
    """Return an SVG picture whose ink turns light where the reader asks for dark pages; its ground is transparent."""
    rules = "".join(
        f'[style*="{what}: {light.lower()}"]{{{what}:{dark.lower()} !important}}'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    )
    rule = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>\n"
    return re.sub(r"(<svg\b[^>]*>\n?)", lambda found: found[1] + rule, svg, count=1)


@contextlib.contextmanager
def without_shaping() -> Iterator[None]:
    """Embed typefaces without what shapes text; matplotlib leaves the choice to the defaults of fontTools."""
    from fontTools.subset import Options

    dropped = Options._drop_tables_default
    Options._drop_tables_default = [*dropped, *SHAPING]
    try:
        yield
    finally:
        Options._drop_tables_default = dropped
