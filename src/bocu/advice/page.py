"""Pages: offline, in words first, then pictures in the colours of the page, and tables.

A page and its pictures are made from the plain data of `to_dict` and nothing else. Every number and text stands in an
element whose `data-from` is the JSON pointer (RFC 6901) to where it comes from.
"""

import contextlib
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.advice.replaying import DONE, NAMES, NEAR, OVER, STEADY, SUGGESTED, values_in_words
from bocu.advice.suggestion import in_digits
from bocu.core import style
from bocu.core.io.pages import page_template

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
    with _styled():
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


@contextlib.contextmanager
def drawing(height: float = _HEIGHT) -> "Iterator[tuple[Figure, Axes]]":
    """Draw an empty picture of a height in inches; names are text, whatever is in them, and no formula."""
    with _styled():
        figure = style.new_figure(height, _WIDTH)
        yield figure, figure.add_subplot()


@contextlib.contextmanager
def _styled() -> Iterator[None]:
    import matplotlib as mpl

    with style.applied():
        mpl.rcParams.update({"text.parse_math": False, "axes.formatter.use_mathtext": False})
        mpl.rcParams.update(dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), 9.0))
        mpl.rcParams.update(dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 8.5))
        yield


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


#: How each way to decide is drawn.
_LINES: dict[str, dict[str, Any]] = {
    SUGGESTED: {"color": style.BLUE},
    STEADY: {"color": style.VERMILLION, "linestyle": style.DASHED},
    DONE: {"color": style.GREY, "linestyle": style.DOTTED},
}

#: Contexts that a picture of weights shows.
MOST_CONTEXTS = 10


def slice_picture(plain: Plain, index: int) -> "Figure":
    """Draw how the outcome goes with one column; rows of the log are carried over to it, outliers crossed."""
    cut = plain["details"]["slices"][index]
    outliers = [row["outlier"] for row in plain["details"]["rows"][: len(cut["rows"])]]
    names = isinstance(cut["suggested"], str)
    places = {level: i for i, level in enumerate(cut["at"])}
    at = np.arange(len(places)) if names else np.array(cut["at"], dtype=float)
    with drawing() as (figure, axes):
        if names:
            expected, low, high = (np.array(cut[key]) for key in ("expected", "low", "high"))
            reach = [expected - low, high - expected]
            axes.errorbar(at, expected, reach, fmt="o", color=style.BLUE, capsize=4, zorder=3)
            axes.set_xticks(at, [short(level) for level in cut["at"]])
            look: dict[str, Any] = {"linestyle": "none", "marker": "_", "markersize": 14}
        else:
            axes.fill_between(at, cut["low"], cut["high"], color=style.BLUE, alpha=style.BAND_OPACITY, linewidth=0)
            axes.plot(at, cut["expected"], color=style.BLUE, marker="" if len(at) > 1 else "o")
            look = {"linestyle": style.DASHED}
        if cut["worst"] is not None:
            axes.plot(at, cut["worst"], color=style.VERMILLION, **look)
        if not names:
            axes.axvline(cut["suggested"], color=style.INK, linewidth=0.8, linestyle=style.DOTTED)
        believed = {"color": style.GREY, "marker": "o", "s": 13, "alpha": 0.65, "zorder": 2}
        outlying = {"color": style.VERMILLION, "marker": "X", "s": 42, "alpha": 1.0, "zorder": 4}
        for is_out, look in enumerate((believed, outlying)):
            points = [row for row, out in zip(cut["rows"], outliers, strict=True) if out == is_out]
            x = [value for value, _ in points]
            if names:  # points of one name stand apart
                x = [0.24 * ((i * 0.618034) % 1.0 - 0.5) - 0.25 + places.get(name, np.nan) for i, name in enumerate(x)]
            _points(axes, x, [earned for _, earned in points], linewidth=0.4, legend=False, **look)
        labelled(axes, column_with_unit(plain, cut["name"]), column_with_unit(plain, plain["outcome"]))
    return figure


