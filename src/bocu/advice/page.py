"""One page of a suggestion: offline, in words first, then pictures and tables.

The page is made from the plain data of `Suggestion.to_dict` and nothing else. Every number and text of it stands in an
element whose `data-from` is the JSON pointer (RFC 6901) to where it comes from.
"""

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from bocu.advice import pictures
from bocu.io.pages import page_template

#: Rows of the log that the page shows; outliers come first.
MOST_ROWS = 300


def page_of(plain: Mapping[str, Any]) -> str:
    """Return the page as HTML.

    Args:
        plain: as `Suggestion.to_dict` returns it, or as it was read from JSON.
    """
    rows = plain["details"]["rows"]
    order = sorted(range(len(rows)), key=lambda i: not rows[i]["outlier"])
    return str(
        page_template("bocu.advice", "suggestion.html.jinja").render(
            plain=plain,
            style=_text("bocu.report", "style.css") + _text("bocu.advice", "templates/suggestion.css"),
            number=lambda *path: _traced(plain, path),
            order=order[:MOST_ROWS],
            left_out=max(len(rows) - MOST_ROWS, 0),
            learnt=sorted(range(len(plain["influences"])), key=lambda i: -plain["influences"][i]["swing"]),
            draw=lambda kind, *arguments: _drawn(plain, kind, *arguments),
            most_contexts=pictures.MOST_CONTEXTS,
        )
    )


_DRAWN: Mapping[str, Callable[..., Any]] = {
    "slice": pictures.slice_picture,
    "curve": pictures.curve_picture,
    "trade-off": pictures.trade_off_picture,
    "weights": pictures.weights_picture,
    "learnt": pictures.learnt_picture,
    "front": pictures.front_picture,
}


def _drawn(plain: Mapping[str, Any], kind: str, description: str, *arguments: int) -> Any:
    from markupsafe import Markup

    name = "-".join([kind, *map(str, arguments)])
    return Markup(pictures.svg(_DRAWN[kind](plain, *arguments), name, description))


def _traced(plain: Any, path: tuple[str | int, ...]) -> Any:
    """Return what lies at a path of the data, in an element that says where."""
    from markupsafe import Markup

    value = plain
    for part in path:
        value = value[part]
    pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
    if isinstance(value, float | int):
        return Markup('<data value="{}" data-from="{}">{}</data>').format(repr(value), pointer, shown(value))
    return Markup('<span data-from="{}">{}</span>').format(pointer, "–" if value is None else value)


def shown(value: float | int) -> str:
    """Return a number as the page shows it."""
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
