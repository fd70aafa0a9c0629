"""Whether objectives and metrics keep their promises.

Of an objective: one number a decision, the same in every company. Of a metric: what recorded runs are worth, and never
less than nothing lost.
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from bocu.core.rounds import FiniteDomain
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.objectives.functions import Objective, UncertaintyObjective
from bocu.sweep.evaluation.metrics import Metric, ObjectiveMetric, ObjectiveMetricParameters
from bocu.sweep.runs.seed_run import SeedRun, build_problem
from bocu.testing.breaches import Subject, same, subject
from bocu.testing.games import game, run_specification, stated
from bocu.testing.problems import situations_of

_CONTEXTS = 5
_RADII = (0.0, 0.2, 0.9)


def check_objective(what: str | type[Objective], parameters: Mapping[str, object] | None = None) -> None:
    """Check an objective on random payoffs and references.

    It is built again from its specification; values are one number a decision, the same for a decision alone and among
    others; the best decision is one of the highest value; what is handed in stays as it is.

    Args:
        what: as an experiment file may name it, or the class.
        parameters: those that differ from the defaults.

    Raises:
        Breach: a promise is not kept.
    """
    __tracebackhide__ = True
    found = subject("objective", what)
    checked = found.parameters(parameters)
    plain = checked.model_dump(mode="json")
    with found.calling("from_specification"):
        objective = found.kind.from_specification(plain)
    again = objective.parameters.model_dump(mode="json")
    found.wants(again == plain, "from_specification: other parameters come back than were written")
    ambiguity = objective.ambiguity
    stated = ambiguity is None or isinstance(ambiguity, SetParameters)
    found.wants(stated, f"ambiguity: found {ambiguity!r}; allowed: a set or None")
    for seed in range(4):
        generator = np.random.default_rng(seed)
        with found.calling("over"):
            over = objective.over(generator.random((_CONTEXTS, 2)))
        found.wants(isinstance(over, UncertaintyObjective), f"over: found {over!r}; allowed: an UncertaintyObjective")
        for radius in _RADII if ambiguity is not None else (0.0,):
            with found.calling("with_epsilon"):
                sized = over.with_epsilon(radius)
            found_there = f"random instance {seed}, radius {radius:g}"
            _check_values(found, sized, generator, objective.reference_matters, found_there)


def _check_values(
    found: Any, objective: UncertaintyObjective, generator: np.random.Generator, matters: bool, where: str
) -> None:
    payoffs = generator.normal(size=(2, 7, _CONTEXTS))
    reference, other = generator.dirichlet(np.ones(_CONTEXTS), 2)
    handed = payoffs.copy(), reference.copy()
    with found.calling(f"{where}: called"):
        values = np.asarray(objective(*handed))
        repeated = np.asarray(objective(*handed))
        elsewhere = np.asarray(objective(payoffs, other))
        alone = np.array([[float(np.squeeze(objective(row[None], reference))) for row in block] for block in payoffs])
        best = objective.argmax(payoffs[0], reference)
    untouched = same(handed[0], payoffs) and same(handed[1], reference)
    found.wants(untouched, f"{where}: writes into an array that it was handed")
    found.wants(values.shape == (2, 7), f"{where}: values of payoffs (2, 7, {_CONTEXTS}) have shape {values.shape}")
    found.wants(values.dtype == np.float64, f"{where}: values are of {values.dtype}; allowed: float64")
    found.wants(not np.isnan(values).any(), f"{where}: a value is not a number")
    found.wants(same(values, repeated), f"{where}: the same question has two answers")
    close = np.allclose(values, alone, rtol=1e-7, atol=1e-9)
    found.wants(close, f"{where}: a decision alone and among others have different values")
    highest = values[0].max()
    good = 0 <= best.index < 7 and (values[0, best.index] >= highest - 1e-7 or values[0, best.index] == highest)
    found.wants(good, f"{where}: argmax: found decision {best.index}, whose value is not the highest")
    told = np.isclose(best.value, highest, rtol=1e-7, atol=1e-7) or best.value == highest
    found.wants(told, f"{where}: argmax: found value {best.value}, not {highest}")
    stays = matters or np.allclose(values, elsewhere, rtol=1e-9, atol=1e-12)
    found.wants(stays, f"{where}: reference_matters is False, but another reference gives other values")


_TOLERANCE = 1e-6


def check_metric(
    what: str | type[Metric] | type[Objective], parameters: Mapping[str, object] | None = None, *, rounds: int = 6
) -> None:
    """Check a metric on random decisions in a small problem of every protocol that it is defined for.

    Regret and value are one number a row, the same whenever they are asked for; regret and value add up to the best
    there was; in one round the best decision has no regret; payoffs stay as they are; two situations that it calls the
    same have the same values.

    Args:
        what: as an experiment file may name it, or the class.
        parameters: those that differ from the defaults.
        rounds: to be scored.

    Raises:
        Breach: a promise is not kept.
    """
    __tracebackhide__ = True
    found = subject("metric", what)
    checked = found.parameters(parameters)
    for protocol in found.kind.protocols:
        with found.calling("__init__"):
            metric = _metric(found, checked)
        problem = build_problem(game(protocol), {})
        specification = run_specification(game(protocol), stated("algorithm", "random", {}), None, rounds)
        run = SeedRun(specification, problem, 0)
        while not run.finished:
            run.play()
        name = specification["problem"]["class"].rpartition("/")[2]
        _check(Subject(found.entry, found.kind, f"{found.said}: on {name} ({protocol})"), metric, problem, run)


def _metric(found: Subject, parameters: Any) -> Metric:
    if issubclass(found.kind, Objective):
        stated_objective = found.specification(parameters)
        return ObjectiveMetric(ObjectiveMetricParameters(objective=stated_objective))
    return found.kind(parameters)


def _check(found: Subject, metric: Metric, problem: Any, run: SeedRun) -> None:
    realisation, situations = run.realisation, situations_of(problem, run)
    finite = isinstance(realisation.description.decisions, FiniteDomain)
    decisions = run.record.arrays["decision_index" if finite else "decision"]
    table = realisation.payoffs(1).copy() if finite else None
    afresh = copy.deepcopy(metric)  # remembers no values
    with found.calling("score"):
        regret, value = metric.score(realisation, situations, decisions)
        again = afresh.score(realisation, situations, decisions)
    for said, array in (("regret", regret), ("value", value)):
        shaped = array.shape == (run.rows,) and array.dtype == np.float64
        found.wants(shaped, f"score: {said} is {array.dtype} of shape {array.shape}; allowed: float64 of ({run.rows},)")
    found.wants(same(regret, again[0]) and same(value, again[1]), "score: the same runs have two scores")
    found.wants(not np.isnan(value).any(), f"score: value is {value}")
    scale = max(1.0, float(np.abs(value[np.isfinite(value)]).max(initial=0.0)))
    if not finite:
        least = np.nanmin(regret[run.initial :])
        found.wants(least >= -1e-3 * scale, f"score: a decision is better than the best, by {-least:.3g}")
        return
    found.wants(same(table, realisation.payoffs(1)), "score: writes into the payoffs that it was handed")
    _check_metric_values(found, metric, run, situations, scale)


def _check_metric_values(found: Subject, metric: Metric, run: SeedRun, situations: Any, scale: float) -> None:
    realisation = run.realisation
    metric.meet(realisation)
    known: list[tuple[Any, Any, np.ndarray]] = []
    for situation in situations:
        payoffs = realisation.payoffs(max(situation.t, 1))
        with found.calling(f"round {situation.t}: values"):
            values = np.asarray(metric.values(payoffs, situation))
        shaped = values.shape == (len(payoffs),)
        found.wants(shaped, f"round {situation.t}: values has shape {values.shape}; allowed: ({len(payoffs)},)")
        found.wants(not np.isnan(values).any(), f"round {situation.t}: values: found {values}")
        for before, table, earlier in known:
            if table is payoffs and metric.same(situation, before):
                near = np.allclose(values, earlier, rtol=_TOLERANCE, atol=_TOLERANCE * scale)
                said = f"rounds {before.t} and {situation.t} are called the same, and decisions have other values"
                found.wants(near, f"same: {said}")
        known.append((situation, payoffs, values))
    last, payoffs, values = known[-1]
    open_ = np.arange(len(values)) if last.available is None else last.available
    best = open_[int(np.argmax(values[open_]))]
    with found.calling("score of the best decision"):
        regret, _ = metric.score(realisation, [last], np.array([best]))
    told = np.isnan(regret[0]) or abs(regret[0]) <= _TOLERANCE * scale
    found.wants(told, f"score: the best decision of round {last.t} has a regret of {regret[0]:.3g}")