def curve_picture(plain: Plain) -> "Figure":
    """Draw guarantees against the size of the set."""
    curve = plain["details"]["curve"]
    with drawing() as (figure, axes):
        axes.plot(curve["size"], curve["suggested"], **_LINES[SUGGESTED], label="suggested")
        axes.plot(curve["size"], curve["steady"], **_LINES[STEADY], label="best expectation")
        best = ([price[key] for price in plain["prices"]] for key in ("size", "worst"))
        _points(axes, *best, color=style.INK, marker="D", s=18, zorder=4, label="best at that size")
        axes.axvline(plain["size"], color=style.INK, linewidth=0.8, linestyle=style.DOTTED)
        if plain["set"] == "cvar":
            axes.invert_xaxis()
        axes.legend()
        share = "share of worst contexts" if plain["set"] == "cvar" else "radius"
        labelled(axes, share, f"worst case of {column_with_unit(plain, plain['outcome'])}")
    return figure


def trade_off_picture(plain: Plain) -> "Figure":
    """Draw what decisions guarantee against what they are expected to earn."""
    trade, best = plain["details"]["trade_off"], plain["best"]
    others = np.array(trade["others"]).reshape(-1, 2)
    with drawing() as (figure, axes):
        _points(axes, others[:, 0], others[:, 1], color=style.GREY, s=12, alpha=0.55, label="other decisions")
        look: dict[str, Any] = {"color": style.BLUE, "marker": "o", "markersize": 5}
        axes.plot(trade["expected"], trade["worst"], label="not beaten in both", **look)
        axes.plot([best["expected"]], [best["worst"]], **{**style.SPOTLIGHT, "markerfacecolor": style.VERMILLION})
        axes.legend()
        shown = column_with_unit(plain, plain["outcome"])
        labelled(axes, f"expected {shown}", f"worst case of {shown}")
    return figure


def weights_picture(plain: Plain) -> "Figure":
    """Draw the weights of contexts in forecast or log and in the worst distribution."""
    contexts = plain["details"]["contexts"][:MOST_CONTEXTS]
    labels = [short(", ".join(f"{name} {value:.4g}" for name, value in one["context"].items()), 40) for one in contexts]
    kinds = {"weight": plain["reference"], "worst": "worst"}
    with drawing(0.75 + 0.26 * len(contexts)) as (figure, axes):
        widths = [one[key] for key in kinds for one in contexts]
        hue = [word for word in kinds.values() for _ in contexts]
        _bars(axes, labels, widths, hue, "probability", palette=[style.BLUE, style.VERMILLION], errorbar=None)
        axes.set_ylim(len(contexts) - 0.4, -0.6)
    return figure


def learnt_picture(plain: Plain) -> "Figure":
    """Draw by how much each column moves the outcome."""
    entries = sorted(plain["influences"], key=lambda entry: -entry["swing"])
    with drawing(0.7 + 0.3 * len(entries)) as (figure, axes):
        names, swings, roles = ([entry[key] for entry in entries] for key in ("name", "swing", "role"))
        palette = {"decision": style.BLUE, "context": style.VERMILLION}
        moves = f"moves {column_with_unit(plain, plain['outcome'])} by"
        _bars(axes, [short(name) for name in names], swings, roles, moves, palette=palette, dodge=False)
    return figure


def front_picture(plain: Plain) -> "Figure":
    """Draw the first two outcomes of decisions that no other beats in all."""
    names = [one["name"] for one in plain["outcomes"][:2]]
    points = [(tuple(one["worst"][name] for name in names), one["which"]) for one in plain["front"]]
    with drawing() as (figure, axes):
        _points(axes, *zip(*(point for point, _ in points), strict=True), color=style.BLUE, s=30)
        for point, which in points:
            if which:
                axes.annotate(short(which), point, xytext=(4, 4), textcoords="offset points", color=style.INK)
        told = "expected" if plain["best"]["worst"] is None else "worst case of"
        labelled(axes, *(f"{told} {column_with_unit(plain, name)}" for name in names))
    return figure


