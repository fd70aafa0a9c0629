"""Options by which algorithms and problems do as published code does, each against a computation of its own."""

import numpy as np
import pytest
from continuous_games import DECISIONS, acquired, acquisition, after_design, assert_gradients, game
from finite_games import REFERENCE, ambiguity_set, announce, posterior_of, specification, start
from finite_games import seed_run as finite_seed_run
from played import finished
from scipy.optimize import linprog

from bocu.core.errors import BocuError
from bocu.core.rounds import Round
from bocu.learners.acquisition.functionals import SampledTotalVariation
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, worst_case
from bocu.robust.contexts.estimates import silverman_bandwidth
from bocu.robust.objectives.functions import UncertaintyObjective as U
from bocu.testing.games import run_specification, stated

# Huang et al. (2024)


def played(told, algorithm="random", initial=60, iterations=60):
    """A run on complicated Hartmann, whose contexts often leave the box."""
    problem = stated("problem", "complicated-hartmann", {"contexts_told": told, "initial": initial})
    specified = run_specification(problem, stated("algorithm", algorithm, {}), None, iterations)
    return finished(finite_seed_run(specified, 4))


def test_contexts_as_drawn_leave_the_box_and_payoffs_stay_those_of_clipped_ones():
    clipped, drawn = (played(told).record.arrays for told in ("clipped", "as-drawn"))
    outside = (drawn["context"] < 0.0) | (drawn["context"] > 1.0)
    assert outside[:60].any()  # in the initial design
    assert outside[60:].any()
    np.testing.assert_array_equal(np.clip(drawn["context"], 0.0, 1.0), clipped["context"])
    assert ((clipped["context"] >= 0.0) & (clipped["context"] <= 1.0)).all()
    for same in ("decision", "payoff", "observation"):
        np.testing.assert_array_equal(drawn[same], clipped[same])


def test_model_and_estimate_are_told_contexts_as_drawn():
    run = played("as-drawn", "sbo-kde", iterations=0)
    told = run.record.arrays["context"]
    np.testing.assert_array_equal(run.algorithm.models[0].inputs[:, 5:], told)
    np.testing.assert_array_equal(run.algorithm.observed, told)
    # Draws are clipped, as in the published code, but scatter as widely as what was seen.
    samples = run.algorithm._estimated(1024, np.random.default_rng(0))
    assert samples.min() == 0.0
    assert samples.max() == 1.0
    assert silverman_bandwidth(told) > 1.1 * silverman_bandwidth(np.clip(told, 0.0, 1.0))


def programme(samples, infimum, radius):
    """The dual that the published code solves: max -b - radius a + mean min(u + b, a) with a + b >= -infimum."""
    count = len(samples)
    cost = np.concatenate([[radius, 1.0], np.full(count, -1.0 / count)])
    of_sample = np.hstack([np.zeros((count, 1)), -np.ones((count, 1)), np.eye(count)])
    of_a = np.hstack([-np.ones((count, 1)), np.zeros((count, 1)), np.eye(count)])
    above = np.concatenate([[-1.0, -1.0], np.zeros(count)])
    left, right = np.vstack([of_sample, of_a, above]), np.concatenate([samples, np.zeros(count), [infimum]])
    bounds = [(0.0, None), *[(None, None)] * (count + 1)]
    return -linprog(cost, A_ub=left, b_ub=right, bounds=bounds).fun


