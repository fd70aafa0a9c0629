"""UCB-BOCU-KDE: its acquisition against convex programs and closed forms written out on the same samples."""

import continuous_games
import cvxpy as cp
import numpy as np
import pytest
from continuous_games import DECISIONS as every
from continuous_games import acquisition, after_design, assert_gradients, game

from bocu.core.errors import BocuError
from bocu.core.rounds import BoxDomain, Description, Round
from bocu.learners.algorithms.sampled_reference import UCBDensity
from bocu.robust.ambiguity.mmd.gram import squared_exponential_gram, with_jitter
from bocu.robust.objectives.functions import DistributionallyRobust

DECISIONS = every[:6]


def acquired(objective, name="ucb-bocu-kde", **parameters):
    """Run, contexts, upper bounds in them, and what the algorithm makes of these."""
    run = after_design(name, objective, **parameters)
    return run, *continuous_games.acquired(run, DECISIONS)[1:]


def dro(name, **keys):
    return "dro", {"set": {"name": name, **keys}}


def sampled(run, points):
    """The reference on the contexts of the game: equal mass on each that comes again without the Sobol points."""
    samples = run.algorithm._drawn(np.random.default_rng(1))
    owner = ((points[None] - samples[:, None]) ** 2).sum(axis=2).argmin(axis=1)
    return np.bincount(owner, minlength=len(points)) / len(samples)


def each_sample(run, points, table, samples=12):
    """The table with a column for each sample: those clipped to the same bound are one context of the game."""
    counts = np.rint(samples * sampled(run, points)).astype(int)
    assert counts.sum() == samples
    return np.repeat(table, counts, axis=1)


def convex_program(name, epsilon, reference, points):
    """The worst case as a convex program of its own, `min q.f`; no line of our sets is in it."""
    q, f = cp.Variable(len(points), nonneg=True), cp.Parameter(len(points))
    inside = reference > 0.0
    p = reference[inside]
    constraints = [cp.sum(q) == 1]
    if name == "tv":
        constraints.append(cp.norm1(q - reference) <= epsilon)
    elif name == "chi2":
        constraints += [q[~inside] == 0, cp.sum(cp.multiply(1.0 / p, cp.square(q[inside] - p))) <= epsilon]
    elif name == "kl":
        constraints += [q[~inside] == 0, cp.sum(cp.kl_div(q[inside], p)) <= epsilon]
    else:
        root = np.linalg.cholesky(with_jitter(squared_exponential_gram(points, 0.2), 1e-6))
        constraints.append(cp.norm2(root.T @ (q - reference)) <= epsilon)
    return cp.Problem(cp.Minimize(f @ q), constraints), f


@pytest.mark.parametrize("reference", ["kde", "empirical"])
@pytest.mark.parametrize(("name", "epsilon"), [("tv", 0.4), ("chi2", 0.3), ("kl", 0.2), ("mmd", 0.15)])
def test_the_worst_case_is_that_of_a_convex_program_on_the_same_samples(name, epsilon, reference):
    own = {"lengthscale": 0.2, "jitter": 1e-6} if name == "mmd" else {}
    run, points, table, found = acquired(dro(name, radius=epsilon, **own), reference=reference)
    probabilities = sampled(run, points)
    assert (probabilities == 0.0).any() == (name in ("tv", "mmd"))  # a divergence leaves the samples nowhere
    problem, payoffs = convex_program(name, epsilon, probabilities, points)
    expected = []
    for row in table:
        payoffs.value = row
        expected.append(problem.solve(solver=cp.CLARABEL))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_closed_forms():
    """Husain et al. (2023): chi-squared within its range, total variation where mass suffices, CVaR."""
    run, points, table, found = acquired(dro("chi2", radius=1e-3))
    table = each_sample(run, points, table)
    np.testing.assert_allclose(found, table.mean(axis=1) - np.sqrt(1e-3 * table.var(axis=1)), rtol=1e-8)
    run, points, table, found = acquired(dro("tv", radius=2.0 / 24.0))
    reference = sampled(run, points)
    highest = np.where(reference > 0.0, table, -np.inf).max(axis=1)  # one sample of twelve has mass for it
    np.testing.assert_allclose(found, table @ reference - (highest - table.min(axis=1)) / 24.0, rtol=1e-8)
    run, points, table, found = acquired(dro("cvar", alpha=0.25))
    table = each_sample(run, points, table)
    np.testing.assert_allclose(found, np.sort(table, axis=1)[:, :3].mean(axis=1), rtol=1e-8)