def radius_picture(plain: Plain) -> "Figure":
    """Draw how far blocks of the log lay from the rows before them, and the radius that the next is to lie within."""
    estimate = plain["estimate"]
    blocks = np.arange(1, estimate["blocks"] + 1)
    with drawing() as (figure, axes):
        axes.plot(
            blocks, estimate["distances"], color=style.BLUE, marker="o", markersize=5, linestyle="none", label="blocks"
        )
        if estimate["growth"]:
            axes.plot(blocks, estimate["trend"], color=style.GREY, linestyle=style.DOTTED, label="their trend")
        axes.axhline(estimate["radius"], color=style.VERMILLION, linestyle=style.DASHED, label="radius")
        axes.plot([blocks[-1] + 1], [estimate["radius"]], color=style.VERMILLION, marker="v", linestyle="none")
        axes.set_ylim(bottom=0.0)
        axes.legend(loc="lower right")
        rows = "row" if estimate["horizon"] == 1 else f"{estimate['horizon']} rows"
        labelled(axes, f"blocks of {rows} in time; last: the next", f"distance of '{plain['set']}'")
    return figure


def _points(axes: "Axes", x: Any, y: Any, **look: Any) -> None:
    import seaborn as sns

    sns.scatterplot(x=x, y=y, ax=axes, **look)


def _bars(
    axes: "Axes", names: Sequence[str], widths: Sequence[float], hue: Sequence[str], told: str, **look: Any
) -> None:
    """Draw bars of widths beside names, one a name of each hue."""
    import seaborn as sns

    y = [f"{i % len(names)}" for i in range(len(widths))]
    sns.barplot(x=widths, y=y, hue=hue, ax=axes, saturation=1.0, **look)
    axes.set_yticks(range(len(names)), names)
    axes.legend(title=None, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0))  # no bar is beneath it
    axes.grid(visible=True, axis="x")
    axes.set_xlabel(told)
    axes.set_ylabel("")


def earned_picture(plain: Plain) -> "Figure":
    """Draw what each way to decide earns, added up row by row."""
    with drawing() as (figure, axes):
        at = np.arange(1, len(plain["judgements"]) + 1)
        for who, look in _LINES.items():
            earned = np.cumsum([row["earned"][who] for row in plain["judgements"]])
            axes.plot(at, earned, label=NAMES[who], **look)
        axes.legend()
        labelled(axes, "rows judged, in time", f"{column_with_unit(plain, plain['outcome'])}, added up")
    return figure


def ahead_picture(plain: Plain) -> "Figure":
    """Draw how far the suggestions are ahead, row by row, and where all of it lies with 95 % probability."""
    with drawing() as (figure, axes):
        at = np.arange(1, len(plain["judgements"]) + 1)
        axes.axhline(0.0, color=style.INK, linewidth=0.8)
        for other, look, to_the_right in ((DONE, _LINES[SUGGESTED], 0.02), (STEADY, _LINES[STEADY], 0.04)):
            pair, rows = f"{SUGGESTED} over {other}", len(at)
            axes.plot(at, [row["ahead"][pair] for row in plain["judgements"]], label=f"of {OVER[other]}", **look)
            gain, (low, high) = plain["gains"][pair]["gain"], plain["gains"][pair]["interval"]
            reach = [[(gain - low) * rows], [(high - gain) * rows]]
            axes.errorbar([rows * (1.0 + to_the_right)], [gain * rows], reach, color=look["color"], fmt="_", capsize=4)
        axes.legend()
        labelled(axes, "rows judged, in time", f"ahead in {column_with_unit(plain, plain['outcome'])}")
    return figure


def parts_picture(plain: Plain) -> "Figure":
    """Draw what is gained in each part of the rows, with intervals."""
    parts = plain["parts"]
    with drawing(0.9 + 0.4 * len(parts)) as (figure, axes):
        axes.axvline(0.0, color=style.INK, linewidth=0.8)
        for other, look, shift, marker in ((DONE, _LINES[SUGGESTED], -0.14, "o"), (STEADY, _LINES[STEADY], 0.14, "s")):
            pair = f"{SUGGESTED} over {other}"
            found = [(i, part["gains"][pair]) for i, part in enumerate(parts) if part["gains"]]
            gains = np.array([one["gain"] for _, one in found])
            limits = np.array([one["interval"] for _, one in found]).reshape(-1, 2)
            drawn = {
                "color": look["color"],
                "fmt": marker,
                "markersize": 5,
                "capsize": 3,
                "label": f"over {OVER[other]}",
            }
            axes.errorbar(gains, [i + shift for i, _ in found], xerr=np.abs(limits.T - gains), **drawn)
        axes.set_yticks(range(len(parts)), [f"{short(part['name'])}\n{values_in_words(part)}" for part in parts])
        axes.set_ylim(len(parts) - 0.5, -0.5)
        axes.legend(title=None, loc="lower right", bbox_to_anchor=(1.0, 1.0))  # nothing is beneath it
        axes.grid(visible=True, axis="x")
        verb = "saved" if plain["minimise"] else "gained"
        axes.set_xlabel(f"{verb} a row in {column_with_unit(plain, plain['outcome'])}")
        axes.set_ylabel("")
    return figure


