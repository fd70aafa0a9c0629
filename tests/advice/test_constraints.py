"""Constraints between decisions and lists of alternatives: what is suggested keeps them, and is the best that does."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import LinearConstraint, minimize

import bocu
from bocu.advice.choices import Constrained, extremes, read_constraints, read_decisions

DECISIONS = "staff:int:1..8,price:1..20,shelf:{low,high},hours:int:0..12"


@pytest.mark.parametrize(
    ("text", "row", "bound", "equal"),
    [
        ("staff + 2*price <= 10", [1, 2, 0, 0, 0], 10, False),
        ("10 >= staff + 2*price", [1, 2, 0, 0, 0], 10, False),
        ("staff - price/4 >= 1 + hours", [-1, 0.25, 1, 0, 0], -1, False),
        ("2.5*staff = 10 - .5*hours", [2.5, 0, 0.5, 0, 0], 10, True),
        ("staff + 3*shelf:high <= 8", [1, 0, 0, 0, 3], 8, False),
        ("staff + staff + 1 <= 1e1", [2, 0, 0, 0, 0], 9, False),
    ],
)
def test_constraints_are_read_as_they_are_written(text, row, bound, equal):
    found = read_constraints([text], read_decisions(DECISIONS))
    np.testing.assert_allclose(found.coefficients[0], row)  # staff, price, hours, then low and high of the shelf
    assert found.bounds[0] == pytest.approx(bound)
    assert bool(found.equal[0]) is equal


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("staff + price", "with one of <=, >= and ="),
        ("stff <= 3", "not understood at 'stff'; allowed: a linear one"),
        ("staff * price <= 3", "not understood at"),
        ("staff - staff <= 3", "which no decision changes"),
        ("staff/0 <= 3", "nothing is divided by 0"),
        ("staff >= 9", "no decision within its bounds keeps 'staff >= 9'"),
        ("2*staff = 3", "no decision within its bounds keeps '2*staff = 3'"),
    ],
)
def test_a_bad_constraint_is_one_line(text, line):
    with pytest.raises(bocu.BocuError) as raised:
        read_constraints([text], read_decisions(DECISIONS))
    assert str(raised.value).startswith("--constraint: ")
    assert line in str(raised.value)


@pytest.mark.parametrize("text", ["a + b <= 1", "a + b + c + d + e + f = 1", "a - b >= 0.9999"])
def test_candidates_and_their_neighbours_keep_thin_constraints(text):
    decisions = read_decisions(",".join(f"{name}:0..1" for name in "abcdef"))
    allowed = Constrained(read_constraints([text], decisions))
    pool = allowed.pool(np.full((3, 6), 0.5))
    assert len(pool) >= 50
    for values in (pool, allowed.neighbours(pool[3], 1 / 16)):
        assert decisions.inside(values).all()
        assert allowed.constraints.met(values).all()


def test_extremes_are_the_corners_that_a_brute_force_finds():
    decisions = read_decisions("a:int:0..6,b:int:0..6,kind:{x,y}")
    stated = read_constraints(["2*a + 3*b <= 12", "a + 4*kind:y <= 5"], decisions)
    kept = [
        value
        for value in itertools.product(range(7), range(7), range(2))
        if 2 * value[0] + 3 * value[1] <= 12 and value[0] + 4 * value[2] <= 5
    ]
    everything = np.array(list(itertools.product(range(7), range(7), range(2))), dtype=float)
    assert stated.met(everything).all(axis=1).sum() == len(kept)
    found = {tuple(value) for value in extremes(stated, 40).astype(int).tolist()}
    assert {(5, 0, 0), (0, 4, 0), (0, 4, 1), (1, 0, 1)} <= found <= set(kept)
    assert decisions.terms(np.array([[2.0, 3.0, 1.0]])).tolist() == [[2.0, 3.0, 0.0, 1.0]]


def bowl(rows: int = 60) -> pd.DataFrame:
    world = np.random.default_rng(4)
    a, b, rain = world.uniform(0.0, 1.0, (3, rows))
    return pd.DataFrame({"a": a, "b": b, "rain": rain, "profit": -((a - 0.8) ** 2) - (b - 0.7) ** 2 - 0.2 * rain * a})


BOWL = {"decisions": "a:0..1,b:0..1", "contexts": ["rain"], "outcome": "profit", "objective": "so"}


@pytest.mark.parametrize("text", ["a + b <= 1", "a + b = 1", "2*a + b <= 1.2"])
def test_the_best_decision_under_a_constraint_is_the_one_that_an_optimiser_finds(text):
    found = bocu.suggest(bowl(), **BOWL, constraints=[text])
    stated = read_constraints([text], read_decisions(BOWL["decisions"]))
    row, bound = stated.coefficients[0], stated.bounds[0]
    mean = bowl().rain.mean()
    true = minimize(
        lambda x: (x[0] - 0.8) ** 2 + (x[1] - 0.7) ** 2 + 0.2 * mean * x[0],
        [0.3, 0.3],
        bounds=[(0, 1)] * 2,
        constraints=LinearConstraint(row, bound if stated.equal[0] else -np.inf, bound),
        method="SLSQP",
    )
    assert list(found.decision.values()) == pytest.approx(true.x, abs=0.03)
    assert row @ list(found.decision.values()) == pytest.approx(bound, abs=1e-4)  # it lies at the bound
    assert row @ list(found.decision.values()) <= bound + 1e-9
    assert f"it keeps {text}" in str(found)
    assert any("logged decisions do not keep" in note for note in found.notes)


def test_whole_numbers_under_a_constraint_are_the_best_of_all_that_keep_it():
    world = np.random.default_rng(1)
    staff, shelf, rain = world.integers(1, 9, 80), world.integers(0, 6, 80), world.uniform(0, 1, 80)
    log = {"staff": staff, "shelf": shelf, "rain": rain, "profit": 3.0 * staff + 5.0 * shelf - 0.3 * shelf**2 - rain}
    asked = {"decisions": "staff:int:1..8,shelf:int:0..5", "contexts": ["rain"], "outcome": "profit"}
    found = bocu.suggest(log, **asked, radius=0.1, constraints=["staff + 2*shelf <= 10", "shelf <= staff"])
    kept = [(s, h) for s in range(1, 9) for h in range(6) if s + 2 * h <= 10 and h <= s]
    assert tuple(found.decision.values()) == max(kept, key=lambda v: 3 * v[0] + 5 * v[1] - 0.3 * v[1] ** 2)


LISTED = {"a": [0.1, 0.75, 0.9, 0.4], "b": [0.1, 0.65, 0.1, 0.6], "name": ["dear", "fine", "flat", "plain"]}


def test_of_alternatives_one_is_suggested_and_all_are_ranked(tmp_path):
    pd.DataFrame(LISTED).to_csv(tmp_path / "offers.csv", index=False)
    found = bocu.suggest(bowl(), **BOWL, alternatives=tmp_path / "offers.csv")
    assert found.decision == {"a": 0.75, "b": 0.65}
    assert [one.line for one in found.alternatives] == ["line 3", "line 5", "line 4", "line 2"]
    expected = [one.judged.expected for one in found.alternatives]
    assert expected == sorted(expected, reverse=True)
    assert "Alternatives, best first:" in str(found)
    cheaper = bocu.suggest(bowl(), **BOWL, alternatives=LISTED, constraints=["a + b <= 1"])
    assert cheaper.decision == {"a": 0.4, "b": 0.6}
    assert len(cheaper.alternatives) == 3


def test_alternatives_alone_say_what_is_decided():
    asked = {key: value for key, value in BOWL.items() if key != "decisions"}
    found = bocu.suggest(bowl(), **asked, alternatives=LISTED)
    assert found.decision == {"a": 0.75, "b": 0.65}
    kinds = bowl().assign(kind=np.where(bowl().a > 0.5, "big", "small"))
    names = bocu.suggest(kinds, **asked, alternatives={"kind": ["big", "small"], "b": [0.7, 0.7]})
    assert names.decision == {"kind": "big", "b": 0.7}


@pytest.mark.parametrize(
    ("alternatives", "line"),
    [
        ({"a": [0.5]}, "no column 'b' (decision)"),
        ({"a": [], "b": []}, "found no row; at least one alternative is wanted"),
        ({"a": [0.5, 3.0], "b": [0.5, 0.5]}, "row 2: out of the bounds of --decisions"),
        ({"a": [0.5, None], "b": [0.5, 0.5]}, "row 2: a value is missing"),
        ({"a": ["cheap"], "b": [0.5]}, "column 'a': found 'cheap'"),
    ],
)
def test_bad_alternatives_are_one_line(alternatives, line):
    with pytest.raises(bocu.BocuError) as raised:
        bocu.suggest(bowl(), **BOWL, alternatives=alternatives)
    assert line in str(raised.value)
    assert str(raised.value).startswith("alternatives: ")


def test_alternatives_that_have_nothing_of_the_log_or_keep_no_constraint_are_one_line():
    asked = {key: value for key, value in BOWL.items() if key != "decisions"}
    with pytest.raises(bocu.BocuError, match="at least one decision that the log has too is wanted"):
        bocu.suggest(bowl(), **asked, alternatives={"x": [1.0]})
    with pytest.raises(bocu.BocuError, match=r"--decisions: found none; what is decided is wanted"):
        bocu.suggest(bowl(), **asked)
    with pytest.raises(bocu.BocuError, match=r"--alternatives: none of 4 keeps 'a >= 0.95'"):
        bocu.suggest(bowl(), **BOWL, alternatives=LISTED, constraints=["a >= 0.95"])


def test_candidates_beyond_a_grid_cover_every_range():
    """Of four ranges no grid is small enough: Sobol points."""
    found = read_decisions("staff:int:3..12,price:10..20,depth:-4..-2,hours:0..12").candidates()
    assert len(found) > 1000
    for values, low, high in zip(found.T, (3, 10, -4, 0), (12, 20, -2, 12), strict=True):
        assert (values.min() >= low) & (values.max() <= high)
        assert np.all(np.histogram(values, 5, (low, high))[0] > len(found) / 10)
    assert set(found[:, 0]) == set(range(3, 13))
