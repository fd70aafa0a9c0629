"""`bocu.problems.wind_commitment` under the protocol "rolling-simulator": what an hour knows and brings."""

from pathlib import Path

import numpy as np
import pytest
import wind_power
import xarray as xr
from played import finished

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.core.rounds import Round
from bocu.problems.data.wind import prepare_wind
from bocu.problems.priors.statements import Period
from bocu.problems.wind_commitment import (
    WindCommitment,
    WindCommitmentParameters,
    empirical_windows,
    logged_hours,
    revenue,
)
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, squared_exponential_gram
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.experiment.branches import ProblemPaths
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.seed_run import SeedRun, build_algorithm

MISSING = (700, 701, 745, 746, 747)  # 744 is the first hour that is played


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("wind") / "wind.nc"
    return path, wind_power.write_series(path, missing=MISSING)


def problem(path, **parameters):
    return WindCommitment(WindCommitmentParameters(**{**wind_power.SMALL, **parameters}), {"data": str(path)})


def mmd(first, second, points, lengthscale=0.1):
    gram = np.exp(-((points - points.T) ** 2) / (2 * lengthscale**2))
    return float(np.sqrt((first - second) @ gram @ (first - second)))


def empirical(factors, points):
    known = factors[np.isfinite(factors)]
    counts = np.zeros(len(points))
    for factor in known:
        counts[np.argmin(np.abs(points[:, 0] - factor))] += 1
    return counts / len(known)


@pytest.mark.parametrize(
    ("committed", "generated", "expected"),
    [(0.5, 0.3, 0.3 - 1.0), (0.5, 0.8, 0.5 + 0.03), (0.4, 0.4, 0.4), (0, 1, 0.1)],
)
def test_revenue_by_hand(committed, generated, expected):
    assert revenue(np.array(committed), np.array(generated)) == pytest.approx(expected)


def test_hours_are_sampled_at_a_stride_and_stand_as_they_do_among_all(data):
    path, _ = data
    every = problem(path, hours=40).hours
    some = problem(path, hours=8, every=5).hours
    for name in ("begin", "generated", "references", "margins"):
        np.testing.assert_array_equal(getattr(some, name), getattr(every, name)[::5])
    with pytest.raises(BocuError, match="hours: found 60"):
        problem(path, hours=60, every=5)


def test_windows_count_the_hours_that_have_a_value():
    levels = np.array([0, 1, -1, 1, -1, -1, 2])
    windows = empirical_windows(levels, 3, 3)
    assert np.isnan(windows[:3]).all()
    assert windows[3].tolist() == [0.5, 0.5, 0.0]
    assert windows[4].tolist() == [0.0, 1.0, 0.0]
    assert windows[6].tolist() == [0.0, 1.0, 0.0]
    assert windows[7].tolist() == [0.0, 0.0, 1.0]
    assert np.isnan(empirical_windows(np.full(4, -1), 2, 3)).all()


def test_hours_without_a_value_are_not_played(data):
    path, factors = data
    hours = problem(path).hours
    since = (hours.begin - np.datetime64("2013-01-01T00")).astype(int)
    assert since[:3].tolist() == [744, 748, 749]
    assert len(since) == 40
    assert np.isfinite(factors[since]).all()


def test_references_and_margins_are_those_of_a_direct_computation(data):
    path, factors = data
    wind = problem(path)
    since = (wind.hours.begin - np.datetime64("2013-01-01T00")).astype(int)
    for place in (0, 1, 17, 39):
        now = since[place]
        windows = [empirical(factors[now - 24 * (k + 1) : now - 24 * k], wind.contexts) for k in range(5)]
        assert wind.hours.references[place] == pytest.approx(windows[0], abs=1e-15)
        distances = [mmd(windows[k], windows[k + 1], wind.contexts) for k in range(4)]
        assert wind.hours.margins[place] == pytest.approx(np.median(distances), abs=1e-4)  # jitter
        nearest = np.argmin(np.abs(wind.contexts[:, 0] - factors[now]))
        assert wind.hours.generated[place] == nearest


