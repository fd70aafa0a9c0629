"""DRMOBO beyond the worst expectation: GEN and RS, three outputs, references that change, finite decisions."""

import copy

import cvxpy as cp
import numpy as np
import pytest
from continuous_games import GRID, upper

from bocu.core.rounds import BoxDomain, Description, FiniteDomain, Round
from bocu.learners.acquisition.base import SurfaceAcquisition
from bocu.learners.algorithms.multi_objective import DRMOBO, MOBO
from bocu.problems.scalarised import ScalarisedParameters, ScalarisedProblem
from bocu.robust.ambiguity import ModifiedChiSquared, TotalVariation
from bocu.robust.contexts.estimates import empirical
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.evaluation.metrics import ExpectedPayoff, ObjectiveMetric
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.seed_run import SeedRun
from bocu.testing.games import run_specification, stated

BOX = BoxDomain(np.zeros(2), np.ones(2), ("x1", "x2"), ("1", "1"))
SIDE = np.linspace(0.0, 1.0, 9)
DECISIONS = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)
TABLE = FiniteDomain(DECISIONS, ("x1", "x2"), ("1", "1"))
CONTEXTS = FiniteDomain(GRID, ("c",), ("1",))
SKEW = np.array([0.3, 0.1, 0.05, 0.2, 0.1, 0.15, 0.05, 0.05])
WEIGHTS = np.array([0.2, 0.5, 0.3])


def build(objective, decisions=BOX, kind=DRMOBO, data=12, **search):
    algorithm = kind(
        Description(decisions, CONTEXTS, 0.0, "scalarised", outputs=3),
        objective,
        kind.Parameters(search={"raw": 64, "restarts": 6, **search}),
        np.random.default_rng(3),
    )
    generator = np.random.default_rng(5)
    for _ in range(data):
        at, c = int(generator.integers(len(DECISIONS))), int(generator.integers(len(GRID)))
        x = DECISIONS[at]
        values = np.array([np.sin(3.0 * x.sum() + GRID[c, 0]), np.cos(4.0 * x[0] - GRID[c, 0]), x[1] * GRID[c, 0]])
        algorithm.tell(x if decisions is BOX else at, c, values)
    return algorithm


def table_of(algorithm):
    """Upper bounds of the scalarised payoff of all decisions, point by point."""
    posteriors = [model.glance(np.random.default_rng(0)) for model in algorithm.models]
    return sum(weight * upper(each, GRID, DECISIONS) for weight, each in zip(WEIGHTS, posteriors, strict=True))


def acquired(algorithm, round):
    posteriors = [model.glance(np.random.default_rng(0)) for model in algorithm.models]
    points, functional = algorithm._game(posteriors, round, np.random.default_rng(0))
    return SurfaceAcquisition(algorithm._surface(posteriors, points, 1.5, round), functional)


def worst(table, reference, epsilon):
    """The worst expectation within a total variation, by a linear program that knows nothing of our sets."""
    q, f = cp.Variable(len(reference), nonneg=True), cp.Parameter(len(reference))
    problem = cp.Problem(cp.Minimize(f @ q), [cp.sum(q) == 1, cp.norm1(q - reference) <= epsilon])
    values = []
    for row in table:
        f.value = row
        values.append(problem.solve(solver=cp.CLARABEL))
    return np.array(values)


def test_general_objective_of_three_outputs():
    """Of alpha v + beta times its slope, the slope by differences of independent linear programs."""
    objective = UncertaintyObjective.gen(TotalVariation(0.0), 1.0, 0.5)
    algorithm = build(objective)
    round = Round(t=1, reference=SKEW, epsilon=0.33, weights=WEIGHTS)
    rows = slice(None, None, 27)
    table = table_of(algorithm)[rows]
    value, later = (worst(table, SKEW, 0.33 + step) for step in (0.0, 1e-3))
    found = acquired(algorithm, round)(DECISIONS[rows])[0]
    np.testing.assert_allclose(found, value + 0.5 * (later - value) / 1e-3, rtol=1e-4, atol=1e-5)


