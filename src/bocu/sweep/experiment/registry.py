"""Where every name that an experiment file may use leads, as text: importing this imports none of them.

To add one, write the class and add its line here. What is known of a class stands on the class; another name of the
same thing leads to the first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.loading import load
from bocu.core.parameters import nearest

_OBJECTIVES = {
    "so": "bocu.robust.objectives.functions:Stochastic",
    "ro": "bocu.robust.objectives.functions:Robust",
    "dro": "bocu.robust.objectives.functions:DistributionallyRobust",
    "wcs": "bocu.robust.objectives.functions:WorstCaseSensitivity",
    "mr": "bocu.robust.objectives.functions:MeanRisk",
    "gen": "bocu.robust.objectives.functions:General",
    "rs": "bocu.robust.objectives.functions:Satisficing",
    "var": "bocu.robust.objectives.functions:ValueAtRisk",
}

REGISTRY: Mapping[str, Mapping[str, str]] = {
    "prior": {
        "stated": "bocu.problems.priors.statements:Stated",
        "fitted": "bocu.problems.priors.statements:Fitted",
    },
    "problem": {
        "hills": "bocu.problems.hills:Hills",
        "hills-continuous": "bocu.problems.hills:ContinuousHills",
        "sensors": "bocu.problems.sensors:Sensors",
        "intel": "sensors",
        "gp-sample": "bocu.problems.synthetic:GPSample",
        "drifting-gp-sample": "bocu.problems.drifting:DriftingSample",
        "hartmann-3": "bocu.problems.synthetic:Hartmann3",
        "plant": "bocu.problems.prepared_mean:Plant",
        "infection": "bocu.problems.prepared_mean:Infection",
        "covid": "infection",
        "portfolio-table": "bocu.problems.prepared_mean:PortfolioTable",
        "kirschner": "bocu.problems.synthetic:Kirschner",
        "satisficing": "bocu.problems.synthetic:SatisficingBumps",
        "density-estimates": "bocu.problems.density_estimates:EstimateDistances",
        "wind-commitment": "bocu.problems.wind_commitment:WindCommitment",
        "wind": "wind-commitment",
        "irrigation": "bocu.problems.irrigation:Irrigation",
        "irrigation-nebraska": "bocu.problems.irrigation:IrrigationNebraska",
        "irrigation-thresholds": "bocu.problems.irrigation:IrrigationThresholds",
        "wake-steering": "bocu.problems.wake_steering:WakeSteering",
        "irrigation-two": "bocu.problems.two_objectives:IrrigationTwo",
        "wake-steering-two": "bocu.problems.two_objectives:WakeSteeringTwo",
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
        "tv": "bocu.robust.ambiguity.total_variation:TotalVariation",
        "mmd": "bocu.robust.ambiguity.mmd.maximum_mean_discrepancy:MaximumMeanDiscrepancy",
        "wass": "bocu.robust.ambiguity.wasserstein:Wasserstein",
        "chi2": "bocu.robust.ambiguity.divergences:ChiSquared",
        "chi2mod": "bocu.robust.ambiguity.divergences:ModifiedChiSquared",
        "kl": "bocu.robust.ambiguity.divergences:KullbackLeibler",
        "cr": "bocu.robust.ambiguity.divergences:CressieRead",
        "cvar": "bocu.robust.ambiguity.conditional_value_at_risk:ConditionalValueAtRisk",
        "phi": "bocu.robust.ambiguity.phi_divergence:PhiDivergence",
        "moments": "bocu.interop.cvxpy.sets:Moments",
        "intersection": "bocu.interop.cvxpy.sets:Intersection",
        "constraints": "bocu.interop.cvxpy.sets:Constraints",
    },
    "law": {
        "normal": "bocu.robust.contexts.laws:NormalLaw",
        "uniform": "bocu.robust.contexts.laws:UniformLaw",
        "burr-xii": "bocu.robust.contexts.laws:BurrLaw",
        "complicated": "bocu.robust.contexts.laws:ComplicatedLaw",
        "mixture": "bocu.robust.contexts.joint_laws:MixtureLaw",
        "coordinates": "bocu.robust.contexts.joint_laws:CoordinatesLaw",
        "empirical": "bocu.robust.contexts.joint_laws:EmpiricalLaw",
        "kde": "bocu.robust.contexts.joint_laws:KernelDensityLaw",
        "histogram": "bocu.robust.contexts.joint_laws:HistogramStatedLaw",
    },
    "shift": {
        "jump": "bocu.robust.contexts.shifts:Jump",
        "drift": "bocu.robust.contexts.shifts:Drift",
        "season": "bocu.robust.contexts.shifts:Season",
        "train-test": "bocu.robust.contexts.shifts:TrainTest",
    },
    "constraint": {},  # functions, which are the user's own
    "objective": _OBJECTIVES,
    "algorithm": {
        "random": "bocu.learners.algorithms.simple:Random",
        "constant": "bocu.learners.algorithms.simple:Constant",
        "ucb-so": "bocu.learners.algorithms.confidence:UCBSO",
        "ucb": "ucb-so",
        "ucb-ro": "bocu.learners.algorithms.confidence:UCBRO",
        "ucb-bocu-1": "bocu.learners.algorithms.confidence:UCBBOCU1",
        "ucb-bocu-true": "bocu.learners.algorithms.confidence:UCBBOCUTrue",
        "ucb-bocu-2": "bocu.learners.algorithms.confidence:UCBBOCU2",
        "drbo": "ucb-bocu-2",
        "ts-bocu": "bocu.learners.algorithms.thompson:ThompsonSampling",
        "drbqo": "bocu.learners.algorithms.thompson:DRBQO",
        "v-ucb": "bocu.learners.algorithms.lacing:VUCB",
        "cv-ucb": "bocu.learners.algorithms.lacing:CVUCB",
        "stableopt-finite": "bocu.learners.algorithms.confidence:StableOpt",
        "sensitivity-approximation": "bocu.learners.algorithms.confidence:SensitivityApproximation",
        "minimax-approximation": "bocu.learners.algorithms.confidence:MinimaxApproximation",
        "gp-ucb": "bocu.learners.algorithms.continuous:GPUCB",
        "sbo-kde": "bocu.learners.algorithms.continuous:SBOKDE",
        "drbo-kde": "bocu.learners.algorithms.continuous:DRBOKDE",
        "drbo-mmd": "bocu.learners.algorithms.grid_contexts:DRBOMMD",
        "minimax-continuous": "bocu.learners.algorithms.grid_contexts:MinimaxContinuous",
        "drbo-mmd-minimax": "minimax-continuous",
        "stableopt": "bocu.learners.algorithms.continuous:StableOptContinuous",
        "ts-bocu-kde": "bocu.learners.algorithms.sampled_reference:ThompsonDensity",
        "ucb-bocu-kde": "bocu.learners.algorithms.sampled_reference:UCBDensity",
        "dro-bo-phi": "bocu.learners.algorithms.sampled_reference:ClosedFormDivergence",
        "erbo": "bocu.learners.algorithms.continuous:ERBO",
        "wdrbo": "bocu.learners.algorithms.continuous:WDRBO",
        "drmobo": "bocu.learners.algorithms.multi_objective:DRMOBO",
        "mobo": "bocu.learners.algorithms.multi_objective:MOBO",
        "botorch-acquisition": "bocu.interop.botorch.any_acquisition:BotorchAcquisition",
        "qlognei": "bocu.interop.botorch.baselines:QLogNEI",
        "qkg": "bocu.interop.botorch.baselines:QKG",
        "mars": "bocu.interop.botorch.baselines:MARS",
        "qnehvi": "bocu.interop.botorch.baselines:QNEHVI",
        "optuna": "bocu.interop.peers.optuna:OptunaPeer",
        "ax": "bocu.interop.peers.ax:AxPeer",
        "xopt": "bocu.interop.peers.xopt:XoptPeer",
        "emukit": "bocu.interop.peers.emukit:EmukitPeer",
        "smac": "bocu.interop.peers.smac:SmacPeer",
        "pe-gp-ucb": "bocu.learners.algorithms.time_varying:PEGPUCB",
        "mle": "bocu.learners.algorithms.time_varying:MaximumLikelihood",
        "fully-bayesian": "bocu.learners.algorithms.time_varying:FullyBayesian",
        "regret-balancing": "bocu.learners.algorithms.time_varying:RegretBalancing",
        "oracle": "bocu.learners.algorithms.time_varying:Oracle",
        "tv-gp-ucb": "bocu.learners.algorithms.time_varying:TVGPUCB",
    },
    "model": {
        "botorch-default": "bocu.interop.botorch.models:single_task_gp",
    },
    "acquisition": {},  # BoTorch's own go by their names
    "metric": {
        **_OBJECTIVES,  # every objective is one
        "so": "bocu.sweep.evaluation.metrics:ExpectedPayoff",
        "best-fixed-decision": "bocu.sweep.evaluation.metrics:BestFixedDecision",
        "worst-share": "bocu.sweep.evaluation.worst_share:WorstShare",
        "lenient": "bocu.sweep.evaluation.aspirations:LenientRegret",
        "satisficing": "bocu.sweep.evaluation.aspirations:SatisficingRegret",
    },
    "figure": {
        "regret": "bocu.pages.figures.regret:Regret",
        "cost": "bocu.pages.figures.times:Cost",
        "chosen-priors": "bocu.pages.figures.priors:ChosenPriors",
        "rejection-times": "bocu.pages.figures.priors:RejectionTimes",
        "rejection": "bocu.pages.figures.priors:Rejection",
        "prior-means": "bocu.pages.figures.landscapes:PriorMeans",
        "landscape": "bocu.pages.figures.landscapes:Landscape",
        "function-and-distributions": "bocu.pages.figures.landscapes:FunctionAndDistributions",
        "contour": "bocu.pages.figures.landscapes:Contour",
        "objectives-of-a-decision": "bocu.pages.figures.robust_decisions:WorstExpectation",
        "run-times": "bocu.pages.figures.times:RunTimes",
        "density-estimates": "bocu.pages.figures.times:DensityEstimates",
        "panels": "bocu.pages.figures.regret:Panels",
        "wind-commitment": "bocu.pages.figures.wind_commitment:WindCommitmentFigure",
        "across-objectives": "bocu.pages.figures.every_round:AcrossObjectives",
        "robust-front": "bocu.pages.figures.every_round:RobustFront",
        "robustness-curve": "bocu.pages.figures.every_round:RobustnessCurve",
        "price-of-robustness": "bocu.pages.figures.robust_decisions:PriceOfRobustness",
        "summary": "bocu.pages.figures.relative_regret:Summary",
        "who-wins": "bocu.pages.figures.who_wins:WhoWins",
        "scoreboard": "bocu.pages.figures.relative_regret:Scoreboard",
        "critical-difference": "bocu.pages.figures.over_problems:CriticalDifference",
        "ranking": "bocu.pages.figures.over_problems:SurvivingRanking",
        "ranks-over-time": "bocu.pages.figures.over_problems:RanksOverTime",
        "interquartile-mean": "bocu.pages.figures.over_runs:InterquartileMean",
        "probability-of-improvement": "bocu.pages.figures.over_runs:ProbabilityOfImprovement",
        "performance-profile": "bocu.pages.figures.over_runs:PerformanceProfile",
        "effort-to-target": "bocu.pages.figures.over_runs:EffortToTarget",
        "region": "bocu.pages.figures.region:Region",
    },
}


@dataclass(frozen=True)
class RegisteredClass:
    """A class that experiment files name."""

    kind: str  #: a key of `REGISTRY`, such as "problem" or "algorithm".
    name: str  #: the registered name, or the entry point's; of a class that is named by where it stands, the class's.
    target: str  #: "module:Class", or "/path/to/file.py:Class".
    origin: str = ""  #: of a class from outside, where it comes from, for error lines; empty for ours.
    code: str = ""  #: hash of the definitions of a class that is named by where it stands; empty for others.

    @property
    def called(self) -> str:
        """What tells it from others of its kind, wherever it stands."""
        return f"{self.name}@{self.code}" if self.code else self.name

    @property
    def identity(self) -> str:
        """What a specification calls it."""
        return f"{self.kind}/{self.called}"

    @property
    def shown(self) -> str:
        """What people are told of where it comes from."""
        return self.origin or self.target

    def load(self) -> Any:
        """Import the class.

        Raises:
            BocuError: of a class from outside: it is not there, or breaks the contract.
        """
        if not self.origin:
            return load(self.target)
        from bocu.sweep.experiment.plugins import load_outside

        return load_outside(self)


BRIDGE = "bocu.interop.botorch.models:FactoryModel"
"""What plays a BoTorch model under our algorithms; with its factory a root of the code that such a run reaches."""


def registered(kind: str) -> Iterator[RegisteredClass]:
    """Return all of a kind in the order of the registry, each under its first name."""
    return (RegisteredClass(kind, name, target) for name, target in REGISTRY[kind].items() if ":" in target)


def aliases(kind: str, name: str) -> list[str]:
    """Return the other names of what is registered under `name`."""
    return [alias for alias, target in REGISTRY[kind].items() if target == name]


def find(kind: str, name: str, where: str = "", folder: Path | None = None) -> RegisteredClass:
    """Look up what an experiment file, or a specification, names.

    Args:
        kind: as in `RegisteredClass`.
        name: registered, an alias, an entry point's, or as a specification calls it; with a folder also "module:Class"
            and "path/to/file.py:Class".
        where: file and key, for error lines.
        folder: what paths are relative to: that of the experiment file. Left out, nothing is found that no package
            offers and no experiment at hand names: files of results do not say what to import.

    Raises:
        BocuError: the name is unknown; the line says the nearest one.
    """
    names = REGISTRY.get(kind, {})
    if name in names:
        return RegisteredClass(kind, name, names[name]) if ":" in names[name] else find(kind, names[name])
    from bocu.sweep.experiment import plugins

    if ":" in name and folder is not None:
        return plugins.outside(kind, name, folder, where)
    if plugins.HASHED in name:
        return plugins.planned(kind, name, where)
    found = plugins.entry_point(kind, name, where)
    if found is not None:
        return found
    plugins.refuse_missing(kind, name, where)
    known = [entry.name for entry in (*registered(kind), *plugins.offered(kind))] if names else []
    raise BocuError(f"{where}unknown {kind} '{name}'; {nearest(name, known)}")
