"""The one place of every colour, dash, marker and size.

Colours are those of Okabe and Ito (2008), told apart by people with any common kind of colour blindness, without their
yellow, which is too pale for lines on white. Dashes and markers tell the same things apart without colour. An
algorithm looks the same in every figure, whatever else is drawn: its look depends on its registered name, and on its
label where several parameter settings of it run side by side.
"""

import contextlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bocu.experiment.registry import REGISTRY

if TYPE_CHECKING:
    import matplotlib.figure
    import numpy as np
    from matplotlib.axes import Axes

BLACK, GREY = "#000000", "#7A7A7A"
ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
INK = "#222222"
PALE = "#D9D9D9"
BAND_OPACITY = 0.18
SEQUENTIAL = "cividis"
"""Colour map of quantities: even to the eye, and the same to colour-blind eyes."""
DIVERGING = "RdBu_r"
"""Colour map of ratios around 1: blue below, red above, told apart by colour-blind eyes."""

TEXT_WIDTH = 5.5
"""Width of the text of a two-sided paper page, inches; figures are drawn at it and need no scaling."""

Dash = str | tuple[int, tuple[float, ...]]
SOLID: Dash = "-"
DASHED: Dash = (0, (5.0, 1.6))
DOTTED: Dash = (0, (1.2, 1.4))
DASH_DOT: Dash = (0, (5.0, 1.4, 1.2, 1.4))
LONG_DASH: Dash = (0, (9.0, 2.0))
DASH_DOT_DOT: Dash = (0, (5.0, 1.2, 1.2, 1.2, 1.2, 1.2))
DASHES: tuple[Dash, ...] = (SOLID, DASHED, DASH_DOT, LONG_DASH, DASH_DOT_DOT, DOTTED)


@dataclass(frozen=True)
class Look:
    """How a line is drawn."""

    colour: str
    dash: Dash
    marker: str

    def line(self) -> dict[str, Any]:
        return {"color": self.colour, "linestyle": self.dash}


# Those that meet in one paper differ in colour; across papers the pair of colour and dash stays unique.
LOOKS: Mapping[str, Look] = {
    "random": Look(GREY, DOTTED, "x"),
    "constant": Look(BLACK, DOTTED, "X"),
    # Ziomek et al. 2025
    "pe-gp-ucb": Look(VERMILLION, SOLID, "o"),
    "mle": Look(BLUE, DASHED, "s"),
    "fully-bayesian": Look(GREEN, DASH_DOT, "D"),
    "regret-balancing": Look(PURPLE, DASH_DOT_DOT, "^"),
    "oracle": Look(BLACK, LONG_DASH, "*"),
    # Tay et al. 2024, Kirschner et al. 2020
    "ts-bocu": Look(VERMILLION, LONG_DASH, "P"),
    "ucb-bocu-1": Look(GREEN, DASHED, "v"),
    "ucb-bocu-2": Look(BLUE, SOLID, "<"),
    "ucb-so": Look(SKY, DASH_DOT, ">"),
    "ucb-ro": Look(ORANGE, DASHED, "d"),
    "stableopt-finite": Look(PURPLE, DASHED, "h"),
    # Tay et al. 2022
    "sensitivity-approximation": Look(SKY, LONG_DASH, "p"),
    "minimax-approximation": Look(ORANGE, DASH_DOT_DOT, "X"),
    # Huang et al. 2024
    "sbo-kde": Look(VERMILLION, DASH_DOT, "o"),
    "drbo-kde": Look(BLUE, DASH_DOT, "s"),
    "drbo-mmd": Look(GREEN, LONG_DASH, "D"),
    "gp-ucb": Look(SKY, DASHED, "^"),
    "stableopt": Look(PURPLE, DASH_DOT, "v"),
    "minimax-continuous": Look(ORANGE, LONG_DASH, "d"),
    "ts-bocu-kde": Look(VERMILLION, DASH_DOT_DOT, "X"),
    # robust Bayesian optimisation of several objectives
    "drmobo": Look(VERMILLION, DASHED, "P"),
    "mobo": Look(BLUE, DASH_DOT_DOT, "<"),
}
_COLOURS = (VERMILLION, BLUE, GREEN, PURPLE, ORANGE, SKY, BLACK)
_MARKERS = ("o", "s", "D", "^", "v", "P", "X")

