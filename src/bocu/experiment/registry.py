"""Names of problems, objectives, algorithms, metrics and figures, as text: importing this imports none of them.

To add one, write the class and add its line here.
"""

from dataclasses import dataclass
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.loading import load
from bocu.core.parameters import nearest


@dataclass(frozen=True)
class Entry:
    """A registered class.

    Attributes:
        name: as written in experiment files.
        target: "module:Class".
        summary: one line for listings.
        protocols: the protocols it is defined for.
        pursues_objective: of an algorithm: whether the objective changes what it does.
        aliases: other names of the same thing, as papers use them.
        scope: of a figure: drawn for each "problem", or once for the whole "experiment".
    """

    name: str
    target: str
    summary: str
    protocols: tuple[str, ...] = ()
    pursues_objective: bool = False
    aliases: tuple[str, ...] = ()
    scope: str = "problem"

    @property
    def module(self) -> str:
        return self.target.partition(":")[0]

    def load(self) -> Any:
        """Import the class."""
        return load(self.target)


TIME_VARYING = ("time-varying",)
CONTEXTUAL = ("general", "data-driven", "simulator")
CONTINUOUS = ("continuous",)
SCALARISED = ("scalarised",)
ROLLING = ("rolling-simulator",)
GRID = CONTEXTUAL + ROLLING
FINITE = TIME_VARYING + GRID
ANNOUNCED = GRID + SCALARISED

