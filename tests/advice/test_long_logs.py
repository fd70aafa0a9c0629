"""Logs of many rows: cells, what stands for many, and a posterior in one matrix."""

import numpy as np
import pytest
from decision_logs import kiosk

import bocu
from bocu.advice import model
from bocu.advice.choices import read_decisions
from bocu.advice.logs import (
    Boxes,
    Forecast,
    fewer_contexts,
    gathered,
    in_parts,
    read_log_table,
    read_logs,
    representatives,
    weighted,
)
from bocu.advice.model import Learnt
from bocu.advice.posteriors import LargePosterior, Trended, trend
from bocu.learners.surrogates.continuous.fitting import LogPosterior, Priors
from bocu.learners.surrogates.continuous.model import Posterior, standardise
from bocu.learners.surrogates.continuous.structure import Hyperparameters, product
from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancy

ASKED = {"decisions": "order:10..90", "contexts": ["rain"], "outcome": "profit"}


@pytest.fixture
def random():
    return np.random.default_rng(5)


def test_cells_have_like_weight_and_none_is_empty(random):
    points, weights = random.normal(size=(400, 2)), random.uniform(0.5, 1.5, 400)
    cells = Boxes.around(points, weights, 8)
    shares = cells.shares(points, weights)
    assert cells.count == 8
    assert shares == pytest.approx(np.full(8, 1 / 8), abs=0.02)
    assert cells.of(points[:0]).shape == (0,)


@pytest.mark.parametrize("most", [3, 4, 9])
def test_few_different_points_have_a_cell_each(most):
    points = np.repeat([0.0, 1.0, 5.0], [90, 9, 1])[:, None]
    cells = Boxes.around(points, np.ones(100), most)
    assert cells.count == 3
    assert sorted(cells.shares(points, np.ones(100))) == pytest.approx([0.01, 0.09, 0.9])


def test_what_is_gathered_keeps_weight_and_mean(random):
    points, weights = random.normal(size=(300, 2)), random.random(300)
    fewer, shares = gathered(points, weights, 20)
    assert fewer.shape == (20, 2)
    assert shares.sum() == pytest.approx(weights.sum())
    assert shares @ fewer == pytest.approx(weights @ points)


def test_representatives_are_as_dense_as_the_points_and_are_all_where_there_are_few(random):
    crowded = np.vstack([random.normal(0.0, 0.01, (900, 1)), random.uniform(-1.0, 1.0, (100, 1))])
    rows = representatives(crowded, 50)
    assert len(rows) == len(set(rows.tolist())) == 50
    assert 3 <= (np.abs(crowded[rows, 0]) > 0.2).sum() <= 5
    assert representatives(crowded[:30], 50).tolist() == list(range(30))
    assert representatives(np.array([[1.0], [1.2], [1.7], [5.0], [5.2], [5.7]]), 2).tolist() == [1, 4]


def test_a_posterior_in_one_matrix_is_the_same_posterior(random):
    structure = product(1, 2, "matern-5/2", "matern-5/2")
    found = Hyperparameters(np.array([0.4, 0.7, 0.9]), 1.3, 0.05)
    inputs, inflation = random.random((600, 3)), random.uniform(1.0, 4.0, 600)
    outputs = np.sin(4.0 * inputs[:, 0]) + inputs[:, 1] + 0.2 * random.normal(size=600)
    usual, large = (family(structure, found, inputs, outputs, inflation) for family in (Trended, LargePosterior))
    points = random.random((7, 3))
    for one, other in zip(usual.moments(points), large.moments(points), strict=True):
        assert one == pytest.approx(other, rel=1e-9)
    assert large.weights == pytest.approx(usual.weights, rel=1e-8)
    assert large.solve(outputs) == pytest.approx(usual.solve(outputs), rel=1e-7)


def test_noise_that_is_inflated_is_that_of_fewer_observations(random):
    structure = product(1, 1, "matern-5/2", "matern-5/2")
    found = Hyperparameters(np.array([0.4, 0.7]), 1.0, 0.1)
    inputs, outputs = random.random((20, 2)), random.normal(size=20)
    twice = Posterior(structure, found, np.vstack([inputs, inputs]), np.concatenate([outputs, outputs]))
    halved = Posterior(structure, found, inputs, outputs, np.full(20, 0.5))
    assert (halved.scale * np.array(halved.moments(inputs))) == pytest.approx(
        halved.scale * np.array(twice.moments(inputs)), rel=0.05
    )


