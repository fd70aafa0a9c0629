"""One page of a replay: what suggestions would have earned, who says so, and where it pays."""

from collections.abc import Mapping
from typing import Any

from bocu.advice import replay_pictures
from bocu.advice.page import MOST_ROWS, Pictures, rendered
from bocu.advice.replay_words import NAMES
from bocu.advice.replayed import DONE, NEAR, STEADY, SUGGESTED

_PICTURES: Pictures = {
    "earned": replay_pictures.earned_picture,
    "ahead": replay_pictures.ahead_picture,
    "parts": replay_pictures.parts_picture,
    "advice": replay_pictures.advice_picture,
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
