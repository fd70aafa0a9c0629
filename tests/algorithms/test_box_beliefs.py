"""Unknown priors over a box of arms (Ziomek et al. 2025, Theorem 4.1(B)): the rules of a grid, without the grid."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.core.rounds import Description, FiniteDomain, Round
from bocu.learners.algorithms.beliefs import box_sqrt_beta
from bocu.learners.algorithms.time_varying import (
    PEGPUCB,
    TVGPUCB,
    FullyBayesian,
    MaximumLikelihood,
    Oracle,
    RegretBalancing,
)
from bocu.learners.surrogates.box_time_varying import SlopeTail
from bocu.learners.surrogates.time_varying import TimeVaryingPrior
from bocu.problems.hills import ContinuousHills, HillsMean
from bocu.sweep.experiment.registry import find
from bocu.testing import check_algorithm, check_problem

RULES = ("pe-gp-ucb", "mle", "fully-bayesian", "regret-balancing", "oracle")
SPARE = {"search": {"raw": 128, "restarts": 4}}
GRID = 2_001
STEP = 1.0 / (GRID - 1)
ROUNDS, WIDTH = 16, 2.5


@pytest.fixture(scope="module")
def hills():
    return ContinuousHills(ContinuousHills.Parameters(), {}).realise(Streams(0))


def on_a_grid(description: Description) -> Description:
    """The same problem over a fine grid of its arms."""
    points = np.linspace(0.0, 1.0, GRID)[:, None]
    covariance = description.priors[0].variance * description.priors[0].kernel(points, points)
    priors = tuple(TimeVaryingPrior(prior.label, prior.mean(points), covariance) for prior in description.priors)
    best = priors[description.priors.index(description.best_prior)]
    arms = FiniteDomain(points, ("position",), ("1",))
    return replace(description, decisions=arms, priors=priors, best_prior=best)


def built(kind, description, **parameters):
    return kind(description, None, kind.Parameters(**parameters), np.random.default_rng(0))


@pytest.mark.parametrize("name", RULES)
def test_promises_are_kept(name: str) -> None:
    check_algorithm(name, SPARE, problems=[("hills-continuous", {})], rounds=4)


def test_the_problem_keeps_its_promises() -> None:
    check_problem("hills-continuous")
    check_algorithm("random", problems=[("hills-continuous", {"closed": 0.45})], rounds=8)


@pytest.mark.parametrize("kind", [PEGPUCB, MaximumLikelihood, FullyBayesian, RegretBalancing, Oracle])
def test_decisions_are_those_of_a_fine_grid(kind, hills) -> None:
    """Both are told what the grid's arm brought, so that they stand before the same question in every round."""
    heights = np.random.default_rng(5).uniform(0.2, 1.5, (5, 10))  # no two hills as high, so that nothing is a tie
    priors = [replace(hills.description.priors[0], label=f"{row}", mean=HillsMean(row, 0.02)) for row in heights]
    known = replace(hills.description, priors=priors, best_prior=priors[2])
    box = built(kind, known, sqrt_beta=WIDTH, search={"raw": 1_024, "restarts": 6})
    grid = built(kind, on_a_grid(known), sqrt_beta=WIDTH)
    positions = grid.description.decisions.points
    noise = np.random.default_rng(1)
    for t in range(1, ROUNDS + 1):
        zone = hills.available(t)
        is_open = zone is None or ((positions >= zone[:, 0].T) & (positions <= zone[:, 1].T)).any(axis=1)
        arms = None if zone is None else np.flatnonzero(is_open)
        point, arm = box.ask(Round(t, available=zone)), grid.ask(Round(t, available=arms))
        assert abs(point[0] - positions[arm][0]) <= STEP, t
        value = hills.payoff(positions[arm], t) + 0.05 * noise.standard_normal()
        grid.tell(arm, t, value)
        told = grid.report()
        row = 0 if kind is Oracle else told["chosen_prior"]
        predicted = np.ravel(box.surrogate.foresee(row, positions[arm], Round(t)))
        assert predicted == pytest.approx([told["predicted_mean"], told["predicted_sd"]], abs=1e-6)
        box.reinstate(told, Round(t))
        box.tell(positions[arm], t, value)
        for key, expected in told.items():
            assert np.asarray(box.report()[key]) == pytest.approx(np.asarray(expected), abs=1e-6, nan_ok=True), key
    assert abs(box.recommend()[0] - positions[grid.recommend()][0]) <= STEP


