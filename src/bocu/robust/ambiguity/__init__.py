"""Ambiguity sets around a context distribution, and worst-case expectations over them.

Payoffs are maximised by the decision maker and minimised over the set by nature. One class a set, one module a family;
names load on first use, so that importing one set imports neither the others nor numba, torch or scipy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bocu.core.loading import lazily

if TYPE_CHECKING:
    from bocu.robust.ambiguity.approximations import floor_distance as floor_distance
    from bocu.robust.ambiguity.approximations import identity_sensitivity as identity_sensitivity
    from bocu.robust.ambiguity.approximations import linearised as linearised
    from bocu.robust.ambiguity.approximations import minimax_approximation as minimax_approximation
    from bocu.robust.ambiguity.approximations import sensitivity as sensitivity
    from bocu.robust.ambiguity.base import AmbiguitySet as AmbiguitySet
    from bocu.robust.ambiguity.base import WorstCase as WorstCase
    from bocu.robust.ambiguity.base import worst_case as worst_case
    from bocu.robust.ambiguity.conditional_value_at_risk import ConditionalValueAtRisk as ConditionalValueAtRisk
    from bocu.robust.ambiguity.divergences import ChiSquared as ChiSquared
    from bocu.robust.ambiguity.divergences import CressieRead as CressieRead
    from bocu.robust.ambiguity.divergences import KullbackLeibler as KullbackLeibler
    from bocu.robust.ambiguity.divergences import ModifiedChiSquared as ModifiedChiSquared
    from bocu.robust.ambiguity.mmd.gram import mmd_radius as mmd_radius
    from bocu.robust.ambiguity.mmd.gram import squared_exponential_gram as squared_exponential_gram
    from bocu.robust.ambiguity.mmd.gram import with_jitter as with_jitter
    from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancy as MaximumMeanDiscrepancy
    from bocu.robust.ambiguity.parameters import SetParameters as SetParameters
    from bocu.robust.ambiguity.phi_divergence import PhiDivergence as PhiDivergence
    from bocu.robust.ambiguity.sampled import SampledWorstCase as SampledWorstCase
    from bocu.robust.ambiguity.sampled import sampled_worst_case as sampled_worst_case
    from bocu.robust.ambiguity.total_variation import TotalVariation as TotalVariation
    from bocu.robust.ambiguity.wasserstein import Wasserstein as Wasserstein

_HOME = {
    "AmbiguitySet": "base",
    "ChiSquared": "divergences",
    "ConditionalValueAtRisk": "conditional_value_at_risk",
    "CressieRead": "divergences",
    "KullbackLeibler": "divergences",
    "MaximumMeanDiscrepancy": "mmd.maximum_mean_discrepancy",
    "ModifiedChiSquared": "divergences",
    "PhiDivergence": "phi_divergence",
    "TotalVariation": "total_variation",
    "Wasserstein": "wasserstein",
    "WorstCase": "base",
    "SampledWorstCase": "sampled",
    "SetParameters": "parameters",
    "floor_distance": "approximations",
    "identity_sensitivity": "approximations",
    "linearised": "approximations",
    "minimax_approximation": "approximations",
    "mmd_radius": "mmd.gram",
    "sampled_worst_case": "sampled",
    "sensitivity": "approximations",
    "squared_exponential_gram": "mmd.gram",
    "with_jitter": "mmd.gram",
    "worst_case": "base",
}

__all__ = sorted(_HOME)

__getattr__, __dir__ = lazily(__name__, _HOME)
