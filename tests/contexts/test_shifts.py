"""Shifts of a stated law: by their formulas, within the box, one object for rounds that share a law."""

import math
import re

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.robust.contexts.laws import LawParameters
from bocu.robust.contexts.shifts import Schedule, ShiftParameters, between, mixed


def law(name="normal", **parameters):
    return LawParameters.model_validate({"name": name, "parameters": parameters})


def schedule(base, name, dimension=1, **parameters):
    return Schedule(base, ShiftParameters.model_validate({"name": name, "parameters": parameters}), dimension)


def means(found, rounds):
    return [found.stated(t).parameters["mean"] for t in rounds]


HIGH = {"name": "normal", "parameters": {"mean": 0.8, "std": 0.1}}


def test_a_jump_is_at_its_round():
    found = schedule(law(mean=0.3), "jump", at=4, to=HIGH)
    assert means(found, range(1, 7)) == [0.3, 0.3, 0.3, 0.8, 0.8, 0.8]
    assert found.shift.begins() == 4
    assert (found.shift.unfit(4), bool(found.shift.unfit(3))) == ("", True)


def test_a_drift_is_linear_in_the_parameters_and_stays_at_its_end():
    found = schedule(law(mean=0.2, std=0.3), "drift", over=4, start=2, to=HIGH)
    assert means(found, range(1, 9)) == pytest.approx([0.2, 0.2, 0.35, 0.5, 0.65, 0.8, 0.8, 0.8])
    assert found.stated(4).parameters["std"] == pytest.approx(0.2)
    assert found.stated(6) == found.stated(60) == law(mean=0.8, std=0.1)


def test_a_drift_in_steps_has_so_many_laws():
    found = schedule(law(mean=0.2), "drift", over=12, steps=3, to=HIGH)
    assert sorted({round(mean, 12) for mean in means(found, range(1, 30))}) == pytest.approx([0.2, 0.4, 0.6, 0.8])


def test_a_drift_along_a_mixture_mixes_the_weights_on_a_grid():
    points = np.linspace(0, 1, 40)[:, None]
    base, to = law(mean=0.3), law("burr-xii")
    found = schedule(base, "drift", over=4, path="mixture", to=to.model_dump())
    for t, share in ((1, 0.0), (2, 0.25), (4, 0.75), (9, 1.0)):
        wanted = (1 - share) * base.weights_on(points) + share * to.weights_on(points)
        np.testing.assert_allclose(found.weights(t, points), wanted, atol=1e-15)


def test_a_season_swings_and_comes_back_to_the_same_law():
    found = schedule(law(mean=0.5), "season", period=8, amplitude={"mean": 0.2, "std": 0.05})
    wanted = [0.5 + 0.2 * math.sin(2 * math.pi * (t - 1) / 8) for t in range(1, 20)]
    assert means(found, range(1, 20)) == pytest.approx(wanted)
    assert found.stated(3).parameters["std"] == pytest.approx(0.15)
    assert found.law(2) is found.law(10) is found.law(802)
    assert found.stands(1)
    assert not found.stands(2)


def test_the_law_of_a_test_is_not_announced():
    points = np.linspace(0, 1, 30)[:, None]
    found = schedule(law(mean=0.5), "train-test", at=3, test=HIGH, train={"name": "uniform"})
    assert found.stated(1) == found.stated(2) == law("uniform")
    assert found.stated(3) == law(mean=0.8)
    np.testing.assert_array_equal(found.announced(7, points), law("uniform").weights_on(points))
    np.testing.assert_array_equal(found.weights(7, points), law(mean=0.8).weights_on(points))


def test_rounds_that_share_a_law_share_its_weights():
    points = np.linspace(0, 1, 30)[:, None]
    found = schedule(law(mean=0.5), "jump", at=3, to=HIGH)
    assert found.weights(1, points) is found.weights(2, points)
    assert found.weights(3, points) is found.weights(9, points) is not found.weights(1, points)


def test_lines_go_through_lists_and_nested_laws_and_beyond_their_ends():
    low, high = law("histogram", weights=[1, 3, 0]), law("histogram", weights=[3, 1, 0])
    assert between(low, high, 0.25).parameters["weights"] == pytest.approx([1.5, 2.5, 0.0])
    assert between(law(mean=0.4), law(mean=0.5), 2.0).parameters["mean"] == pytest.approx(0.6)
    two = [law("mixture", of=[{"law": {"name": "normal", "parameters": {"mean": m}}}]) for m in (0.2, 0.6)]
    inner = between(*two, 0.5).parameters["of"][0]["law"]
    assert inner["parameters"]["mean"] == pytest.approx(0.4)


def test_equal_draws_meet_equal_numbers_before_and_after_a_jump_to_a_mixture():
    of = [{"law": "normal", "weight": 1}, {"law": HIGH, "weight": 1}]
    shifted = schedule(law(), "jump", at=3, to={"name": "mixture", "parameters": {"of": of}})
    plain, other = np.random.default_rng(3), np.random.default_rng(3)
    for t in range(1, 30):
        here, there = law().over(1).sample(plain, 1), shifted.law(t).sample(other, 1)
        # The part that is drawn is met by the same uniform number.
        assert here == there or (t >= 3 and there == pytest.approx(np.clip(here + 0.3, 0, 1)))


@pytest.mark.parametrize(
    ("base", "name", "parameters", "line"),
    [
        (law(), "jump", {"at": 31, "to": HIGH}, "shift: 'jump': it begins in round 31; there are 30 rounds"),
        (law(), "drift", {"start": 30, "over": 5, "to": HIGH}, "shift: 'drift': it begins in round 31; there are 30"),
        (law(), "train-test", {"at": 40, "test": HIGH}, "'train-test': the test begins in round 40; there are 30"),
        (law(), "train-test", {"at": 40, "test": HIGH, "train": HIGH}, "the test begins in round 40; there are 30"),
        (
            law(),
            "jump",
            {"at": 5, "to": {"name": "normal", "parameters": {"mean": 1.2}}},
            "shift: in round 5 the law leaves the box: 98 % of it lie above 1 in coordinate 1",
        ),
        (law(), "season", {"period": 8, "amplitude": {"mean": 0.9}}, "in round 2 the law leaves the box"),
        (law(), "season", {"period": 8, "amplitude": {"std": 0.2}}, "no such law 'normal': parameters.std: found -"),
        (law(), "season", {"period": 8, "amplitude": {"men": 0.2}}, "has no number 'men'; allowed: mean, std"),
        (law(), "drift", {"over": 5, "to": {"name": "uniform"}}, "no line leads from the law 'normal' to 'uniform'"),
        (
            law("histogram", weights=[1, 2]),
            "drift",
            {"over": 5, "to": {"name": "histogram", "parameters": {"weights": [1, 2, 3]}}},
            "no line leads from [1.0, 2.0] to [1.0, 2.0, 3.0] in parameters.weights",
        ),
        (
            law(),
            "jump",
            {"at": 2, "to": {"name": "empirical", "parameters": {"data": [[0.1, 0.2]]}}},
            "shift: round 2: law: the data have 2 columns; contexts have 1 coordinates",
        ),
    ],
)
def test_a_shift_that_cannot_be_is_one_line(base, name, parameters, line):
    with pytest.raises(BocuError, match=re.escape(line)) as caught:
        schedule(base, name, **parameters).check(30)
    assert "\n" not in str(caught.value)


def test_a_mixture_has_no_share_beyond_all_of_it():
    with pytest.raises(BocuError, match=r"found the share 1\.5 of a mixture; allowed: 0 to 1"):
        mixed(law(), law("uniform"), 1.5)
