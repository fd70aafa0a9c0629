"""Algorithms with continuous decisions: each against its definition, written out densely."""

import copy

import numpy as np
import pytest
from continuous_games import DECISIONS, acquired, acquisition, after_design, game, seen, specification
from played import finished

from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.core.rounds import BoxDomain, Description, FiniteDomain, Round
from bocu.learners.acquisition.base import SurfaceAcquisition
from bocu.learners.acquisition.surfaces import surface
from bocu.learners.algorithms.continuous import DRBOKDE, SBOKDE
from bocu.learners.algorithms.grid_contexts import DRBOMMD, MinimaxContinuous
from bocu.learners.algorithms.sampled_reference import ThompsonDensity
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, TotalVariation, worst_case
from bocu.robust.ambiguity.approximations import linearised, minimax_approximation
from bocu.robust.ambiguity.mmd.gram import mmd_radius, squared_exponential_gram
from bocu.robust.ambiguity.sampled import sampled_worst_case
from bocu.robust.contexts.estimates import empirical, kde_radius


def test_sbo_kde_is_the_mean_over_new_samples_of_the_estimate():
    run = after_design("sbo-kde", samples=4000)
    _, points, table, found = acquired(run)
    np.testing.assert_allclose(found, table.mean(axis=1), rtol=1e-8)
    assert points.mean() == pytest.approx(seen(run).mean(), abs=0.03)
    assert not np.array_equal(game(run, np.random.default_rng(2))[1], points)


def test_estimates_that_forget_are_of_the_last_contexts():
    run = after_design("sbo-kde", samples=4000, window=2)
    last = seen(run)[-2:]
    np.testing.assert_allclose(acquired(run)[1].mean(), last.mean(), atol=0.03)
    alike = after_design("sbo-kde", window=3), after_design("sbo-kde")  # three contexts there are
    np.testing.assert_array_equal(*(acquired(each)[1] for each in alike))
    parameters = SBOKDE.Parameters(window=3, discount=0.5)
    np.testing.assert_allclose(parameters.weights(5), np.array([0, 0, 1, 2, 4]) / 7)
    run = after_design("drbo-kde", discount=0.5)
    _, _, table, found = acquired(run)
    epsilon = kde_radius(49 / 21, 1)  # (1 + 2 + 4)^2 / (1 + 4 + 16) contexts
    np.testing.assert_allclose(found, sampled_worst_case(table[:, :40], table.min(axis=1), epsilon).value, rtol=1e-8)


@pytest.mark.parametrize("radius", ["shrinking", 0.7, 2.0])
def test_drbo_kde_is_the_worst_mean_within_total_variation(radius):
    run = after_design("drbo-kde", radius=radius)
    _, points, table, found = acquired(run)
    epsilon = kde_radius(3, 1) if radius == "shrinking" else radius
    np.testing.assert_allclose(found, sampled_worst_case(table[:, :40], table.min(axis=1), epsilon).value, rtol=1e-8)
    # The same set around a reference that gives the other contexts no mass.
    reference = np.repeat([1.0 / 40, 0.0], [40, len(points) - 40])
    np.testing.assert_allclose(found, worst_case(table, reference, TotalVariation(epsilon)).value, rtol=1e-8)


@pytest.mark.parametrize(("over", "box"), [("contexts", (0.0, 1.0)), ("as-published", (-1.0, 0.0))])
def test_the_infimum_is_over_the_contexts_or_the_published_box(over, box):
    others = game(after_design("drbo-kde", infimum_over=over, infimum_points=256))[1][40:]
    assert others.min() == pytest.approx(box[0], abs=0.02)
    assert others.max() == pytest.approx(box[1], abs=0.02)


@pytest.mark.parametrize("box", ["around-mean", "as-published"])
def test_stableopt_is_the_minimum_over_a_box_around_the_mean(box):
    run = after_design("stableopt", points=256, box=box)
    _, points, table, found = acquired(run)
    np.testing.assert_allclose(found, table.min(axis=1), rtol=1e-8)
    mean, deviation = seen(run).mean(), seen(run).std(ddof=1)
    low, high = max(mean - deviation, 0.0), min(mean + deviation, 1.0)
    wanted = (low, high) if box == "around-mean" else (2.0 * low - high, low)
    assert points.min() == pytest.approx(wanted[0], abs=0.01)
    assert points.max() == pytest.approx(wanted[1], abs=0.01)


