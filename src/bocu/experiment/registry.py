"""Where every name that an experiment file may use leads, as text: importing this imports none of them.

To add one, write the class and add its line here. What is known of a class stands on the class; another name of the
same thing leads to the first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.loading import load
from bocu.core.parameters import nearest

_OBJECTIVES = {
    "so": "bocu.objectives.stated:Stochastic",
    "ro": "bocu.objectives.stated:Robust",
    "dro": "bocu.objectives.stated:DistributionallyRobust",
    "wcs": "bocu.objectives.stated:WorstCaseSensitivity",
    "mr": "bocu.objectives.stated:MeanRisk",
    "gen": "bocu.objectives.stated:General",
    "rs": "bocu.objectives.stated:Satisficing",
}

REGISTRY: Mapping[str, Mapping[str, str]] = {
    "problem": {
        "hills": "bocu.problems.hills:Hills",
        "sensors": "bocu.problems.sensors:Sensors",
        "intel": "sensors",
        "gp-sample": "bocu.problems.gp_sample:GPSample",
        "hartmann-3": "bocu.problems.hartmann:Hartmann3",
        "plant": "bocu.problems.plant:Plant",
        "infection": "bocu.problems.infection:Infection",
        "covid": "infection",
        "kirschner": "bocu.problems.kirschner:Kirschner",
        "wind-commitment": "bocu.problems.wind_commitment:WindCommitment",
        "wind": "wind-commitment",
        "ackley": "bocu.problems.continuous:Ackley",
        "ackley-2-4": "bocu.problems.continuous:Ackley24",
        "modified-branin": "bocu.problems.continuous:ModifiedBranin",
        "hartmann-6": "bocu.problems.continuous:Hartmann",
        "complicated-hartmann": "bocu.problems.continuous:ComplicatedHartmann",
        "newsvendor": "bocu.problems.continuous:Newsvendor",
        "portfolio-normal": "bocu.problems.continuous:PortfolioNormal",
        "portfolio-uniform": "bocu.problems.continuous:PortfolioUniform",
        "ackley-grid": "bocu.problems.scalarised:ScalarisedAckley",
        "modified-branin-grid": "bocu.problems.scalarised:ScalarisedModifiedBranin",
        "hartmann-6-grid": "bocu.problems.scalarised:ScalarisedHartmann",
        "newsvendor-grid": "bocu.problems.scalarised:ScalarisedNewsvendor",
        "portfolio-grid": "bocu.problems.scalarised:ScalarisedPortfolio",
    },
    "set": {
        "tv": "bocu.ambiguity.total_variation:TotalVariation",
        "mmd": "bocu.ambiguity.mmd.maximum_mean_discrepancy:MaximumMeanDiscrepancy",
        "wass": "bocu.ambiguity.wasserstein:Wasserstein",
        "chi2": "bocu.ambiguity.divergences.chi_squared:ChiSquared",
        "chi2mod": "bocu.ambiguity.divergences.chi_squared:ModifiedChiSquared",
        "kl": "bocu.ambiguity.divergences.kullback_leibler:KullbackLeibler",
        "cr": "bocu.ambiguity.divergences.cressie_read:CressieRead",
        "cvar": "bocu.ambiguity.conditional_value_at_risk:ConditionalValueAtRisk",
        "phi": "bocu.ambiguity.divergences.phi_divergence:PhiDivergence",
    },
    "objective": _OBJECTIVES,
    "algorithm": {
        "random": "bocu.algorithms.simple:Random",
        "constant": "bocu.algorithms.simple:Constant",
        "ucb-so": "bocu.algorithms.confidence:UCBSO",
        "ucb": "ucb-so",
        "ucb-ro": "bocu.algorithms.confidence:UCBRO",
        "ucb-bocu-1": "bocu.algorithms.confidence:UCBBOCU1",
        "ucb-bocu-2": "bocu.algorithms.confidence:UCBBOCU2",
        "drbo": "ucb-bocu-2",
        "ts-bocu": "bocu.algorithms.thompson:ThompsonSampling",
        "stableopt-finite": "bocu.algorithms.stable:StableOpt",
        "sensitivity-approximation": "bocu.algorithms.approximations:SensitivityApproximation",
        "minimax-approximation": "bocu.algorithms.approximations:MinimaxApproximation",
        "gp-ucb": "bocu.algorithms.gp_ucb:GPUCB",
        "sbo-kde": "bocu.algorithms.density:SBOKDE",
        "drbo-kde": "bocu.algorithms.density:DRBOKDE",
        "drbo-mmd": "bocu.algorithms.grid_contexts:DRBOMMD",
        "minimax-continuous": "bocu.algorithms.grid_contexts:MinimaxContinuous",
        "drbo-mmd-minimax": "minimax-continuous",
        "stableopt": "bocu.algorithms.stable_continuous:StableOptContinuous",
        "ts-bocu-kde": "bocu.algorithms.thompson_density:ThompsonDensity",
        "drmobo": "bocu.algorithms.multi_objective:DRMOBO",
        "mobo": "bocu.algorithms.multi_objective:MOBO",
        "pe-gp-ucb": "bocu.algorithms.time_varying:PEGPUCB",
        "mle": "bocu.algorithms.time_varying:MaximumLikelihood",
        "fully-bayesian": "bocu.algorithms.time_varying:FullyBayesian",
        "regret-balancing": "bocu.algorithms.time_varying:RegretBalancing",
        "oracle": "bocu.algorithms.time_varying:Oracle",
        "tv-gp-ucb": "oracle",
    },
    "metric": {
        **_OBJECTIVES,  # every objective is one
        "so": "bocu.evaluation.metrics:ExpectedPayoff",
        "best-fixed-decision": "bocu.evaluation.metrics:BestFixedDecision",
    },
    "figure": {
        "regret": "bocu.figures.regret:Regret",
        "cost": "bocu.figures.cost:Cost",
        "chosen-priors": "bocu.figures.priors:ChosenPriors",
        "rejection-times": "bocu.figures.priors:RejectionTimes",
        "rejection": "bocu.figures.rejection:Rejection",
        "prior-means": "bocu.figures.prior_means:PriorMeans",
        "landscape": "bocu.figures.landscape:Landscape",
        "function-and-distributions": "bocu.figures.finite_landscape:FunctionAndDistributions",
        "contour": "bocu.figures.finite_landscape:Contour",
        "panels": "bocu.figures.panels:Panels",
        "wind-commitment": "bocu.figures.wind_commitment:WindCommitmentFigure",
        "robust-front": "bocu.figures.robust_front:RobustFront",
        "summary": "bocu.figures.summary:Summary",
        "scoreboard": "bocu.figures.scoreboard:Scoreboard",
    },
}


@dataclass(frozen=True)
class Entry:
    """A registered class.

    Attributes:
        name: as written in experiment files.
        target: "module:Class".
    """

    name: str
    target: str

    def load(self) -> Any:
        """Import the class."""
        return load(self.target)


def registered(kind: str) -> Iterator[Entry]:
    """Return all of a kind in the order of the registry, each under its first name."""
    return (Entry(name, target) for name, target in REGISTRY[kind].items() if ":" in target)


def aliases(kind: str, name: str) -> list[str]:
    """Return the other names of what is registered under `name`."""
    return [alias for alias, target in REGISTRY[kind].items() if target == name]


def find(kind: str, name: str, where: str = "") -> Entry:
    """Look up a registered name or alias.

    Raises:
        BocuError: the name is unknown; the line says the nearest one.
    """
    names = REGISTRY[kind]
    if name not in names:
        raise BocuError(f"{where}unknown {kind} '{name}'; {nearest(name, [entry.name for entry in registered(kind)])}")
    return Entry(name, names[name]) if ":" in names[name] else find(kind, names[name])