def advice_picture(plain: Plain, index: int) -> "Figure":
    """Draw one number that is decided, step by step, as suggested and by expectation."""
    name = list(plain["steps"][0]["decisions"][SUGGESTED])[index]
    with drawing() as (figure, axes):
        for who, marker in ((SUGGESTED, "o"), (STEADY, "s")):
            values = [step["decisions"][who][name] for step in plain["steps"]]
            rows = [step["rows"] for step in plain["steps"]]
            axes.plot(rows, values, color=_LINES[who]["color"], marker=marker, linestyle="none", label=NAMES[who])
        axes.legend()
        labelled(axes, "rows that advised", column_with_unit(plain, name))
    return figure


#: Rows of the log that a page shows.
MOST_ROWS = 300

_STYLES = "core/style.css", "advice/templates/page.css"


def page_of(plain: Mapping[str, Any]) -> str:
    """Return the page of a suggestion as HTML; outliers come first among its rows.

    Args:
        plain: as `Suggestion.to_dict` returns it, or as it was read from JSON.
    """
    rows = plain["details"]["rows"]
    order = sorted(range(len(rows)), key=lambda i: not rows[i]["outlier"])
    return _rendered(
        "suggestion.html.jinja",
        plain,
        order=order[:MOST_ROWS],
        left_out=max(len(rows) - MOST_ROWS, 0),
        learnt=sorted(range(len(plain["influences"])), key=lambda i: -plain["influences"][i]["swing"]),
        most_contexts=MOST_CONTEXTS,
    )


def replay_page_of(plain: Mapping[str, Any]) -> str:
    """Return the page of a replay as HTML.

    Args:
        plain: as `Replay.to_dict` returns it, or as it was read from JSON.
    """
    return _rendered(
        "replay.html.jinja", plain, names=NAMES, ways=(SUGGESTED, STEADY, DONE), near=f"{NEAR:.0%}", most_rows=MOST_ROWS
    )


_DRAWN: tuple[Callable[..., "Figure"], ...] = (
    slice_picture, curve_picture, trade_off_picture, weights_picture, learnt_picture,
    front_picture, radius_picture, earned_picture, ahead_picture, parts_picture, advice_picture,
)  # fmt: skip
#: What templates may ask for.
_PICTURES = {one.__name__.removesuffix("_picture").replace("_", "-"): one for one in _DRAWN}


def _rendered(template: str, plain: Mapping[str, Any], **others: Any) -> str:
    """Return the page that a template makes of what it tells, and of what else it takes, as HTML."""

    def draw(kind: str, description: str, *arguments: int) -> Any:
        from markupsafe import Markup

        name = "-".join([kind, *map(str, arguments)])
        return Markup(svg(_PICTURES[kind](plain, *arguments), name, description))

    return str(
        page_template("bocu.advice", template).render(
            plain=plain,
            style="".join((resources.files("bocu") / file).read_text(encoding="utf-8") for file in _STYLES),
            number=lambda *path: _traced(plain, path),
            draw=draw,
            **others,
        )
    )


def _traced(plain: Any, path: tuple[str | int, ...]) -> Any:
    """Return what lies at a path of the data, in an element that says where."""
    from markupsafe import Markup

    value = plain
    for part in path:
        value = value[part]
    pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
    if isinstance(value, float | int):
        return Markup('<data value="{}" data-from="{}">{}</data>').format(repr(value), pointer, in_digits(value, 4))
    return Markup('<span data-from="{}">{}</span>').format(pointer, "–" if value is None else value)
