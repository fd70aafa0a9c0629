"""The one place of every colour, dash, marker and size.

Twelve colours, after those of Okabe and Ito (2008), on white and on dark pages: any two are 10 or more apart
(CIEDE2000) for eyes without green or red cones, and 3 : 1 or more from the ground. The style sheet of pages has the
same. Dashes and markers tell the same things apart without colour. An
algorithm looks the same in every figure of an experiment: its class states its look, `experiment.looks` settles
those of an experiment, and cubes hold them.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bocu.core.about import Look

if TYPE_CHECKING:
    import matplotlib.figure
    import numpy as np
    from matplotlib.axes import Axes

Drawn = TypeVar("Drawn", bound=Any)

BLACK, GREY = "#1B1F24", "#6A6F76"
ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE = "#D0810D", "#2B9CD3", "#2D9172", "#0C4D94", "#C24E00", "#BE6C9E"
INK, INK_ON_COLOUR = "#222222", "#262626"
"""The first turns light on a dark page; the second stands on colours, which stay."""
PALE, GRID = "#D9D9D9", "#E4E4E4"
BAND_OPACITY = 0.18
SEQUENTIAL = "cividis"  #: Colour map of quantities: even to the eye, and the same to colour-blind eyes.
DIVERGING = "RdBu_r"  #: Colour map of ratios around 1: blue below, red above, told apart by colour-blind eyes.
DIVERGING_SHARES = "RdBu"  #: Colour map of shares around a half where more is better: blue above.

TEXT_WIDTH = 5.5  #: Width of the text of a two-sided paper page, inches; figures are drawn at it and need no scaling.

Dash = str | tuple[int, tuple[float, ...]]
SOLID: Dash = "-"
DASHED: Dash = (0, (5.0, 1.6))
DOTTED: Dash = (0, (1.2, 1.4))
DASH_DOT: Dash = (0, (5.0, 1.4, 1.2, 1.4))
LONG_DASH: Dash = (0, (9.0, 2.0))
DASH_DOT_DOT: Dash = (0, (5.0, 1.2, 1.2, 1.2, 1.2, 1.2))
COLOURS: Mapping[str, str] = {
    "vermillion": VERMILLION,
    "blue": BLUE,
    "green": GREEN,
    "purple": PURPLE,
    "orange": ORANGE,
    "sky": SKY,
    "black": BLACK,
    "wine": "#882152",
    "olive": "#767948",
    "indigo": "#7364BA",
    "brown": "#783F00",
    "grey": GREY,
}
DARK_COLOURS: Mapping[str, str] = {
    "vermillion": "#FC8E6F",
    "blue": "#4085D6",
    "green": "#39CEA3",
    "purple": "#E39BC3",
    "orange": "#FFC031",
    "sky": "#A8E0FE",
    "black": "#E7EAEE",
    "wine": "#B74B80",
    "olive": "#9E9013",
    "indigo": "#AFA2F4",
    "brown": "#95662D",
    "grey": "#90897B",
}
"""The same on a dark page."""
DASHES: Mapping[str, Dash] = {
    "solid": SOLID,
    "dashed": DASHED,
    "dash-dot": DASH_DOT,
    "long-dash": LONG_DASH,
    "dash-dot-dot": DASH_DOT_DOT,
    "dotted": DOTTED,
}
"""What looks of algorithms name (`bocu.core.about.Look`)."""

LEGEND_LETTERS, HANDLE_LETTERS = 100, 8
"""Letters that fit beside each other below a picture, and what a line takes of them."""
NUMBERED_COLOURS = (VERMILLION, BLUE, GREEN, PURPLE, ORANGE, SKY, BLACK)
_NUMBERED_DASHES = (SOLID, DASHED, DASH_DOT, LONG_DASH, DASH_DOT_DOT, DOTTED)
_NUMBERED_MARKERS = ("o", "s", "D", "^", "v", "P", "X")


@dataclass(frozen=True)
class Stroke:
    """How a line is drawn: a look in the values of matplotlib."""

    colour: str
    dash: Dash
    marker: str

    def line(self) -> dict[str, Any]:
        """How matplotlib is told of it."""
        return {"color": self.colour, "linestyle": self.dash}


def stroke(look: Look) -> Stroke:
    """Return how a look is drawn.

    Raises:
        KeyError: it has a colour or a dash that there is not.
    """
    return Stroke(COLOURS[look.colour], DASHES[look.dash], look.marker)


def numbered_stroke(position: int) -> Stroke:
    """Return the line of a position in a list, where what is told apart is not the algorithm."""
    return Stroke(
        NUMBERED_COLOURS[position % len(NUMBERED_COLOURS)],
        _NUMBERED_DASHES[position % len(_NUMBERED_DASHES)],
        _NUMBERED_MARKERS[position % len(_NUMBERED_MARKERS)],
    )


def colours_apart(looks: Mapping[str, Drawn], palette: Sequence[str]) -> dict[str, Drawn]:
    """Return looks of which no two share a colour, as long as there are colours.

    The first of those that share one keeps it; the others take the first that is free, and keep dash and marker.
    """
    used = {look.colour for look in looks.values()}
    free = iter([colour for colour in palette if colour not in used])
    taken: set[str] = set()
    found: dict[str, Drawn] = {}
    for label, look in looks.items():
        found[label] = replace(look, colour=next(free, look.colour)) if look.colour in taken else look
        taken.add(found[label].colour)
    return found


def apart(looks: Mapping[str, Stroke]) -> dict[str, Stroke]:
    """Return looks for one picture in which no two share a colour, as long as there are colours."""
    return colours_apart(looks, list(COLOURS.values()))


def legend_columns(titles: Sequence[str]) -> int:
    """Return how many titles of a legend stand abreast, in lines that are as full as each other."""
    longest = max(map(len, titles), default=1)
    lines = -(-len(titles) // max(1, int(LEGEND_LETTERS / (longest + HANDLE_LETTERS))))
    return -(-len(titles) // max(1, lines)) or 1


def legend_height(titles: Sequence[str]) -> float:
    """Return what a legend below a picture takes of its height, inches."""
    return 0.16 * (-(-len(titles) // legend_columns(titles)) + 1)


def legend_below(picture: "matplotlib.figure.Figure", titles: Sequence[str] = ()) -> None:
    """Say below a picture what the lines of its panels are, each once; in the order of some titles, where given."""
    found: dict[str, Any] = {}
    for axes in picture.axes:
        for handle, title in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(title, handle)
    shown = [title for title in titles or found if title in found]
    handles = [found[title] for title in shown]
    picture.legend(handles, shown, loc="outside lower center", ncols=legend_columns(shown))


BEST_PRIOR: Mapping[str, Any] = {"color": BLACK, "linestyle": SOLID, "linewidth": 1.8}
"""The line of the prior that the payoff is drawn from."""

REJECTED_MODEL: Mapping[str, Any] = {"color": VERMILLION, "linestyle": DASHED}
KEPT_MODEL: Mapping[str, Any] = {"color": BLUE, "linestyle": SOLID}
PAYOFF_LINE: Mapping[str, Any] = {"color": GREY, "linewidth": 0.9}
SPOTLIGHT: Mapping[str, Any] = {
    "marker": "D",
    "markersize": 7,
    "linestyle": "none",
    "markerfacecolor": "white",
    "markeredgecolor": BLACK,
    "markeredgewidth": 1.3,
    "zorder": 5,
    "clip_on": False,
}
"""The one point that a picture is about."""


SETTINGS: Mapping[str, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
    "axes.facecolor": "none",
    "savefig.bbox": "standard",
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Bitstream Vera Sans", "sans-serif"],
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "axes.linewidth": 0.7,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.formatter.use_mathtext": True,
    # Text stays text: it can be searched, read aloud and edited. Fixed salt: the same picture, the same bytes.
    "svg.fonttype": "none",
    "svg.hashsalt": "bocu",
    "pdf.fonttype": 42,
    "path.simplify": True,
}


@contextlib.contextmanager
def applied() -> Iterator[None]:
    """Draw and save under the style, whatever the user's own matplotlib settings are."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)  # type: ignore[arg-type]
        yield