def test_what_is_announced_is_the_margin_and_what_comes_is_what_was_generated(data):
    path, _ = data
    run = SeedRun(wind_power.specification("drbo"), problem(path), 0)
    situation = run.situation()
    announced = run.announcer.announce(situation)
    assert announced.epsilon == run.realisation.hours.margins[0]
    assert situation.truth[run.realisation.hours.generated[0]] == 1.0
    assert situation.truth.sum() == 1.0


@pytest.mark.parametrize("algorithm", ["drbo", "ucb", "stableopt", "random"])
def test_every_hour_starts_from_nothing(data, algorithm):
    path, _ = data
    wind = problem(path)
    specification = wind_power.specification(algorithm, iterations=4)
    run = SeedRun(specification, wind, 3)
    streams = Streams(3)
    realisation = wind.realise(streams)
    simulator = PROTOCOLS["simulator"]
    for hour in range(4):
        announced = run.announced()
        run.play()
        fresh = build_algorithm(specification, realisation, streams)
        for chosen in realisation.initial_design(streams["initial-design"], 3):
            simulator.start(realisation, fresh, streams, chosen)
        for step in range(1, 7):
            round_ = Round(step, None, announced.reference, announced.epsilon)
            simulator.play(realisation, fresh, streams, round_)
        streams["contexts"].random()
        assert run.record.arrays["decision_index"][hour] == fresh.recommend()
        assert run.record.arrays["recommended_index"][hour] == fresh.recommend()
    assert streams.state() == run.streams.state()


def assert_same_numbers(one, other):
    one, other = one.drop_vars("seconds").drop_attrs(deep=False), other.drop_vars("seconds").drop_attrs(deep=False)
    xr.testing.assert_identical(one, other)


@pytest.mark.parametrize("algorithm", ["drbo", "random"])
def test_more_hours_continue_a_finished_run_bit_for_bit(tmp_path, data, algorithm):
    straight = wind_power.run(tmp_path, data[0], algorithm, "straight.nc", iterations=7)
    wind_power.run(tmp_path, data[0], algorithm, "grown.nc", iterations=3)
    assert_same_numbers(wind_power.run(tmp_path, data[0], algorithm, "grown.nc", iterations=7), straight)


def test_revenue_is_that_of_the_decisions_and_at_most_what_foresight_brings(tmp_path, data):
    path, _ = data
    wind = problem(path)
    for algorithm in ("random", "commit-zero", "ucb"):
        found = wind_power.run(tmp_path, path, algorithm, f"{algorithm}.nc", iterations=5)
        generated = wind.contexts[wind.hours.generated[:5], 0]
        assert (found["context_index"] == wind.hours.generated[:5]).all()
        expected = revenue(found["decision"].values[..., 0], generated)
        assert found["payoff"].values == pytest.approx(expected)
        assert (found["observation"] == found["payoff"]).all()
        foreseen = sum(max(float(revenue(x, c)) for x in wind.decisions[:, 0]) for c in generated)
        assert (found["payoff"].sum("iteration") <= foreseen + 1e-12).all()
        assert (found["seconds"] > 0).all()
        if algorithm == "commit-zero":
            assert found["payoff"].values == pytest.approx(np.tile(0.1 * generated, (2, 1)))


def test_robust_regret_uses_reference_and_margin_of_its_hour(tmp_path, data):
    path, _ = data
    scores = xr.load_dataset(wind_power.scored(tmp_path, path, "random", iterations=5)).sel(metric="dro")
    found = xr.load_dataset(tmp_path / "random-run.nc")
    wind = problem(path)
    ambiguity_set = MaximumMeanDiscrepancy(0.0, squared_exponential_gram(wind.contexts, 0.1))
    for hour in range(5):
        objective = UncertaintyObjective.dro(ambiguity_set.with_epsilon(wind.hours.margins[hour]))
        values = objective(wind.table, wind.hours.references[hour])
        taken = found["decision_index"].isel(iteration=hour).values
        assert scores["regret"].isel(iteration=hour).values == pytest.approx(values.max() - values[taken], abs=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"start": "2013-01-04"}, "start: found 2013-01-04; with 120 hours before it, .* allow 2013-01-06 and later"),
        ({"start": "2014-01-01"}, "start: found 2014-01-01"),
        ({"hours": 300}, "hours: found 300; from 2013-02-01 on it has 213"),
    ],
)
def test_hours_that_the_data_do_not_hold_are_refused(data, parameters, message):
    with pytest.raises(BocuError, match=message):
        problem(data[0], **parameters)


