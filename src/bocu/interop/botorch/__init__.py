"""BoTorch, both ways: our sets and objectives in its acquisitions, its models and acquisitions in our sweeps.

Payoffs are maximised. A level alpha of CVaR is the fraction of the worst outcomes, 1 - alpha of BoTorch. Names load on
first use: what is asked for imports botorch, this package alone does not.
"""

from typing import TYPE_CHECKING

from bocu.core.loading import lazily

if TYPE_CHECKING:
    from bocu.interop.botorch.risk_measures import RobustMeasure as RobustMeasure
    from bocu.interop.botorch.risk_measures import RobustUpperConfidenceBound as RobustUpperConfidenceBound
    from bocu.interop.botorch.risk_measures import tail_level as tail_level

_HOME = {
    "RobustMeasure": "risk_measures",
    "RobustUpperConfidenceBound": "risk_measures",
    "tail_level": "risk_measures",
}

__all__ = sorted(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
