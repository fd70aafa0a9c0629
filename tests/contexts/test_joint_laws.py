"""Stated mixtures, tables, kernel densities and histograms: what is drawn, weighed and integrated is one law."""

import json
import re

import numpy as np
import pytest
from scipy.stats import norm

from bocu.core.errors import BocuError
from bocu.core.parameters import Reading, validate
from bocu.problems.optima import quadrature_rule, sobol_rule
from bocu.robust.contexts.estimates import product_grid
from bocu.robust.contexts.laws import LawParameters

GENERATOR = np.random.default_rng(5)
LINE = GENERATOR.normal(0.4, 0.1, 40).clip(0.05, 0.95)
PLANE = np.column_stack([LINE, LINE**2])

NORMAL = {"name": "normal", "parameters": {"mean": 0.3, "std": 0.1}}
MIXTURE = {"name": "mixture", "parameters": {"of": [{"law": NORMAL, "weight": 3}, {"law": "uniform", "weight": 1}]}}
NESTED = {"name": "mixture", "parameters": {"of": [{"law": MIXTURE}, {"law": "burr-xii", "weight": 0.5}]}}
HISTOGRAM = {"name": "histogram", "parameters": {"weights": [1, 0, 2, 5]}}
SLICE = {"name": "uniform", "parameters": {"low": 0.15, "high": 0.35}}
JOINT = {"name": "histogram", "parameters": {"weights": [0, 1, 2, 3, 0, 6], "cells": [2, 3]}}
EACH = {"name": "coordinates", "parameters": {"of": [NORMAL, HISTOGRAM]}}


def stated(law):
    return LawParameters.model_validate(law)


def data(name, table, **more):
    return {"name": name, "parameters": {"data": np.asarray(table).tolist(), **more}}


ON_THE_LINE = [MIXTURE, NESTED, HISTOGRAM, SLICE, data("kde", LINE), data("empirical", LINE)]
IN_THE_PLANE = [MIXTURE, HISTOGRAM, JOINT, EACH, data("kde", PLANE, bandwidth=[0.05, 0.03]), data("empirical", PLANE)]
CASES = [(law, 1) for law in ON_THE_LINE] + [(law, 2) for law in IN_THE_PLANE]


def payoff(contexts):
    return np.sin(3.0 * contexts[:, 0]) + contexts.sum(axis=1) ** 2


@pytest.mark.parametrize(("law", "dimension"), CASES)
def test_draws_points_and_quadrature_have_the_same_expectation(law, dimension):
    made = stated(law).over(dimension)
    exact = quadrature_rule(made)
    assert exact.weights.sum() == pytest.approx(1.0, abs=1e-9)
    wanted = exact.weights @ payoff(exact.points)
    sobol = sobol_rule(made, 2**14)
    assert sobol.weights @ payoff(sobol.points) == pytest.approx(wanted, abs=2e-3)
    drawn = payoff(made.sample(np.random.default_rng(0), 20_000))
    assert drawn.mean() == pytest.approx(wanted, abs=4.5 * drawn.std() / np.sqrt(len(drawn)))


@pytest.mark.parametrize(("law", "dimension"), CASES)
def test_weights_on_a_grid_approach_the_law(law, dimension):
    points = product_grid(np.zeros(dimension), np.ones(dimension), 600 if dimension == 1 else 60)
    weights = stated(law).weights_on(points)
    assert weights.shape == (len(points),)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0)
    exact = quadrature_rule(stated(law).over(dimension))
    assert weights @ payoff(points) == pytest.approx(exact.weights @ payoff(exact.points), abs=0.02)


def test_a_mixture_hands_each_part_the_numbers_that_it_would_meet_alone():
    mixed = stated(MIXTURE).over(2).sample(np.random.default_rng(1), 400)
    alone = [stated(law).over(2).sample(np.random.default_rng(1), 400) for law in (NORMAL, "uniform")]
    first, second = ((mixed == one).all(axis=1) for one in alone)
    assert (first | second).all()
    assert first.mean() == pytest.approx(0.75, abs=0.07)


def test_a_sample_is_drawn_in_the_order_of_the_uniform_numbers():
    drawn = stated(data("empirical", [0.9, 0.1, 0.5])).over(1).transform(np.array([[0.2], [0.5], [0.8]]))
    assert drawn[:, 0].tolist() == [0.1, 0.5, 0.9]


def test_a_sample_is_counted_at_the_nearest_context():
    weights = stated(data("empirical", [0.1, 0.12, 0.6, 1.4])).weights_on(np.array([[0.0], [0.5], [1.0]]))
    assert weights.tolist() == [0.5, 0.25, 0.25]


def test_a_kernel_density_is_that_of_its_kernels_and_clipped():
    law = stated(data("kde", [0.2, 0.9], bandwidth=0.2)).over(1)
    at = np.array([0.0, 0.4, 1.3])
    np.testing.assert_allclose(law.density(at[:, None]), norm.pdf(at[:, None], [0.2, 0.9], 0.2).mean(axis=1))
    np.testing.assert_allclose(
        law.atoms(), [[norm.cdf(0.0, [0.2, 0.9], 0.2).mean(), norm.sf(1.0, [0.2, 0.9], 0.2).mean()]]
    )
    assert law.sample(np.random.default_rng(0), 500).max() == 1.0
    assert law.unclipped().sample(np.random.default_rng(0), 500).max() > 1.0


