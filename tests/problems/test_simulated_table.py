"""Problems on tables that simulators filled: laws over situations, cells, and observations of single situations."""

import numpy as np
import pytest
import xarray as xr

from bocu.core.errors import BocuError
from bocu.core.io.files import write_netcdf
from bocu.core.parameters import validate
from bocu.core.randomness import Streams
from bocu.problems.irrigation import Irrigation, IrrigationParameters
from bocu.problems.priors.observations import table_rows
from bocu.problems.priors.statements import Period, Scenario
from bocu.problems.wake_steering import WakeSteering, WakeSteeringParameters
from bocu.sweep.evaluation.worst_share import WorstShare, WorstShareParameters
from bocu.sweep.runs.protocol import PROTOCOLS

SAID = {"long_name": "anything", "units": "1"}
LAWS = ("observed", "historical", "ssp585-2040-59", "ssp585-2080-99")


@pytest.fixture
def file(tmp_path):
    """A table of 4 plans and 24 seasons, six a collection, of two origins each; drier and drier."""
    generator = np.random.default_rng(0)
    rain = np.concatenate([300.0 - 60.0 * law + 20.0 * generator.standard_normal(6) for law in range(4)])
    weather = np.stack([rain, 500.0 - rain + generator.standard_normal(24)], axis=1)
    plans = np.array([(early, late) for early in (0.0, 1.0) for late in (0.0, 1.0)])
    payoff = -np.abs(weather[:, 0] - 200.0 * plans.sum(axis=1)[:, None]) + 5.0 * generator.standard_normal((4, 24))
    data = xr.Dataset(
        {
            "payoff": (("decision", "situation"), payoff, SAID),
            "decisions": (("decision", "decision_dim"), plans, SAID),
            "features": (("situation", "context_dim"), weather / 500.0, SAID),
            "situation_values": (("situation", "context_dim"), weather, SAID),
            "law": ("situation", np.repeat(LAWS, 6), SAID),
            "origin": ("situation", np.tile(["north", "south"], 12), SAID),
            "year": ("situation", np.tile(np.arange(2000, 2006), 4), SAID),
        },
        attrs={"decision_inputs": "early late", "context_inputs": "rain evapotranspiration", "data_label": ""},
    )
    write_netcdf(data, tmp_path / "table.nc")
    return str(tmp_path / "table.nc")


def irrigation(file, **changes):
    return Irrigation(IrrigationParameters(decision_points=[2, 2], context_points=[2, 2], **changes), {"data": file})


def test_a_context_is_the_mean_of_its_cell_and_an_observation_a_season_of_it(file):
    problem = irrigation(file, noise=1e-6)
    realisation, situations = problem.realise(Streams(0)), problem.situations
    assert len(problem.contexts) == situations.cells <= 4
    for context in range(situations.cells):
        seasons = situations.payoffs[2, situations.cell == context]
        assert realisation.payoff(2, context) == pytest.approx(seasons.mean())
        generator = np.random.default_rng(context)
        seen = [realisation.observe(2, context, 0.0, generator) for _ in range(3000)]
        nearest = np.abs(np.subtract.outer(seen, seasons))
        assert nearest.min(axis=1).max() < 1e-4
        shares = np.bincount(nearest.argmin(axis=1), minlength=len(seasons)) / len(seen)
        np.testing.assert_allclose(shares, 1 / len(seasons), atol=0.05)


def test_algorithms_are_told_the_spread_of_each_cell(file):
    problem = irrigation(file, noise=3.0)
    payoffs, cell = problem.situations.payoffs, problem.situations.cell
    spread = [payoffs[:, cell == number].var(axis=1).mean() for number in range(problem.situations.cells)]
    np.testing.assert_allclose(problem.model.noise, np.sqrt(np.array(spread) + 9.0))
    assert irrigation(file, ridge=4.0).model.noise == 2.0


def test_distributions_count_seasons_by_cell(file):
    problem = irrigation(
        file,
        reference=["historical", {"seasons": "observed", "origin": "south"}, {"seasons": "observed", "driest": 2}],
        truth="uniform",
    )
    cell, cells, told = problem.situations.cell, problem.situations.cells, problem.situations.told
    wanted = np.bincount(cell[told["law"] == "historical"], minlength=cells) / 6
    np.testing.assert_allclose(problem.references[0], wanted)
    southern = (told["law"] == "observed") & (told["origin"] == "south")
    np.testing.assert_allclose(problem.references[1], np.bincount(cell[southern], minlength=cells) / 3)
    rain = np.where(told["law"] == "observed", problem.situations.values[:, 0], np.inf)
    np.testing.assert_allclose(problem.references[2], np.bincount(cell[np.argsort(rain)[:2]], minlength=cells) / 2)
    np.testing.assert_allclose(problem.truths[0], 1 / cells)


def test_the_driest_seasons_are_those_of_the_least_rain(file):
    law = {"seasons": "observed", "driest": 2}
    problem = Irrigation(
        IrrigationParameters(decision_points=[2, 2], context_points=[6, 1], reference=law), {"data": file}
    )
    rain = problem.situations.values[problem.situations.told["law"] == "observed", 0]  # they stand first
    driest, wettest = (problem.situations.cell[np.argsort(sign * rain)[:2]] for sign in (1.0, -1.0))
    assert not set(driest) & set(wettest)
    assert problem.references[0][driest] @ np.ones(2) >= 1.0
    assert not problem.references[0][wettest].any()