@pytest.mark.parametrize("shift", [-3.0, 0.7, 4.0])
@pytest.mark.parametrize("radius", [0.0, 0.5, 2.0])
def test_the_infimum_may_leave_the_samples_out(shift, radius):
    """From below all samples to above all of them."""
    generator = np.random.default_rng(1)
    samples, others = generator.standard_normal((6, 30)), shift + generator.random((6, 8))
    both = np.concatenate([samples, others], axis=1)
    value, weights = SampledTotalVariation(radius, 30, of_samples=False)(both)
    expected = [programme(*pair, radius) for pair in zip(samples, others.min(axis=1), strict=True)]
    np.testing.assert_allclose(value, expected, atol=1e-9)
    np.testing.assert_allclose((weights * both).sum(axis=1), value, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert weights.min() >= -1e-12


def test_drbo_kde_takes_the_infimum_over_the_points_alone_when_asked():
    run = after_design("drbo-kde", infimum_of_samples=False, infimum_over="as-published", radius=0.7)
    _, _, table, found = acquired(run)
    expected = [programme(row[:40], row[40:].min(), 0.7) for row in table]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    with_samples = acquired(after_design("drbo-kde", infimum_over="as-published", radius=0.7))[3]
    assert not np.allclose(found, with_samples)


def test_stableopt_s_box_may_leave_the_context_space_before_it_is_reflected():
    boxes = {}
    for clip in (True, False):
        run = after_design("stableopt", points=512, box="as-published", clip_box=clip)
        for context in (0.0, 0.01, 0.0, 0.02, 0.0, 1.0):
            run.algorithm.tell(np.array([0.4, 0.4]), np.array([context]), 0.3)
        boxes[clip] = run.algorithm, acquired(run)[1]
    algorithm, points = boxes[False]
    mean, deviation = algorithm.observed.mean(), algorithm.observed.std(ddof=1)
    assert mean - deviation < 0.0
    assert points.min() == pytest.approx(mean - 3.0 * deviation, abs=0.01)
    assert points.max() == pytest.approx(mean - deviation, abs=0.01)
    assert boxes[True][1].min() == pytest.approx(-(mean + deviation), abs=0.01)
    assert boxes[True][1].max() == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("name", ["drbo-mmd", "minimax-continuous"])
def test_the_model_s_kernel_may_keep_its_output_scale(name):
    """The same as dividing radius and root of the jitter by the root of the scale."""
    radius, jitter = 0.05, 1e-3
    both = {}
    for kernel in ("context-part-of-model", "scaled-context-part-of-model"):
        given = {"name": "mmd", "radius": radius, "jitter": jitter}
        run = after_design(name, set=given, mmd_kernel=kernel)
        posterior, points, table, found = acquired(run)
        here = posterior.hyperparameters
        gram = np.exp(-0.5 * ((points - points.T) / here.lengthscales[2:]) ** 2)
        both[kernel] = found
    assert abs(here.output_scale - 1.0) > 0.1
    assert not np.allclose(*both.values())
    if name == "drbo-mmd":
        root = np.sqrt(here.output_scale)
        ambiguity_set = MaximumMeanDiscrepancy(radius / root, gram + jitter / root**2 * np.eye(len(gram)))
        nearest = np.abs(run.algorithm.observed - points.T).argmin(axis=1)
        reference = np.bincount(nearest, minlength=len(points)) / len(nearest)
        np.testing.assert_allclose(found, worst_case(table, reference, ambiguity_set).value, rtol=1e-7)


@pytest.mark.parametrize("radius", [0.0, 1e-3, 0.1, 10.0])
def test_the_minimax_approximation_may_start_from_the_uniform_mean(radius):
    given = {"set": {"name": "mmd", "radius": radius}, "sensitivity": "identity", "contexts": 16}
    run = after_design("minimax-continuous", mean="uniform", **given)
    _, points, table, found = acquired(run)
    gram = np.exp(-0.5 * ((points - points.T) / 0.1) ** 2) + 1e-6 * np.eye(len(points))
    nearest = np.abs(run.algorithm.observed - points.T).argmin(axis=1)
    reference = np.bincount(nearest, minlength=len(points)) / len(nearest)
    for row, value in zip(table, found, strict=True):
        mean, least = row.mean(), row.min()
        away = -reference.copy()
        away[row.argmin()] += 1.0
        end = np.sqrt(away @ gram @ away)
        line = max(mean - radius * np.sqrt(((row - mean) ** 2).sum()), least)
        chord = max(mean - (mean - least) * radius / end, least)
        # Where the set reaches the worst context, both bounds are the least payoff.
        expected = (line + chord) / 2.0 if radius < end else least
        assert value == pytest.approx(expected, rel=1e-7)
    if radius < 1.0:
        assert not np.allclose(found, acquired(after_design("minimax-continuous", **given))[3])


@pytest.mark.parametrize("radius", [0.2, 0.9, 10.0])
def test_minimax_cases_as_published_are_those_of_its_code(radius):
    """By its comparisons: the radius with (floor - mean) / S, and with the distance to the floor."""
    run = after_design(
        "minimax-continuous", set={"name": "mmd", "radius": radius}, contexts=16, mean="uniform", cases="as-published"
    )
    _, points, table, found = acquired(run)
    gram = np.exp(-0.5 * ((points - points.T) / 0.1) ** 2) + 1e-6 * np.eye(len(points))
    nearest = np.abs(run.algorithm.observed - points.T).argmin(axis=1)
    reference = np.bincount(nearest, minlength=len(points)) / len(nearest)
    mean, least = table.mean(axis=1), table.min(axis=1)
    away = np.eye(len(points))[table.argmin(axis=1)] - reference
    end = np.sqrt(np.einsum("bm,mn,bn->b", away, gram, away))
    assert not (radius < (least - mean) / np.sqrt(((table - mean[:, None]) ** 2).sum(axis=1))).any()
    second = radius <= end
    expected = np.where(second, (mean + radius * (least - mean) / end + least) / 2.0, 0.0)
    if second.any():  # else the third case is looked at; what is 0 to the model is the mean of what was observed
        expected[~second] = run.record.arrays["observation"][: run.done].mean()
    else:
        expected = least
    assert second.all() == (radius == 0.2)
    assert second.any() == (radius < 10.0)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_gradients_of_minimax_cases_as_published_are_those_of_differences():
    given = {"set": {"name": "mmd", "radius": 0.2}, "contexts": 16, "cases": "as-published"}
    assert_gradients(acquisition(after_design("minimax-continuous", **given))[2], DECISIONS[:8], 1e-6, 1e-3, 1e-5)


def told(run, count):
    """Tell a run's model so many observations, and return it."""
    draw = np.random.default_rng(2)
    for x, c in zip(draw.random((count, 2)), draw.random((count, 1)), strict=True):
        run.algorithm.tell(x, c, float(np.sin(4.0 * x.sum() + 2.0 * c[0]) + 0.05 * draw.standard_normal()))
    return run.algorithm.models[0]


@pytest.mark.parametrize(("name", "kernel"), [("gp-ucb", {}), ("sbo-kde", {"kernel": "joint"})])
def test_fits_as_published_are_those_of_botorch_s_defaults_of_2023(name, kernel):
    """The same start, and the same end, by BoTorch's own modules and ascent."""
    torch = pytest.importorskip("torch")
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.utils import gpytorch_modules
    from gpytorch.mlls import ExactMarginalLogLikelihood

    own = told(after_design(name, model={**kernel, "fit_start": "as-published"}), 20)
    inputs = own.inputs.shape[1]
    theirs = SingleTaskGP(
        torch.tensor(own.inputs),
        torch.tensor((own.outputs - own.outputs.mean()) / own.outputs.std(ddof=1))[:, None],
        likelihood=gpytorch_modules.get_gaussian_likelihood_with_gamma_prior(),
        covar_module=gpytorch_modules.get_matern_kernel_with_gamma_prior(inputs),
        outcome_transform=None,
    )

    def found():
        kernel = theirs.covar_module
        return [*kernel.base_kernel.lengthscale[0].tolist(), kernel.outputscale.item(), theirs.likelihood.noise.item()]

    (start,) = own.settings.priors.starts(inputs, None, 20)
    np.testing.assert_allclose([*start.lengthscales, start.output_scale, start.noise], found(), rtol=1e-6)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(theirs.likelihood, theirs))
    own.posterior(np.random.default_rng(0))
    np.testing.assert_allclose(own.found(), found(), rtol=0.02)


