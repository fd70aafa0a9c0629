"""Robust Bayesian optimisation under an uncontrolled context: methods, problems and the sweep that compares them.

What a user's own code needs stands here by name and loads on first use; `import bocu` alone imports none of it::

    learner = bocu.learner("ts-bocu", decisions, contexts, bocu.UncertaintyObjective.dro(bocu.TotalVariation(0.3)))
    decision = learner.ask(bocu.Round(t=1, reference=forecast))
    learner.tell(decision, context, payoff)

Wings from low to high, each of which imports from those before it: `core`, `robust`, `learners`, `problems`, `sweep`,
`pages`; `advice` stands on the first three alone; `testing`, `interop` and `commands` may use all.
"""

from typing import TYPE_CHECKING

from bocu.core.loading import lazily

if TYPE_CHECKING:
    from bocu.advice import Replay as Replay
    from bocu.advice import Suggestion as Suggestion
    from bocu.advice import replay as replay
    from bocu.advice import suggest as suggest
    from bocu.core.errors import BocuError as BocuError
    from bocu.core.rounds import BoxDomain as BoxDomain
    from bocu.core.rounds import Description as Description
    from bocu.core.rounds import FiniteDomain as FiniteDomain
    from bocu.core.rounds import Round as Round
    from bocu.robust.ambiguity import AmbiguitySet as AmbiguitySet
    from bocu.robust.ambiguity import ChiSquared as ChiSquared
    from bocu.robust.ambiguity import ConditionalValueAtRisk as ConditionalValueAtRisk
    from bocu.robust.ambiguity import CressieRead as CressieRead
    from bocu.robust.ambiguity import KullbackLeibler as KullbackLeibler
    from bocu.robust.ambiguity import MaximumMeanDiscrepancy as MaximumMeanDiscrepancy
    from bocu.robust.ambiguity import ModifiedChiSquared as ModifiedChiSquared
    from bocu.robust.ambiguity import PhiDivergence as PhiDivergence
    from bocu.robust.ambiguity import TotalVariation as TotalVariation
    from bocu.robust.ambiguity import Wasserstein as Wasserstein
    from bocu.robust.ambiguity import WorstCase as WorstCase
    from bocu.robust.ambiguity import worst_case as worst_case
    from bocu.robust.objectives import UncertaintyObjective as UncertaintyObjective
    from bocu.sweep.evaluation.cubes import open_cube as open_cube
    from bocu.sweep.experiment.learners import algorithm as algorithm
    from bocu.sweep.experiment.learners import learner as learner

__version__ = "0.2.0"

_HOME = {
    "AmbiguitySet": "robust.ambiguity",
    "BocuError": "core.errors",
    "BoxDomain": "core.rounds",
    "ChiSquared": "robust.ambiguity",
    "ConditionalValueAtRisk": "robust.ambiguity",
    "CressieRead": "robust.ambiguity",
    "Description": "core.rounds",
    "FiniteDomain": "core.rounds",
    "KullbackLeibler": "robust.ambiguity",
    "MaximumMeanDiscrepancy": "robust.ambiguity",
    "ModifiedChiSquared": "robust.ambiguity",
    "PhiDivergence": "robust.ambiguity",
    "Replay": "advice",
    "Round": "core.rounds",
    "Suggestion": "advice",
    "TotalVariation": "robust.ambiguity",
    "UncertaintyObjective": "robust.objectives",
    "Wasserstein": "robust.ambiguity",
    "WorstCase": "robust.ambiguity",
    "algorithm": "sweep.experiment.learners",
    "learner": "sweep.experiment.learners",
    "open_cube": "sweep.evaluation.cubes",
    "replay": "advice",
    "suggest": "advice",
    "worst_case": "robust.ambiguity",
}

__all__ = sorted(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
