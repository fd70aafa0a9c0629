"""Baselines on BoTorch's parts: their acquisition values against others, worked out by NumPy from the posterior."""

import numpy as np
import pytest
import torch
from continuous_games import GRID, after_design, seed_run, specification
from hand_made import HandMade, everywhere, measured
from named import stated
from played import finished

from bocu.core.rounds import Round

pytestmark = pytest.mark.ci

RNG = np.random.default_rng
SEARCH = {"raw": 16, "restarts": 2}
CANDIDATES = np.array([[0.9, 0.1], [0.4, 0.5], [0.05, 0.95], [0.3, 0.2]])
PAYOFF = np.random.default_rng(5).standard_normal((2, 3))


def payoff(decision, context):
    """Two wavy payoffs of a decision (2,) and a context (1,)."""
    waves = np.sin(5.0 * np.append(decision, context) + np.arange(3.0))
    return PAYOFF @ waves


def told(name, observations=9, outputs=0, contexts=None, **parameters):
    """An algorithm that was told some observations of a wavy payoff, and its situation in a round."""
    run = after_design(name, outputs=outputs, search=SEARCH, **parameters)
    algorithm = run.algorithm
    algorithm.restore({"inputs": np.empty((0, 3)), "payoffs": np.empty((0, max(outputs, 1)))})
    generator = RNG(3)
    for _ in range(observations):
        decision = generator.random(2)
        context = int(generator.integers(len(GRID))) if outputs else generator.random(1)
        at = GRID[context] if outputs else context
        found = payoff(decision, at)
        algorithm.tell(decision, context, found[: max(outputs, 1)] if outputs > 1 else float(found[0]))
    weights = np.array([0.3, 0.7]) if outputs > 1 else None
    situation, _ = algorithm._situation(Round(t=1, weights=weights), algorithm.generator)
    return algorithm, situation


def hand_made(algorithm, situation, output=0):
    return HandMade(algorithm._latest[1], algorithm.inputs, algorithm.payoffs[:, output], output)


def value(acquisition, decisions):
    with torch.no_grad():
        return acquisition(torch.tensor(decisions)[:, None, :]).numpy()


@pytest.mark.parametrize(
    "risk", ["expectation", "cvar", *(pytest.param(risk, marks=pytest.mark.ci) for risk in ("var", "worst-case"))]
)
def test_qlognei_is_the_expected_improvement_of_the_measure_over_the_best_of_those_tried(risk):
    algorithm, situation = told("qlognei", risk=risk, **({"alpha": 0.4} if "var" in risk else {}))
    contexts, tried = situation.contexts.numpy(), situation.tried.numpy()
    assert contexts.shape == (10, 1)
    torch.manual_seed(0)
    found = value(algorithm._acquisition(situation), CANDIDATES)
    points = everywhere(np.concatenate([tried, CANDIDATES]), contexts)
    draws = hand_made(algorithm, situation).sample(points, 20_000, RNG(0)).reshape(20_000, -1, len(contexts))
    measures = measured(risk, 0.4, draws)
    gain = np.maximum(measures[:, len(tried) :] - measures[:, : len(tried)].max(axis=1, keepdims=True), 0.0)
    wanted = gain.mean(axis=0)
    assert wanted.max() > 0.01
    np.testing.assert_allclose(np.exp(found), wanted, atol=0.03 * wanted.max() + 3e-3)


@pytest.mark.ci
def test_qlognei_sums_several_outputs_by_the_weights_announced():
    algorithm, situation = told("qlognei", outputs=2, risk="worst-case", contexts=8)
    contexts, tried = situation.contexts.numpy(), situation.tried.numpy()
    torch.manual_seed(0)
    found = value(algorithm._acquisition(situation), CANDIDATES)
    points = everywhere(np.concatenate([tried, CANDIDATES]), contexts)
    summed = sum(
        weight * hand_made(algorithm, situation, output).sample(points, 20_000, RNG(output))
        for output, weight in enumerate([0.3, 0.7])
    )
    measures = summed.reshape(20_000, -1, len(contexts)).min(axis=-1)
    gain = np.maximum(measures[:, len(tried) :] - measures[:, : len(tried)].max(axis=1, keepdims=True), 0.0)
    wanted = gain.mean(axis=0)
    np.testing.assert_allclose(np.exp(found), wanted, atol=0.03 * wanted.max() + 3e-3)