REGISTRY: dict[str, tuple[Entry, ...]] = {
    "problem": (
        Entry(
            "hills",
            "bocu.problems.hills:Hills",
            "ten hills, eleven candidate priors; one draw from prior 2 a seed (Ziomek et al. 2025)",
            TIME_VARYING,
        ),
        Entry(
            "sensors",
            "bocu.problems.sensors:Sensors",
            "the warmest of the Intel lab's sensors, priors from earlier days (Ziomek et al. 2025)",
            TIME_VARYING,
            aliases=("intel",),
        ),
        Entry(
            "gp-sample",
            "bocu.problems.gp_sample:GPSample",
            "a draw from the model's own prior a seed, two decisions, two contexts (Tay et al. 2024)",
            CONTEXTUAL,
        ),
        Entry(
            "hartmann-3",
            "bocu.problems.hartmann:Hartmann3",
            "the Hartmann function of three inputs, two of which decide (Tay et al. 2024)",
            CONTEXTUAL,
        ),
        Entry(
            "plant",
            "bocu.problems.plant:Plant",
            "leaf area over pH, which decides, and ammonia, the context (Tay et al. 2024)",
            CONTEXTUAL,
        ),
        Entry(
            "infection",
            "bocu.problems.infection:Infection",
            "shares of test kits against an epidemic of unknown origin and speed (Tay et al. 2024)",
            CONTEXTUAL,
            aliases=("covid",),
        ),
        Entry(
            "kirschner",
            "bocu.problems.kirschner:Kirschner",
            "two functions whose optima differ or coincide, one decision, one context (Kirschner et al. 2020)",
            CONTEXTUAL,
        ),
        Entry(
            "wind-commitment",
            "bocu.problems.wind_commitment:WindCommitment",
            "how much wind power to commit to the next hour, anew each hour (Kirschner et al. 2020)",
            ROLLING,
            aliases=("wind",),
        ),
        Entry(
            "ackley",
            "bocu.problems.continuous:Ackley",
            "Ackley, 2 + 1, normal context (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "ackley-2-4",
            "bocu.problems.continuous:Ackley24",
            "Ackley, 2 + 4, normal contexts (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "modified-branin",
            "bocu.problems.continuous:ModifiedBranin",
            "modified Branin, 2 + 2, normal contexts (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "hartmann-6",
            "bocu.problems.continuous:Hartmann",
            "Hartmann, 5 + 1, normal context (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "complicated-hartmann",
            "bocu.problems.continuous:ComplicatedHartmann",
            "Hartmann, 5 + 1, context from a mixture of eight distributions (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "newsvendor",
            "bocu.problems.continuous:Newsvendor",
            "newsvendor, 1 + 1, Burr XII demand (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "portfolio-normal",
            "bocu.problems.continuous:PortfolioNormal",
            "multi-period portfolio, 3 + 2, normal contexts (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "portfolio-uniform",
            "bocu.problems.continuous:PortfolioUniform",
            "multi-period portfolio, 3 + 2, uniform contexts (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "ackley-grid",
            "bocu.problems.scalarised:Ackley",
            "Ackley, 2 + 1, one output or two, on a grid of contexts (DRMOBO)",
            SCALARISED,
        ),
        Entry(
            "modified-branin-grid",
            "bocu.problems.scalarised:ModifiedBranin",
            "modified Branin, 2 + 2, one output or two, on a grid of contexts (DRMOBO)",
            SCALARISED,
        ),
        Entry(
            "hartmann-6-grid",
            "bocu.problems.scalarised:Hartmann",
            "Hartmann, 5 + 1, one output or two, on a grid of contexts (DRMOBO)",
            SCALARISED,
        ),
        Entry(
            "newsvendor-grid",
            "bocu.problems.scalarised:Newsvendor",
            "newsvendor, 1 + 1, one output or two, on a grid of demands (DRMOBO)",
            SCALARISED,
        ),
        Entry(
            "portfolio-grid",
            "bocu.problems.scalarised:Portfolio",
            "multi-period portfolio, 3 + 2, one output, on a grid of contexts (DRMOBO)",
            SCALARISED,
        ),
    ),
    "objective": (
        Entry("so", "bocu.objectives.configured:Stochastic", "stochastic: the expectation under the reference"),
        Entry("ro", "bocu.objectives.configured:Robust", "robust: the minimum over all contexts"),
        Entry(
            "dro",
            "bocu.objectives.configured:DistributionallyRobust",
            "distributionally robust: the worst expectation over an ambiguity set (Kirschner et al. 2020)",
        ),
        Entry(
            "wcs",
            "bocu.objectives.configured:WorstCaseSensitivity",
            "worst-case sensitivity: how fast that expectation falls with the radius at 0 (Tay et al. 2024)",
        ),
        Entry(
            "mr", "bocu.objectives.configured:MeanRisk", "mean and risk: expectation plus beta times the sensitivity"
        ),
        Entry(
            "gen",
            "bocu.objectives.configured:General",
            "general: alpha times the worst expectation plus beta times its slope (Tay et al. 2024)",
        ),
        Entry("rs", "bocu.objectives.configured:Satisficing", "robust satisficing at an aspiration tau"),
    ),
    "algorithm": (
        Entry(
            "random",
            "bocu.algorithms.simple:Random",
            "a uniform draw from the available decisions",
            FINITE + CONTINUOUS + SCALARISED,
        ),
        Entry("constant", "bocu.algorithms.simple:Constant", "always the same decision", FINITE),
        Entry(
            "ucb-so",
            "bocu.algorithms.confidence:UCBSO",
            "UCB on the expectation under the reference (Kirschner et al. 2020; Tay et al. 2024)",
            GRID,
            aliases=("ucb",),
        ),
        Entry(
            "ucb-ro",
            "bocu.algorithms.confidence:UCBRO",
            "UCB on the minimum over all contexts (Tay et al. 2024)",
            GRID,
        ),
        Entry(
            "ucb-bocu-1",
            "bocu.algorithms.confidence:UCBBOCU1",
            "UCB on the objective, its slope a difference between upper and lower bound (Tay et al. 2024)",
            GRID,
            pursues_objective=True,
        ),
        Entry(
            "ucb-bocu-2",
            "bocu.algorithms.confidence:UCBBOCU2",
            "the objective of the upper bound (Tay et al. 2024); under DRO the DRBO of Kirschner et al. (2020)",
            GRID,
            pursues_objective=True,
            aliases=("drbo",),
        ),
        Entry(
            "ts-bocu",
            "bocu.algorithms.thompson:ThompsonSampling",
            "Thompson sampling under the objective (Tay et al. 2024)",
            GRID,
            pursues_objective=True,
        ),
        Entry(
            "stableopt-finite",
            "bocu.algorithms.stable:StableOpt",
            "StableOpt: UCB on the minimum over contexts near the reference's mean (Kirschner et al. 2020)",
            GRID,
        ),
        Entry(
            "sensitivity-approximation",
            "bocu.algorithms.approximations:SensitivityApproximation",
            "UCB on the linearised worst expectation (Tay et al. 2022)",
            GRID,
            pursues_objective=True,
        ),
        Entry(
            "minimax-approximation",
            "bocu.algorithms.approximations:MinimaxApproximation",
            "UCB on the minimax approximation of the worst expectation (Tay et al. 2022)",
            GRID,
            pursues_objective=True,
        ),
        Entry(
            "gp-ucb",
            "bocu.algorithms.gp_ucb:GPUCB",
            "GP-UCB on decisions alone (baseline of Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "sbo-kde",
            "bocu.algorithms.density:SBOKDE",
            "UCB on the expectation under a kernel density estimate of the context (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "drbo-kde",
            "bocu.algorithms.density:DRBOKDE",
            "UCB on the worst expectation within a total variation of that estimate (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "drbo-mmd",
            "bocu.algorithms.grid_contexts:DRBOMMD",
            "UCB on the worst expectation over an MMD set on a grid of contexts (baseline of Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "minimax-continuous",
            "bocu.algorithms.grid_contexts:MinimaxContinuous",
            "UCB on its minimax approximation on a finer grid (baseline of Huang et al. 2024)",
            CONTINUOUS,
            aliases=("drbo-mmd-minimax",),
        ),
        Entry(
            "stableopt",
            "bocu.algorithms.stable_continuous:StableOptContinuous",
            "StableOpt: UCB on the minimum over a box around the mean of the contexts (Huang et al. 2024)",
            CONTINUOUS,
        ),
        Entry(
            "ts-bocu-kde",
            "bocu.algorithms.thompson_density:ThompsonDensity",
            "Thompson sampling under the objective over a kernel density estimate of the context (ours)",
            CONTINUOUS,
            pursues_objective=True,
        ),
        Entry(
            "drmobo",
            "bocu.algorithms.multi_objective:DRMOBO",
            "UCB on the worst expectation of scalarised payoffs (DRMOBO)",
            SCALARISED,
            pursues_objective=True,
        ),
        Entry(
            "mobo",
            "bocu.algorithms.multi_objective:MOBO",
            "UCB on the expectation of scalarised payoffs under the reference (baseline of DRMOBO)",
            SCALARISED,
        ),
        Entry(
            "pe-gp-ucb",
            "bocu.algorithms.time_varying:PEGPUCB",
            "GP-UCB with prior elimination (Ziomek et al. 2025)",
            TIME_VARYING,
        ),
        Entry(
            "mle",
            "bocu.algorithms.time_varying:MaximumLikelihood",
            "GP-UCB under the prior of highest evidence (Ziomek et al. 2025)",
            TIME_VARYING,
        ),
        Entry(
            "fully-bayesian",
            "bocu.algorithms.time_varying:FullyBayesian",
            "GP-UCB averaged over priors by their posterior weights (Ziomek et al. 2025)",
            TIME_VARYING,
        ),
        Entry(
            "regret-balancing",
            "bocu.algorithms.time_varying:RegretBalancing",
            "regret balancing and elimination over priors (Ziomek et al. 2025)",
            TIME_VARYING,
        ),
        Entry(
            "oracle",
            "bocu.algorithms.time_varying:Oracle",
            "TV-GP-UCB with the best prior known: a yardstick, not a competitor",
            TIME_VARYING,
            aliases=("tv-gp-ucb",),
        ),
    ),
    "metric": (
        Entry(
            "so",
            "bocu.evaluation.metrics:Stochastic",
            "expected payoff under the reference or the truth, against the best available decision",
            FINITE + CONTINUOUS + SCALARISED,
        ),
        Entry(
            "ro",
            "bocu.evaluation.metrics:Robust",
            "payoff in the worst context, against the best available decision",
            FINITE + SCALARISED,
        ),
        Entry(
            "dro",
            "bocu.evaluation.metrics:DistributionallyRobust",
            "worst expectation over an ambiguity set",
            ANNOUNCED,
        ),
        Entry("wcs", "bocu.evaluation.metrics:WorstCaseSensitivity", "worst-case sensitivity", ANNOUNCED),
        Entry("mr", "bocu.evaluation.metrics:MeanRisk", "mean and risk", ANNOUNCED),
        Entry("gen", "bocu.evaluation.metrics:General", "general uncertainty objective", ANNOUNCED),
        Entry("rs", "bocu.evaluation.metrics:Satisficing", "robust satisficing", ANNOUNCED),
        Entry(
            "best-fixed-decision",
            "bocu.evaluation.metrics:BestFixedDecision",
            "expected payoff, against the best single decision in hindsight",
            TIME_VARYING,
        ),
    ),
    "figure": (
        Entry(
            "regret",
            "bocu.figures.regret:Regret",
            "cumulative, average or instantaneous regret over the rounds, mean and standard error",
            FINITE + CONTINUOUS + SCALARISED,
        ),
        Entry(
            "cost",
            "bocu.figures.cost:Cost",
            "time that algorithms take for a round, over the rounds",
            FINITE + CONTINUOUS,
        ),
        Entry(
            "chosen-priors",
            "bocu.figures.priors:ChosenPriors",
            "how often each candidate prior was trusted (Ziomek et al. 2025, figures 2b and 4b)",
            TIME_VARYING,
        ),
        Entry(
            "rejection-times",
            "bocu.figures.priors:RejectionTimes",
            "the rounds in which candidate priors were rejected",
            TIME_VARYING,
        ),
        Entry(
            "rejection",
            "bocu.figures.rejection:Rejection",
            "how a prior gets rejected, from a real run (Ziomek et al. 2025, figure 1)",
            TIME_VARYING,
        ),
        Entry(
            "prior-means",
            "bocu.figures.prior_means:PriorMeans",
            "what the candidate priors say before any data (Ziomek et al. 2025, figure 3)",
            TIME_VARYING,
        ),
        Entry(
            "landscape",
            "bocu.figures.landscape:Landscape",
            "the problem itself: payoff by decision and round",
            TIME_VARYING,
        ),
        Entry(
            "function-and-distributions",
            "bocu.figures.finite_landscape:FunctionAndDistributions",
            "payoff by context and decision, reference and truth, the optima (Kirschner et al. 2020, figure 1)",
            CONTEXTUAL,
        ),
        Entry(
            "contour",
            "bocu.figures.finite_landscape:Contour",
            "contours of the payoff with the optima (Kirschner et al. 2020, figure 4a)",
            CONTEXTUAL,
        ),
        Entry(
            "panels",
            "bocu.figures.panels:Panels",
            "regret curves in a grid, a row an objective, a column a problem (Tay et al. 2024, figures 2 and 3)",
            scope="experiment",
        ),
        Entry(
            "wind-commitment",
            "bocu.figures.wind_commitment:WindCommitmentFigure",
            "cumulative revenue and robust regret of wind power commitment (Kirschner et al. 2020, figure 3)",
            ROLLING,
        ),
        Entry(
            "robust-front",
            "bocu.figures.robust_front:RobustFront",
            "guaranteed payoffs of two outputs and their hypervolume, of runs and the best there is",
            SCALARISED,
        ),
        Entry(
            "summary",
            "bocu.figures.summary:Summary",
            "final regret of every algorithm on every problem, relative to a reference",
            scope="experiment",
        ),
        Entry(
            "scoreboard",
            "bocu.figures.scoreboard:Scoreboard",
            "the same numbers as a table, a block a metric, a row an algorithm, a column a problem",
            scope="experiment",
        ),
    ),
}


def find(kind: str, name: str, where: str = "") -> Entry:
    """Look up a registered name or alias.

    Raises:
        BocuError: the name is unknown; the line says the nearest one.
    """
    entries = REGISTRY[kind]
    for entry in entries:
        if name == entry.name or name in entry.aliases:
            return entry
    raise BocuError(f"{where}unknown {kind} '{name}'; {nearest(name, [entry.name for entry in entries])}")