@pytest.mark.parametrize("radius", [{"delta": 0.1}, 0.3, 0.02])
@pytest.mark.parametrize("name", ["drbo-mmd", "minimax-continuous"])
def test_mmd_on_a_grid(name, radius):
    """At the small radius the linearisation is above the floor, and the exact sensitivity enters."""
    run = after_design(name, set={"name": "mmd", "radius": radius})
    _, points, table, found = acquired(run)
    reference = empirical(seen(run), points)
    epsilon = radius if isinstance(radius, float) else mmd_radius(3, 0.1)
    ambiguity_set = MaximumMeanDiscrepancy(epsilon, squared_exponential_gram(points, 0.1))
    exact = worst_case(table, reference, ambiguity_set).value
    expected = exact if name == "drbo-mmd" else minimax_approximation(table, reference, ambiguity_set)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    if radius == 0.02:
        assert (linearised(table, reference, ambiguity_set) > table.min(axis=1)).any()


@pytest.mark.parametrize("distance", ["tv", "chi2", "chi2mod", "wass"])
def test_the_minimax_approximation_of_other_sets(distance):
    run = after_design("minimax-continuous", set={"name": distance, "radius": 0.2})
    _, points, table, found = acquired(run)
    reference = empirical(seen(run), points)
    ambiguity_set = run.algorithm.parameters.set.over(points).with_epsilon(0.2)
    expected = minimax_approximation(table, reference, ambiguity_set)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_gp_ucb_knows_no_contexts():
    run = after_design("gp-ucb")
    posterior, _, rate = acquisition(run)
    mean, deviation = posterior.moments(DECISIONS)
    found = rate(DECISIONS)[0]
    np.testing.assert_allclose(found, mean + 1.5 * deviation, rtol=1e-8)


@pytest.mark.parametrize("name", ["gp-ucb", "sbo-kde", "drbo-mmd"])
def test_the_decision_is_where_the_acquisition_is_largest(name):
    run = after_design(name, search={"raw": 256, "restarts": 16})
    algorithm = run.algorithm
    algorithm.models[0].posterior(np.random.default_rng(0))
    generator = copy.deepcopy(algorithm.generator)
    decision = algorithm.ask(run.announced())
    posterior, points, functional = game(run, generator)
    rate = SurfaceAcquisition(surface(posterior, points, 1.5), functional)
    side = np.linspace(0.0, 1.0, 41)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert rate(decision[None])[0][0] >= rate(grid)[0].max() - 1e-6 * posterior.scale


def described(contexts=2):
    box = [BoxDomain(np.zeros(d), np.ones(d), ("",) * d, ("1",) * d) for d in (2, contexts)]
    return Description(*box, 0.0, "continuous")


@pytest.mark.parametrize(
    ("kind", "dimension", "grid", "size"),
    [
        (DRBOMMD, 1, "product", 100),
        (DRBOMMD, 2, "product", 100),
        (DRBOMMD, 4, "product", 256),
        (DRBOMMD, 2, "diagonal", 10),
        (MinimaxContinuous, 4, "product", 1296),
        (MinimaxContinuous, 2, "diagonal", 32),
    ],
)
def test_sizes_of_the_papers_grids(kind, dimension, grid, size):
    given = kind.Parameters(grid=grid)
    points = kind(described(dimension), None, given, np.random.default_rng(0)).points
    assert points.shape == (size, dimension)
    assert (grid == "diagonal") == bool((points == points[:, :1]).all() and dimension > 1)


def test_the_kernel_of_the_mmd_may_be_that_of_the_model():
    run = after_design(
        "drbo-mmd", mmd_kernel="context-part-of-model", set={"name": "mmd", "radius": 0.3, "jitter": 1e-3}
    )
    posterior, points, table, found = acquired(run)
    gram = np.exp(-0.5 * ((points - points.T) / posterior.hyperparameters.lengthscales[2]) ** 2)
    ambiguity_set = MaximumMeanDiscrepancy(0.3, gram + 1e-3 * np.eye(len(points)))
    expected = worst_case(table, empirical(seen(run), points), ambiguity_set).value
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_hyperparameters_are_fitted_when_due():
    run = finished(after_design("sbo-kde", model={"refit_every": 3}, iterations=7))
    lengthscales = run.record.arrays["lengthscale_1"][3:]
    changes = np.flatnonzero(np.diff(lengthscales)) + 1
    assert changes.tolist() == [3, 6]