def test_single_seasons_are_scored_by_the_worst_of_them(file):
    realisation = irrigation(file, truth="ssp585-2080-99").realise(Streams(0))
    outcomes, probabilities = realisation.outcomes(1)
    seasons = outcomes[:, probabilities > 0]
    assert seasons.shape == (4, 6)
    metric = WorstShare(WorstShareParameters(share=0.5))
    situations = [PROTOCOLS["general"].situation(realisation, t, np.empty(0)) for t in (1, 2)]
    regret, value = metric.score(realisation, situations, np.array([1, 3]))
    worst = np.sort(seasons, axis=1)[:, :3].mean(axis=1)
    np.testing.assert_allclose(value, worst[[1, 3]])
    np.testing.assert_allclose(regret, worst.max() - value)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("historic", "reference: found 'historic'; did you mean 'historical'"),
        ({"seasons": "observed", "driest": 0}, "driest"),
    ],
)
def test_what_is_no_law_is_refused_while_planning(reference, said):
    with pytest.raises(BocuError, match=said):
        validate(IrrigationParameters, {"reference": reference}, "here: ")


def test_seasons_that_are_not_there_are_refused(file):
    with pytest.raises(BocuError, match="origin: found 'west'; 'observed' has north, south"):
        irrigation(file, truth={"seasons": "observed", "origin": "west"})
    with pytest.raises(BocuError, match="driest: found 7; allowed: up to 6 seasons"):
        irrigation(file, truth={"seasons": "observed", "driest": 7})
    with pytest.raises(BocuError, match=r"decision_points: found \[12, 12\]"):
        Irrigation(IrrigationParameters(), {"data": file})


def test_rows_of_priors_are_decisions_in_situations(file):
    inputs = ["early", "late", "rain", "evapotranspiration"]
    every = table_rows(file, inputs, None)
    assert every.points.shape == (96, 4)
    driest = table_rows(file, inputs, Scenario(input="rain", part=1, of=4))
    assert len(driest.values) == 24
    assert driest.points[:, 2].max() <= np.sort(np.unique(every.points[:, 2]))[5]
    with pytest.raises(BocuError, match="no input 'snow'"):
        table_rows(file, ["snow"], None)
    with pytest.raises(BocuError, match="its rows have no time"):
        table_rows(file, inputs, Period(period="2001-01"))


def test_a_wind_is_a_cell_of_its_own_and_its_law_normal(tmp_path):
    winds = np.array([(direction, speed) for direction in (-4.0, 2.0, 8.0) for speed in (6.0, 11.0)])
    yaws = np.array([(first, second) for first in (0.0, 0.5, 1.0) for second in (0.0, 1.0)])
    data = xr.Dataset(
        {
            "payoff": (("decision", "situation"), np.arange(36.0).reshape(6, 6), SAID),
            "decisions": (("decision", "decision_dim"), yaws, SAID),
            "features": (("situation", "context_dim"), winds / 12.0, SAID),
            "situation_values": (("situation", "context_dim"), winds, SAID),
        },
        attrs={"data_label": ""},
    )
    write_netcdf(data, tmp_path / "winds.nc")
    parameters = WakeSteeringParameters(decision_points=[3, 2], context_points=[3, 2])
    problem = WakeSteering(parameters, {"data": str(tmp_path / "winds.nc")})
    np.testing.assert_array_equal(problem.payoff_table(Streams(0)), data["payoff"].values)
    weights = np.repeat(np.exp([-2.0, 0.0, -2.0]), 2)  # two standard deviations of three degrees to either side
    np.testing.assert_allclose(problem.references[0], weights / weights.sum())
    np.testing.assert_allclose(problem.model.noise, 20.0)


def test_seasons_by_name_do_not_shift_and_other_laws_do(file):
    high = {"name": "normal", "parameters": {"mean": 0.8, "std": 0.2}}
    jump = {"name": "jump", "parameters": {"at": 3, "to": high}}
    problem = irrigation(file, truth={"law": high}, shift={**jump, "parameters": {"at": 3, "to": "uniform"}})
    realisation = problem.realise(Streams(0))
    cells = problem.situations.cells
    np.testing.assert_allclose(realisation.truth(3), np.full(cells, 1.0 / cells))
    payoffs, probabilities = realisation.outcomes(3)
    np.testing.assert_allclose(payoffs @ probabilities, realisation.payoffs(3) @ realisation.truth(3))
    named = IrrigationParameters(decision_points=[2, 2], context_points=[2, 2], shift=jump)
    with pytest.raises(BocuError, match=r"shift: found the truth 'ssp585-2040-59', which is no law"):
        Irrigation.check_rounds(named, 10)


def test_a_reference_of_seasons_may_be_estimated(file):
    problem = irrigation(file, reference={"name": "window", "length": 2})
    realisation = problem.realise(Streams(0))
    situation = PROTOCOLS["general"].situation(realisation, 4, np.array([0, 1, 1]))
    assert situation.reference[1] == 1.0
    assert situation.observed == 2


def test_a_wind_is_the_same_as_a_law_of_scaled_coordinates():
    wind = WakeSteeringParameters(truth={"wind": {"mean": 3.0, "sd": 4.0}}).truth
    degrees, speeds = np.linspace(-15, 15, 16), np.linspace(0, 1, 4)
    points = np.stack(np.meshgrid((degrees + 15) / 30, speeds, indexing="ij"), axis=-1).reshape(-1, 2)
    weights = np.repeat(np.exp(-0.5 * ((degrees - 3.0) / 4.0) ** 2), 4)
    np.testing.assert_allclose(wind.stated().weights_on(points), weights / weights.sum())
