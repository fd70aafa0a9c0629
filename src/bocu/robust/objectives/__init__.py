"""Uncertainty objectives: values over payoffs, their parameters, argmax by bounds.

Imports `ambiguity` and below. Names load on first use.
"""

from typing import TYPE_CHECKING

from bocu.core.loading import lazily

if TYPE_CHECKING:
    from bocu.robust.objectives.functions import Best as Best
    from bocu.robust.objectives.functions import UncertaintyObjective as UncertaintyObjective

_HOME = {"Best": "functions", "UncertaintyObjective": "functions"}

__all__ = sorted(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
