"""Bounds by which a search for GEN excludes decisions, at radii where pools of distributions say nothing."""

import numpy as np
import pytest

from bocu.robust.ambiguity import MaximumMeanDiscrepancy, squared_exponential_gram
from bocu.robust.ambiguity.mmd import maximum_mean_discrepancy
from bocu.robust.ambiguity.search import Chords
from bocu.robust.contexts.estimates import product_grid
from bocu.robust.objectives.functions import UncertaintyObjective


@pytest.fixture(autouse=True)
def few_contexts_will_do(monkeypatch) -> None:
    """Tables are small here, where solving takes less time."""
    monkeypatch.setattr(maximum_mean_discrepancy, "_FEW_CONTEXTS", 100)


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray, MaximumMeanDiscrepancy]:
    """Payoffs (200, 144) of decisions on a line, an uneven reference that leaves out ten contexts, and the set."""
    grid, line = product_grid([0, 0], [1, 1], 12), np.linspace(0.0, 1.0, 200)
    across, along = (np.linalg.cholesky(squared_exponential_gram(x, 0.3)) for x in (line, grid))
    payoffs = (
        across @ np.random.default_rng(0).standard_normal((200, 144)) @ along.T - 25.0 * np.abs(line - 0.4)[:, None]
    )
    weights = np.append(np.zeros(10), np.random.default_rng(1).random(134))
    return payoffs, weights / weights.sum(), MaximumMeanDiscrepancy(0.1, squared_exponential_gram(grid, 0.1))


@pytest.mark.parametrize("careful", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_lines_are_below_the_value_at_every_radius(table, careful: bool, scale: float) -> None:
    payoffs, reference, around = table
    rough = np.random.default_rng(2).standard_normal((6, 144))
    rows = 5.0 + scale * np.concatenate([payoffs[:6], rough, np.zeros((1, 144)), np.eye(144)[:1]])
    level, steepness = around.lines_below(rows, reference, careful=careful)
    assert (steepness >= 0.0).all()
    radii = np.array([0.0, 0.03, 0.1, 0.2, 0.5, 2.0])
    values = around.values_at(rows, reference, radii)
    assert (level[:, None] - steepness[:, None] * radii <= values + 1e-12).all()
    assert level[12] == pytest.approx(5.0, abs=1e-9)  # a constant payoff


def test_careful_lines_are_nearer_to_the_value(table) -> None:
    payoffs, reference, around = table
    values, _ = around.values(payoffs[:40], reference)
    errors = []
    for careful in (False, True):
        level, steepness = around.lines_below(payoffs[:40], reference, careful=careful)
        errors.append(values - (level - around.epsilon * steepness))
    spread = np.ptp(payoffs[:40], axis=1)
    assert np.median(errors[1] / spread) < 0.5 * np.median(errors[0] / spread)
    assert np.median(errors[1] / spread) < 5e-3


@pytest.mark.parametrize(("beta", "difference"), [(2.0, None), (2.0, 1e-3), (4.0, 0.8)])
def test_chords_exclude_what_the_least_payoff_does_not(table, monkeypatch, beta: float, difference) -> None:
    payoffs, reference, around = table
    objective = UncertaintyObjective.gen(around, 1.0, beta, difference=difference)
    best, values = objective.argmax(payoffs, reference), objective(payoffs, reference)
    assert best.index == int(np.argmax(values))
    assert best.value == pytest.approx(values.max(), rel=1e-12)
    assert best.bound >= np.delete(values, best.index).max() - 1e-9
    assert best.bound <= best.value
    monkeypatch.setattr(MaximumMeanDiscrepancy, "lines_below", lambda *_, **__: None)
    assert best.solved < 0.8 * objective.argmax(payoffs, reference).solved


@pytest.mark.parametrize("difference", [None, 0.8])
def test_bounds_are_above_the_values_however_sharp(table, difference) -> None:
    payoffs, reference, around = table
    rows = np.arange(0, 200, 7)
    values = UncertaintyObjective.gen(around, 1.0, 4.0, difference=difference)(payoffs[rows], reference)
    chords = Chords.where_needed(rows, payoffs, reference, around, 1.0, 4.0, difference)
    assert chords is not None
    rough, sharp = chords.bounds(rows, np.inf), chords.bounds(rows, -np.inf)
    rounding = 1e-9 * np.ptp(payoffs)
    assert (rough >= values - rounding).all()
    assert (sharp >= values - rounding).all()
    assert np.median(sharp - values) < 0.8 * np.median(rough - values)
