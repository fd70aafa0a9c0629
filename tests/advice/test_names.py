"""Names to choose from: one-hot or Hamming, each the kernel that it says it is."""

import numpy as np
import pandas as pd
import pytest

import bocu
from bocu.advice.choices import read_decisions
from bocu.advice.model import Shared, shared_scales, structure_of
from bocu.learners.surrogates.continuous.fitting import LogPosterior, Priors

DECISIONS = read_decisions("price:0..1,shelf:{a,b,c},staff:0..1")
VALUES = np.array([[0.1, 0, 0.5], [0.1, 1, 0.5], [0.1, 2, 0.5], [0.1, 2, 0.9]])


def test_columns_are_numbers_first_then_names():
    assert DECISIONS.encode(VALUES)[:, :2].tolist() == [[0.1, 0.5], [0.1, 0.5], [0.1, 0.5], [0.1, 0.9]]
    assert DECISIONS.encode(VALUES)[:, DECISIONS.columns(1)].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert [DECISIONS.columns(i) for i in range(3)] == [slice(0, 1), slice(2, 5), slice(1, 2)]


def test_under_hamming_all_different_names_are_equally_unlike():
    structure = structure_of(DECISIONS, 1, "matern-5/2", "hamming")
    assert [factor.columns for factor in structure.factors] == [slice(0, 2), slice(2, 5), slice(5, 6)]
    groups = shared_scales(DECISIONS, 1, "hamming")
    assert groups.tolist() == [0, 1, 2, 2, 2, 3]
    scales = np.array([0.3, 0.4, 1.7, 0.5])[groups]
    points = np.hstack([DECISIONS.encode(VALUES), np.zeros((4, 1))])
    found = structure.correlation(scales, points, points)
    assert found[0, 1] == found[0, 2] == found[1, 2] == pytest.approx(np.exp(-1.0 / 1.7**2))
    r = np.sqrt(5.0) * 0.4 / 0.4
    assert found[0, 3] == pytest.approx(np.exp(-1.0 / 1.7**2) * (1 + r + r**2 / 3) * np.exp(-r))


def test_one_hot_has_a_length_scale_for_each_name():
    structure = structure_of(DECISIONS, 1, "matern-5/2", "one-hot")
    assert shared_scales(DECISIONS, 1, "one-hot").tolist() == [0, 1, 2, 3, 4, 5]
    scales = np.array([1.0, 1.0, 0.2, 2.0, 2.0, 1.0])
    points = np.hstack([DECISIONS.encode(VALUES), np.zeros((4, 1))])
    found = structure.correlation(scales, points, points)
    assert found[1, 2] > found[0, 1]


def test_shared_length_scales_have_the_gradient_of_their_objective():
    world = np.random.default_rng(0)
    structure = structure_of(DECISIONS, 1, "matern-5/2", "hamming")
    values = np.column_stack([world.uniform(size=12), world.integers(0, 3, 12), world.uniform(size=12)])
    inputs = np.hstack([DECISIONS.encode(values), world.uniform(size=(12, 1))])
    objective = Shared(
        LogPosterior(structure, inputs, world.normal(size=12), Priors()), shared_scales(DECISIONS, 1, "hamming")
    )
    at = world.normal(-0.5, 0.3, objective.structure.inputs + 2)
    assert len(at) == 6
    _, gradient = objective(at)
    for i in range(len(at)):
        step = 1e-5 * (np.arange(len(at)) == i)
        slope = (objective(at + step)[0] - objective(at - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_both_find_the_best_name_and_say_how_names_are_told_apart():
    world = np.random.default_rng(0)
    shelf, price, rain = world.choice(["a", "b", "c"], 45), world.uniform(0, 1, 45), world.uniform(0, 1, 45)
    profit = 2.0 * (shelf == "b") - (price - 0.3) ** 2 - 0.1 * rain
    log = pd.DataFrame({"price": price, "shelf": shelf, "rain": rain, "profit": profit})
    asked = {"decisions": "price:0..1,shelf:{a,b,c}", "contexts": ["rain"], "outcome": "profit", "radius": 0.1}
    for code, told in (("one-hot", "one-hot"), ("hamming", "Hamming kernel")):
        found = bocu.suggest(log, **asked, names=code)
        assert found.decision["shelf"] == "b"
        assert found.decision["price"] == pytest.approx(0.3, abs=0.06)
        assert any(told in note for note in found.notes)
    with pytest.raises(bocu.BocuError, match=r"--names: found 'haming'; did you mean 'hamming'\?"):
        bocu.suggest(log, **asked, names="haming")