def test_robust_satisficing_of_three_outputs():
    """The least steep line from the aspiration stays below v, and touches it: by independent linear programs."""
    objective = UncertaintyObjective.rs(TotalVariation(0.0), 0.5)
    algorithm = build(objective)
    table = table_of(algorithm)
    reached = np.flatnonzero(table @ SKEW > 0.55)[:2]
    assert len(reached) == 2
    slopes = acquired(algorithm, Round(t=1, reference=SKEW, epsilon=None, weights=WEIGHTS))(DECISIONS[reached])[0]
    radii = np.linspace(0.01, 2.0, 60)
    falls = np.stack([(worst(table[reached], SKEW, radius) - 0.5) / radius for radius in radii])
    np.testing.assert_allclose(slopes, np.minimum(falls.min(axis=0), 0.0), rtol=4e-2, atol=1e-4)
    assert (slopes <= falls.min(axis=0) + 1e-6).all()


def test_aspirations_out_of_reach_leave_the_best_expectation():
    algorithm = build(UncertaintyObjective.rs(TotalVariation(0.0), 50.0), TABLE)
    round = Round(t=1, reference=SKEW, weights=WEIGHTS)
    assert algorithm.ask(round) == (table_of(algorithm) @ SKEW).argmax()


@pytest.mark.parametrize("name", ["drifting", "estimated"])
def test_the_reference_is_the_rounds(name):
    """Whatever stands in `Round.reference`: one that moves, or one that is counted anew from what was seen."""
    objective = UncertaintyObjective.gen(ModifiedChiSquared(0.0), 1.0, 0.2)
    algorithm = build(objective, TABLE)
    generator = np.random.default_rng(1)
    seen = generator.random((4, 1))
    asked = []
    for t in range(1, 5):
        if name == "drifting":
            weights = np.exp(-0.5 * ((GRID[:, 0] - t / 4.0) / 0.1) ** 2)
            reference = weights / weights.sum()
        else:
            seen = np.concatenate([seen, generator.random((3, 1)) ** t])
            reference = empirical(seen, GRID)
        round = Round(t=t, reference=reference, epsilon=0.1 + 0.1 * t, weights=WEIGHTS)
        expected = objective.with_epsilon(round.epsilon)(table_of(algorithm), reference)
        np.testing.assert_allclose(acquired(algorithm, round)(DECISIONS)[0], expected, rtol=1e-7)
        asked.append(algorithm.ask(round))
        assert asked[-1] == expected.argmax()
    assert len(set(asked)) > 1


@pytest.mark.parametrize(
    "objective",
    [
        UncertaintyObjective.dro(TotalVariation(0.0)),
        UncertaintyObjective.gen(TotalVariation(0.0), 1.0, 1.0),
        UncertaintyObjective.wcs(TotalVariation(0.0)),
        UncertaintyObjective.ro(),
        None,
    ],
    ids=["dro", "gen", "wcs", "ro", "mobo"],
)
def test_the_best_of_finite_decisions_is_chosen(objective):
    algorithm = build(objective, TABLE, kind=DRMOBO if objective else MOBO)
    round = Round(t=1, reference=SKEW, epsilon=0.4, weights=WEIGHTS)
    rule = (objective or UncertaintyObjective.so()).with_epsilon(0.4)
    expected = rule(table_of(algorithm), SKEW)
    assert algorithm.ask(round) == expected.argmax()
    some = np.array([3, 17, 40, 66])
    limited = Round(t=2, available=some, reference=SKEW, epsilon=0.4, weights=WEIGHTS)
    assert algorithm.ask(limited) == some[expected[some].argmax()]


class Bumps(ScalarisedProblem[ScalarisedParameters]):
    """Three outputs of two decision coordinates and a context."""

    Parameters = ScalarisedParameters
    dimensions, outputs = (2, 1), 3

    def evaluate(self, decisions, contexts):
        tops = np.array([[0.2, 0.3], [0.8, 0.4], [0.5, 0.9]])
        shifted = decisions[..., None, :] - 0.2 * contexts[..., None, :] - tops
        return -(shifted**2).sum(axis=-1)