NAMES: Mapping[str, str] = {
    "pe-gp-ucb": "PE-GP-UCB",
    "mle": "MLE",
    "fully-bayesian": "Fully Bayesian",
    "regret-balancing": "Regret Balancing",
    "random": "Random",
    "oracle": "Oracle (best prior known)",
    "ucb-so": "UCB-SO",
    "ucb": "UCB",
    "ucb-ro": "UCB-RO",
    "ucb-bocu-1": "UCB-BOCU-1",
    "ucb-bocu-2": "UCB-BOCU-2",
    "drbo": "DRBO",
    "ts-bocu": "TS-BOCU",
    "stableopt-finite": "StableOpt",
    "stableopt": "StableOpt",
    "gp-ucb": "GP-UCB",
    "sbo-kde": "SBO-KDE",
    "drbo-kde": "DRBO-KDE",
    "drbo-mmd": "DRBO-MMD",
    "minimax-continuous": "DRBO-MMD minimax",
    "ts-bocu-kde": "TS-BOCU-KDE",
    "sensitivity-approximation": "Sensitivity approximation",
    "minimax-approximation": "Minimax approximation",
    "drmobo": "DRMOBO",
    "mobo": "MOBO",
}
"""How algorithms and their aliases are written in the papers; others are written by their labels."""


def algorithm_looks(names: Mapping[str, str]) -> dict[str, Look]:
    """Return every algorithm of a cube its look.

    Args:
        names: label -> registered name of all algorithms of the experiment, drawn or not.

    Returns:
        label -> look. A label that is the registered name has the name's own look; other labels of the same name, in
        alphabetical order, keep its colour and take other dashes and markers.
    """
    looks: dict[str, Look] = {}
    for name in sorted(set(names.values())):
        own = LOOKS.get(name) or _unlisted(name)
        labels = sorted(
            (label for label, other in names.items() if other == name), key=lambda label: (label != name, label)
        )
        start, first_marker = DASHES.index(own.dash), _index(_MARKERS, own.marker)
        for position, label in enumerate(labels):
            dash = DASHES[(start + position) % len(DASHES)]
            marker = own.marker if position == 0 else _MARKERS[(first_marker + position) % len(_MARKERS)]
            looks[label] = replace(own, dash=dash, marker=marker)
    return {label: looks[label] for label in names}


def _unlisted(name: str) -> Look:
    # A user's own algorithm: drawn from its name alone, so that it looks the same in every experiment.
    digest = zlib.crc32(name.encode())
    return Look(
        _COLOURS[digest % len(_COLOURS)],
        DASHES[digest // 7 % len(DASHES)],
        _MARKERS[digest // 42 % len(_MARKERS)],
    )


def _index(options: tuple[str, ...], wanted: str) -> int:
    return options.index(wanted) if wanted in options else 0


def algorithm_titles(names: Mapping[str, str]) -> dict[str, str]:
    """Return what to write for every algorithm: the papers' spelling where the label is its registered name or
    alias.
    """
    aliases = {alias: entry.name for entry in REGISTRY["algorithm"] for alias in entry.aliases}
    return {
        label: NAMES.get(label, label) if name in (label, aliases.get(label)) else label
        for label, name in names.items()
    }


def numbered_look(position: int) -> Look:
    """Return a look to the curve at a position of a list, where what is told apart is not the algorithm."""
    return Look(_COLOURS[position % len(_COLOURS)], DASHES[position % len(DASHES)], _MARKERS[position % len(_MARKERS)])


def prior_line(position: int) -> dict[str, Any]:
    """Return the line of the candidate prior at a position of its list: the first dozens differ in colour or dash."""
    colours = (BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE, GREY)
    dashes = (DASHED, DASH_DOT, DOTTED, LONG_DASH, DASH_DOT_DOT)
    return {
        "color": colours[position % len(colours)],
        "linestyle": dashes[(position + position // len(colours)) % len(dashes)],
        "linewidth": 1.1,
    }


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
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "axes.formatter.use_mathtext": True,
    # Text stays text: it can be searched, read aloud and edited. Fixed salt: the same picture, the same bytes.
    "svg.fonttype": "none",
    "svg.hashsalt": "bocu",
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


SIMULATED_MARK = "simulated data"


def mark_simulated(figure: "matplotlib.figure.Figure") -> None:
    """Say in the picture itself, in the top right corner, that its data are simulated."""
    width, height = figure.get_size_inches()
    strip = 0.2  # inches
    figure.set_size_inches(width, height + strip)
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.set(rect=(0, 0, 1, height / (height + strip)))  # type: ignore[call-arg]
    figure.text(
        1 - 0.06 / width,
        1 - 0.05 / (height + strip),
        SIMULATED_MARK,
        ha="right",
        va="top",
        fontsize=7.5,
        fontweight="bold",
        color=INK,
        bbox={"boxstyle": "round,pad=0.25", "facecolor": "#FFF3C4", "edgecolor": "#8A6D00", "linewidth": 0.8},
    )


def grid(axes: "Axes", axis: str = "y") -> None:
    """Draw faint lines to read values off."""
    axes.grid(visible=True, axis=axis)  # type: ignore[arg-type]


def error_band(axes: "Axes", at: "np.ndarray", middle: "np.ndarray", width: "np.ndarray", colour: str) -> None:
    """Shade `middle` plus and minus `width` (points,) behind a line of that colour over `at` (points,)."""
    axes.fill_between(at, middle - width, middle + width, color=colour, alpha=BAND_OPACITY, linewidth=0)