def test_fits_as_published_know_nothing_of_those_before():
    after, alone = (told(after_design("gp-ucb", model={"fit_start": "as-published"}), 66) for _ in range(2))
    for count in (68, 69):
        after.restore({**after.state(), "inputs": alone.inputs[:count], "outputs": alone.outputs[:count]})
        after.posterior(np.random.default_rng(0))
    alone.posterior(np.random.default_rng(0))
    assert after.found() == alone.found()


def test_gp_ucb_as_published_takes_the_root_of_its_beta():
    """As BoTorch's acquisition function does, which the published code hands it to; the others multiply by it."""
    torch = pytest.importorskip("torch")
    from botorch.acquisition import UpperConfidenceBound
    from botorch.models import SingleTaskGP

    inputs, points = (torch.tensor(np.random.default_rng(3).random(shape)) for shape in ((5, 2), (8, 1, 2)))
    model = SingleTaskGP(inputs, inputs.sum(dim=1, keepdim=True))
    posterior = model.posterior(points)
    mean, deviation = (value.detach().numpy().ravel() for value in (posterior.mean, posterior.variance.sqrt()))
    by_botorch = UpperConfidenceBound(model, beta=1.5)(points).detach().numpy()
    np.testing.assert_allclose(by_botorch, mean + 1.2247 * deviation, atol=1e-4)
    run = after_design("gp-ucb", sqrt_beta=1.2247)
    posterior, contexts, _ = game(run)
    ours, _ = run.algorithm._explored([posterior], contexts, Round(t=1)).evaluate(DECISIONS)
    mean, deviation = posterior.moments(DECISIONS)
    np.testing.assert_allclose(ours[:, 0], mean + np.sqrt(1.5) * deviation, atol=1e-4)


