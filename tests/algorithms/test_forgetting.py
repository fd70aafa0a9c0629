"""TV-GP-UCB: the oracle where its prior is the best one, its rules by hand, and what it refuses."""

import math
from typing import Any

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.learners.algorithms.time_varying import TVGPUCB, Oracle


def test_under_the_best_prior_it_is_the_oracle(game: Any, play: Any) -> None:
    known = play(game, game.start(Oracle))
    assert play(game, game.start(TVGPUCB, prior="best", confidence="theorem-4.1")).arms == known.arms


def test_it_forgets_at_the_rate_that_is_stated(game: Any) -> None:
    fading = game.start(TVGPUCB, prior="1", forgetting=0.3, sqrt_beta=1.0)
    fading.tell(0, 1, 5.0)
    held = game.description.priors[1].covariance
    seen = held[0] * 0.7**1.5 / (held[0, 0] + game.description.noise**2)
    mean = game.description.priors[1].mean
    np.testing.assert_allclose(fading.posteriors(4)[0][0], mean + seen * (5.0 - mean[0]))


def test_bounds_are_as_wide_as_the_rule_says(game: Any) -> None:
    finite = game.start(TVGPUCB, confidence="finite-arms")
    assert finite.sqrt_beta(7) == pytest.approx(math.sqrt(2.0 * math.log(6 * math.pi**2 * 49 / 0.6)))
    assert game.start(TVGPUCB).sqrt_beta(7) == pytest.approx(math.sqrt(0.8 * math.log(28.0)))


def test_what_is_missing_gets_one_line(game: Any) -> None:
    with pytest.raises(BocuError, match=r"prior: no candidate '7'.*0, 1, 2"):
        game.start(TVGPUCB, prior="7")
    object.__setattr__(game.description, "best_prior", None)
    with pytest.raises(BocuError, match="the problem knows no best prior"):
        game.start(TVGPUCB, prior="best")
