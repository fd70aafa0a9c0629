"""Statistics as marks of seaborn, drawn from tidy tables: curves and points with intervals, steps."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bocu.figures import style

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd
    from matplotlib.axes import Axes

INTERVALS = 4
"""Of a curve."""
Looks = Mapping[str, style.Stroke]


def intervals(axes: "Axes", table: "pd.DataFrame", x: str, looks: Looks) -> None:
    """Draw a row for each algorithm: its number in column `x`, and the interval from `low` to `high`."""
    import seaborn.objects as so

    _drawn(
        so.Plot(table, x=x, y="algorithm", color="algorithm", marker="algorithm")
        .add(so.Range(linewidth=1.6), xmin="low", xmax="high", legend=False)
        .add(so.Dot(pointsize=5.5), legend=False),
        axes,
        looks,
    )
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
    style.grid(axes)


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
    style.grid(axes)


def legend(picture: "matplotlib.figure.Figure", titles: Iterable[str], looks: Looks, markers: bool = False) -> None:
    """Say below a picture which line is whose."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], label=title, marker=looks[title].marker if markers else "", **looks[title].line())
        for title in titles
    ]
    picture.legend(handles=handles, loc="outside lower center", ncols=style.legend_columns([str(t) for t in titles]))


def _drawn(plot: Any, axes: "Axes", looks: Looks) -> None:
    """Draw a plot of seaborn into axes, under our style and with our looks."""
    plot.scale(
        color={title: look.colour for title, look in looks.items()},
        linestyle={title: look.dash for title, look in looks.items()},
        marker={title: look.marker for title, look in looks.items()},
    ).label(x="", y="").theme(dict(style.SETTINGS)).on(axes).plot()
