"""Rows that lack contexts count as what they are: payoffs in a context that is drawn from the log."""

import numpy as np
import pandas as pd
import pytest

import bocu
from bocu.advice.posteriors import AveragedPosterior, Trended, laws_of, trend
from bocu.advice.time import Clock, Forgetting
from bocu.learners.surrogates.continuous.structure import Hyperparameters, product

SCALES = Hyperparameters(np.array([0.4, 0.6, 0.3]), 1.3, 0.05)


def matern(a: np.ndarray, b: np.ndarray, scales: list[float]) -> np.ndarray:
    """The kernel, written out anew."""
    r = np.sqrt(5.0 * (((a[:, None] - b[None]) / scales) ** 2).sum(axis=-1))
    return (1.0 + r + r**2 / 3.0) * np.exp(-r)


@pytest.fixture
def gappy():
    """Inputs of one decision and two contexts; two rows lack both contexts, one the first."""
    world = np.random.default_rng(0)
    inputs = world.uniform(0.0, 1.0, (9, 3))
    inputs[6:8, 1:] = np.nan
    inputs[8, 1] = np.nan
    return inputs, world.normal(size=9)


def test_covariances_are_those_of_payoffs_in_drawn_contexts(gappy):
    """Against draws of the contexts: the payoffs' covariance given them is the plain kernel, and is averaged."""
    inputs, outputs = gappy
    here = AveragedPosterior(product(1, 2, "matern-5/2", "matern-5/2"), SCALES, inputs, outputs, laws_of(inputs[:, 1:]))
    world = np.random.default_rng(1)
    whole = inputs[:6, 1:]
    total, draws = np.zeros((9, 9)), 6_000
    for _ in range(draws):
        drawn = inputs.copy()
        drawn[6:8, 1:] = whole[world.integers(6, size=2)]
        drawn[8, 1] = whole[world.integers(6), 0]
        total += 1.3 * matern(drawn[:, :1], drawn[:, :1], [0.4]) * matern(drawn[:, 1:], drawn[:, 1:], [0.6, 0.3])
        total += trend(here.structure, drawn, drawn)
    np.testing.assert_allclose(here.covariance(here.inputs), total / draws, atol=0.04)


def test_the_posterior_is_the_best_linear_one_with_these_moments(gappy):
    """Against regression on simulated payoffs: coefficients of least squares over many drawn worlds."""
    inputs, outputs = gappy
    here = AveragedPosterior(product(1, 2, "matern-5/2", "matern-5/2"), SCALES, inputs, outputs, laws_of(inputs[:, 1:]))
    at = np.array([[0.5, 0.5, 0.5]])
    world = np.random.default_rng(2)
    whole, worlds = inputs[:6, 1:], 40_000
    seen, wanted = np.empty((worlds, 9)), np.empty(worlds)
    for start in range(0, worlds, 200):  # 200 payoff functions for each draw of contexts
        drawn = inputs.copy()
        drawn[6:8, 1:] = whole[world.integers(6, size=2)]
        drawn[8, 1] = whole[world.integers(6), 0]
        points = np.vstack([drawn, at])
        covariance = 1.3 * matern(points[:, :1], points[:, :1], [0.4])
        covariance *= matern(points[:, 1:], points[:, 1:], [0.6, 0.3])
        covariance += trend(here.structure, points, points)
        root = np.linalg.cholesky(covariance + 1e-9 * np.eye(10))
        payoffs = world.normal(size=(200, 10)) @ root.T
        seen[start : start + 200] = payoffs[:, :9] + np.sqrt(0.05) * world.normal(size=(200, 9))
        wanted[start : start + 200] = payoffs[:, 9]
    fitted = np.linalg.lstsq(seen, wanted, rcond=None)[0]
    exact = (here.covariance(at) @ here.inverse)[0]
    np.testing.assert_allclose(fitted, exact, atol=0.03)


def test_without_gaps_the_posterior_is_the_plain_one(gappy):
    inputs, outputs = gappy
    structure = product(1, 2, "matern-5/2", "matern-5/2")
    plain = Trended(structure, SCALES, inputs[:6], outputs[:6])
    same = AveragedPosterior(structure, SCALES, inputs[:6], outputs[:6], laws_of(inputs[:6, 1:]))
    np.testing.assert_allclose(same.inverse, plain.inverse, rtol=1e-9)
    np.testing.assert_allclose(same.weights, plain.weights, rtol=1e-9)


def test_a_context_that_is_told_in_part_is_drawn_from_its_neighbours():
    contexts = np.array([[i / 40, float(i)] for i in range(40)] + [[0.5, np.nan]])
    laws = laws_of(contexts)
    drawn = laws.points[laws.shares.toarray()[:, -1] > 0]
    assert len(drawn) == 16
    assert (drawn[:, 0] == 0.5).all()
    assert (abs(drawn[:, 1] - 20) <= 8).all()
    assert laws.shares.sum(axis=0) == pytest.approx(np.ones(41))


def kiosk(rows: int = 40) -> pd.DataFrame:
    world = np.random.default_rng(5)
    order, rain = world.uniform(10.0, 90.0, rows), world.uniform(0.0, 1.0, rows)
    profit = -((order - 50.0) ** 2) / 100.0 - 3.0 * rain + world.normal(0.0, 0.3, rows)
    return pd.DataFrame({"order": order, "rain": rain, "profit": profit})


ASKED = {"decisions": "order:10..90", "contexts": ["rain"], "outcome": "profit", "radius": 0.1}


def test_rows_without_contexts_teach_what_only_they_have_seen():
    log = kiosk()
    log.loc[log.order > 40.0, "rain"] = np.nan  # of large orders no context was written down
    few = bocu.suggest(log, **ASKED, missing="leave-out")
    all_of_them = bocu.suggest(log, **ASKED)
    assert all_of_them.rows == 40
    assert few.rows == (log.order <= 40.0).sum()
    assert all_of_them.decision["order"] == pytest.approx(50.0, abs=4.0)
    assert abs(few.decision["order"] - 50.0) > abs(all_of_them.decision["order"] - 50.0)
    assert "a context is missing; counted as an average over contexts of the log" in str(all_of_them)
    assert "a value is missing" in str(few)
    assert [row.context["rain"] for row in all_of_them.details.rows][-1] is None


def test_what_becomes_of_gaps_is_one_of_two():
    with pytest.raises(bocu.BocuError, match=r"--missing: found 'drop'; allowed: average, leave-out"):
        bocu.suggest(kiosk(), **ASKED, missing="drop")


def test_gaps_are_forgotten_as_other_rows_are():
    whole = Clock(np.array([0.0, 2.0, 4.0]), "rows")
    forgetting = Forgetting(whole, contexts=2.0, payoffs=2.0)
    counted = forgetting.of_payoffs_at(Clock(np.array([0.0, 2.0, 4.0, 1.0, 3.0, 6.0]), "rows"))
    assert counted == pytest.approx([0.25, 0.5, 1.0, 2.0**-1.5, 2.0**-0.5, 1.0])
    assert Forgetting(whole).of_payoffs_at(whole) is None
    log = kiosk()
    log.loc[::4, "rain"] = np.nan
    assert bocu.suggest(log, **ASKED, forget=5).rows == 40
