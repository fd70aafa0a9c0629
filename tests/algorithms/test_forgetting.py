"""Algorithms that forget: each against a weighted regression on features of the arms, and its rules by hand."""

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from bocu.core.errors import BocuError
from bocu.learners.algorithms.forgetting import RGPUCB, SWGPUCB, TVGPUCB, WGPUCB
from bocu.learners.algorithms.time_varying import Oracle
from bocu.learners.surrogates.forgetful import InformationGain

NEVER = {"prior": "best", "confidence": "theorem-4.1"}


def regressed(prior: Any, noise: float, arms: list[int], values: list[float], weights: np.ndarray) -> Any:
    """Mean and standard deviation of arms by a weighted linear regression on a root of the covariance."""
    eigenvalues, vectors = np.linalg.eigh(prior.covariance)
    features = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    seen, excess = features[arms], np.array(values) - prior.mean[arms]
    precision = np.eye(len(features)) + (seen.T * weights) @ seen / noise**2
    solved = np.linalg.solve(precision, (seen.T * weights) @ excess / noise**2)
    return prior.mean + features @ solved, np.sqrt(np.diag(features @ np.linalg.solve(precision, features.T)))


def expected_weights(name: str, t: int) -> tuple[np.ndarray, np.ndarray]:
    times = np.arange(1, t)
    if name == "r":
        return (kept := ((times - 1) // 4 == (t - 1) // 4).astype(float)), kept
    if name == "sw":
        return (kept := (times >= t - 5).astype(float)), kept
    fading = 0.7 ** (t - 1.0 - times)
    return fading, fading**2 if name == "w" else fading


@pytest.mark.parametrize(
    ("name", "kind", "parameters"),
    [
        ("r", RGPUCB, {"every": 4}),
        ("sw", SWGPUCB, {"window": 5}),
        ("w", WGPUCB, {"rate": 0.7}),
        ("w-plain", WGPUCB, {"rate": 0.7, "deviation": "weights"}),
    ],
)
def test_each_is_the_bound_of_a_regression_on_what_it_keeps(game: Any, name: str, kind: Any, parameters: Any) -> None:
    algorithm = game.start(kind, prior="2", **parameters)
    prior, noise = game.description.priors[2], game.description.noise
    arms: list[int] = []
    values: list[float] = []
    for t in range(1, game.rounds + 1):
        weights, spread = expected_weights(name, t)
        mean, _ = regressed(prior, noise, arms, values, weights)
        _, sd = regressed(prior, noise, arms, values, spread)
        bound = mean + math.sqrt(0.8 * math.log(4.0 * t)) * sd
        available = game.round(t).available
        arm = algorithm.ask(game.round(t))
        assert arm == available[bound[available].argmax()]
        arms.append(arm)
        values.append(game.observe(arm, t))
        algorithm.tell(arm, t, values[-1])
        report = algorithm.report()
        assert report["chosen_prior"] == 2
        assert report["predicted_mean"] == pytest.approx(mean[arm], abs=1e-9)
        assert report["predicted_sd"] == pytest.approx(sd[arm], abs=1e-9)


def test_what_forgets_nothing_is_gp_ucb_and_tv_gp_ucb_of_the_best_prior_the_oracle(game: Any, play: Any) -> None:
    known = play(game, game.start(Oracle))
    if game.description.best_prior.forgetting == 0.0:
        for kind, parameters in ((RGPUCB, {}), (SWGPUCB, {"window": 99}), (WGPUCB, {"rate": 1.0})):
            assert play(game, game.start(kind, **NEVER, **parameters)).arms == known.arms
    assert play(game, game.start(TVGPUCB, **NEVER)).arms == known.arms
    fading = game.start(TVGPUCB, prior="1", forgetting=0.3, sqrt_beta=1.0)
    fading.tell(0, 1, 5.0)
    held = game.description.priors[1].covariance
    seen = held[0] * 0.7**1.5 / (held[0, 0] + game.description.noise**2)
    mean = game.description.priors[1].mean
    np.testing.assert_allclose(fading.posteriors(4)[0][0], mean + seen * (5.0 - mean[0]))


def test_lengths_follow_from_how_far_payoffs_move(game: Any) -> None:
    """By hand, with the gain that is the largest of all choices of two arms, tried one after the other."""
    prior, noise = game.description.priors[0], game.description.noise
    gain = InformationGain(prior, noise)
    pairs = [[i, j] for i in range(prior.arms) for j in range(prior.arms)]
    grams = [np.eye(2) + prior.covariance[np.ix_(pair, pair)] / noise**2 for pair in pairs]
    most = max(0.5 * np.linalg.slogdet(gram)[1] for gram in grams)
    assert (1.0 - 1.0 / math.e) * most <= gain.of(2) <= most + 1e-12
    singles = [0.5 * math.log1p(variance / noise**2) for variance in np.diag(prior.covariance)]
    assert gain.of(1) == pytest.approx(max(singles))
    varied = {"variation": 4.0, "horizon": 100}
    block = math.ceil(gain.of(100) ** 0.25 * 5.0)
    assert game.start(SWGPUCB, **varied).window == block
    assert game.start(RGPUCB, **varied).every == block
    assert game.start(WGPUCB, **varied).rate == pytest.approx(1.0 - gain.of(100) ** -0.25 / 5.0)
    forgetting = game.description.priors[2].forgetting
    wanted = math.ceil(12.0 / forgetting**0.25) if forgetting else None
    assert game.start(RGPUCB, prior="2").every == wanted
    norm = game.start(SWGPUCB, window=3, confidence="norm", norm=2.0)
    assert norm.sqrt_beta(50) == pytest.approx(2.0 + math.sqrt(2.0 * (gain.of(3) + 1.0 + math.log(10.0))))
    finite = game.start(TVGPUCB, confidence="finite-arms")
    assert finite.sqrt_beta(7) == pytest.approx(math.sqrt(2.0 * math.log(6 * math.pi**2 * 49 / 0.6)))


def test_what_is_missing_gets_one_line(game: Any) -> None:
    assert (game.start(SWGPUCB).window, game.start(WGPUCB).rate) == (20, 0.95)
    with pytest.raises(ValidationError, match="variation and horizon go together"):
        RGPUCB.Parameters(variation=1.0)
    with pytest.raises(BocuError, match=r"prior: no candidate '7'.*0, 1, 2"):
        game.start(RGPUCB, prior="7")
    with pytest.raises(BocuError, match="weights would fall by"):
        _ = game.start(WGPUCB, variation=1e6, horizon=10).rate
    object.__setattr__(game.description, "best_prior", None)
    with pytest.raises(BocuError, match="the problem knows no best prior"):
        game.start(TVGPUCB, prior="best")
