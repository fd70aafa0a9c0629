"""What runs record of the decisions that they would deploy."""

import continuous_games
import finite_games
import numpy as np
import pytest
from experiments import block
from played import finished

from bocu.core.io.files import read_netcdf
from bocu.core.rounds import FiniteDomain
from bocu.sweep.runs.execution import Block, execute
from bocu.sweep.runs.records import Record

FIVE = FiniteDomain(np.arange(5.0)[:, None], ("arm",), ("1",))


# That being asked changes no decision of any algorithm: tests/testing/test_our_own.py.
ALL = {
    "finite": finite_games.specification("ts-bocu", "gen:tv", 8, {"protocol": "general"}),
    "simulator": finite_games.specification("ts-bocu", "wcs:mmd", 8, {"protocol": "simulator"}),
    "continuous": continuous_games.specification("sbo-kde"),
    "time-varying": block("pe-gp-ucb", (0, 0), 25, grid=40).specification,
}


@pytest.mark.parametrize("label", ALL)
def test_recommended_is_after_the_design_in_the_first_round_in_the_last_and_in_some_between(label):
    run = finished(finite_games.seed_run(ALL[label]))
    told = np.isfinite(run.record.arrays["recommended"]).all(axis=1)
    assert not told[: run.initial].any()
    assert told[run.initial]
    assert told[-1]
    assert told[run.initial + 2] == (label == "simulator")


def test_what_counts_is_recommended_in_every_round_and_else_ever_more_rarely():
    simulator, other = (Record(1234, FIVE, FIVE, (), recommends_always=always) for always in (True, False))
    assert [t for t in range(-5, 1235) if simulator.recommends(t)] == list(range(1, 1235))
    expected = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1234]
    assert [t for t in range(-5, 1235) if other.recommends(t)] == expected


@pytest.mark.parametrize("label", ["finite", "time-varying", "continuous"])
def test_a_run_file_says_what_is_recommended(tmp_path, label):
    execute(Block(ALL[label], {}, "code"), tmp_path / "run.nc", tmp_path / "checkpoints", 1e9)
    found = read_netcdf(tmp_path / "run.nc").isel(seed=0)
    assert found["recommended"].dims == ("iteration", "decision_dim")
    for name in ("recommended", "recommended_index"):
        assert "would be deployed" in found[name].attrs["long_name"]
        assert found[name].attrs["units"]
    told = finished(finite_games.seed_run(ALL[label], int(found["seed"])))
    last = told.algorithm.recommend()
    if label == "continuous":
        assert (found["recommended_index"] == -1).all()
        assert found["recommended"].values[-1].tolist() == last.tolist()
        tried = found["decision"].values.tolist()
        assert found["recommended"].sel(iteration=2).values.tolist() in tried[: 2 + told.initial]
    else:
        assert int(found["recommended_index"].values[-1]) == last
        asked = found.sel(iteration=[1, 2, 5])
        coordinates = told.realisation.description.decisions.points[asked["recommended_index"].values]
        assert (asked["recommended"].values == coordinates).all()