def test_qkg_is_the_gain_in_the_best_expectation_by_one_observation_in_a_context_that_is_met():
    algorithm, situation = told("qkg", fantasies=6)
    acquisition = algorithm._acquisition(situation)
    contexts, tried = situation.contexts.numpy(), situation.tried.numpy()
    met = acquisition.fantasy_contexts.numpy()
    assert len(met) == 6
    assert {tuple(context) for context in met} <= {tuple(context) for context in contexts}
    noises = acquisition.noises[0].numpy()[:, 0]
    posterior = hand_made(algorithm, situation)

    def expectation(gp, decision):
        return gp.moments(everywhere(decision[None], contexts))[0].mean()

    current = max(expectation(posterior, decision) for decision in tried)
    best = RNG(2).random((6, 2))  # of each fantasy
    for decision in CANDIDATES:
        after = [posterior.told(np.append(decision, c), z) for c, z in zip(met, noises, strict=True)]
        wanted = np.mean([expectation(gp, x) for gp, x in zip(after, best, strict=True)]) - current
        together = torch.tensor(np.concatenate([decision[None], best]))[None]
        assert float(acquisition(together)) == pytest.approx(wanted, abs=1e-6)


def list_of_models(inputs, payoffs):
    """A model of its own for each output."""
    from botorch.models import ModelListGP, SingleTaskGP

    return ModelListGP(*(SingleTaskGP(inputs, payoffs[:, [output]]) for output in range(payoffs.shape[1])))


@pytest.mark.parametrize("model", ["botorch-default", {"botorch": "test_botorch_baselines:list_of_models"}])
def test_fantasies_of_several_outputs_each_have_noise_of_their_own(model):
    algorithm, situation = told("qkg", outputs=2, fantasies=4, model=stated(model))
    acquisition = algorithm._acquisition(situation)
    decision = torch.tensor(CANDIDATES[:1])
    where = torch.cat([decision.expand(4, 2), acquisition.fantasy_contexts], dim=-1)[:, None, None, :]
    fantasy = acquisition.model.fantasize(where, sampler=acquisition._sampler())
    parts = fantasy.models if hasattr(fantasy, "models") else [fantasy]
    targets = torch.cat([part.train_targets[0].reshape(4, -1, part.train_targets.shape[-1]) for part in parts], dim=1)
    own = algorithm._latest[1]
    for output in range(2):
        one = own.models[output] if hasattr(own, "models") else own
        alone = HandMade(one, algorithm.inputs, algorithm.payoffs[:, output], output)
        for row in range(4):
            wanted = alone.told(where[row, 0, 0].numpy(), float(acquisition.noises[output][row, 0])).values[-1]
            assert float(targets[row, output, -1]) == pytest.approx(wanted, abs=1e-8)


def test_qkg_over_a_tail_values_samples_of_the_measure():
    algorithm, situation = told("qkg", fantasies=2, risk="cvar", alpha=0.3)
    acquisition = algorithm._acquisition(situation)
    contexts = situation.contexts.numpy()
    posterior, best = hand_made(algorithm, situation), RNG(2).random((2, 2))
    met, noises = acquisition.fantasy_contexts.numpy(), acquisition.noises[0].numpy()[:, 0]
    means = [
        measured("cvar", 0.3, after.sample(everywhere(x[None], contexts), 40_000, RNG(0))).mean()
        for after, x in zip(
            (posterior.told(np.append(CANDIDATES[0], c), z) for c, z in zip(met, noises, strict=True)),
            best,
            strict=True,
        )
    ]
    found = float(acquisition(torch.tensor(np.concatenate([CANDIDATES[:1], best]))[None]))
    assert found + float(acquisition.current_value) == pytest.approx(np.mean(means), abs=0.02)


def multivariate_values_at_risk(payoffs, share):
    """Maximal points that so large a share of payoffs (n_w, 2) is no worse than, on the grid of their coordinates."""
    corners = np.stack(np.meshgrid(payoffs[:, 0], payoffs[:, 1], indexing="ij"), axis=-1).reshape(-1, 2)
    reached = (payoffs[None] >= corners[:, None]).all(axis=-1).mean(axis=1) >= share - 1e-12
    return corners[reached]


def not_dominated(points):
    better = (points[None] >= points[:, None]).all(axis=-1) & (points[None] > points[:, None]).any(axis=-1)
    return points[~better.any(axis=1)]