def test_boxes_of_any_size_are_scaled():
    """The same problem in other units leads to the same decisions in those units."""
    decisions = []
    for lower, width in ((0.0, 1.0), (-4.0, 8.0)):
        box = BoxDomain(np.full(1, lower), np.full(1, lower + width), ("x",), ("1",))
        algorithm = SBOKDE(
            Description(box, box, 0.0, "continuous"),
            None,
            SBOKDE.Parameters(samples=32, search={"raw": 64, "restarts": 4}),
            np.random.default_rng(0),
        )
        for x, c in ((0.25, 0.5), (0.75, 0.25), (0.5, 0.75)):
            algorithm.tell(lower + width * np.array([x]), lower + width * np.array([c]), x - c**2)
        decisions.append((algorithm.ask(Round(t=1)) - lower) / width)
        assert (algorithm.recommend() >= lower).all()
    np.testing.assert_allclose(decisions[1], decisions[0], atol=1e-6)


def test_what_is_recommended_is_the_best_of_what_was_tried():
    run = after_design("sbo-kde", samples=500)
    tried = run.record.arrays["decision"][:3]
    generator = copy.deepcopy(run.algorithm.generator)
    posterior, points, _ = game(run, generator)
    means = [posterior.moments(np.hstack([np.tile(x, (len(points), 1)), points]))[0].mean() for x in tried]
    np.testing.assert_array_equal(run.algorithm.recommend(), tried[np.argmax(means)])


def test_thompson_sampling_pursues_its_objective():
    """Over many rounds the samples of a known payoff agree with it, and so do the best decisions of RO and SO."""
    box = BoxDomain(np.zeros(1), np.ones(1), ("x",), ("1",))
    generator = np.random.default_rng(0)
    inputs = generator.random((60, 2))
    chosen = {}
    for name in ("so", "ro"):
        specified = specification("ts-bocu-kde", (name, {}))["objective"]
        from bocu.sweep.runs.seed_run import build_objective

        algorithm = ThompsonDensity(
            Description(box, box, 0.0, "continuous"),
            build_objective(specified),
            ThompsonDensity.Parameters(samples=64, others=64, search={"raw": 64, "restarts": 4}),
            np.random.default_rng(1),
        )
        for x, c in inputs:
            # The mean rises with x, the minimum over contexts falls with it.
            algorithm.tell(np.array([x]), np.array([c]), x * (3.0 * c - 0.75))
        chosen[name] = algorithm.ask(Round(t=1))[0]
    assert chosen["so"] > 0.9
    assert chosen["ro"] < 0.1


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (DRBOMMD, {"set": {"name": "tv", "radius": 0.1}}, "found the set 'tv'; allowed: mmd"),
        (DRBOMMD, {"set": "mmd"}, "set"),
        (DRBOMMD, {"set": {"name": "mmd"}}, "the radius 'margin' is not known here"),
        (MinimaxContinuous, {"set": {"name": "kl", "radius": 0.1}}, "'kl' has no such approximation"),
        (
            MinimaxContinuous,
            {"set": {"name": "tv", "radius": 0.1}, "sensitivity": "identity"},
            "the sensitivity 'identity' stands in for that of mmd, not of 'tv'",
        ),
        (DRBOKDE, {"radius": -1.0}, "radius"),
        (SBOKDE, {"model": {"kernel": "both"}}, "model.kernel"),
    ],
)
def test_wrong_settings_are_refused(kind, given, message):
    with pytest.raises(BocuError, match=message):
        validate(kind.Parameters, given, "")


def test_spaces_that_do_not_fit_are_refused():
    finite = FiniteDomain(np.zeros((2, 1)), ("x",), ("1",))
    open_box = BoxDomain(np.zeros(1), np.full(1, np.inf), ("x",), ("1",))
    box = BoxDomain(np.zeros(1), np.ones(1), ("x",), ("1",))
    for decisions, contexts, what in (
        (finite, box, "decisions"),
        (box, finite, "contexts"),
        (open_box, box, "decisions"),
    ):
        with pytest.raises(BocuError, match=f"^{what} in a bounded box are wanted"):
            SBOKDE(
                Description(decisions, contexts, 0.0, "continuous"), None, SBOKDE.Parameters(), np.random.default_rng(0)
            )
