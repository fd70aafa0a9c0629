"""Two outputs of simulated tables: against the raw tables, and against the problems of one output."""

import numpy as np
import pytest
from experiments import scoring

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.parameters import validate
from bocu.core.randomness import Streams
from bocu.problems.data.prepare import prepare
from bocu.problems.irrigation import Irrigation, IrrigationParameters
from bocu.problems.two_objectives import (
    IrrigationTwo,
    IrrigationTwoParameters,
    WakeSteeringTwo,
    WakeSteeringTwoParameters,
)
from bocu.problems.wake_steering import WakeSteering, WakeSteeringParameters
from bocu.robust.ambiguity import TotalVariation
from bocu.sweep.evaluation.metrics import ExpectedPayoff, ExpectedPayoffParameters
from bocu.sweep.runs.protocol import PROTOCOLS

JUMP = ["historical", "historical", "ssp585-2080-99"]
TURN = [{"wind": {"mean": 2, "sd": 3}}, {"wind": {"mean": 2, "sd": 3}}, {"wind": {"mean": -4, "sd": 3}}]
TWO = {
    "irrigation": (IrrigationTwo, IrrigationTwoParameters),
    "wake-steering": (WakeSteeringTwo, WakeSteeringTwoParameters),
}
ONE = {"irrigation": (Irrigation, IrrigationParameters), "wake-steering": (WakeSteering, WakeSteeringParameters)}
UNITS = {"irrigation": 1000.0, "wake-steering": 100.0}
CHANGING = {"irrigation": JUMP, "wake-steering": TURN}
RECORDS = {"irrigation": "suffolk", "wake-steering": "row-of-three"}


@pytest.fixture(scope="module")
def files(catalogue, tmp_path_factory):
    """Raw and prepared file of each data set."""
    found = {}
    for dataset, record in RECORDS.items():
        raw = catalogue.raw_paths(dataset, record, "shipped")
        out = tmp_path_factory.mktemp(dataset) / "table.nc"
        prepare(catalogue.record(dataset, record).prepare, raw, out, catalogue.origin(dataset, record, "shipped"))
        found[dataset] = raw[0], str(out)
    return found


def built(kinds, dataset, files, **changes):
    problem, parameters = kinds[dataset]
    return problem(validate(parameters, changes, "here: "), {"data": files[dataset][1]})


def met(realisation, rounds=6):
    """Situations of the initial design and of some rounds; only the context of index 1 was seen."""
    return [
        PROTOCOLS["scalarised"].situation(realisation, t, np.ones(max(t - 1, 0), dtype=int)) for t in range(-2, rounds)
    ]


def test_profit_and_water_are_those_of_the_raw_table(files):
    problem, season = built(TWO, "irrigation", files), read_netcdf(files["irrigation"][0])
    water, cell = season["water"].values, problem.alone.situations.cell
    profit = season["dry_yield"].values.astype(float) - 0.008 * water - 6.0
    np.testing.assert_allclose(problem.outcomes[..., 1], np.tile((506 - water[:, :1]) / 100, (1, cell.max() + 1)))
    for context in (0, 7):
        np.testing.assert_allclose(problem.outcomes[:, context, 0], profit[:, cell == context].mean(axis=1), atol=1e-5)


def test_gain_and_yaw_are_those_of_the_raw_table(files):
    problem, winds = built(TWO, "wake-steering", files), read_netcdf(files["wake-steering"][0])
    np.testing.assert_allclose(problem.outcomes[..., 0], winds["gain"].values / 100)
    spared = 3.0 - np.abs(winds["yaw"].values).mean(axis=1) / 10
    np.testing.assert_allclose(problem.outcomes[..., 1], np.tile(spared[:, None], (1, 64)), atol=1e-12)


@pytest.mark.parametrize("dataset", TWO)
def test_all_weight_on_the_first_output_is_the_problem_of_one(files, dataset):
    two, one = built(TWO, dataset, files), built(ONE, dataset, files)
    realisation = two.realise(Streams(0))
    table = realisation.table(two.decisions.points)
    np.testing.assert_array_equal(table @ [1.0, 0.0], one.payoff_table(Streams(0)) / UNITS[dataset])
    assert realisation.payoff(5, 3).tolist() == table[5, 3].tolist()


