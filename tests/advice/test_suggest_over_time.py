"""Dates, forgetting, and radii that are estimated: what a log says of the rows to come."""

import numpy as np
import pandas as pd
import pytest
from decision_logs import drifting, kiosk, sold

import bocu
from bocu.advice.logs import read_log_table
from bocu.advice.radius import DistanceAhead, estimate_radius
from bocu.advice.search import Rule
from bocu.advice.time import in_time, read_half_life
from bocu.core.errors import BocuError
from bocu.robust.ambiguity.parameters import SetParameters

ASKED = {"decisions": "order:10..90", "contexts": ["rain"], "outcome": "profit"}
DAYS = pd.date_range("2024-01-29", periods=6, freq="7D")
FORMS = {
    "iso": "%Y-%m-%d",
    "iso-with-time": "%Y-%m-%dT%H:%M:%SZ",
    "compact": "%Y%m%d",
    "points": "%d.%m.%Y",
    "slashes": "%d/%m/%Y",
    "american": "%m/%d/%Y",
    "short-month": "%d %b %Y",
    "long-month": "%B %d, %Y",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_dates_of_any_one_form_are_read_alike_and_put_rows_in_order(form):
    written = [day.strftime(form) for day in DAYS]
    table = read_log_table({"when": written[::-1], "rain": list(range(6))[::-1]}, "log")
    notes: list[str] = []
    ordered, clock = in_time(table, "when", notes)
    assert clock.unit == "days"
    assert np.diff(clock.times).tolist() == [7.0] * 5
    assert list(ordered.columns["rain"]) == list(range(6))
    assert list(ordered.lines) == [f"row {i}" for i in range(6, 0, -1)]
    assert notes == []


def test_dates_that_may_mean_two_days_are_read_so_that_they_ascend_and_a_note_says_so():
    american = {"when": ["01/02/2024", "01/03/2024", "02/01/2024", "03/01/2024"]}
    notes: list[str] = []
    _, clock = in_time(read_log_table(american, "log"), "when", notes)
    assert np.diff(clock.times).tolist() == [1.0, 29.0, 29.0]
    assert "day/month or month/day; read as in 03/31/2024" in notes[0]


def test_tables_of_pandas_and_numbers_have_times_too():
    _, days = in_time(read_log_table(pd.DataFrame({"when": DAYS}), "log"), "when", [])
    assert (days.unit, np.ptp(days.times)) == ("days", 35.0)
    _, years = in_time(read_log_table({"when": [2021, 2020, 2022]}, "log"), "when", [])
    assert (years.unit, years.times.tolist()) == ("", [2020.0, 2021.0, 2022.0])


def test_rows_without_a_time_are_left_out_and_what_is_no_time_is_refused():
    notes: list[str] = []
    ordered, _ = in_time(read_log_table({"when": ["2024-01-02", "", "2024-01-01"]}, "log"), "when", notes)
    assert list(ordered.lines) == ["row 3", "row 1"]
    assert notes == ["left out 1 rows without a time in column 'when'"]
    with pytest.raises(BocuError, match=r"row 2, column 'when' .time.: found 'soon'; allowed: numbers, or dates"):
        in_time(read_log_table({"when": ["2024-01-02", "soon", "2024-01-01"]}, "log"), "when", [])
    with pytest.raises(BocuError, match="no column 'day'"):
        in_time(read_log_table({"when": ["2024-01-02"]}, "log"), "day", [])


@pytest.mark.parametrize(
    ("text", "unit", "found"), [("90d", "days", 90.0), ("12h", "days", 0.5), ("2 w", "days", 14.0), (30, "rows", 30.0)]
)
def test_half_lives_are_in_the_unit_of_the_log(text, unit, found):
    assert read_half_life(text, unit) == found


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [("30", "days", "dates want a unit: 30d"), ("30d", "rows", "without --time"), ("-3d", "days", "a half-life, as")],
)
def test_half_lives_of_another_unit_are_refused(text, unit, said):
    with pytest.raises(BocuError, match=said):
        read_half_life(text, unit)


def test_contexts_that_are_forgotten_are_not_in_the_reference():
    log = drifting(60, wetter=8.0)
    found = bocu.suggest(log, **ASKED, objective="so", time="when", forget="8d")
    assert found.half_lives == (8.0, 8.0)
    assert any("they count half as contexts after 8 days and as payoffs after 8 days" in note for note in found.notes)
    assert found.means["rain"][0] > log.rain.mean() + 2.0