def new_figure(height: float, width: float = TEXT_WIDTH) -> "matplotlib.figure.Figure":
    """Open a picture of `width` x `height` inches that belongs to no window and no global list."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def single(height: float) -> "tuple[matplotlib.figure.Figure, Axes]":
    """Open a picture of one panel."""
    picture = new_figure(height)
    return picture, picture.subplots()


def facets(
    count: int,
    height: float,
    abreast: int = 3,
    *,
    below: float = 0.0,
    width: float = TEXT_WIDTH,
    across: str = "",
    up: str = "",
    sharex: bool = False,
    sharey: bool = False,
) -> "tuple[matplotlib.figure.Figure, list[Axes]]":
    """Open a picture of so many panels, row by row; axes are named once a row and a column.

    Args:
        count: number of panels.
        height: of a row, inches.
        abreast: panels in a row; fewer, where there are fewer.
        below: height of what stands below all, inches.
        width: of the picture, inches.
        across: what the horizontal axes show.
        up: what the vertical axes show.
        sharex: whether panels share their horizontal axis, whose numbers then stand below the lowest.
        sharey: likewise the vertical one.
    """
    columns = min(abreast, count)
    rows = -(-count // columns)
    picture = new_figure(height * rows + below, width)
    panels: list[Axes] = picture.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey).ravel().tolist()
    for spare in panels[count:]:
        spare.set_axis_off()
    for place, axes in enumerate(panels[:count]):
        lowest = place + columns >= count
        axes.set(xlabel=across if lowest else "", ylabel=up if place % columns == 0 else "")
        axes.tick_params(labelbottom=lowest or not sharex)
    return picture, panels[:count]


SIMULATED_MARK = "simulated data"


def mark_simulated(figure: "matplotlib.figure.Figure") -> None:
    """Say in the picture itself, in the top right corner, that its data are simulated."""
    width, height = figure.get_size_inches()
    strip = 0.2  # inches
    figure.set_size_inches(width, height + strip)
    share = height / (height + strip)
    if figure.get_constrained_layout():
        figure.get_layout_engine().set(rect=(0, 0, 1, share))  # type: ignore[union-attr, call-arg]
    else:
        for axes in figure.axes:
            x, y, wide, high = axes.get_position().bounds
            axes.set_position((x, y * share, wide, high * share))
        for text in figure.texts:
            text.set_y(text.get_position()[1] * share)
    figure.text(
        1 - 0.06 / width,
        1 - 0.05 / (height + strip),
        SIMULATED_MARK,
        ha="right",
        va="top",
        fontsize=7.5,
        fontweight="bold",
        color=INK_ON_COLOUR,
        bbox={"boxstyle": "round,pad=0.25", "facecolor": "#FFF3C4", "edgecolor": "#8A6D00", "linewidth": 0.8},
    )


def grid(axes: "Axes", axis: str = "y") -> None:
    """Draw faint lines to read values off."""
    axes.grid(visible=True, axis=axis)  # type: ignore[arg-type]


def error_band(axes: "Axes", at: "np.ndarray", middle: "np.ndarray", width: "np.ndarray", colour: str) -> None:
    """Shade `middle` plus and minus `width` (points,) behind a line of that colour over `at` (points,).

    Where no mean is negative, as of regret, the band ends at 0.
    """
    low = (middle - width).clip(min=0.0 if (middle >= 0.0).all() else None)
    axes.fill_between(at, low, middle + width, color=colour, alpha=BAND_OPACITY, linewidth=0)
