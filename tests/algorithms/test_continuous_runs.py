"""All algorithms with continuous decisions in the run loop: interrupted, continued, replayed."""

from functools import cache

import numpy as np
import pytest
from continuous_games import SMALL, after_design, seed_run, specification
from played import assert_continued, finished, gone_on, numbers

from bocu.core.io.files import read_netcdf
from bocu.sweep.runs.execution import Block, execute, replayed_to

EXAMPLES = [(name, {}) for name in SMALL] + [
    ("sbo-kde", {"model": {"kernel": "joint"}}),
    ("sbo-kde", {"model": {"refit_every": 3, "fit_restarts": 1}}),
    ("drbo-mmd", {"mmd_kernel": "context-part-of-model", "grid": "diagonal"}),
    ("minimax-continuous", {"sensitivity": "identity"}),
    ("drmobo", {"outputs": 1}),
]
NAMES = [f"{name}-{'-'.join(map(str, given))}" for name, given in EXAMPLES]


PLACES = range(len(SMALL))
SOME = ("sbo-kde", "drmobo")
"""Of these, in a file; of all, as they stand: tests/testing/test_our_own.py."""


@cache
def whole(place):
    """Return the finished run of an example, which several tests look at."""
    name, given = EXAMPLES[place]
    return finished(seed_run(specification(name, **given)))


@pytest.mark.parametrize("place", range(len(SMALL), len(EXAMPLES)), ids=NAMES[len(SMALL) :])
def test_an_interrupted_run_goes_on_bit_for_bit(tmp_path, place):
    name, given = EXAMPLES[place]
    broken, resumed = (seed_run(specification(name, **given)) for _ in range(2))
    for _ in range(5):
        broken.play()
    assert numbers(gone_on(tmp_path, broken, resumed)) == numbers(whole(place))


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


@pytest.mark.parametrize("place", PLACES, ids=SMALL)
def test_decisions_stay_in_the_box_and_fits_are_reported(place):
    run = whole(place)
    decisions = run.record.arrays["decision"]
    assert ((decisions >= 0.0) & (decisions <= 1.0)).all()
    for report in run.algorithm.reports:
        values = run.record.arrays[report.name]
        assert np.isnan(values[:3]).all()
        assert (values[3:] > 0.0).all(), report.name


def test_all_algorithms_meet_the_same_contexts_and_noise():
    arrays = [whole(place).record.arrays for place, name in enumerate(SMALL) if "mobo" not in name]
    for other in arrays[1:]:
        np.testing.assert_array_equal(other["context"], arrays[0]["context"])
        noise = [each["observation"] - each["payoff"] for each in (arrays[0], other)]
        np.testing.assert_allclose(*noise, atol=1e-12)


@pytest.mark.parametrize("name", list(SMALL))
def test_before_any_observation_a_decision_is_still_given(name):
    run = after_design(name)
    run.algorithm.restore(seed_run(specification(name)).algorithm.state())
    decision = run.algorithm.ask(run.announced())
    assert decision.shape == (2,)
    assert ((decision >= 0.0) & (decision <= 1.0)).all()
    assert run.algorithm.recommend().tolist() == [0.0, 0.0]