@pytest.mark.parametrize(
    "objective",
    [
        ("so", {}),
        *(dro(name, radius=0.0) for name in ("tv", "chi2mod", "kl", "mmd", "wass")),
        ("gen", {"set": {"name": "tv", "radius": 0.0}, "beta": 0.0}),
        ("mr", {"set": {"name": "tv", "radius": 0.0}, "beta": 0.0}),
    ],
    ids=lambda objective: f"{objective[0]} {objective[1].get('set', {}).get('name', '')}",
)
@pytest.mark.parametrize("reference", ["kde", "empirical"])
def test_with_a_zero_radius_it_is_the_expectation_over_the_samples(objective, reference):
    run, points, table, found = acquired(objective, reference=reference)
    np.testing.assert_allclose(found, table @ sampled(run, points), rtol=1e-8)


@pytest.mark.parametrize("distance", ["kl", "chi2mod"])
def test_beyond_the_floor_of_the_samples_a_radius_changes_nothing(distance):
    """The floor of a decision is that of the mass of its worst context: 1 / 12, or more where samples were clipped."""
    run, points, table, _ = acquired(dro(distance, radius=0.0))
    for row, payoffs in enumerate(table[:2]):
        mass = sampled(run, points)[payoffs.argmin()]
        floor = np.log(1.0 / mass) if distance == "kl" else (1.0 / mass - 1.0) / 2.0
        for share, reached in ((0.9, False), (1.0001, True), (5.0, True)):
            found = acquired(dro(distance, radius=float(share * floor)))[3][row]
            assert np.isclose(found, payoffs.min(), atol=1e-6 * np.ptp(payoffs)) == reached


@pytest.mark.parametrize(
    "objective",
    [
        dro("kl", radius=0.3),
        dro("tv", radius=0.33),
        dro("wass", radius=0.1),
        ("gen", {"set": {"name": "tv", "radius": 0.33}}),
        ("mr", {"set": {"name": "wass"}, "beta": 0.5}),
        ("rs", {"set": {"name": "chi2mod"}, "tau": -0.4}),
        ("ro", {}),
    ],
    ids=lambda objective: objective[0],
)
def test_gradients_are_those_of_differences(objective):
    assert_gradients(acquisition(after_design("ucb-bocu-kde", objective))[2], DECISIONS, 1e-6, 2e-3, 2e-4)


def test_the_contexts_seen_may_be_the_reference_themselves():
    run = after_design("ucb-bocu-kde", ("ro", {}), reference="empirical", others=5)
    _, points, _ = game(run)
    seen = run.record.arrays["context"][: run.done]
    assert len(points) == len(np.unique(seen, axis=0)) + 5
    assert all((points == context).all(axis=1).any() for context in seen)


def test_robust_decisions_are_those_of_the_objective():
    """The mean rises with x, the minimum over contexts falls with it; the radius decides between them."""
    box = BoxDomain(np.zeros(1), np.ones(1), ("x",), ("1",))
    inputs = np.random.default_rng(0).random((60, 2))
    chosen = {}
    for radius in (0.0, 2.0):
        algorithm = UCBDensity(
            Description(box, box, 0.0, "continuous"),
            DistributionallyRobust.from_specification({"set": {"name": "tv", "radius": radius}}),
            UCBDensity.Parameters(samples=64, others=64, search={"raw": 64, "restarts": 4}),
            np.random.default_rng(1),
        )
        for x, c in inputs:
            algorithm.tell(np.array([x]), np.array([c]), x * (3.0 * c - 0.75))
        chosen[radius] = algorithm.ask(Round(t=1))[0]
    assert chosen[0.0] > 0.9
    assert chosen[2.0] < 0.1


def test_the_radius_may_shrink_with_what_was_seen():
    wide, later = (
        acquired(dro("tv", radius=radius), reference="empirical", others=0) for radius in ({"delta": 0.1}, [2.0, 0.0])
    )
    np.testing.assert_allclose(wide[3], wide[2].min(axis=1), rtol=1e-8)  # of three contexts nothing is certain
    np.testing.assert_allclose(later[3], later[2].min(axis=1), rtol=1e-8)


def test_radii_that_only_a_stated_reference_has_are_refused():
    parameters = UCBDensity.Parameters()
    objective = DistributionallyRobust(DistributionallyRobust.Parameters())
    assert "the radius 'margin' is not known over continuous contexts" in parameters.unfit("dro", objective.parameters)
    without = DistributionallyRobust.Parameters.model_validate({"set": {"name": "cvar", "alpha": 0.3}})
    assert parameters.unfit("dro", without) == ""  # CVaR has no radius
    box = BoxDomain(np.zeros(1), np.ones(1), ("x",), ("1",))
    with pytest.raises(BocuError, match="the radius 'margin' is not known"):
        UCBDensity(Description(box, box, 0.0, "continuous"), objective, parameters, np.random.default_rng(0))
