"""Laws that an experiment file states: ours by name, and one's own in a file."""

import numpy as np
import pytest
from experiments import planned, run_all

from bocu.core.errors import BocuError
from bocu.problems.distributions import ByLaw
from bocu.robust.contexts.laws import LawParameters
from bocu.sweep.evaluation.cubes import open_cube


def newsvendor(label, **parameters):
    return {"name": "newsvendor", "label": label, "parameters": parameters}


def test_contexts_come_from_the_law_that_is_stated(folder):
    beta = {"name": "own.py:Beta", "parameters": {"a": 1.0}}  # which is the uniform distribution
    plan = planned(
        folder, newsvendor("plain"), newsvendor("stated", law="burr-xii"), newsvendor("mine", law=beta),
        newsvendor("flat", law="uniform"),
    )  # fmt: skip
    run_all(plan)
    found = {label: open_cube("results/own", label).load() for label in plan.problems}
    for one, other in (("plain", "stated"), ("mine", "flat")):
        # The stored optimum and a new search end at the same place.
        np.testing.assert_allclose(found[one]["regret"], found[other]["regret"], atol=1e-6)
        np.testing.assert_allclose(found[one]["value"], found[other]["value"], atol=1e-9)
    assert np.abs(found["plain"]["value"] - found["mine"]["value"]).max() > 1e-3
    mine = next(branch for branch in plan.branches.values() if branch.problem.label == "mine")
    assert mine.specification["problem"]["parameters"]["law"]["name"].startswith("Beta@")
    assert any(root.endswith("own.py:Beta") for root in mine.roots)


def test_a_law_weighs_the_contexts_of_a_grid():
    truth = ByLaw.model_validate({"law": {"name": "normal", "parameters": {"mean": 0.5, "std": 0.25}}})
    weights = truth.weights_on(np.array([[0.0], [0.25], [0.5]]))
    np.testing.assert_allclose(weights, np.exp([-2.0, -0.5, 0.0]) / np.exp([-2.0, -0.5, 0.0]).sum())


def test_a_histogram_says_where_its_density_jumps():
    law = LawParameters.model_validate({"name": "histogram", "parameters": {"weights": [1, 3, 2]}}).over(1)
    (breaks,) = law.breaks()
    before, after = (law.density(np.array(breaks)[:, None] + step) for step in (-1e-9, 1e-9))
    np.testing.assert_allclose(after - before, [0.5, 1.0, -0.5, -1.0])


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (newsvendor("x", law="burr"), r"problems\.0\.parameters\.law: found 'burr'; unknown law 'burr'; did you mean"),
        (
            newsvendor("x", law={"name": "own.py:Beta", "parameters": {"a": 0}}),
            r"problems\.0\.parameters\.law\.parameters\.a: found 0; input should be greater than 0",
        ),
        (
            {"name": "hartmann-3", "parameters": {"truth": {"law": {"name": "own.py:Beta", "parameters": {"a": 0}}}}},
            r"problems\.0\.parameters\.truth\.law\.parameters\.a: found 0; input should be greater than 0",
        ),
        (newsvendor("x", law="own.py:Median"), "does not derive from bocu.robust.contexts.laws.Law"),
        (newsvendor("x", law="uniform", optimum="published"), r"parameters\.optimum: found 'published'"),
    ],
)
def test_a_law_that_there_is_not_is_one_line(folder, problem, line):
    with pytest.raises(BocuError, match=line):
        planned(folder, problem)
