"""`bocu.learners.algorithms.confidence`: the worst of the contexts near the mean of the reference."""

import numpy as np
import pytest
from finite_games import CONTEXTS, REFERENCE, UNIFORM, announce, posterior_of, seed_run, specification, start

from bocu.robust.ambiguity.mmd.gram import mmd_radius
from bocu.robust.contexts.estimates import shares


def upper():
    mean, deviation = posterior_of()
    return mean + 1.3 * deviation


def decide(epsilon, reference=REFERENCE):
    return start("stableopt-finite", sqrt_beta=1.3).ask(announce(1, epsilon, reference))


@pytest.mark.parametrize("epsilon", [0.2, 0.4, 0.55, 0.7, 0.8])
def test_the_worst_context_within_the_radius_counts(epsilon):
    within = np.linalg.norm(CONTEXTS - REFERENCE @ CONTEXTS, axis=1) <= epsilon
    assert decide(epsilon) == upper()[:, within].min(axis=1).argmax()


def test_where_none_is_within_the_radius_the_nearest_counts():
    nearest = np.linalg.norm(CONTEXTS - REFERENCE @ CONTEXTS, axis=1).argmin()
    assert decide(0.0) == decide(None) == upper()[:, nearest].argmax()


@pytest.mark.parametrize("pair", [(0, 5), (1, 4), (2, 3)])
def test_of_two_nearest_contexts_the_first_counts(pair):
    """The mean of a symmetric reference on 0, 0.2, ..., 1 is 0.5, between the contexts 2 and 3."""
    reference = np.zeros(6)
    reference[list(pair)] = 0.5
    algorithm = seed_run(specification("stableopt-finite")).algorithm
    assert algorithm.rule_in(announce(1, 0.0, reference)).contexts.tolist() == [2]


def test_all_contexts_count_while_nothing_was_seen():
    assert decide(np.inf, UNIFORM) == upper().min(axis=1).argmax()


def test_the_radius_is_that_of_its_own_set():
    kinds = {
        "mmd": {},
        "tv": {"set": "tv"},
        "fixed": {"set": {"name": "wass", "radius": 0.25}},
    }
    announced = {}
    for label, parameters in kinds.items():
        run = seed_run(specification("stableopt-finite", **parameters))
        while run.t < 1:
            run.play()
        announced[label] = run.announced().epsilon
    situation = run.situation()
    assert announced["tv"] == pytest.approx(np.abs(situation.truth - situation.reference).sum())
    assert announced["fixed"] == 0.25
    assert announced["mmd"] not in (announced["tv"], 0.25)


def test_data_driven_it_takes_the_reference_and_the_radius_of_what_was_seen():
    rule = {"set": {"name": "mmd", "radius": {"delta": 0.1}}}
    run = seed_run(specification("stableopt-finite", problem={"protocol": "data-driven", "initial": 0}, **rule))
    first = run.announced()
    assert first.epsilon == np.inf
    np.testing.assert_array_equal(first.reference, np.full(6, 1 / 6))
    while not run.finished:
        announced = run.announced()
        seen = run.record.arrays["context_index"][: run.done]
        if run.done:
            assert announced.epsilon == mmd_radius(run.done, 0.1)
            np.testing.assert_array_equal(announced.reference, shares(seen, 6))
        run.play()
