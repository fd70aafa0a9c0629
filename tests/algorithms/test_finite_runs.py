"""All algorithms on finite contexts in the run loop: every set, every protocol, continued and told again."""

import numpy as np
import pytest
from finite_games import pairs, seed_run, specification
from played import assert_continued, finished

from bocu.core.io.files import read_netcdf
from bocu.sweep.runs.execution import Block, execute, replayed_to

PAIRS = list(pairs())
SOME = [
    ("constant", None, {"decision": [0.4, 1.0]}),
    ("ts-bocu", "wcs:mmd", {"posterior": "fourier", "features": 16, "pairs": True}),
    ("pe-gp-ucb", "gen:mmd", {"sqrt_beta": 1.5, "test": "rule"}),
]
"""With parameters; all by themselves, and interrupted: tests/testing/test_our_own.py."""
PROTOCOLS = ["general", "data-driven", "simulator"]


def test_every_algorithm_has_its_objectives():
    assert {name for name, _ in PAIRS} >= {"ts-bocu", "ucb-bocu-1", "ucb-bocu-2", "minimax-approximation"}
    assert len(PAIRS) > 80


@pytest.mark.parametrize("name", dict(PAIRS))
def test_every_algorithm_runs_on_every_set_it_is_defined_for(name):
    pursued = [objective for each, objective in PAIRS if each == name]
    for i, objective in enumerate(pursued):
        protocol = PROTOCOLS[i % 3]
        arrays = finished(seed_run(specification(name, objective, 5, {"protocol": protocol}))).record.arrays
        assert np.isfinite(arrays["observation"]).all()
        assert (arrays["decision_index"] >= 0).all()
        if protocol == "simulator":
            assert (arrays["recommended"][3:] >= 0).all()


@pytest.mark.parametrize(("name", "objective", "parameters"), SOME)
def test_more_iterations_continue_a_finished_run_bit_for_bit(tmp_path, name, objective, parameters):
    def specified(iterations):
        return specification(name, objective, iterations, {"protocol": "data-driven"}, **parameters)

    assert_continued(tmp_path, specified, (5, 11))


@pytest.mark.parametrize(("name", "objective", "parameters"), SOME)
def test_a_recorded_run_tells_what_was_known(tmp_path, name, objective, parameters):
    specified = specification(name, objective, 8, {"protocol": "simulator"}, **parameters)
    execute(Block(specified, {}, "code"), tmp_path / "run.nc", tmp_path / "checkpoints", 1e9)
    recommended = read_netcdf(tmp_path / "run.nc")["recommended_index"].sel(seed=1)
    for until in (3, 8):
        _, algorithm = replayed_to(tmp_path / "run.nc", {}, 1, until, named=[specified["problem"]["class"]])
        assert algorithm.recommend() == int(recommended.sel(iteration=until))