@pytest.mark.ci
def test_mars_is_the_value_at_risk_of_a_chebyshev_scalarisation_of_normalised_payoffs():
    algorithm, situation = told("mars", outputs=2, contexts=12, alpha=0.25)
    contexts, tried = situation.contexts.numpy(), situation.tried.numpy()
    posteriors = [hand_made(algorithm, situation, output) for output in range(2)]
    means = np.stack([gp.moments(everywhere(tried, contexts))[0] for gp in posteriors], axis=-1)
    sets = [multivariate_values_at_risk(each, 0.75) for each in means.reshape(len(tried), len(contexts), 2)]
    baseline = not_dominated(np.concatenate(sets))
    lower, upper = baseline.min(axis=0), baseline.max(axis=0)
    assert (upper > lower).all()

    def scalarised(payoffs):
        return (np.array([0.3, 0.7]) * (payoffs - lower) / (upper - lower)).min(axis=-1)

    objective = algorithm._deployed(situation).objective
    points = everywhere(CANDIDATES, contexts)
    draws = np.stack([gp.sample(points, 50, RNG(i)) for i, gp in enumerate(posteriors)], axis=-1)
    wanted = measured("var", 0.25, scalarised(draws).reshape(50, len(CANDIDATES), len(contexts)))
    np.testing.assert_allclose(objective(torch.tensor(draws)).numpy(), wanted, atol=1e-9)

    torch.manual_seed(0)
    found = value(algorithm._acquisition(situation), CANDIDATES)
    both = everywhere(np.concatenate([tried, CANDIDATES]), contexts)
    draws = np.stack([gp.sample(both, 20_000, RNG(i)) for i, gp in enumerate(posteriors)], axis=-1)
    measures = measured("var", 0.25, scalarised(draws).reshape(20_000, -1, len(contexts)))
    gain = np.maximum(measures[:, len(tried) :] - measures[:, : len(tried)].max(axis=1, keepdims=True), 0.0)
    wanted = gain.mean(axis=0)
    np.testing.assert_allclose(np.exp(found), wanted, atol=0.05 * wanted.max() + 3e-3)


def area(points, corner):
    """The area that points (n, 2) dominate beyond a corner."""
    total, height = 0.0, corner[1]
    for x, y in sorted(points[(points > corner).all(axis=1)].tolist(), reverse=True):
        if y > height:
            total += (x - corner[0]) * (y - height)
            height = y
    return total


@pytest.mark.parametrize("logarithm", [False, pytest.param(True, marks=pytest.mark.ci)])
def test_qnehvi_is_the_expected_gain_in_dominated_area(logarithm):
    algorithm, situation = told("qnehvi", outputs=2, contexts=8, logarithm=logarithm, samples=512)
    contexts, tried = situation.contexts.numpy(), situation.tried.numpy()
    torch.manual_seed(0)
    acquisition = algorithm._acquisition(situation)
    found = value(acquisition, CANDIDATES)
    found = np.exp(found) if logarithm else found
    corner = acquisition.ref_point.numpy()
    posteriors = [hand_made(algorithm, situation, output) for output in range(2)]
    points = everywhere(np.concatenate([tried, CANDIDATES]), contexts)
    draws = np.stack([gp.sample(points, 1000, RNG(i)) for i, gp in enumerate(posteriors)], axis=-1)
    expected = draws.reshape(1000, -1, len(contexts), 2).mean(axis=2)
    gains = [
        [area(np.concatenate([draw[: len(tried)], one[None]]), corner) - area(draw[: len(tried)], corner)]
        for draw in expected
        for one in draw[len(tried) :]
    ]
    wanted = np.reshape(gains, (1000, len(CANDIDATES))).mean(axis=0)
    assert wanted.max() > 0.01
    np.testing.assert_allclose(found, wanted, atol=0.1 * wanted.max())
    front = not_dominated(
        np.stack([gp.moments(everywhere(tried, contexts))[0] for gp in posteriors], -1)
        .reshape(len(tried), len(contexts), 2)
        .mean(axis=1)
    )
    nadir, width = front.min(axis=0), np.ptp(front, axis=0)
    np.testing.assert_allclose(corner, nadir - 0.1 * np.where(width > 0, width, np.abs(nadir)), atol=1e-6)


def test_no_acquisition_is_compiled():
    from botorch.acquisition.multi_objective import logei

    finished(seed_run(specification("qnehvi", iterations=1, search=SEARCH)))
    assert logei._C is None


def test_what_is_recommended_has_the_best_measure_of_the_mean_among_those_tried():
    algorithm, _ = told("qlognei", risk="cvar", alpha=0.3)
    state = algorithm.generator.bit_generator.state
    recommended = algorithm.recommend()
    assert algorithm.generator.bit_generator.state == state
    again, _ = algorithm._situation(Round(t=1), algorithm.generator)
    contexts, tried = again.contexts.numpy(), again.tried.numpy()
    means = hand_made(algorithm, again).moments(everywhere(tried, contexts))[0].reshape(len(tried), -1)
    np.testing.assert_array_equal(recommended, tried[measured("cvar", 0.3, means).argmax()])


@pytest.mark.parametrize(("risk", "alpha", "wanted"), [("var", 0.3, 4.0), ("cvar", 0.3, 2.5), ("cvar", 1.0, 5.5)])
def test_a_level_counts_worst_outcomes_as_botorch_does(risk, alpha, wanted):
    from bocu.interop.botorch.asking import scoring

    objective = scoring(risk, alpha, 10, np.ones(1)).objective
    assert float(objective(torch.arange(1.0, 11.0)[:, None])) == pytest.approx(wanted)
