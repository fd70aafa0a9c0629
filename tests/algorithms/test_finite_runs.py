"""All algorithms on finite contexts in the run loop: every set, every protocol, interrupted and continued."""

import numpy as np
import pytest
from finite_games import pairs, seed_run, specification
from played import assert_continued, finished, gone_on, numbers

from bocu.core.io.files import read_netcdf
from bocu.sweep.runs.execution import Block, execute, replayed_to

PAIRS = list(pairs())
EXAMPLES = [
    ("random", None, {}),
    ("constant", None, {"decision": [0.4, 1.0]}),
    ("ucb-so", None, {}),
    ("ucb-ro", None, {}),
    ("stableopt-finite", None, {}),
    ("ucb-bocu-1", "gen:mmd", {}),
    ("ucb-bocu-2", "dro:tv", {}),
    ("ts-bocu", "gen:tv", {}),
    ("ts-bocu", "wcs:mmd", {"posterior": "fourier", "features": 16, "pairs": True}),
    ("minimax-approximation", "dro:wass", {}),
    ("pe-gp-ucb", "gen:mmd", {"sqrt_beta": 1.5, "test": "rule"}),
    ("mle", "dro:tv", {}),
    ("fully-bayesian", "rs:kl", {}),
    ("regret-balancing", "so", {}),
    ("oracle", "wcs:tv", {}),
]
PROTOCOLS = ["general", "data-driven", "simulator"]
SOME = [example for example in EXAMPLES if example[2]]
"""Those with parameters; of all by themselves: tests/testing/test_our_own.py."""


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
def test_an_interrupted_run_goes_on_bit_for_bit(tmp_path, name, objective, parameters):
    specified = specification(name, objective, 9, {"protocol": "simulator"}, **parameters)
    whole = numbers(finished(seed_run(specified)))
    for rows in (0, 2, 8):
        broken = seed_run(specified)
        for _ in range(rows):
            broken.play()
        assert numbers(gone_on(tmp_path / str(rows), broken, seed_run(specified))) == whole


@pytest.mark.parametrize(("name", "objective", "parameters"), SOME)
def test_more_iterations_continue_a_finished_run_bit_for_bit(tmp_path, name, objective, parameters):
    def specified(iterations):
        return specification(name, objective, iterations, {"protocol": "data-driven"}, **parameters)

    assert_continued(tmp_path, specified, (5, 11))


@pytest.mark.parametrize(("name", "objective", "parameters"), EXAMPLES)
def test_a_recorded_run_tells_what_was_known(tmp_path, name, objective, parameters):
    specified = specification(name, objective, 8, {"protocol": "simulator"}, **parameters)
    execute(Block(specified, {}, "code"), tmp_path / "run.nc", tmp_path / "checkpoints", 1e9)
    recommended = read_netcdf(tmp_path / "run.nc")["recommended_index"].sel(seed=1)
    for until in (3, 8):
        _, algorithm = replayed_to(tmp_path / "run.nc", {}, 1, until, named=[specified["problem"]["class"]])
        assert algorithm.recommend() == int(recommended.sel(iteration=until))


def test_all_algorithms_meet_the_same_noise_and_contexts():
    noise, contexts = [], []
    for name, objective, parameters in EXAMPLES:
        arrays = finished(seed_run(specification(name, objective, 6, **parameters))).record.arrays
        noise.append(arrays["observation"] - arrays["payoff"])
        contexts.append(arrays["context_index"])
    for others, first in ((noise[1:], noise[0]), (contexts[1:], contexts[0])):
        for other in others:
            np.testing.assert_allclose(other, first, atol=1e-12)
