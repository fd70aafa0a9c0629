"""Solving worst cases of a finished experiment again, by a solver that shares no line with the first.

Drawn at random are worst cases of three kinds:

- scored: the payoffs of the decision of a round, under a metric that has an ambiguity set;
- recommended: those of the decision recommended after it;
- met: rows that an algorithm solved while it chose a decision, found by replaying a run up to the round before. What an
  algorithm draws at random there (Thompson sampling) is drawn anew.

Where the metric is a worst-case expectation (DRO), the value in the score file is compared, else the one that our
solver gives again. Errors are in ranges of the payoffs, over all contexts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.parameters import sections
from bocu.core.randomness import Streams
from bocu.core.rounds import SCALARISED, TIME_VARYING, FiniteDomain
from bocu.interop.cvxpy.formulations import READ
from bocu.interop.cvxpy.programme import Programme, programme_of
from bocu.interop.cvxpy.sets import ConvexSet
from bocu.learners.acquisition.functionals import SampledTotalVariation
from bocu.problems.scalarised_optimum import scalarise
from bocu.robust.ambiguity.base import AmbiguitySet, worst_case
from bocu.robust.ambiguity.total_variation import TotalVariation
from bocu.sweep.evaluation.audits import Audit
from bocu.sweep.evaluation.discretised import on_cells
from bocu.sweep.evaluation.metrics import build_scorer
from bocu.sweep.experiment.entries import protocol_of
from bocu.sweep.runs.execution import replayed
from bocu.sweep.runs.protocol import PROTOCOLS, Announcer
from bocu.sweep.runs.records import context_variable, decision_variable, read_runs
from bocu.sweep.runs.seed_run import build_problem

if TYPE_CHECKING:
    import xarray as xr

    from bocu.problems.base import Problem
    from bocu.robust.ambiguity.checks import Floats
    from bocu.sweep.experiment.branches import Branch, Component
    from bocu.sweep.experiment.plan import Plan

CASES, MOMENTS = 1000, 12
TOLERANCE = 1e-7
"""Of the payoffs' range; the conic solver itself is good to 1e-9 or so, and says by its gap where it is not."""


@dataclass(frozen=True, slots=True)
class Case:
    """A worst case as it was solved."""

    ambiguity_set: AmbiguitySet  #: the set at its radius.
    payoffs: Floats  #: (n,).
    reference: Floats  #: (n,).
    value: float  #: the answer, in units of the payoffs.


def varies(payoffs: Floats) -> bool:
    """Whether payoffs (n,) span more than a millionth of their size: below, rounding is seen in shares of the range."""
    return float(np.ptp(payoffs)) > 1e-6 * float(np.abs(payoffs).max())


