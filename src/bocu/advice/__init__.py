"""Advice: from a log of decisions, contexts and payoffs to the next decision, its worst case and its price.

Imports `learners`, `robust` and `core`: no problem, no sweep, no page of one. Names load on first use.
"""

from typing import TYPE_CHECKING

from bocu.core.loading import lazily

if TYPE_CHECKING:
    from bocu.advice.replaying import Replay as Replay
    from bocu.advice.replaying import replay as replay
    from bocu.advice.suggesting import suggest as suggest
    from bocu.advice.suggestion import Suggestion as Suggestion

_HOME = {"Replay": "replaying", "Suggestion": "suggestion", "replay": "replaying", "suggest": "suggesting"}

__all__ = sorted(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
