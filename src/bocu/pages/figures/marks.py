"""What curves are called and how they look; statistics as marks of seaborn, drawn from tidy tables."""

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core import style
from bocu.pages.figures.results import CubeBranch, Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Titles = dict[tuple[str, CubeBranch], str]  #: What is written for a branch of a problem.
DARK = 0.25  #: The luminance of a cell below which its word is white.
Looks = Mapping[str, style.Stroke]
Cells = Collection[tuple[str, str]]  #: Row and column of some cells.


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


def label_ends(axes: "Axes", ends: Mapping[str, float], looks: Looks) -> None:
    """Write at the right of axes what the lines are that end at some heights, none on another."""
    low, high = axes.get_ylim()
    apart = 7.6 / 72 / axes.get_position().height / axes.get_figure(root=True).get_figheight()  # type: ignore[union-attr]
    order = sorted(ends, key=lambda title: axes.transData.transform((1, ends[title]))[1])
    heights = np.array([(ends[title] - low) / (high - low) for title in order])
    for _ in range(100):  # those that are too near each other are moved apart, alike far
        short = apart - np.diff(heights)
        if not (short > 1e-3 * apart).any():
            break
        heights[:-1] -= np.where(short > 0, short / 2, 0.0)
        heights[1:] += np.where(short > 0, short / 2, 0.0)
    for title, height in zip(order, heights, strict=True):
        colour = looks[title].colour
        axes.annotate(title, (1.0, height), (1.02, height), axes.transAxes, axes.transAxes, va="center", fontsize=7,
                      color=colour, annotation_clip=False)  # fmt: skip


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
    for title, look in looks.items():  # for `style.legend_below`
        axes.plot([], [], label=title, **look.line())
    style.grid(axes)


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


def titles_of(
    cubes: Mapping[str, Results], branches: Mapping[tuple[int, str], Sequence[CubeBranch]], given: Mapping[str, str]
) -> Titles:
    """Return what to write for every branch of every problem.

    Args:
        cubes: by problem.
        branches: by row and problem.
        given: what is written for an algorithm, or for `algorithm/objective`, in place of its title.
    """
    # In the order of the experiment's algorithms, which is that of the legend.
    place = {label: i for i, label in enumerate(dict.fromkeys(a for cube in cubes.values() for a in cube.names))}
    # Where one algorithm stands with several objectives in one panel, the objective tells its curves apart.
    counts = [Counter(branch.algorithm for branch in found) for found in branches.values()]
    several = {label for count in counts for label in count if count[label] > 1}
    titles: Titles = {}
    for (_, problem), found in branches.items():
        for branch in found:
            plain = given.get(branch.algorithm, cubes[problem].titles[branch.algorithm])
            pursued = cubes[problem].objective_titles[branch.objective]
            default = f"{plain}, {pursued}" if branch.algorithm in several else plain
            titles[problem, branch] = given.get(f"{branch.algorithm}/{branch.objective}", default)
    return dict(sorted(titles.items(), key=lambda item: place[item[0][1].algorithm]))


def told_apart(
    cubes: Mapping[str, Results], cells: Sequence[Sequence[Sequence[str]]], titles: Titles, given: Sequence[str]
) -> Titles:
    """Return titles in which problems that share a panel are told apart, in the order of the panel.

    Args:
        cubes: by problem.
        cells: the problems of every panel, row by row.
        titles: of the branches, by `titles_of`.
        given: what is written for the problems that share a panel, in their order, in place of their titles.
    """
    shared = [cell for line in cells for cell in line if len(cell) > 1]
    called = {
        problem: given[position] if position < len(given) else cubes[problem].title
        for cell in shared
        for position, problem in enumerate(cell)
        if problem in cubes
    }
    if not called:
        return dict(titles)
    several = len({title for (problem, _), title in titles.items() if problem in called}) > 1
    found = {
        (problem, branch): (f"{called[problem]}, {title}" if several else called[problem])
        if problem in called
        else title
        for (problem, branch), title in titles.items()
    }
    place = {name: position for position, name in enumerate(dict.fromkeys(called.values()))}
    return dict(sorted(found.items(), key=lambda item: place.get(called.get(item[0][0], ""), len(place))))


def looks_of(cubes: Mapping[str, Results], titles: Titles) -> dict[str, style.Stroke]:
    """Return the look of every title: its algorithm's, or its own where an algorithm stands under several titles.

    What none of those is drawn in, a baseline's grey, stays also then.
    """
    owners: dict[str, set[str]] = {}
    for (problem, branch), title in titles.items():
        owners.setdefault(cubes[problem].names[branch.algorithm], set()).add(title)
    shared = any(len(found) > 1 for found in owners.values())
    looks: dict[str, style.Stroke] = {}
    numbers = itertools.count()
    for (problem, branch), title in titles.items():
        if title in looks:
            continue
        own = cubes[problem].looks[branch.algorithm]
        single = len(owners[cubes[problem].names[branch.algorithm]]) == 1
        keeps = not shared or (single and own.colour not in style.NUMBERED_COLOURS)
        looks[title] = own if keeps else style.numbered_stroke(next(numbers))
    return looks