def test_more_contexts_than_a_set_takes_are_gathered_and_a_note_says_so(random):
    many = Forecast(random.random((300, 1)), np.full(300, 1 / 300))
    fewer = fewer_contexts(many, MaximumMeanDiscrepancy)
    assert len(fewer.weights) == 256
    assert fewer.weights.sum() == pytest.approx(1.0)
    assert fewer.notes == ("300 different contexts were gathered into 256, the means of cells of like weight",)
    assert fewer_contexts(many, None) is many


def test_a_log_of_many_rows_is_learnt_from_as_a_whole_and_says_what_was_fitted(monkeypatch):
    log = kiosk(200)
    exact = bocu.suggest(log, **ASKED, radius=0.2)
    monkeypatch.setattr("bocu.advice.model.MOST_ROWS_OF_A_FIT", 80)
    monkeypatch.setattr("bocu.advice.model.ROWS_OF_A_FIRST_FIT", 40)
    part = bocu.suggest(log, **ASKED, radius=0.2)
    assert not any("were fitted to" in note for note in exact.notes)
    assert any("were fitted to 80 of 200 rows, spread over time" in note for note in part.notes)
    assert part.best.expected == pytest.approx(exact.best.expected, rel=0.02)
    assert part.best.guaranteed == pytest.approx(exact.best.guaranteed, rel=0.03)
    assert part.decision["order"] == pytest.approx(exact.decision["order"], abs=3.0)


def test_an_ascent_that_is_told_the_curvature_ends_where_one_that_is_not_does(monkeypatch, random):
    inputs = random.random((160, 3))
    outputs = np.sin(4.0 * inputs[:, 0]) + inputs[:, 1] + 0.2 * random.normal(size=160)
    structure = product(1, 2, "matern-5/2", "matern-5/2")
    groups = np.array([0, 1, 2])
    for noisy in (outputs, np.sin(4.0 * inputs[:, 0])):  # the second: noise ends at its bound
        whole, _ = model.fitted(structure, inputs, noisy, groups)
        monkeypatch.setattr(model, "ROWS_OF_A_FIRST_FIT", 60)
        stepwise, _ = model.fitted(structure, inputs, noisy, groups)
        monkeypatch.undo()
        known = trend(structure, inputs, inputs)
        objective = LogPosterior(structure, inputs, standardise(noisy)[2], Priors(), known)
        top = objective(whole.to_vector())[0]
        assert objective(stepwise.to_vector())[0] == pytest.approx(top, rel=1e-4, abs=0.02)


def test_what_a_trial_would_teach_is_what_a_row_more_does():
    log = kiosk(30)
    chosen = read_decisions(ASKED["decisions"])
    seen = read_logs(read_log_table(log, "log"), chosen, ["rain"], ["profit"])[0]
    forecast = weighted(seen.contexts[:4], np.arange(1.0, 5.0))
    learnt = Learnt(chosen, seen, forecast, 1.0)
    value, here = seen.decisions[2], learnt.posterior
    # What observations leave unexplained is the noise's part of them.
    noise = here.scale * here.hyperparameters.noise * here.weights
    np.testing.assert_allclose(here.moments(here.inputs)[0] + noise, seen.outcome)
    after = learnt.variances_after(value, forecast.weights, np.arange(4))
    points = np.hstack([np.tile(chosen.encode(value[None]), (4, 1)), learnt.scaled(forecast.contexts)])
    prior = here.hyperparameters.output_scale * learnt.structure.correlation(
        here.hyperparameters.lengthscales, points, points
    ) + trend(learnt.structure, points, points)
    for met, found in enumerate(after):
        more = Trended(
            learnt.structure, here.hyperparameters, np.vstack([here.inputs, points[met]]), np.append(seen.outcome, 0.0)
        )
        mean = forecast.weights @ more.covariance(points)
        left = forecast.weights @ prior @ forecast.weights - more.explained(mean[None])[0]
        assert found == pytest.approx(here.scale**2 * left)
    assert (after < learnt.spreads(value[None], forecast.weights)[0] ** 2).all()


def test_rows_measured_in_parts_are_all_measured_in_order():
    values = np.arange(14.0).reshape(7, 2)
    for width in (1, 10**12):
        assert in_parts(lambda rows: rows.sum(axis=1), values, width).tolist() == values.sum(axis=1).tolist()