class Witness:
    """Keeps some of the worst cases that are solved while it looks on, all with the same chance.

    Passed by are sets at radius 0, where the value is the expectation, and payoffs that hardly vary.

    Args:
        most: how many to keep.
        generator: draws which.
    """

    def __init__(self, most: int, generator: np.random.Generator) -> None:
        self.cases: list[Case] = []
        self.seen = 0
        self._most, self._generator = most, generator

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """Look on, as long as the block lasts."""
        solve, values_at, sampled = AmbiguitySet.solve_rows, AmbiguitySet.solved_at, SampledTotalVariation.__call__

        def solve_seen(own: AmbiguitySet, payoffs: Any, reference: Any, leading: Any, wanted: Any) -> Any:
            asked, found = solve(own, payoffs, reference, leading, wanted)
            self._see(own, payoffs, reference, asked.low + asked.scale * found.value)
            return asked, found

        def values_at_seen(own: AmbiguitySet, payoffs: Any, reference: Any, radii: Any) -> Any:
            values = values_at(own, payoffs, reference, radii)
            for place, radius in enumerate(np.ravel(radii)):
                self._see(own.with_epsilon(float(radius)), payoffs, reference, values[..., place].reshape(-1))
            return values

        def sampled_seen(own: SampledTotalVariation, payoffs: Any) -> Any:
            answer = sampled(own, payoffs)
            if own.of_samples:  # else mass may not go everywhere: no total variation set
                reference = np.zeros(payoffs.shape[-1])
                reference[: own.samples] = 1.0 / own.samples
                self._see(TotalVariation(own.epsilon), payoffs, reference, answer[0])
            return answer

        methods = (
            (AmbiguitySet, "solve_rows", solve, solve_seen),
            (AmbiguitySet, "solved_at", values_at, values_at_seen),
            (SampledTotalVariation, "__call__", sampled, sampled_seen),
        )
        try:
            for owner, name, _, seen in methods:
                setattr(owner, name, seen)
            yield
        finally:
            for owner, name, original, _ in methods:
                setattr(owner, name, original)

    def _see(self, ambiguity_set: AmbiguitySet, payoffs: object, reference: object, values: Floats) -> None:
        """Draw which rows of a table stay (reservoir sampling)."""
        if (ambiguity_set.has_radius and ambiguity_set.epsilon == 0.0) or not len(values):
            return
        payoffs, reference = np.asarray(payoffs, dtype=float), np.asarray(reference, dtype=float)
        n = payoffs.shape[-1]
        many = np.broadcast_to(payoffs, (*np.broadcast_shapes(payoffs.shape[:-1], reference.shape[:-1]), n))
        table, distributions = many.reshape(-1, n), np.broadcast_to(reference, many.shape).reshape(-1, n)
        places = self._generator.integers(self.seen + 1 + np.arange(len(table)))
        for row in np.flatnonzero(places < self._most):
            if varies(table[row]):
                case = Case(ambiguity_set, table[row].copy(), distributions[row].copy(), float(values[row]))
                if len(self.cases) < self._most:
                    self.cases.append(case)
                else:
                    self.cases[places[row]] = case
        self.seen += len(table)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A worst case, and where it comes from."""

    kind: str  #: "scored", "recommended" or "met".
    where: str  #: branch, seed and round; of scored ones the metric too.
    case: Case  #: the worst case with our answer.
    stored: bool = False  #: whether the answer is the one in the score file.
    error: float = float("nan")  #: how far the answer of the solving again lies apart, in ranges of the payoffs.
    gap: float = float("nan")  #: of the conic solver, likewise.


def audit(
    plan: Plan,
    cases: int = CASES,
    moments: int = MOMENTS,
    tolerance: float = TOLERANCE,
    seed: int = 0,
    advance: Callable[[str], None] = lambda line: None,
) -> Audit:
    """Draw worst cases out of an experiment's runs and solve them again.

    Args:
        plan: the experiment; runs and scores that do not exist are passed by.
        cases: number of worst cases, about half of each of what was scored and what was met.
        moments: number of rounds that are replayed.
        tolerance: largest error, in ranges of the payoffs.
        seed: of the draw.
        advance: told what is done, for people.

    Raises:
        BocuError: no run exists, or one is broken.
    """
    branches = [branch for branch in plan.branches.values() if plan.products.existing_runs(branch)]
    if not branches:
        raise BocuError(f"{plan.results}: no run file exists yet; nothing to audit")
    draw = _Draw(plan, branches, np.random.default_rng(seed), advance)
    drawn = list(draw.scored(cases - cases // 2))
    drawn += draw.met(cases - len(drawn), moments)
    drawn += draw.scored(cases - len(drawn))  # where algorithms solved too few
    solver = f"Clarabel {version('clarabel')} by CVXPY {version('cvxpy')}"
    found = Audit(plan.experiment.name, tolerance, seed, solver)
    _weigh(found, list(_solved(drawn, found.left_out, advance)))
    return found


class _Draw:
    """Draws worst cases out of the runs of some branches."""

    def __init__(
        self, plan: Plan, branches: list[Branch], generator: np.random.Generator, advance: Callable[[str], None]
    ) -> None:
        self.plan, self.branches, self.generator, self.advance = plan, branches, generator, advance
        self._problems: dict[str, Problem] = {}

    def scored(self, most: int) -> Iterator[Drawn]:
        """Draw decisions taken and recommended, evenly from pairs of branch and metric; of each branch one seed."""
        pairs = [
            (branch, metric)
            for branch in self.branches
            for metric in self.plan.metrics_of(branch.problem.label)
            if _ambiguity(metric) is not None
        ]
        if not pairs:
            return
        counts: dict[tuple[str, str, str], list[Component]] = {}
        for place in self.generator.integers(len(pairs), size=most):
            branch, metric = pairs[place]
            counts.setdefault(branch.key, []).append(metric)
        for key, metrics in counts.items():
            self.advance(f"scored: {'/'.join(key)}")
            yield from self._scored(self.plan.branch(*key), metrics)

    def met(self, most: int, moments: int) -> list[Drawn]:
        """Draw what algorithms solved in some rounds."""
        there = [branch for branch in self.branches if protocol_of(branch.problem) not in TIME_VARYING]
        order = self.generator.permutation(len(there))
        chosen = sorted(order, key=lambda place: not _robust(there[place]))[:moments]
        # Some algorithms solve no worst case: the others stand in for them, each with as many rows as the rest.
        tables = [cases for place in chosen if (cases := self._met(there[place], most))]
        drawn = [
            cases[place]
            for cases in tables
            for place in self.generator.permutation(len(cases))[: -(-most // len(tables))]
        ]
        return [drawn[place] for place in sorted(self.generator.permutation(len(drawn))[:most])]

    def _problem(self, branch: Branch) -> Problem:
        label = branch.problem.label
        if label not in self._problems:
            inputs = self.plan.inputs.problem(label)
            self._problems[label] = build_problem(branch.specification["problem"], inputs)
        return self._problems[label]

    def _run(self, branch: Branch) -> tuple[str, xr.Dataset]:
        """Draw a run file, and a seed of it."""
        files = self.plan.products.existing_runs(branch)
        file = files[self.generator.integers(len(files))]
        block = read_runs(file)
        return file, block.isel(seed=int(self.generator.integers(block.sizes["seed"])))

    def _scored(self, branch: Branch, metrics: list[Component]) -> Iterator[Drawn]:
        """Draw a round for each metric, of one run."""
        problem = self._problem(branch)
        _, run = self._run(branch)
        seed, rounds = int(run["seed"].item()), run["iteration"].values
        realisation = problem.realise(Streams(seed))
        protocol = PROTOCOLS[problem.protocol]
        seen = run[context_variable(realisation.description.contexts)].values
        scores = self._stored(branch, seed)
        sets: dict[str, AmbiguitySet] = {}
        for metric in metrics:
            place = int(self.generator.integers(len(rounds)))
            stated = [protocol.situation(realisation, int(rounds[place]), seen[:place])]
            shown, (situation,) = on_cells(*build_scorer(metric.specification).met(realisation, stated))
            contexts = shown.description.contexts
            if not isinstance(contexts, FiniteDomain):
                continue
            if metric.label not in sets:
                sets[metric.label] = _ambiguity(metric).over(contexts.points)
            announcer = Announcer(_ambiguity(metric), contexts.points)
            recommends = np.isfinite(run["recommended"].values[place]).all()
            kind = "recommended" if recommends and self.generator.integers(2) else "scored"
            payoffs = _payoffs(shown, run, kind, place, situation)
            here = sets[metric.label].with_epsilon(announcer.epsilon(situation) or 0.0)
            if (here.has_radius and here.epsilon == 0.0) or not varies(payoffs):
                continue
            stored = scores is not None and kind == "scored" and metric.registered.name == "dro"
            if scores is not None and stored:
                value = float(scores.sel(metric=metric.label).values[place])
            else:
                value = float(worst_case(payoffs, situation.reference, here).value)
            where = f"{'/'.join(branch.key)}, seed {seed}, round {int(rounds[place])}, by {metric.label}"
            yield Drawn(kind, where, Case(here, payoffs, situation.reference, value), stored)

    def _stored(self, branch: Branch, seed: int) -> xr.DataArray | None:
        """Return the values (metric, rounds) of a seed in the score file; None where there is none."""
        file = Path(self.plan.paths.score_file(branch))
        if not file.is_file():
            return None
        value = read_netcdf(file)["value"]
        planned = {metric.label for metric in self.plan.metrics_of(branch.problem.label)}
        if seed not in value["seed"].values or not planned <= set(value["metric"].values):
            return None
        return value.sel(seed=seed)

    def _met(self, branch: Branch, most: int) -> list[Drawn]:
        file, run = self._run(branch)
        seed, last = int(run["seed"].item()), int(run["iteration"].values[-1])
        round_ = int(self.generator.integers(1, last + 1))
        self.advance(f"met: {'/'.join(branch.key)}, seed {seed}, round {round_}")
        played = replayed(file, self.plan.inputs.problem(branch.problem.label), seed, round_ - 1)
        witness = Witness(most, self.generator)
        with witness.looking():
            played.play()
        where = f"{'/'.join(branch.key)}, seed {seed}, round {round_}"
        return [Drawn("met", where, case) for case in witness.cases]


def _robust(branch: Branch) -> bool:
    """Whether a branch states a set, or a radius of its own: others are replayed last, for they may solve none."""
    stated = [branch.algorithm.parameters, *([branch.objective.parameters] if branch.objective else [])]
    return any("radius" in type(part).model_fields for parameters in stated for _, part in sections(parameters))


def _ambiguity(metric: Component) -> Any:
    """Return the set that a metric states; None where it has none."""
    return getattr(metric.parameters, "set", None)


def _payoffs(realisation: Any, run: xr.Dataset, kind: str, place: int, situation: Any) -> np.ndarray:
    """Return the payoffs (contexts,) of the decision of a round, or of the one recommended after it."""
    told = realisation.description
    if isinstance(told.decisions, FiniteDomain) and told.protocol not in SCALARISED:
        name = decision_variable(told.decisions) if kind == "scored" else "recommended_index"
        table = realisation.payoffs(max(situation.t, 1))
        return np.asarray(table[int(run[name].values[place])])
    decision = run["decision" if kind == "scored" else "recommended"].values[place]
    weights = np.ones(1) if situation.weights is None else situation.weights
    return np.asarray(scalarise(realisation.table(decision[None]), weights[None])[0])


def _solved(drawn: list[Drawn], left_out: dict[str, int], advance: Callable[[str], None]) -> Iterator[Drawn]:
    """Solve again, set by set; count what cannot be, by the reason."""
    groups: dict[tuple[Any, ...], list[Drawn]] = {}
    for one in drawn:
        groups.setdefault(_identity(one.case), []).append(one)
    for place, members in enumerate(groups.values()):
        advance(f"solving again: set {place + 1} of {len(groups)}")
        first = members[0].case
        try:
            if isinstance(first.ambiguity_set, ConvexSet):
                raise BocuError(f"{type(first.ambiguity_set).__name__}: solved by CVXPY in the first place")
            programme = programme_of(first.ambiguity_set, len(first.payoffs))
        except BocuError as error:
            left_out[str(error)] = left_out.get(str(error), 0) + len(members)
            continue
        for one in sorted(members, key=lambda each: (each.case.reference.tobytes(), each.case.ambiguity_set.epsilon)):
            try:
                yield _again(one, programme)
            except BocuError as error:
                left_out[str(error)] = left_out.get(str(error), 0) + 1


def _identity(case: Case) -> tuple[Any, ...]:
    """Tell sets apart that differ in more than their radius."""
    own = case.ambiguity_set
    n = len(case.payoffs)
    if hasattr(own, "constraints"):
        # What a class from outside reads is not known; what it is made of is shared by its copies at other radii.
        return (type(own), n, *(id(value) for name, value in vars(own).items() if name != "epsilon"))
    return (type(own), n, *(np.asarray(getattr(own, name, 0.0)).tobytes() for name in READ))


def _again(one: Drawn, programme: Programme) -> Drawn:
    case = one.case
    low, spread = float(case.payoffs.min()), float(np.ptp(case.payoffs))
    found = programme.solve((case.payoffs - low) / spread, case.reference, case.ambiguity_set.epsilon)
    return replace(one, error=abs((case.value - low) / spread - found.value), gap=found.gap)


def _weigh(found: Audit, solved: list[Drawn]) -> None:
    """Sum up what was solved again."""
    found.cases, found.stored = len(solved), sum(one.stored for one in solved)
    if not solved:
        return
    largest = max(solved, key=lambda one: one.error)
    found.largest, found.worst = largest.error, f"{largest.kind}: {largest.where}"
    found.largest_gap = max(one.gap for one in solved)
    beyond = [one for one in solved if not one.error <= found.tolerance + one.gap]
    found.beyond_count = len(beyond)
    found.beyond = [f"{one.kind}: {one.where}: {one.error:.1e}" for one in beyond[:10]]
    groups: dict[tuple[str, str, str], list[float]] = {}
    for one in solved:
        name = type(one.case.ambiguity_set).about.title
        groups.setdefault((one.where.partition("/")[0], one.kind, name), []).append(one.error)
    found.groups = [
        {"problem": problem, "kind": kind, "set": name, "cases": len(errors), "largest": max(errors)}
        for (problem, kind, name), errors in sorted(groups.items())
    ]