@pytest.mark.parametrize("dataset", TWO)
@pytest.mark.parametrize("reference", [None, "announced", {"name": "window", "length": 2}])
def test_laws_are_those_of_the_problem_of_one(files, dataset, reference):
    stated = {"truth": CHANGING[dataset], **({"reference": reference} if reference else {})}
    two = built(TWO, dataset, files, **stated).realise(Streams(0))
    one = built(ONE, dataset, files, **stated).realise(Streams(0))
    for here, there in zip(met(two), met(one), strict=True):
        np.testing.assert_array_equal(here.reference, there.reference)
        np.testing.assert_array_equal(here.truth, there.truth)
        assert here.observed == there.observed
    np.testing.assert_array_equal(two.description.contexts.points, one.description.contexts.points)
    assert two.description.contexts.names == one.description.contexts.names
    assert not np.array_equal(two.truth(2), two.truth(3))


def test_laws_of_contexts_shift_and_are_checked_while_planning(files):
    law = {"law": {"name": "normal", "parameters": {"mean": 0.3}}}
    shift = {"name": "jump", "parameters": {"at": 3, "to": {"name": "normal", "parameters": {"mean": 0.7}}}}
    both = [built(kinds, "irrigation", files, truth=law, shift=shift).truth_in(3) for kinds in (TWO, ONE)]
    np.testing.assert_array_equal(*both)
    with pytest.raises(BocuError, match=r"shift: found the truth 'ssp585-2040-59', which is no law"):
        IrrigationTwo.check_rounds(IrrigationTwoParameters(shift=shift), 10)


def test_a_season_of_the_cell_is_observed_and_all_of_the_water(files):
    two = built(TWO, "irrigation", files, noise=1e-6)
    realisation, situations = two.realise(Streams(0)), two.alone.situations
    generator = np.random.default_rng(0)
    seen = np.array([realisation.observe(70, 1, realisation.payoff(70, 1), generator) for _ in range(200)])
    seasons = situations.payoffs[70, situations.cell == 1] / 1000
    assert len(seasons) > 1
    assert np.abs(np.subtract.outer(seen[:, 0], seasons)).min(axis=1).max() < 1e-5
    assert len(set(np.round(seen[:, 0], 4))) == len(seasons)
    assert set(seen[:, 1]) == {realisation.payoff(70, 1)[1]}


@pytest.mark.parametrize("dataset", TWO)
def test_regret_is_against_the_best_of_all_decisions_at_the_weights_of_the_round(files, dataset):
    realisation = built(TWO, dataset, files, truth=CHANGING[dataset]).realise(Streams(7))
    situations, points = met(realisation), realisation.description.decisions.points
    taken = np.random.default_rng(0).integers(len(points), size=len(situations))
    under_truth = ExpectedPayoff(ExpectedPayoffParameters(under="truth"))
    robust = scoring("DistributionallyRobust", set={"name": "tv", "radius": 0.5})
    for metric in (under_truth, robust):
        regret, value = metric.score(realisation, situations, taken)
        for row, situation in enumerate(situations):
            payoffs = realisation.table(points) @ situation.weights
            if metric is robust:
                worth, _ = TotalVariation(0.5).values(payoffs, situation.reference)
            else:
                worth = payoffs @ situation.truth
            assert value[row] == pytest.approx(worth[taken[row]], abs=1e-9)
            assert value[row] + regret[row] == pytest.approx(worth.max(), abs=1e-9)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"reference": "historic"}, "reference: found 'historic'; did you mean 'historical'"),
        ({"truth": []}, "truth"),
        ({"contexts": [6]}, "contexts: found"),
        ({"decisions": 20}, "decisions: found 20"),
        ({"noise": 0}, "noise: found 0"),
    ],
)
def test_what_cannot_be_is_refused_while_planning(parameters, said):
    with pytest.raises(BocuError, match=said):
        validate(IrrigationTwoParameters, parameters, "here: ")


def test_weights_of_three_outputs_are_refused_while_planning():
    with pytest.raises(BocuError, match=r"scalarisation: found .*; allowed: 2 numbers, one an output"):
        IrrigationTwo.outline(IrrigationTwoParameters(scalarisation=[1.0, 2.0, 3.0]))
    assert IrrigationTwo.outline(IrrigationTwoParameters()).decisions.size == 144
    assert WakeSteeringTwo.outline(WakeSteeringTwoParameters()).decisions.size == 961
