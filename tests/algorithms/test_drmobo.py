"""DRMOBO and MOBO: the acquisition written out, one output as several, weights."""

import numpy as np
import pytest
from continuous_games import GRID, after_design, seed_run, specification, upper
from played import finished

from bocu.core.errors import BocuError
from bocu.core.rounds import BoxDomain, Description, FiniteDomain, Round
from bocu.learners.acquisition.base import SurfaceAcquisition
from bocu.learners.algorithms.multi_objective import DRMOBO, MOBO
from bocu.robust.ambiguity import KullbackLeibler, ModifiedChiSquared, TotalVariation, worst_case
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.experiment.registry import find

DECISIONS = np.random.default_rng(9).random((30, 2))
REFERENCE = np.array([0.3, 0.1, 0.05, 0.2, 0.1, 0.15, 0.05, 0.05])


def build(kind, outputs, objective=None, data=12):
    box = BoxDomain(np.zeros(2), np.ones(2), ("x1", "x2"), ("1", "1"))
    contexts = FiniteDomain(GRID, ("c",), ("1",))
    algorithm = kind(
        Description(box, contexts, 0.0, "scalarised", outputs=outputs),
        objective,
        kind.Parameters(search={"raw": 64, "restarts": 6}),
        np.random.default_rng(3),
    )
    generator = np.random.default_rng(5)
    for _ in range(data):
        x, c = generator.random(2), int(generator.integers(len(GRID)))
        values = np.array([np.sin(3.0 * x.sum() + GRID[c, 0]), np.cos(4.0 * x[0] - GRID[c, 0])])
        algorithm.tell(x, c, values if outputs == 2 else float(values[0]))
    return algorithm


@pytest.mark.parametrize(
    "ambiguity_set", [TotalVariation(0.5), ModifiedChiSquared(0.1), KullbackLeibler(0.2)], ids=repr
)
def test_the_worst_case_of_the_scalarised_upper_bound(ambiguity_set):
    algorithm = build(DRMOBO, 2, UncertaintyObjective.dro(ambiguity_set.with_epsilon(0.0)))
    round = Round(t=1, reference=REFERENCE, epsilon=ambiguity_set.epsilon, weights=np.array([0.3, 0.7]))
    posteriors = [model.glance(np.random.default_rng(0)) for model in algorithm.models]
    points, functional = algorithm._game(posteriors, round, np.random.default_rng(0))
    found = SurfaceAcquisition(algorithm._surface(posteriors, points, 1.5, round), functional)(DECISIONS)[0]
    each = zip(round.weights, posteriors, strict=True)
    table = sum(weight * upper(posterior, GRID, DECISIONS) for weight, posterior in each)
    np.testing.assert_allclose(found, worst_case(table, REFERENCE, ambiguity_set).value, rtol=1e-8)


def rounds(weights, epsilon=0.3):
    return Round(t=1, reference=REFERENCE, epsilon=epsilon, weights=weights)


def test_one_output_is_the_first_of_two_with_all_the_weight():
    objective = UncertaintyObjective.dro(TotalVariation(0.0))
    single, double = build(DRMOBO, 1, objective), build(DRMOBO, 2, objective)
    expected = single.ask(rounds(np.ones(1)))
    np.testing.assert_array_equal(double.ask(rounds(np.array([1.0, 0.0]))), expected)
    np.testing.assert_array_equal(build(DRMOBO, 1, objective).ask(rounds(None)), expected)


def test_weights_decide():
    objective = UncertaintyObjective.dro(TotalVariation(0.0))
    asked = [build(DRMOBO, 2, objective).ask(rounds(np.array([w, 1.0 - w]))) for w in (0.0, 1.0)]
    assert np.abs(asked[0] - asked[1]).max() > 0.1


def test_without_radius_drmobo_is_mobo():
    weights = np.array([0.4, 0.6])
    robust = build(DRMOBO, 2, UncertaintyObjective.dro(TotalVariation(0.0))).ask(rounds(weights, 0.0))
    np.testing.assert_allclose(robust, build(MOBO, 2).ask(rounds(weights, None)), atol=1e-6)


def test_radius_reference_and_weights_are_the_rounds():
    run = after_design("drmobo")
    told = run.announced()
    assert told.epsilon == 0.4
    np.testing.assert_allclose(told.reference, 1.0 / len(GRID))
    assert told.weights.shape == (2,)
    assert not np.array_equal(told.weights, run.realisation.weights(2))


def test_fits_of_both_outputs_are_reported():
    run = finished(seed_run(specification("drmobo", iterations=2)))
    assert run.record.arrays["observation"].shape == (5, 2)
    first, second = (run.record.arrays[f"output_{k}_lengthscale_1"][3:] for k in (1, 2))
    assert (first > 0.0).all()
    assert not np.array_equal(first, second)


def test_other_objectives_and_contexts_are_refused():
    with pytest.raises(BocuError, match="other than SO, which is mobo's"):
        build(DRMOBO, 2, UncertaintyObjective.so())
    parameters = DRMOBO.Parameters()
    for name, given in (("dro", {}), ("so", None), ("gen", {}), ("rs", {"tau": 0.1}), ("ro", {}), ("wcs", {})):
        kind = find("objective", name).load().Parameters
        assert bool(parameters.unfit(name, kind(**(given or {})))) == (given is None)
    box = BoxDomain(np.zeros(2), np.ones(2), ("x1", "x2"), ("1", "1"))
    with pytest.raises(BocuError, match="finite contexts are wanted"):
        MOBO(Description(box, box, 0.0, "scalarised"), None, MOBO.Parameters(), np.random.default_rng(0))
