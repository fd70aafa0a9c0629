"""Algorithms with continuous decisions in the run loop: continued, replayed, asked before they know anything."""

import pytest
from continuous_games import SMALL, after_design, seed_run, specification
from played import assert_continued

from bocu.core.io.files import read_netcdf
from bocu.sweep.runs.execution import Block, execute, replayed_to

SOME = ("sbo-kde", "drmobo")
"""Of these, in a file; of all, as they stand: tests/testing/test_our_own.py."""


@pytest.mark.parametrize("name", SOME)
def test_more_iterations_continue_a_finished_run_bit_for_bit(tmp_path, name):
    assert_continued(tmp_path, lambda rounds: {**specification(name, iterations=rounds), "seeds": [0, 0]}, (4, 6))


@pytest.mark.parametrize("name", SOME)
def test_a_recorded_run_tells_what_was_known(tmp_path, name):
    execute(Block(specification(name), {}, "code"), tmp_path / "run.nc", tmp_path / "checkpoints", 1e9)
    recorded = read_netcdf(tmp_path / "run.nc").sel(seed=1)
    _, algorithm = replayed_to(tmp_path / "run.nc", {}, 1, 6, named=[specification(name)["problem"]["class"]])
    assert algorithm.recommend().tolist() in recorded["decision"].values.tolist()
    first = algorithm.reports[0].name
    assert algorithm.report()[first] == recorded[first].values[-1]


@pytest.mark.parametrize("name", list(SMALL))
def test_before_any_observation_a_decision_is_still_given(name):
    run = after_design(name)
    run.algorithm.restore(seed_run(specification(name)).algorithm.state())
    decision = run.algorithm.ask(run.announced())
    assert decision.shape == (2,)
    assert ((decision >= 0.0) & (decision <= 1.0)).all()
    assert run.algorithm.recommend().tolist() == [0.0, 0.0]