def test_a_narrow_kernel_density_still_weighs_contexts_that_it_does_not_touch():
    weights = stated(data("kde", [0.26, 0.26])).weights_on(np.array([[0.0], [0.25], [0.5]]))
    assert weights.tolist() == [0.0, 1.0, 0.0]


def test_histograms_stay_within_cells_that_have_weight():
    drawn = stated(JOINT).over(2).sample(np.random.default_rng(0), 12_000)
    cells = (drawn * [2, 3]).astype(int)
    shares = np.bincount(cells[:, 0] * 3 + cells[:, 1], minlength=6) / len(cells)
    np.testing.assert_allclose(shares, np.array([0, 1, 2, 3, 0, 6]) / 12, atol=0.02)
    assert shares[0] == shares[4] == 0.0


def test_weights_of_a_histogram_are_those_of_as_many_grid_points():
    weights = np.random.default_rng(2).random(12)
    law = {"name": "histogram", "parameters": {"weights": weights.tolist(), "cells": [4, 3]}}
    found = stated(law).weights_on(product_grid([0, 0], [1, 1], [4, 3]))
    np.testing.assert_allclose(found, weights / weights.sum())


def test_expectations_under_a_histogram_are_exact_by_quadrature():
    weights = [3, 0, 2, 1, 4]
    rule = quadrature_rule(stated({"name": "histogram", "parameters": {"weights": weights}}).over(1))
    mean = np.average([0.1, 0.3, 0.5, 0.7, 0.9], weights=weights)
    assert rule.weights @ rule.points[:, 0] == pytest.approx(mean, rel=1e-12)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "rain.csv").write_text("day,rain,heat\n1,10,20\n2,30,22\n3,20,24\n4,5,x\n")
    return tmp_path


def test_a_table_is_read_from_the_folder_of_the_experiment_and_stands_in_what_is_stated(table):
    law = data("empirical", [])
    law["parameters"]["data"] = {"file": "rain.csv", "columns": ["rain"], "last": 3, "lower": [0], "upper": [40]}
    made = validate(LawParameters, law, "", Reading(table))
    assert made.parameters["data"] == [[0.25], [0.75], [0.5]]
    again = LawParameters.model_validate(json.loads(json.dumps(made.model_dump(mode="json"))))
    np.testing.assert_array_equal(again.over(1).support[0], [[0.25], [0.75], [0.5]])


@pytest.mark.parametrize(
    ("name", "parameters", "line"),
    [
        ("empirical", {"data": {"file": "rain.csv", "columns": ["wind"]}}, "rain.csv: no column 'wind'; it has day"),
        ("empirical", {"data": {"file": "rain.csv", "first": 9}}, "rain.csv: no rows from 9 to the last; it has 4"),
        ("kde", {"data": {"file": "rain.csv"}}, "a number is missing in rows 1 to 4"),
        ("kde", {"data": {"file": "snow.csv"}}, "snow.csv: no table of contexts"),
        ("empirical", {"data": []}, "0 rows of 0 numbers; one row or more"),
        ("empirical", {"data": [[0.1, 0.2], [0.3]]}, "2 rows of 3 numbers; one row or more, all of one length"),
        ("histogram", {"weights": [0, 0]}, "all weights are 0"),
        ("histogram", {"weights": [1, 2, 3], "cells": [2, 2]}, "3 weights for 4 cells"),
        ("mixture", {"of": [{"law": "normal", "weight": 0}]}, "all weights are 0"),
        ("mixture", {"of": [{"law": "norml"}]}, "unknown law 'norml'; did you mean 'normal'"),
        ("uniform", {"low": 0.5, "high": 0.5}, "high is to be above low"),
    ],
)  # fmt: skip
def test_what_is_no_law_is_one_line(table, name, parameters, line):
    with pytest.raises(BocuError, match=re.escape(line)) as caught:
        validate(LawParameters, {"name": name, "parameters": parameters}, "law: ", Reading(table))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("law", "line"),
    [
        (data("empirical", LINE), "the data have 1 columns; contexts have 2 coordinates"),
        (data("kde", PLANE, bandwidth=[0.1]), "bandwidth: found 1 numbers; contexts have 2"),
        (JOINT | {"parameters": {"weights": [1], "cells": [1]}}, "cells: found 1 numbers; contexts have 2"),
        (data("empirical", []) | {"name": "coordinates", "parameters": {"of": [NORMAL]}}, "found 1 coordinates"),
        ({"name": "coordinates", "parameters": {"of": [NORMAL, MIXTURE]}}, "'mixture' cannot be one of several"),
    ],
)
def test_a_law_of_other_coordinates_is_refused(law, line):
    with pytest.raises(BocuError, match=re.escape(line)):
        stated(law).over(2)


def test_a_law_without_mass_at_any_context_is_refused():
    law = {"name": "uniform", "parameters": {"low": 0.1, "high": 0.2}}
    with pytest.raises(BocuError, match="law: 'uniform': its density is 0 at every context"):
        stated(law).weights_on(np.array([[0.0], [0.5], [1.0]]))
