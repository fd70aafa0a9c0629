"""Verdicts over the points of a sweep, on made-up cubes whose numbers are known."""

import json

import numpy as np
import pytest
import xarray as xr

from bocu.core.errors import BocuError
from bocu.sweep.evaluation.claims import FAILS, HOLDS, LEANS_FOR, OPEN
from bocu.sweep.evaluation.claims.model import Claim
from bocu.sweep.evaluation.cubes import swept_coordinates
from bocu.sweep.evaluation.regions import points_table, region
from bocu.sweep.runs.records import DONE

ROUNDS = 4


def swept(base, **at):
    return {"base": base, "at": at}


def cube(label, means, made, seeds=30):
    """A cube of one problem: label of an algorithm -> final regret, spread over seeds; `made`: what the sweep did."""
    spread = np.linspace(-1, 1, seeds)[:, None] / ROUNDS
    # Seeds spread the other way in every second algorithm: differences differ from seed to seed.
    regret = np.stack(
        [np.full((seeds, ROUNDS), mean / ROUNDS) + (-1) ** i * spread for i, mean in enumerate(means.values())]
    )
    return xr.Dataset(
        {
            "regret": (("metric", "objective", "algorithm", "seed", "iteration"), regret[None, None]),
            "status": (("objective", "algorithm", "seed"), np.full((1, len(means), seeds), DONE, dtype=np.int8)),
        },
        {
            "objective": ["any"],
            "algorithm": list(means),
            "metric": ["so"],
            "seed": np.arange(seeds),
            "iteration": np.arange(1, ROUNDS + 1),
        },
        {"problem_label": label, "swept": json.dumps(made)},
    )  # fmt: skip


def claim(check, **keys):
    return Claim(id="c", statement="s", experiment="e", problem="hills", check=check, **keys)


def hills(noise, a, b):
    label = f"hills-noise-{noise}"
    return cube(label, {"a": a, "b": b}, {"problem": {label: swept("hills", noise=noise)}})


def test_every_point_of_a_problem_has_a_verdict_of_its_own():
    other = cube("plain", {"a": 1, "b": 2}, {})
    cells = region(claim("final(a) < final(b)"), [hills(1, 5, 9), hills(2, 5, 5.1), other, hills(3, 9, 5)])
    assert [(cell.at, cell.verdict.outcome) for cell in cells] == [
        ({"noise": 1}, HOLDS),
        ({"noise": 2}, OPEN),
        ({"noise": 3}, FAILS),
    ]
    assert cells[0].finding.value.value == pytest.approx(-4.0)
    rows = points_table(cells).to_dict("records")
    assert [(row["noise"], row["verdict"], row["problem"]) for row in rows][2] == (3, FAILS, "hills-noise-3")
    assert {"value", "low", "high", "boundary", "seeds", "p_value_corrected"} <= rows[0].keys()


def test_points_of_algorithms_are_found_under_the_label_of_the_file():
    made = {"algorithm": {"a-beta-1": swept("a", beta=1), "a-beta-2": swept("a", beta=2)}}
    cells = region(claim("final(a) < final(b)"), [cube("hills", {"a-beta-1": 1, "a-beta-2": 9, "b": 5}, made)])
    assert [(cell.at, cell.verdict.outcome) for cell in cells] == [({"beta": 1}, HOLDS), ({"beta": 2}, FAILS)]


def test_what_moves_together_is_compared_at_the_same_value_only():
    made = {"algorithm": {f"{name}-beta-{i}": swept(name, beta=i) for name in "ab" for i in (1, 2)}}
    means = {"a-beta-1": 1, "a-beta-2": 9, "b-beta-1": 5, "b-beta-2": 5}
    cells = region(claim("final(a) < final(b)"), [cube("hills", means, made)])
    assert [(cell.at, cell.verdict.outcome) for cell in cells] == [({"beta": 1}, HOLDS), ({"beta": 2}, FAILS)]


def test_points_are_corrected_together():
    alone = region(claim("final(a) < final(b)"), [hills(1, 5, 5.5)])
    assert alone[0].verdict.outcome == HOLDS
    assert 0.005 < alone[0].verdict.p_value < 0.05
    many = region(claim("final(a) < final(b)"), [hills(1, 5, 5.5), *(hills(i, 5, 5.01) for i in range(2, 30))])
    assert many[0].verdict.outcome == LEANS_FOR
    assert many[0].verdict.reason == "by an uncorrected interval, not after the correction for 29 points"


def test_a_claim_that_no_point_can_tell_is_refused():
    with pytest.raises(BocuError, match="no algorithm 'z' on 'hills-noise-1'"):
        region(claim("final(z) < final(b)"), [hills(1, 5, 9)])
    with pytest.raises(BocuError, match="no cube is of the problem 'valleys'"):
        region(claim("final(a) < final(b)").model_copy(update={"problem": "valleys"}), [hills(1, 5, 9)])


def test_swept_values_are_coordinates():
    made = {
        "problem": {"hills-noise-1": swept("hills", noise=1.0)},
        "algorithm": {"a-beta-2": swept("a", beta=2.0)},
        "metric": {"so": swept("so", kind="plain")},
    }
    data = cube("hills-noise-1", {"a-beta-2": 1, "b": 2}, made)
    found = data.assign_coords(swept_coordinates(data.attrs, data))
    assert float(found["swept_noise_of_problem"]) == 1.0
    assert found["swept_beta_of_algorithm"].sel(algorithm="a-beta-2") == 2.0
    assert np.isnan(found["swept_beta_of_algorithm"].sel(algorithm="b"))
    assert found["swept_kind_of_metric"].values.tolist() == ["plain"]