def played(objective, before=None, **problem):
    """A finished run of the bumps, with what `before` gave of it before each round as `expected`."""
    parameters = ScalarisedParameters.model_validate({"contexts": 8, "initial": 4, **problem})
    bumps = Bumps(parameters, {})
    specified = run_specification({}, stated("algorithm", "drmobo", {}), stated("objective", *objective), 4)
    run = SeedRun(specified, bumps, 0)
    run.expected = []
    while not run.finished:
        if before is not None and run.t >= 1:
            run.expected.append(before(run))
        run.play()
    return run


def test_finite_decisions_are_played_and_scored_among_themselves():
    """Regret is against the best of the table, found by valuing all of it."""
    objective = "gen", {"set": {"name": "tv", "radius": 0.4}}
    run = played(objective, decisions=64)
    chosen = run.record.arrays["decision_index"]
    assert chosen.shape == (8,)
    realisation = run.realisation
    situations = [run.protocol.situation(realisation, t, np.empty(0)) for t in range(-3, 5)]
    metric = ObjectiveMetric(ObjectiveMetric.Parameters(objective=stated("objective", *objective)))
    regret, value = metric.score(realisation, situations, chosen)
    points = realisation.description.decisions.points
    assert len(points) == 64
    rule = UncertaintyObjective.gen(TotalVariation(0.4), 1.0, 1.0)
    for row, situation in enumerate(situations):
        payoffs = realisation.table(points) @ situation.weights
        expected = rule(payoffs, situation.reference)
        assert value[row] == pytest.approx(expected[chosen[row]], rel=1e-9)
        assert regret[row] == pytest.approx(expected.max() - expected[chosen[row]], abs=1e-9)
    front = metric.front(realisation, situations, chosen)
    assert front.best.guaranteed.shape[1] == 3
    assert ((front.best.decisions[:, None] == points).all(axis=2)).any(axis=1).all()
    mean, _ = ExpectedPayoff(ExpectedPayoff.Parameters()).score(realisation, situations, chosen)
    assert (mean >= 0.0).all()


def test_who_plays_finite_decisions_says_so():
    kind = find("problem", "ackley-grid").load()
    outline = kind.outline(kind.Parameters(decisions=25))
    assert outline.decisions.size == 25
    refused = {
        name: find("algorithm", name).load().refuses("scalarised", outline)
        for name in ("drmobo", "mobo", "random", "qnehvi", "sbo-kde")
    }
    assert refused == {
        "drmobo": "",
        "mobo": "",
        "random": "",
        "qnehvi": "",
        "sbo-kde": "it is defined for continuous",
    }


@pytest.mark.parametrize(
    ("name", "reference"),
    [("gen", "announced"), ("rs", {"name": "window", "length": 4}), ("gen", {"name": "kde"})],
    ids=["drifting", "window", "kde"],
)
def test_every_round_is_decided_by_its_own_reference(name, reference):
    """Three outputs, a truth that drifts, announced or estimated: the best of the table by the round's reference."""
    given = {"set": {"name": "tv", "radius": 0.4}}
    pursued = (name, given | ({"tau": -0.2} if name == "rs" else {}))
    shift = {"name": "drift", "parameters": {"over": 3, "to": {"name": "normal", "parameters": {"mean": 0.9}}}}
    truth = {"law": {"name": "normal", "parameters": {"mean": 0.2, "std": 0.1}}}
    met = []

    def check(run):
        round, learner = run.announced(), copy.deepcopy(run.algorithm)
        posteriors = [model.posterior(learner.generator) for model in learner.models]
        each = zip(round.weights, posteriors, strict=True)
        table = sum(weight * upper(posterior, learner.points, learner.candidates) for weight, posterior in each)
        met.append(round.reference)
        return learner.rule.with_epsilon(round.epsilon)(table, round.reference)

    run = played(pursued, check, decisions=16, truth=truth, shift=shift, reference=reference)
    for expected, chosen in zip(run.expected, run.record.arrays["decision_index"][4:], strict=True):
        assert expected[chosen] == pytest.approx(expected.max(), abs=1e-9)
    assert len({reference.tobytes() for reference in met}) > 1
