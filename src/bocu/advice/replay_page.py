"""One page of a replay: what suggestions would have earned, who says so, and where it pays."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.advice.page import MOST_ROWS, Pictures, rendered
from bocu.advice.pictures import Plain, as_text, column_with_unit, labelled, opened, short
from bocu.advice.replayed import DONE, NAMES, NEAR, OVER, STEADY, SUGGESTED, values_in_words
from bocu.core import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: How each way to decide is drawn.
_LINES: dict[str, dict[str, Any]] = {
    SUGGESTED: {"color": style.BLUE},
    STEADY: {"color": style.VERMILLION, "linestyle": style.DASHED},
    DONE: {"color": style.GREY, "linestyle": style.DOTTED},
}


def earned_picture(plain: Plain) -> "Figure":
    """Draw what each way to decide earns, added up row by row."""
    figure, axes = opened()
    with style.applied():
        as_text()
        at = _rows(plain)
        for who, look in _LINES.items():
            earned = np.cumsum([row["earned"][who] for row in plain["judgements"]])
            axes.plot(at, earned, label=NAMES[who], **look)
        axes.legend()
        labelled(axes, "rows judged, in time", f"{column_with_unit(plain, plain['outcome'])}, added up")
    return figure


def ahead_picture(plain: Plain) -> "Figure":
    """Draw how far the suggestions are ahead, row by row, and where all of it lies with 95 % probability."""
    figure, axes = opened()
    with style.applied():
        as_text()
        at = _rows(plain)
        axes.axhline(0.0, color=style.INK, linewidth=0.8)
        for other, look, to_the_right in ((DONE, _LINES[SUGGESTED], 0.02), (STEADY, _LINES[STEADY], 0.04)):
            pair = f"{SUGGESTED} over {other}"
            axes.plot(at, [row["ahead"][pair] for row in plain["judgements"]], label=f"of {OVER[other]}", **look)
            gain, interval = plain["gains"][pair]["gain"], plain["gains"][pair]["interval"]
            axes.errorbar(
                [len(at) * (1.0 + to_the_right)],
                [gain * len(at)],
                [[(gain - interval[0]) * len(at)], [(interval[1] - gain) * len(at)]],
                color=look["color"],
                fmt="_",
                capsize=4,
            )
        axes.legend()
        labelled(axes, "rows judged, in time", f"ahead in {column_with_unit(plain, plain['outcome'])}")
    return figure


def parts_picture(plain: Plain) -> "Figure":
    """Draw what is gained in each part of the rows, with intervals."""
    parts = plain["parts"]
    figure, axes = opened(0.9 + 0.4 * len(parts))
    with style.applied():
        as_text()
        axes.axvline(0.0, color=style.INK, linewidth=0.8)
        for other, look, shift, marker in ((DONE, _LINES[SUGGESTED], -0.14, "o"), (STEADY, _LINES[STEADY], 0.14, "s")):
            pair = f"{SUGGESTED} over {other}"
            found = [(i, part["gains"][pair]) for i, part in enumerate(parts) if part["gains"]]
            gains = np.array([one["gain"] for _, one in found])
            limits = np.array([one["interval"] for _, one in found]).reshape(-1, 2)
            axes.errorbar(
                gains,
                [i + shift for i, _ in found],
                xerr=np.abs(limits.T - gains),
                color=look["color"],
                fmt=marker,
                markersize=5,
                capsize=3,
                label=f"over {OVER[other]}",
            )
        axes.set_yticks(range(len(parts)), [f"{short(part['name'])}\n{values_in_words(part)}" for part in parts])
        axes.set_ylim(len(parts) - 0.5, -0.5)
        axes.legend(title=None, loc="lower right", bbox_to_anchor=(1.0, 1.0))  # nothing is beneath it
        axes.grid(visible=True, axis="x")
        axes.set_xlabel(
            f"{'saved' if plain['minimise'] else 'gained'} a row in {column_with_unit(plain, plain['outcome'])}"
        )
        axes.set_ylabel("")
    return figure


def advice_picture(plain: Plain, index: int) -> "Figure":
    """Draw one number that is decided, step by step, as suggested and by expectation."""
    name = list(plain["steps"][0]["decisions"][SUGGESTED])[index]
    figure, axes = opened()
    with style.applied():
        as_text()
        for who, marker in ((SUGGESTED, "o"), (STEADY, "s")):
            values = [step["decisions"][who][name] for step in plain["steps"]]
            rows = [step["rows"] for step in plain["steps"]]
            axes.plot(rows, values, color=_LINES[who]["color"], marker=marker, linestyle="none", label=NAMES[who])
        axes.legend()
        labelled(axes, "rows that advised", column_with_unit(plain, name))
    return figure


def _rows(plain: Plain) -> np.ndarray:
    return np.arange(1, len(plain["judgements"]) + 1)


_PICTURES: Pictures = {
    "earned": earned_picture,
    "ahead": ahead_picture,
    "parts": parts_picture,
    "advice": advice_picture,
}


def replay_page_of(plain: Mapping[str, Any]) -> str:
    """Return the page of a replay as HTML.

    Args:
        plain: as `Replay.to_dict` returns it, or as it was read from JSON.
    """
    return rendered(
        "replay.html.jinja",
        plain,
        _PICTURES,
        names=NAMES,
        ways=(SUGGESTED, STEADY, DONE),
        near=f"{NEAR:.0%}",
        most_rows=MOST_ROWS,
    )
