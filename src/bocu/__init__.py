"""Robust Bayesian optimisation under an uncontrolled context: methods, problems and the sweep that compares them.

What a user's own code needs stands here by name and loads on first use; `import bocu` alone imports none of it::

    learner = bocu.learner("ts-bocu", decisions, contexts, bocu.UncertaintyObjective.dro(bocu.TotalVariation(0.3)))
    decision = learner.ask(bocu.Round(t=1, reference=forecast))
    learner.tell(decision, context, payoff)

Packages from low to high, each of which imports from those before it: `core`, `io`, `ambiguity`, `objectives`,
`contexts`, `surrogates`, `acquisition`, `data`, `priors`, `problems` and `algorithms`, `experiment`, `runs`,
`evaluation`, `figures`, `report`, `sweep`, `testing`, `advice`, `interop`, `commands`.
"""

from typing import TYPE_CHECKING

from bocu.core.lazy import lazily

if TYPE_CHECKING:
    from bocu.advice import Replay as Replay
    from bocu.advice import Suggestion as Suggestion
    from bocu.advice import replay as replay
    from bocu.advice import suggest as suggest
    from bocu.ambiguity import AmbiguitySet as AmbiguitySet
    from bocu.ambiguity import ChiSquared as ChiSquared
    from bocu.ambiguity import ConditionalValueAtRisk as ConditionalValueAtRisk
    from bocu.ambiguity import CressieRead as CressieRead
    from bocu.ambiguity import KullbackLeibler as KullbackLeibler
    from bocu.ambiguity import MaximumMeanDiscrepancy as MaximumMeanDiscrepancy
    from bocu.ambiguity import ModifiedChiSquared as ModifiedChiSquared
    from bocu.ambiguity import PhiDivergence as PhiDivergence
    from bocu.ambiguity import TotalVariation as TotalVariation
    from bocu.ambiguity import Wasserstein as Wasserstein
    from bocu.ambiguity import WorstCase as WorstCase
    from bocu.ambiguity import worst_case as worst_case
    from bocu.core.domains import BoxDomain as BoxDomain
    from bocu.core.domains import FiniteDomain as FiniteDomain
    from bocu.core.errors import BocuError as BocuError
    from bocu.core.rounds import Description as Description
    from bocu.core.rounds import Round as Round
    from bocu.evaluation.opening import open_cube as open_cube
    from bocu.experiment.learners import algorithm as algorithm
    from bocu.experiment.learners import learner as learner
    from bocu.objectives import UncertaintyObjective as UncertaintyObjective

__version__ = "0.1.0"

_HOME = {
    "AmbiguitySet": "ambiguity",
    "BocuError": "core.errors",
    "BoxDomain": "core.domains",
    "ChiSquared": "ambiguity",
    "ConditionalValueAtRisk": "ambiguity",
    "CressieRead": "ambiguity",
    "Description": "core.rounds",
    "FiniteDomain": "core.domains",
    "KullbackLeibler": "ambiguity",
    "MaximumMeanDiscrepancy": "ambiguity",
    "ModifiedChiSquared": "ambiguity",
    "PhiDivergence": "ambiguity",
    "Replay": "advice",
    "Round": "core.rounds",
    "Suggestion": "advice",
    "TotalVariation": "ambiguity",
    "UncertaintyObjective": "objectives",
    "Wasserstein": "ambiguity",
    "WorstCase": "ambiguity",
    "algorithm": "experiment.learners",
    "learner": "experiment.learners",
    "open_cube": "evaluation.opening",
    "replay": "advice",
    "suggest": "advice",
    "worst_case": "ambiguity",
}

__all__ = sorted(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
