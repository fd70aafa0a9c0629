"""What a sweep says of itself, by a clock of the test's own."""

import pytest

from bocu.sweep.narrator import SHOWN_RUNNING, Job, Narrator, expect


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(autouse=True)
def _nothing_is_forecast():
    expect({})
    yield
    expect({})


def run(tmp_path, text, label="random"):
    log = tmp_path / f"{label}.log"
    log.write_text(text)
    return Job("run", {"block": f"hills/any/{label}/seeds-0-14"}, [str(log)], ["run.nc"])


@pytest.mark.parametrize(
    ("job", "name"),
    [
        (Job("run", {"block": "hills/any/pe-gp-ucb/seeds-0-14"}), "run hills/any/pe-gp-ucb seeds 0-14"),
        (Job("score", {"part": "", "problem": "hills", "algorithm": "mle"}), "score hills/mle"),
        (Job("cube", {"part": "/partial", "problem": "hills"}), "cube hills (partial)"),
        (Job("report", {"part": ""}, (), ["results/a/report/index.html"]), "report results/a/report/index.html"),
        (Job("all"), "all"),
    ],
)
def test_a_job_is_named_by_what_it_does(job, name):
    assert job.name == name


@pytest.mark.parametrize(
    ("text", "came_to"),
    [
        ("x INFO rounds: 3 of 216, 1 s\nx INFO rounds: 216 of 216, 12 s\n", "216 rounds in 12 s"),
        ("INFO taken over from results/.run-cache/a.nc: the same\nINFO rounds: 216 of 216, 0 s", "taken over"),
        ("nothing of the kind", "7 s"),
    ],
)
def test_a_finished_job_says_what_it_came_to_and_how_many_are_left(tmp_path, clock, text, came_to):
    expect({"run": 7.0, "all": 0.0})
    narrator = Narrator(clock)
    narrator.plan({"run": 3, "all": 1})
    narrator.start(5, run(tmp_path, text))
    clock.now = 7
    narrator.finish(5)
    assert list(narrator.progress(1, 4)) == [
        f"run hills/any/random seeds 0-14: {came_to}; 1 of 4 jobs, about 14 s left"
    ]
    assert list(narrator.progress(1, 4)) == []


def test_time_left_counts_what_runs_side_by_side_and_what_runs_already(tmp_path, clock):
    expect({"run": 10.0})
    narrator = Narrator(clock)
    narrator.plan({"run": 6})
    narrator.provide(2)
    assert narrator.seconds_left() is None
    for number in (1, 2):
        narrator.start(number, run(tmp_path, ""))
    clock.now = 10
    for number in (1, 2):
        narrator.finish(number)
    assert narrator.seconds_left() == pytest.approx(4 * 10 / 2)
    for number in (3, 4):
        narrator.start(number, run(tmp_path, ""))
    clock.now = 15
    assert narrator.seconds_left() == pytest.approx((4 * 10 - 2 * 5) / 2)


def test_the_first_job_of_all_does_not_stand_for_others_that_are_forecast_to_take_less(tmp_path, clock):
    """A job before all others that takes long, on many cores, then blocks that are forecast one by one."""
    short, long = (run(tmp_path, "", label) for label in ("short", "long"))
    expect({"prepare": 100.0, "run": 55.0, short.name: 10.0, long.name: 100.0, "score": 0.5})
    narrator = Narrator(clock)
    clock.now = 30  # of compiling, before any job begins
    narrator.plan({"prepare": 1, "run": 2, "score": 40})
    narrator.provide(4)
    narrator.start(1, Job("prepare", {"prepared": "x"}, (), ["x.nc"]))
    clock.now = 130
    narrator.finish(1)
    assert 130 / 4 <= narrator.seconds_left() <= 130
    narrator.start(2, short)
    clock.now = 140
    narrator.finish(2)
    assert 120 / 4 <= narrator.seconds_left() <= 120


@pytest.mark.parametrize("slower", [0.1, 10.0])
def test_what_takes_longer_or_less_than_forecast_is_learnt(tmp_path, clock, slower):
    expect({"run": 10.0})
    narrator = Narrator(clock)
    narrator.plan({"run": 100})
    narrator.provide(1)
    for number in range(50):
        narrator.start(number, run(tmp_path, ""))
        clock.now += 10 * slower
        narrator.finish(number)
    assert narrator.seconds_left() == pytest.approx(50 * 10 * slower, rel=0.1)


def test_running_jobs_tell_rounds_and_the_time_that_they_still_need(tmp_path, clock):
    narrator = Narrator(clock)
    narrator.start(1, run(tmp_path, "INFO rounds: 50 of 200, 30 s\n", "slow"))
    clock.now = 40
    for number in range(2, 7):
        narrator.start(number, run(tmp_path, "", f"other-{number}"))
    lines = list(narrator.running())
    assert lines[0] == "run hills/any/slow seeds 0-14: 50 of 200 rounds, about 90 s left"
    assert lines[1] == "run hills/any/other-2 seeds 0-14: for 0 s now"
    assert lines[2:] == [
        "run hills/any/other-3 seeds 0-14: for 0 s now",
        f"... and {6 - SHOWN_RUNNING} more",
    ]


@pytest.mark.parametrize(
    ("seeds", "told", "left"),
    [
        ("0-0", [(100, 400, 40), (200, 400, 160)], 480),  # the square of the rounds
        ("0-4", [(100, 2000, 40), (200, 2000, 160)], 3040),  # five seeds of 400 rounds, the first as above
        ("0-4", [(400, 2000, 300), (800, 2000, 600)], 900),  # whole seeds take alike
        ("0-0", [(100, 400, 0), (200, 400, 160)], 160),  # nothing known of the first half
        ("0-0", [(100, 400, 100), (200, 400, 101)], 101),  # rounds are not taken to get faster
        ("0-0", [(390, 400, 10), (392, 400, 20)], 1.25),  # gone on from a checkpoint: no steeper than a cube
    ],
)
def test_later_rounds_of_a_seed_are_taken_to_last_longer(tmp_path, seeds, told, left):
    text = "".join(f"INFO rounds: {done} of {of}, {spent} s\n" for done, of, spent in told)
    job = Job("run", {"block": f"hills/any/random/seeds-{seeds}"}, run(tmp_path, text).logs)
    assert job.rounds() == told
    assert job.seconds_left(told) == pytest.approx(left, rel=0.01)


def test_a_failed_job_runs_no_more_and_keeps_its_name_for_the_next_try(tmp_path, clock):
    narrator = Narrator(clock)
    narrator.start(1, run(tmp_path, ""))
    narrator.fail(1)
    assert list(narrator.running()) == []
    assert narrator.name(1) == "run hills/any/random seeds 0-14"
    assert narrator.name(2) == "job 2"


def test_the_end_says_how_long_all_took(clock):
    narrator = Narrator(clock)
    narrator.plan({"all": 1})
    narrator.start(0, Job("all"))
    clock.now = 120
    narrator.finish(0)
    assert list(narrator.progress(1, 1)) == ["all 1 jobs done in 2 min"]