def test_an_hour_with_nothing_before_it_is_refused(tmp_path):
    wind_power.write_series(tmp_path / "wind.nc", missing=range(750, 774))
    with pytest.raises(BocuError, match="no value in the 24 hours before 2013-02-02T06"):
        problem(tmp_path / "wind.nc")


def test_days_too_few_for_two_windows_are_refused():
    with pytest.raises(ValueError, match=r"margin.days: 3 days hold 1 windows of 48 hours; 2 wanted"):
        WindCommitmentParameters(margin={"days": 3})


def test_record_and_first_day_follow_from_the_source(catalogue, tmp_path):
    simulated = WindCommitmentParameters().resolve(catalogue, "simulate", None)
    assert (simulated.record, str(simulated.start)) == ("opsd", "2014-01-01")
    assert simulated.inputs(ProblemPaths("x", catalogue)) == {"data": "data/simulate/wind/opsd.nc"}
    assert WindCommitmentParameters.model_validate(simulated.model_dump(mode="json")) == simulated
    (tmp_path / "wind").mkdir()
    (tmp_path / "wind" / "time_series_60min_singleindex_de_wind_2017_2019.csv").touch()
    later = WindCommitmentParameters().resolve(catalogue, "mirror", str(tmp_path))
    assert (later.record, str(later.start)) == ("opsd-2017-2019", "2018-01-01")
    for name in ("de_wind_2013_2014_levels.csv", "de_wind_reference_distribution.csv"):
        (tmp_path / "wind" / name).touch()
    levels = WindCommitmentParameters(start="2014-06-01", hours=24).resolve(catalogue, "mirror", str(tmp_path))
    assert (levels.record, str(levels.start)) == ("levels-2013-2014", "2014-06-01")
    with pytest.raises(BocuError, match="source: found 'download'"):
        WindCommitmentParameters(source="download").resolve(catalogue, "mirror", str(tmp_path))
    with pytest.raises(BocuError, match="'simulate' does not offer"):
        WindCommitmentParameters(record="levels-2013-2014").resolve(catalogue, "simulate", None)


@pytest.fixture(scope="module")
def real(mirror, catalogue, tmp_path_factory):
    def prepared(record: str, **parameters) -> WindCommitment:
        files = [mirror / "wind" / file.name for file in catalogue.record("wind", record).files_of("mirror")]
        path: Path = tmp_path_factory.mktemp("real") / f"{record}.nc"
        prepare_wind(files, path, catalogue.origin("wind", record, "mirror"))
        chosen = WindCommitmentParameters(record=record, **parameters).resolve(catalogue, "mirror", str(mirror))
        return WindCommitment(chosen, {"data": str(path)})

    return prepared


@pytest.mark.real_data
@pytest.mark.parametrize("record", ["levels-2013-2014", "opsd-2017-2019"])
def test_real_windows_in_a_row_are_far_apart_and_those_of_the_next_hour_are_near(real, record):
    wind = real(record)
    references = wind.hours.references
    points = wind.contexts
    apart = [mmd(references[h], references[h - 48], points) for h in range(48, 8000, 97)]
    near = [mmd(references[h], references[h - 1], points) for h in range(48, 8000, 97)]
    assert 0.4 < np.median(apart) < 0.6
    assert 0.01 < np.median(near) < 0.03
    assert 0.4 < np.median(wind.hours.margins) < 0.6
    assert not wind.simulated