def test_payoffs_that_are_forgotten_are_not_in_what_is_expected():
    log, tomorrow = drifting(60, busier=40.0), {"rain": [5.0]}
    remembered, forgotten = (
        bocu.suggest(log, **ASKED, objective="so", forecast=tomorrow, time="when", forget=half) for half in (None, "4d")
    )
    best = sold(90.0, 5.0, 40.0)
    assert abs(forgotten.best.expected - best) < 0.8 * abs(remembered.best.expected - best)


def test_shuffled_rows_with_dates_tell_what_ordered_ones_do():
    log = drifting(40)
    shuffled = log.sample(frac=1.0, random_state=1).reset_index(drop=True)
    answers = [bocu.suggest(rows, **ASKED, radius="estimate", time="when", forget="20d") for rows in (log, shuffled)]
    assert answers[0].best == answers[1].best
    assert answers[0].estimate == answers[1].estimate


@pytest.mark.parametrize(
    ("changes", "forgets"),
    [({}, (False, False)), ({"wetter": 8.0}, (True, False)), ({"busier": 40.0}, (False, True))],
    ids=["steady", "wetter", "busier"],
)
def test_half_lives_are_estimated_of_what_changes_alone(changes, forgets):
    found = bocu.suggest(drifting(90, **changes), **ASKED, radius=0.1, time="when", forget="estimate")
    assert tuple(half is not None for half in found.half_lives) == forgets
    assert any("nothing is forgotten" in note for note in found.notes) == (forgets == (False, False))


def test_a_radius_from_the_log_is_where_nine_in_ten_blocks_lie():
    found = bocu.suggest(kiosk(60), **ASKED, objective="dro", radius="estimate", set="wass")
    assert found.size == found.estimate.radius
    assert (found.estimate.blocks, found.estimate.horizon) == (10, 4)
    assert found.estimate.median < found.estimate.largest <= found.estimate.radius
    assert any(note.startswith(f"radius {found.size:.4g} estimated from the log: 10 blocks") for note in found.notes)


def test_around_another_forecast_an_estimated_radius_is_said_to_be_a_guess():
    found = bocu.suggest(kiosk(60), **ASKED, radius="estimate", forecast={"rain": [1.0, 2.0, 9.0]})
    assert any("cannot be learnt from a log without past forecasts" in note for note in found.notes)


def test_a_log_too_short_for_a_radius_says_how_much_is_wanted():
    with pytest.raises(BocuError, match=r"too short: its 4 rows leave 3 blocks of 1 rows .* 4 are wanted"):
        bocu.suggest(kiosk(4), **ASKED, radius="estimate")
    with pytest.raises(BocuError, match="--horizon is at most 10 here"):
        bocu.suggest(kiosk(60), **ASKED, radius="estimate", horizon=12)
    with pytest.raises(BocuError, match="--radius: found 'narrow'; allowed: a number, or estimate"):
        bocu.suggest(kiosk(60), **ASKED, radius="narrow")


def test_fewer_blocks_than_nine_cover_with_less_than_nine_in_ten():
    found = bocu.suggest(kiosk(60), **ASKED, radius="estimate", horizon=10)
    assert (found.estimate.blocks, found.estimate.coverage) == (4, 0.8)
    assert "with probability 80%" in str(found)


def test_where_nothing_changes_the_best_expectation_of_all_rows_pays():
    found = bocu.suggest(kiosk(90), **ASKED)
    assert (found.objective, found.replayed.half_life, found.replayed.radius) == ("replay", None, 0.0)
    assert found.best == bocu.suggest(kiosk(90), **ASKED, objective="so").best
    assert found.best.guaranteed is None
    assert found.replayed.gain.gain == 0.0


def test_where_contexts_jump_older_rows_are_forgotten_since_that_pays_in_later_blocks():
    log = kiosk(90)
    late = np.arange(90) >= 60
    log = log.assign(rain=log.rain + 6.0 * late, profit=log.profit - sold(log.order, log.rain))
    log = log.assign(profit=log.profit + sold(log.order, log.rain))
    found = bocu.suggest(log, **ASKED)
    assert found.half_lives[0] is not None
    assert found.replayed.gain.gain > 0.0
    after = log.rain[late].to_numpy()
    plain = bocu.suggest(log, **ASKED, objective="so")
    by_replay, by_all = (sold(one.decision["order"], after).mean() for one in (found, plain))
    assert by_replay > by_all + 3.0
    assert "In 12 later blocks of 5 rows of the log" in str(found)