def test_sqrt_beta_is_that_of_the_theorem(hills) -> None:
    algorithm = built(PEGPUCB, hills.description, delta=0.05)
    for prior, t in ((0, 1), (3, 20), (3, 400)):
        slope = hills.description.priors[prior].slope
        third = 0.05 / 3
        net = 1 * t**2 * 1.0 * slope.b * np.sqrt(np.log(2 * 1 * slope.a / third))
        # As Theorem 3.3 has it: the union bound over a net of tau points, and rounds by 6 / (pi^2 t^2).
        expected = np.sqrt(2 * np.log(np.pi**2 * t**2 / (2 * third) * net))
        assert algorithm.sqrt_beta(t, prior) == pytest.approx(expected, rel=1e-12)
    assert algorithm.sqrt_beta(9, 0) < algorithm.sqrt_beta(9, 2)  # a tall hill is steeper


def test_what_the_theorem_spends_is_no_more_than_its_third() -> None:
    slope, sides, delta = SlopeTail(3.0, 7.0), np.array([2.0, 1.0]), 0.1
    lipschitz = slope.b * math.sqrt(math.log(6 * 2 * slope.a / delta))
    spent = 2 * slope.a * math.exp(-((lipschitz / slope.b) ** 2))  # both coordinates
    for t in range(1, 3_000):
        net = 2 * t**2 * 2.0 * lipschitz
        assert lipschitz * 2.0 * 2 / net <= 1.0 / t**2 + 1e-15  # payoffs between points of the net, r d / tau apart
        spent += (net**2 + 1) * math.exp(-0.5 * box_sqrt_beta(t, delta, slope, sides) ** 2)
    assert 0.5 * delta / 3 < spent <= delta / 3


def test_the_same_data_reject_the_same_priors(hills) -> None:
    """The elimination test sees choices and values alone: replayed records give it the same verdicts on both."""
    box, grid = (built(PEGPUCB, one) for one in (hills.description, on_a_grid(hills.description)))
    generator = np.random.default_rng(3)
    rejected = []
    for t in range(1, 60):
        prior = int(generator.integers(11))
        record = {"chosen_prior": prior, "predicted_mean": 0.1 * prior, "predicted_sd": 0.1, "confidence_width": 0.3}
        value = float(generator.normal(0.2, 0.05))
        for algorithm, decision in ((box, np.array([0.5])), (grid, 1000)):
            algorithm.reinstate(record, Round(t))
            algorithm.tell(decision, t, value)
        reports = box.report(), grid.report()
        for key in ("rejected_prior", "error_sum", "error_limit"):
            assert reports[0][key] == reports[1][key]
        assert (reports[0]["active_priors"] == reports[1]["active_priors"]).all()
        rejected.append(reports[0]["rejected_prior"])
    assert {9, 10} <= set(rejected)
    assert 2 not in rejected


def test_misuse_gets_one_line(hills) -> None:
    known = hills.description
    with pytest.raises(BocuError, match=r"'union-bound', which is for finitely many arms; in a box: theorem-4\.1"):
        built(PEGPUCB, known, confidence="union-bound").sqrt_beta(1)
    blunt = replace(known, priors=tuple(replace(prior, slope=None) for prior in known.priors))
    with pytest.raises(BocuError, match=r"^prior '0': how steep payoffs are is not known; give `sqrt_beta` a number"):
        built(PEGPUCB, blunt).ask(Round(1))
    outside = Round(1, available=np.array([[[0.5], [1.5]]]))
    with pytest.raises(BocuError, match=r"^round 1: available: found shape \(1, 2, 1\); allowed: corners of boxes"):
        built(PEGPUCB, known, sqrt_beta=1.0).ask(outside)
    with pytest.raises(BocuError, match="the decision space is a box; a finite one is wanted"):
        built(TVGPUCB, known)


@pytest.mark.parametrize("name", ["tv-gp-ucb", "constant"])
def test_who_needs_finitely_many_arms_says_so_before_the_first_job(name: str) -> None:
    outline = ContinuousHills.outline(ContinuousHills.Parameters())
    assert "finitely many" in find("algorithm", name).load().refuses("time-varying", outline)
