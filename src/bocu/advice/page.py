"""Pages: offline, in words first, then pictures and tables.

A page is made from the plain data of `to_dict` and nothing else. Every number and text of it stands in an element whose
`data-from` is the JSON pointer (RFC 6901) to where it comes from.
"""

from collections.abc import Mapping
from importlib import resources
from typing import Any

from bocu.advice import pictures
from bocu.advice.replaying import DONE, NAMES, NEAR, STEADY, SUGGESTED
from bocu.advice.suggestion import in_digits
from bocu.core.io.pages import page_template

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
        most_contexts=pictures.MOST_CONTEXTS,
    )


def replay_page_of(plain: Mapping[str, Any]) -> str:
    """Return the page of a replay as HTML.

    Args:
        plain: as `Replay.to_dict` returns it, or as it was read from JSON.
    """
    return _rendered(
        "replay.html.jinja", plain, names=NAMES, ways=(SUGGESTED, STEADY, DONE), near=f"{NEAR:.0%}", most_rows=MOST_ROWS
    )


def _rendered(template: str, plain: Mapping[str, Any], **others: Any) -> str:
    """Return the page that a template makes of what it tells, and of what else it takes, as HTML."""

    def draw(kind: str, description: str, *arguments: int) -> Any:
        from markupsafe import Markup

        name = "-".join([kind, *map(str, arguments)])
        picture = getattr(pictures, f"{kind.replace('-', '_')}_picture")
        return Markup(pictures.svg(picture(plain, *arguments), name, description))

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
