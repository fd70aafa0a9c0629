"""Radii by concentration: each set's own, and how often they hold the truth."""

import math

import numpy as np
import pytest

from ambiguity.cases import STATED
from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.core.rounds import Situation
from bocu.robust.ambiguity import (
    MaximumMeanDiscrepancy,
    TotalVariation,
    Wasserstein,
    mmd_radius,
    squared_exponential_gram,
)
from bocu.robust.ambiguity.parameters import SetParameters

DRAWS = 300


def line(n: int) -> np.ndarray:
    return np.linspace(0.0, 1.0, n)[:, None]


def plane(n: int) -> np.ndarray:
    return np.random.default_rng(n).random((n, 2))


def distances(points: np.ndarray) -> np.ndarray:
    return np.sqrt(((points[:, None] - points) ** 2).sum(-1))


def of(distance: str, contexts: np.ndarray, observed: int) -> float:
    """The radius that an experiment file's `{delta: 0.1}` comes to."""
    parameters = validate(SetParameters, {"name": distance, "radius": {"delta": 0.1}}, "")
    uniform = np.full(len(contexts), 1.0 / len(contexts))
    return parameters.epsilon(Situation(1, uniform, uniform, observed), parameters.over(contexts))


@pytest.mark.parametrize(
    ("distance", "n", "observed", "radius"),
    [
        ("tv", 10, 10, 1.36),
        ("tv", 10, 1000, 0.14),
        ("tv", 100, 10, 3.8),
        ("tv", 100, 200, 0.85),
        ("wass", 10, 10, 0.39),
        ("wass", 100, 1000, 0.04),
        ("mmd", 10, 50, 0.59),
        ("mmd", 100, 10, 1.31),
    ],
)
def test_radius_on_a_line_of_length_one(distance: str, n: int, observed: int, radius: float) -> None:
    assert of(distance, line(n), observed) == pytest.approx(radius, rel=0.05)


def test_mass_that_moves_off_a_line_moves_by_the_diameter_at_most() -> None:
    points = np.random.default_rng(0).random((12, 2))
    assert of("wass", points, 40) == pytest.approx(distances(points).max() / 2 * of("tv", points, 40))


@pytest.mark.parametrize("distance", ["tv", "mmd", "wass"])
def test_radius_falls_with_the_root_of_what_was_seen_and_is_infinite_before(distance: str) -> None:
    assert of(distance, line(7), 0) == math.inf
    assert of(distance, line(7), 400) == pytest.approx(of(distance, line(7), 100) / 2)


def test_there_is_nothing_to_learn_about_one_context() -> None:
    assert of("tv", line(1), 0) == of("wass", line(1), 0) == 0.0


def test_many_contexts_do_not_overflow() -> None:
    assert TotalVariation(0.0).concentration_radius(50, 100_000, 0.1) == pytest.approx(
        math.sqrt(2.0 * (100_000 * math.log(2.0) + math.log(10.0)) / 50)
    )


def test_a_kernel_counts_by_its_largest_value_but_not_by_its_jitter() -> None:
    gram = squared_exponential_gram(line(4), 0.3)
    assert MaximumMeanDiscrepancy(0.0, gram).concentration_radius(9, 4, 0.1) == mmd_radius(9, 0.1)
    larger = MaximumMeanDiscrepancy(0.0, 4.0 * gram).concentration_radius(9, 4, 0.1)
    assert larger == pytest.approx(2.0 * mmd_radius(9, 0.1), rel=1e-6)


@pytest.mark.parametrize("n", [10, 100])
@pytest.mark.parametrize("observed", [10, 200])
@pytest.mark.parametrize(("distance", "place"), [("tv", line), ("wass", line), ("wass", plane), ("mmd", line)])
def test_the_truth_lies_within(distance: str, place, n: int, observed: int) -> None:
    contexts = place(n)
    truth = np.full(n, 1.0 / n)
    draws = np.random.default_rng(n + observed).multinomial(observed, truth, DRAWS if n == 10 or place is line else 20)
    built = validate(SetParameters, {"name": distance, "radius": {"delta": 0.1}}, "").over(contexts)
    held = built.distance(np.broadcast_to(truth, draws.shape), draws / observed) <= of(distance, contexts, observed)
    assert held.mean() >= 0.9


@pytest.mark.parametrize("distance", ["chi2", "chi2mod", "kl", "cr", "cvar", "phi"])
def test_sets_without_such_a_radius_refuse_it_while_the_file_is_read(distance: str) -> None:
    stated = {"name": distance, **STATED.get(distance, {})}
    with pytest.raises(BocuError, match=r"no radius by concentration.*take tv, mmd or wass") as caught:
        validate(SetParameters, {**stated, "radius": {"delta": 0.1}}, "objectives.0.set.")
    assert "\n" not in str(caught.value)
    assert distance in str(caught.value)
    with pytest.raises(BocuError, match="no radius by concentration"):
        validate(SetParameters, stated, "").over(line(5)).concentration_radius(10, 5, 0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 5, 0.1), "observations is -1: it must be 0 or more"),
        ((5, 0, 0.1), "contexts is 0: it must be 1 or more"),
        ((5, 5, 1.0), r"delta is 1.0: it must lie in \(0, 1\)"),
    ],
)
def test_arguments_out_of_range_are_named(arguments: tuple[int, int, float], message: str) -> None:
    for ambiguity_set in (
        TotalVariation(0.0),
        Wasserstein(0.0, distances(line(5))),
        MaximumMeanDiscrepancy(0.0, np.eye(5)),
    ):
        with pytest.raises(BocuError, match=message):
            ambiguity_set.concentration_radius(*arguments)


def test_radii_for_all_rounds_are_those_of_corollary_4():
    # Kirschner et al. (2020), equation 35: (2 + sqrt(2 log(pi^2 t^2 / (2 delta)))) / sqrt(t).
    contexts = line(20)
    uniform = np.full(20, 0.05)
    stated = {"name": "mmd", "radius": {"delta": 0.3 / 3, "rounds": "all"}}
    parameters = validate(SetParameters, stated, "")
    for t in (1, 7, 100):
        expected = (2 + math.sqrt(2 * math.log(math.pi**2 * t**2 / (2 * 0.3)))) / math.sqrt(t)
        assert parameters.epsilon(Situation(t, uniform, uniform, t), parameters.over(contexts)) == pytest.approx(
            expected
        )
    assert parameters.epsilon(Situation(1, uniform, uniform, 0), parameters.over(contexts)) == math.inf


def test_radii_for_all_rounds_hold_the_truth_along_whole_runs():
    n, runs, rounds = 10, 100, 60
    contexts, uniform = line(n), np.full(n, 1 / n)
    for name in ("tv", "wass", "mmd"):
        parameters = validate(SetParameters, {"name": name, "radius": {"delta": 0.1, "rounds": "all"}}, "")
        ambiguity_set = parameters.over(contexts)
        radii = [parameters.epsilon(Situation(t, uniform, uniform, t), ambiguity_set) for t in range(1, rounds + 1)]
        draws = np.random.default_rng(3).integers(0, n, (runs, rounds))
        seen = np.cumsum(draws[..., None] == np.arange(n), axis=1) / np.arange(1, rounds + 1)[:, None]
        inside = ambiguity_set.distance(seen, np.broadcast_to(uniform, seen.shape)) <= radii
        assert inside.all(axis=1).mean() >= 0.9