@pytest.mark.parametrize("name", ["tv", "wass"])
def test_insurance_is_the_best_worst_case_over_the_covering_set_and_has_a_price(name):
    found = bocu.suggest(kiosk(90), **ASKED, set=name)
    robust = bocu.suggest(kiosk(90), **ASKED, set=name, objective="dro", radius="estimate")
    assert found.insured.radius == robust.size
    assert found.insured.decision == robust.decision
    assert found.insured.guaranteed == pytest.approx(robust.best.guaranteed)
    assert found.insured.price > 0.0
    assert found.insured.price == pytest.approx(found.best.expected - robust.best.expected)


def test_a_guarantee_at_a_radius_that_is_named_is_told_of_the_decision_that_pays():
    found = bocu.suggest(kiosk(90), **ASKED, objective="replay", radius=0.2)
    plain = bocu.suggest(kiosk(90), **ASKED, objective="so", radius=0.2)
    assert found.best == plain.best
    assert found.size == 0.2


def test_a_set_over_cells_moves_whole_cells():
    payoffs, weights = np.array([[4.0, 0.0, 8.0, 6.0]]), np.array([0.25, 0.25, 0.4, 0.1])
    around = SetParameters.model_validate({"name": "tv"}).over(None).with_epsilon(0.2)
    rule = Rule("dro", around, weights, np.array([0, 0, 1, 1]))
    worst = rule.worst(payoffs)
    assert worst == pytest.approx(np.array([[0.3, 0.3, 0.32, 0.08]]))
    assert rule.lowest(payoffs) == pytest.approx((worst * payoffs).sum(axis=1))


SETS = ("tv", "kl", "chi2", "mmd", "wass")


@pytest.mark.parametrize("name", SETS)
def test_longer_blocks_lie_nearer_and_drifting_contexts_farther(name):
    stated = SetParameters.model_validate({"name": name})
    world = np.random.default_rng(4)
    steady = world.normal(size=(300, 1)) / 8.0
    moved = steady + np.linspace(0.0, 0.5, 300)[:, None]
    radii = [estimate_radius(steady, stated, horizon=rows).radius for rows in (3, 20)]
    assert radii[1] < radii[0]
    assert estimate_radius(moved, stated, horizon=20).radius > 1.3 * radii[1]


@pytest.mark.parametrize("name", ["tv", "wass"])
def test_nine_in_ten_next_blocks_lie_within_the_radius(name):
    stated = SetParameters.model_validate({"name": name})
    within = []
    for replay in range(20):
        contexts = np.random.default_rng(replay).gamma(2.0, size=(95, 1))
        found = estimate_radius(contexts[:90], stated, horizon=5)
        within.append(DistanceAhead(stated, 5)(contexts[:90], np.ones(90), contexts[90:]) <= found.radius)
    assert np.mean(within) >= 0.85


def test_a_distance_in_cells_is_that_of_the_reference_reweighted_to_the_shares_of_the_block():
    contexts = np.repeat([0.0, 1.0], [75, 25])[:, None]
    block = np.repeat([0.0, 1.0], [5, 5])[:, None]
    distance = DistanceAhead(SetParameters.model_validate({"name": "tv"}), 10)(contexts, np.ones(100), block)
    assert distance == pytest.approx(0.5)


def test_growing_distances_are_drawn_on_to_the_next_block():
    stated = SetParameters.model_validate({"name": "wass"})
    walking = np.linspace(0.0, 1.0, 120)[:, None]
    found = estimate_radius(walking[:110], stated, horizon=5)
    assert found.growth > 0.0
    assert found.radius > found.largest
    following = DistanceAhead(stated, 5)(walking[:110], np.ones(110), walking[110:115])
    assert following == pytest.approx(found.radius, rel=0.02)


def test_a_set_without_finite_distances_gives_no_radius():
    stated = SetParameters.model_validate({"name": "phi", "phi": "own_divergences:REVERSED"})
    with pytest.raises(BocuError, match="infinitely far"):
        estimate_radius(np.random.default_rng(0).normal(size=(60, 1)), stated)
