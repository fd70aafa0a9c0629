"""What a job needs: time, memory and disk of a block of seeds before it runs, and what to ask a cluster for.

The model of a block, on one core of the machine it was measured on (docs/cluster.md has the table):

    seconds = start + problem + seeds x rounds
              x (round + prediction x priors x arms + update x kernels x arms x rounds / 2)
    memory  = workflow + process + 8 bytes x (6 x arms^2 + 7 x kernels x arms x rounds) + 7 x rows
    disk    = file + rows
    rows    = seeds x rounds x (row + row_per_prior x priors)

On a grid of contexts the payoff table has points = arms x contexts, and a round costs, on average,

    round + points x (point + history x distinct + valuation) + solve x rounds^2 / 3

where up to `distinct` decisions were observed, min(rounds / 2, arms), and valuation is what the objective pursued
takes with its distance, which for some grows with the number of contexts as well. Fourier features add to `point` and
`solve` in their number; see `_thompson`.

With continuous decisions a round costs, on average, round + work x solve x rounds^2 / 3; see `_continuous`.

`tests/benchmarks/resources.py`, `finite.py`, `valuations.py` and `huang_runtime.py` measure the coefficients,
`overhead.py` start and workflow. Classes without a line in the tables get cautious ones. Planning calls this for every
job, so nothing is imported or opened.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bocu.ambiguity.base import SolveCost
    from bocu.experiment.branches import Branch

START_SECONDS = 4.0  # of a cluster job: two Snakemakes parse the workflow, Python imports the library
WORKFLOW_MB = 400.0  # those two Snakemakes
PROCESS_MB = 150.0  # Python with the library
ROWS_IN_MEMORY = 7.0  # bytes for each of the run file's: records, the data set made of them, checkpoint, compression
FILE_MB = 0.1  # an empty run file, its log and its benchmark
INTEL_SENSORS = 54

MEMORY_MARGIN = 1.5
TIME_MARGIN = 3.0  # slower processors, busy file systems
MEMORY_STEP_MB = 100
TIME_STEP_MINUTES = 5
LEAST_MINUTES = 10
MORE = 2  # times as much is asked for in each further attempt


@dataclass(frozen=True)
class Estimate:
    """What one block of seeds takes.

    Attributes:
        seconds: core seconds, from the start of the job to the written file.
        memory_mb: peak of all processes of the job together, MB.
        disk_mb: the run file, MB.
    """

    seconds: float
    memory_mb: float
    disk_mb: float


@dataclass(frozen=True)
class Size:
    """What of a problem the cost depends on.

    Attributes:
        arms: size of the decision space.
        priors: candidate priors.
        kernels: distinct kernels among them.
        seconds: to set the problem up, once a block.
        contexts: size of the context space, where there is a payoff table.
        work: how much more than with one context coordinate a continuous problem takes.
    """

    arms: int
    priors: int = 1
    kernels: int = 1
    seconds: float = 0.1
    contexts: int = 1
    work: float = 1.0


@dataclass(frozen=True)
class Cost:
    """What an algorithm costs, in seconds and bytes.

    Attributes:
        round: seconds a round.
        prediction: seconds a round, prior and arm.
        update: seconds a round, kernel, arm and earlier observation.
        row: bytes a round in the run file.
        row_per_prior: bytes a round and prior in the run file.
        one_prior: whether it follows one prior, whatever the number of candidates.
        keeps_rows: whether it keeps a row over all arms for every kernel and observation.
        point: seconds a round and point of the payoff table.
        history: seconds a round, point and distinct decision observed.
        solve: seconds a round and squared number of observations.
        rows_solved: of observations at most, where larger systems are solved in another way.
        on_grid: whether it keeps payoff tables and a factor of all observations.
        dense: whether the number of context coordinates does not matter.
    """

    round: float
    prediction: float = 0.0
    update: float = 0.0
    row: float = 30.0
    row_per_prior: float = 0.0
    one_prior: bool = False
    keeps_rows: bool = False
    point: float = 0.0
    history: float = 0.0
    solve: float = 0.0
    rows_solved: int | None = None
    on_grid: bool = False
    dense: bool = False


def _hills(parameters: Any) -> Size:
    return Size(arms=parameters.grid, priors=11, kernels=1, seconds=0.04 + 1.6e-10 * parameters.grid**3)


def _sensors(parameters: Any) -> Size:
    days = len(parameters.settings.prior_days)
    return Size(arms=parameters.settings.sensors_per_seed or INTEL_SENSORS, priors=days, kernels=days)


def _grid(parameters: Any) -> Size:
    arms, contexts = math.prod(parameters.decision_points), math.prod(parameters.context_points)
    return Size(arms=arms, contexts=contexts, seconds=1.0 + 3e-10 * arms**3)


def _thompson(parameters: Any) -> Cost:
    exact = Cost(3e-4, row=40.0, point=2.5e-8, history=5e-11, solve=6e-10, on_grid=True)
    if parameters.posterior == "pathwise":
        return exact
    features = parameters.features
    return replace(exact, point=1.5e-10 * features, solve=1.1e-10 * features, rows_solved=features)


def _box(context_dimension: int) -> Callable[[Any], Size]:
    # Contexts compress the less, the more coordinates they have.
    work = {1: 1.0, 2: 5.0}.get(context_dimension, 40.0)
    return lambda parameters: Size(arms=1, seconds=1.0, work=work)


JOINT_ROUND, JOINT_SOLVE = 5.0, 20.0  # times as much with a joint kernel, with which every context is evaluated


def _continuous(round: float, solve: float, decisions_only: bool = False) -> Callable[[Any], Cost]:
    """Cost with 50 ascents and a product kernel; fewer ascents take less, a joint kernel more."""

    def cost(parameters: Any) -> Cost:
        joint = getattr(parameters.model, "kernel", "product") == "joint"
        share = 0.3 + 0.7 * parameters.search.restarts / 50
        more, longer = (JOINT_ROUND, JOINT_SOLVE) if joint else (1.0, 1.0)
        return Cost(more * share * round, row=120.0, solve=longer * share * solve, dense=joint or decisions_only)

    return cost


UNMEASURED_SIZE = Size(arms=2_000, priors=11, kernels=11, seconds=60.0)
UNMEASURED_COST = Cost(round=1.0, row=1_000.0, keeps_rows=True)

SIZES: Mapping[str, Callable[[Any], Size]] = {
    "bocu.problems.hills:Hills": _hills,
    "bocu.problems.sensors:Sensors": _sensors,
    "bocu.problems.gp_sample:GPSample": _grid,
    "bocu.problems.hartmann:Hartmann3": _grid,
    "bocu.problems.plant:Plant": _grid,
    "bocu.problems.infection:Infection": _grid,
    "bocu.problems.kirschner:Kirschner": _grid,
    "bocu.problems.continuous:Ackley": _box(1),
    "bocu.problems.continuous:Ackley24": _box(4),
    "bocu.problems.continuous:ModifiedBranin": _box(2),
    "bocu.problems.continuous:Hartmann": _box(1),
    "bocu.problems.continuous:ComplicatedHartmann": _box(1),
    "bocu.problems.continuous:Newsvendor": _box(1),
    "bocu.problems.continuous:PortfolioNormal": _box(2),
    "bocu.problems.continuous:PortfolioUniform": _box(2),
    "bocu.problems.scalarised:ScalarisedAckley": _box(1),
    "bocu.problems.scalarised:ScalarisedModifiedBranin": _box(1),
    "bocu.problems.scalarised:ScalarisedHartmann": _box(1),
    "bocu.problems.scalarised:ScalarisedNewsvendor": _box(1),
    "bocu.problems.scalarised:ScalarisedPortfolio": _box(1),
}


_BOUNDS = Cost(2e-4, row=40.0, point=1.1e-8, history=4e-11, solve=6e-10, on_grid=True)

COSTS: Mapping[str, Cost | Callable[[Any], Cost]] = {
    "bocu.algorithms.simple:Random": Cost(6e-6, row=23.0),
    "bocu.algorithms.simple:Constant": Cost(6e-6, row=23.0),
    "bocu.algorithms.confidence:UCBSO": _BOUNDS,
    "bocu.algorithms.confidence:UCBRO": _BOUNDS,
    "bocu.algorithms.confidence:UCBBOCU1": _BOUNDS,
    "bocu.algorithms.confidence:UCBBOCU2": _BOUNDS,
    "bocu.algorithms.stable:StableOpt": _BOUNDS,
    "bocu.algorithms.approximations:SensitivityApproximation": _BOUNDS,
    "bocu.algorithms.approximations:MinimaxApproximation": _BOUNDS,
    "bocu.algorithms.thompson:ThompsonSampling": _thompson,
    "bocu.algorithms.gp_ucb:GPUCB": _continuous(0.02, 8e-7, decisions_only=True),
    "bocu.algorithms.density:SBOKDE": _continuous(0.03, 2.2e-6),
    "bocu.algorithms.density:DRBOKDE": _continuous(0.05, 4e-6),
    "bocu.algorithms.stable_continuous:StableOptContinuous": _continuous(0.03, 2.2e-6),
    "bocu.algorithms.grid_contexts:DRBOMMD": _continuous(0.06, 2.5e-6),
    "bocu.algorithms.grid_contexts:MinimaxContinuous": _continuous(0.9, 4e-6),
    "bocu.algorithms.thompson_density:ThompsonDensity": _continuous(1.0, 2e-6),
    "bocu.algorithms.multi_objective:DRMOBO": _continuous(0.08, 4e-6),
    "bocu.algorithms.multi_objective:MOBO": _continuous(0.08, 4e-6),
    "bocu.algorithms.time_varying:RegretBalancing": Cost(6e-5, 7e-9, 1.5e-10, row=41.0, keeps_rows=True),
    "bocu.algorithms.time_varying:FullyBayesian": Cost(6e-5, 7e-9, 1.5e-10, 25.0, 7.0, keeps_rows=True),
    "bocu.algorithms.time_varying:MaximumLikelihood": Cost(6e-5, 7e-9, 1.5e-10, 25.0, 7.0, keeps_rows=True),
    "bocu.algorithms.time_varying:PEGPUCB": Cost(6e-5, 7e-9, 1.5e-10, row=43.0, keeps_rows=True),
    "bocu.algorithms.time_varying:Oracle": Cost(5e-5, 2e-8, 1.5e-10, row=32.0, one_prior=True, keeps_rows=True),
}


def estimate(branch: "Branch", seeds: int) -> Estimate:
    """Estimate what a block of `seeds` seeds of a branch takes."""
    problem, algorithm = branch.problem, branch.algorithm
    measure = SIZES.get(problem.registered.target)
    size = measure(problem.parameters) if measure else UNMEASURED_SIZE
    found = COSTS.get(algorithm.registered.target, UNMEASURED_COST)
    cost = found if isinstance(found, Cost) else found(algorithm.parameters)
    priors, kernels = (1, 1) if cost.one_prior else (size.priors, size.kernels)
    rounds = branch.iterations
    points = size.arms * size.contexts
    valuation = _valuation(branch) if cost.on_grid else None
    squared = rounds**2 / 3 if cost.rows_solved is None else min(rounds**2 / 3, rounds * cost.rows_solved / 2)
    a_round = cost.round + cost.prediction * priors * size.arms + cost.update * kernels * size.arms * rounds / 2
    a_round += points * (cost.point + cost.history * min(rounds / 2, size.arms))
    if valuation is not None:
        a_round += points * valuation.seconds * (size.contexts / 64) ** valuation.growth
    a_round += (1.0 if cost.dense else size.work) * cost.solve * squared
    numbers = 6 * size.arms**2 + (7 * kernels * size.arms * rounds if cost.keeps_rows else 0)
    if cost.on_grid:
        numbers += 12 * points + 2 * rounds**2 + 2 * size.arms * min(rounds, size.arms)
    rows_mb = 1e-6 * seeds * rounds * (cost.row + cost.row_per_prior * priors)
    compiler_mb = 0.0 if valuation is None else valuation.memory_mb
    return Estimate(
        seconds=START_SECONDS + size.seconds + seeds * rounds * a_round,
        memory_mb=WORKFLOW_MB + PROCESS_MB + compiler_mb + 8e-6 * numbers + ROWS_IN_MEMORY * rows_mb,
        disk_mb=FILE_MB + rows_mb,
    )


def _valuation(branch: "Branch") -> "SolveCost | None":
    """Return what the objective that is pursued takes."""
    ambiguity_set = getattr(branch.objective.parameters, "set", None) if branch.objective else None
    return ambiguity_set.family.solve_cost() if ambiguity_set is not None else None


def run_memory(branch: "Branch", first: int | str, last: int | str, attempt: int) -> int:
    """Return the memory in MB to ask for in an attempt at the block of seeds `first` to `last`."""
    return memory(estimate(branch, int(last) - int(first) + 1).memory_mb, attempt)


def run_minutes(branch: "Branch", first: int | str, last: int | str, attempt: int) -> int:
    """Return the minutes to ask for in an attempt at the block of seeds `first` to `last`."""
    return minutes(estimate(branch, int(last) - int(first) + 1).seconds, attempt)


def memory(expected_mb: float, attempt: int) -> int:
    """Return the memory in MB to ask for where `expected_mb` is expected: with a margin, doubled by each attempt."""
    return _round_up(expected_mb * MEMORY_MARGIN, MEMORY_STEP_MB) * MORE ** (attempt - 1)


def minutes(expected_seconds: float, attempt: int) -> int:
    """Return the minutes to ask for where `expected_seconds` are expected: with a margin, doubled by each attempt."""
    return max(LEAST_MINUTES, _round_up(expected_seconds * TIME_MARGIN / 60, TIME_STEP_MINUTES)) * MORE ** (attempt - 1)


def _round_up(value: float, step: int) -> int:
    return step * math.ceil(value / step)
