"""BoTorch, both ways: our sets and objectives in its acquisitions, its models and acquisitions in our sweeps.

Payoffs are maximised. A level alpha of CVaR is the fraction of the worst outcomes, 1 - alpha of BoTorch. Names load on
first use: what is asked for imports botorch, this package alone does not.
"""

from bocu.core.lazy import lazily

_HOME: dict[str, str] = {}

__all__ = sorted(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