# Tay et al. (2024)


@pytest.mark.parametrize("distance", ["tv", "mmd", "kl"])
def test_ucb_bocu_2_may_take_the_slope_as_the_objective_states_it(distance):
    step, epsilon = 0.3, 0.2
    mean, deviation = posterior_of()
    upper = mean + 1.7 * deviation
    here, there = (
        worst_case(upper, REFERENCE, ambiguity_set(distance, radius)).value for radius in (epsilon, epsilon + step)
    )
    objective = U.gen(ambiguity_set(distance), 0.0, 1.0, difference=step)
    decided = {
        slope: start("ucb-bocu-2", objective, sqrt_beta=1.7, slope=slope).ask(announce(1, epsilon))
        for slope in ("exact", "as-pursued")
    }
    assert decided["as-pursued"] == ((there - here) / step).argmax()
    exact = worst_case(upper, REFERENCE, ambiguity_set(distance, epsilon)).slope
    assert exact[decided["exact"]] == pytest.approx(exact.max())


def test_both_slopes_of_ucb_bocu_2_lead_to_decisions_of_their_own():
    """A context of little mass, which a difference looks beyond."""
    reference = np.array([0.01, 0.33, 0.33, 0.32, 0.01])
    objective = U.wcs(ambiguity_set("tv"), difference=0.5)
    decided = {
        slope: [
            start("ucb-bocu-2", objective, sqrt_beta=width, slope=slope).ask(announce(1, 0.0, reference))
            for width in np.linspace(0.0, 3.0, 13)
        ]
        for slope in ("exact", "as-pursued")
    }
    assert decided["exact"] != decided["as-pursued"]


def design_of(seed, replacement, initial=54):
    specified = specification("random", problem={"initial_replacement": replacement, "initial": initial})
    return finite_seed_run(specified, seed).design


def test_an_initial_design_may_be_drawn_without_replacement():
    everything = {(decision, context) for decision in range(9) for context in range(6)}
    assert set(design_of(0, False)) == everything
    assert len(set(design_of(0, True))) < 54
    counts = np.zeros((9, 6))
    for seed in range(600):
        chosen = design_of(seed, False, 9)
        assert len(set(chosen)) == 9
        for point in chosen:
            counts[point] += 1
    # Binomial of 600 and 1/6: mean 100, standard deviation 9.1.
    assert np.abs(counts - 100.0).max() < 4.5 * 9.1


def test_more_points_than_the_grid_has_are_refused():
    with pytest.raises(BocuError, match="initial: found 55 points; allowed without replacement: 54 or fewer"):
        design_of(0, False, 55)