@pytest.mark.real_data
def test_the_levels_are_the_grid_and_the_gap_of_march_is_left_out(real):
    wind = real("levels-2013-2014", hours=8756)
    assert len(wind.hours.begin) == 365 * 24 - 4
    steps = np.diff(wind.hours.begin).astype(int)
    assert steps.max() == 5
    assert str(wind.hours.begin[steps.argmax()]) == "2014-03-31T19"
    zero = wind.table[0, wind.hours.generated].sum()
    assert zero == pytest.approx(0.1 * wind.hours.generated.sum() / 49)
    with pytest.raises(BocuError, match="hours: found 8757; from 2014-01-01 on it has 8756"):
        real("levels-2013-2014", hours=8757)


@pytest.mark.real_data
def test_at_the_announced_margin_the_robust_decision_is_to_commit_nothing(real):
    """So large a margin leaves room for a worst case without wind."""
    wind = real("levels-2013-2014")
    ambiguity_set = MaximumMeanDiscrepancy(0.0, squared_exponential_gram(wind.contexts, 0.1))
    decided = [
        int(
            UncertaintyObjective.dro(ambiguity_set.with_epsilon(wind.hours.margins[h]))
            .argmax(wind.table, wind.hours.references[h])
            .index
        )
        for h in range(0, 8736, 91)
    ]
    assert np.mean(np.array(decided) == 0) > 0.9


@pytest.mark.real_data
def test_a_learner_of_the_expectation_comes_near_the_exact_decision(real):
    wind = real("levels-2013-2014", hours=10)
    run = SeedRun(wind_power.specification("ucb", iterations=10, record="levels-2013-2014", hours=10), wind, 0)
    finished(run)
    values = wind.hours.references @ wind.table.T
    regret = values.max(axis=1) - values[np.arange(10), run.record.arrays["decision_index"]]
    assert np.median(regret) < 0.02
    assert regret.max() < 0.1


def test_priors_are_fitted_to_what_a_log_of_past_hours_would_hold(data):
    path, factors = data  # from 1 January 2013 on
    inputs = ("committed", "generated")
    everything, day, month = (
        logged_hours(str(path), inputs, None if period is None else Period(period=period))
        for period in (None, "2013-01-30", "2013-02")
    )
    assert [len(rows.values) for rows in (everything, day, month)] == [955, 22, 9 * 24 - 3]
    known = factors[29 * 24 : 30 * 24]
    assert (day.points[:, 1] == known[np.isfinite(known)]).all()
    assert (day.values == revenue(day.points[:, 0], day.points[:, 1])).all()
    gaps = np.diff(np.sort([0.0, *everything.points[:, 0], 1.0]))
    assert gaps.max() < 3.0 / 955  # commitments are spread evenly
    with pytest.raises(BocuError, match=r"wind.nc: no hour of 2014-01 has a value; it runs from 2013-01-01"):
        logged_hours(str(path), inputs, Period(period="2014-01"))


@pytest.mark.parametrize("name", ["pe-gp-ucb", "mle", "fully-bayesian"])
def test_one_candidate_is_drbo_hour_by_hour_and_several_run(data, name):
    path, _ = data
    own = {"kernel": "squared-exponential", "lengthscale": [0.2], "variance": 1.0, "mean": 0.0}
    other = {**own, "label": "lower", "mean": -2.0}
    specification = wind_power.specification("drbo", iterations=3)
    known = SeedRun(specification, problem(path), 3)
    target = find("algorithm", name).target
    unknown = {**specification, "algorithm": {"class": target, "parameters": {"sqrt_beta": 2.0}}}
    alone, several = (
        SeedRun(unknown, problem(path, candidates=candidates), 3)
        for candidates in ([{**own, "label": "own"}], [{**own, "label": "own"}, other])
    )
    for run in (known, alone, several):
        finished(run)
    assert (alone.record.arrays["decision_index"] == known.record.arrays["decision_index"]).all()
    assert (several.record.arrays["decision_index"] >= 0).all()
