"""Statistics as marks of seaborn, drawn from tidy tables: curves and points with intervals, steps, heat maps."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

DARK = 0.25
"""The luminance of a cell below which its word is white."""
INTERVALS = 4
"""Of a curve."""
Looks = Mapping[str, style.Stroke]
Cells = Collection[tuple[str, str]]
"""Row and column of some cells."""


def intervals(axes: "Axes", table: "pd.DataFrame", x: str, looks: Looks, y: str = "algorithm") -> None:
    """Draw the number of each line in column `x`, and its interval from `low` to `high`; at column `y`."""
    import seaborn.objects as so
    from matplotlib.lines import Line2D

    _drawn(
        so.Plot(table, x=x, y=y, color="algorithm", marker="algorithm")
        .add(so.Range(linewidth=1.6), orient="y", xmin="low", xmax="high", legend=False)
        .add(so.Dot(pointsize=5.5), legend=False),
        axes,
        looks,
    )
    for title, look in looks.items():  # for legends; lines that are plotted would move the axes
        axes.add_line(Line2D([], [], color=look.colour, marker=look.marker, linestyle="none", label=title))
    axes.tick_params(axis="y", length=0)
    style.grid(axes, "x")


def curves(axes: "Axes", table: "pd.DataFrame", looks: Looks) -> None:
    """Draw a line for each algorithm through columns `x` and `mean`, and intervals from `low` to `high` here and there.

    Each has its intervals at places of its own, so that none hides another as bands do.
    """
    import seaborn.objects as so

    to_go = table.groupby("algorithm", sort=False).cumcount(ascending=False)
    period = max(1, (int(to_go.max()) + 1) // INTERVALS)
    turn = table["algorithm"].map({title: place * period // len(looks) for place, title in enumerate(looks)})
    _drawn(
        so.Plot(table, x="x", y="mean", color="algorithm", linestyle="algorithm")
        .add(so.Line(), legend=False)
        .add(so.Range(linestyle="-"), data=table[to_go % period == turn], ymin="low", ymax="high", legend=False),
        axes,
        looks,
    )
    _named(axes, looks)


def steps(axes: "Axes", table: "pd.DataFrame", x: str, y: str, looks: Looks) -> None:
    """Draw a step line for each algorithm through columns `x` and `y`: what is reached at x holds from there on."""
    import seaborn.objects as so

    _drawn(
        so.Plot(table, x=x, y=y, color="algorithm", linestyle="algorithm").add(
            so.Path(artist_kws={"drawstyle": "steps-post"}), legend=False
        ),
        axes,
        looks,
    )
    _named(axes, looks)


def heat(axes: "Axes", square: "pd.DataFrame", words: "pd.DataFrame", bold: Cells, plain: Cells, **look: Any) -> None:
    """Draw a table as a heat map with a word in each cell that is known; bold where it is told so, italic or plain."""
    import seaborn as sns

    named = axes.get_xlabel(), axes.get_ylabel()
    sns.heatmap(square, ax=axes, annot=words, fmt="", linecolor="white", **look)
    axes.set(xlabel=named[0], ylabel=named[1])
    shades = np.atleast_2d(axes.collections[0].get_facecolor())[square.notna().to_numpy().ravel()]
    cells = square.stack().dropna().index  # row by row, as words are drawn
    for text, cell, shade in zip(axes.texts, cells, shades, strict=True):
        text.set(fontweight="bold" if cell in bold else "normal", fontstyle="normal" if cell in plain else "italic")
        text.set_color("white" if sns.utils.relative_luminance(shade) < DARK else style.INK_ON_COLOUR)


def field(axes: "Axes", x: np.ndarray, y: np.ndarray, values: np.ndarray, label: str, **bar: Any) -> None:
    """Draw values over a grid, shape (y, x), as colours, with a bar that names them; those that are masked are pale."""
    import matplotlib

    colours = matplotlib.colormaps[style.SEQUENTIAL].with_extremes(bad=style.PALE)  # the ground may be any colour
    image = axes.pcolormesh(x, y, values, cmap=colours, shading="nearest", rasterized=True)
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.colorbar(image, ax=axes, **{"aspect": 25, "pad": 0.015, **bar}).set_label(label)


def _drawn(plot: Any, axes: "Axes", looks: Looks) -> None:
    """Draw a plot of seaborn into axes, under our style and with our looks."""
    plot.scale(
        color={title: look.colour for title, look in looks.items()},
        linestyle={title: look.dash for title, look in looks.items()},
        marker={title: look.marker for title, look in looks.items()},
    ).label(x=axes.get_xlabel(), y=axes.get_ylabel()).theme(dict(style.SETTINGS)).on(axes).plot()


def _named(axes: "Axes", looks: Looks) -> None:
    """Have lines for `style.legend_below`."""
    for title, look in looks.items():
        axes.plot([], [], label=title, **look.line())
    style.grid(axes)
