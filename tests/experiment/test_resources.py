"""Estimates of what a job needs."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from experiments import ALGORITHMS, tiny

from bocu.core.about import Work
from bocu.learners.algorithms.base import Algorithm
from bocu.learners.algorithms.beliefs import ConfidenceParameters
from bocu.learners.algorithms.time_varying import PEGPUCB
from bocu.problems.base import Problem
from bocu.sweep.experiment import resources
from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import registered

ROOT = Path(__file__).parents[2]


def branch(algorithm: str = "pe-gp-ucb", grid: int = 500, iterations: int = 200) -> Branch:
    experiment = tiny(
        algorithms=[algorithm], iterations=iterations, problems=[{"name": "hills", "parameters": {"grid": grid}}]
    )
    plan = make_plan(experiment)
    (found,) = plan.branches.values()
    return found


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_more_seeds_rounds_and_arms_cost_more(algorithm):
    one = resources.estimate(branch(algorithm), 10)
    seeds = resources.estimate(branch(algorithm), 20)
    rounds = resources.estimate(branch(algorithm, iterations=400), 10)
    arms = resources.estimate(branch(algorithm, grid=1000), 10)
    assert min(seeds.seconds, rounds.seconds, arms.seconds) > one.seconds
    assert one.memory_mb < min(seeds.memory_mb, arms.memory_mb)
    assert min(seeds.disk_mb, rounds.disk_mb) > one.disk_mb == arms.disk_mb


def test_a_joint_kernel_and_more_context_coordinates_cost_more():
    def seconds(problem: str, **model: str) -> float:
        entry = {"name": "sbo-kde", "parameters": {"model": model}}
        (found,) = make_plan(tiny(problems=[problem], algorithms=[entry], iterations=200)).branches.values()
        return resources.estimate(found, 10).seconds

    one, four = (seconds(problem) for problem in ("ackley", "ackley-2-4"))
    assert one < four
    assert 3 * one < seconds("ackley", kernel="joint") < seconds("ackley-2-4", kernel="joint")


def test_a_block_by_hand():
    found = resources.estimate(branch("pe-gp-ucb", grid=1000, iterations=3200), 2)
    a_round = 9e-5 + 1e-8 * 11 * 1000 + 1.5e-10 * 1000 * 1600
    assert found.seconds == pytest.approx(resources.START_SECONDS + 0.04 + 0.16 + 6400 * a_round)
    machinery = resources.WORKFLOW_MB + resources.PROCESS_MB
    assert found.memory_mb == pytest.approx(machinery + 48 + 8e-6 * 7 * 3_200_000 + 7 * 6400 * 43e-6)
    assert found.disk_mb == pytest.approx(0.1 + 6400 * 43e-6)


@pytest.mark.parametrize(("kind", "root"), [("problem", Problem), ("algorithm", Algorithm)])
def test_every_line_of_the_prices_is_of_a_class_and_every_class_has_a_line(kind, root):
    lines = resources.COSTS[f"{kind}s"]
    classes = [entry.load() for entry in registered(kind)]
    known = {f"{base.__module__}:{base.__qualname__}" for found in classes for base in found.__mro__}
    assert set(lines) <= known
    name = f"{root.__module__}:{root.__qualname__}"
    for found in classes:
        assert resources.prices_of(f"{kind}s", found)[0] != name, found


def test_every_registered_pair_says_what_it_takes(root):
    for file in ("grand-tour", "ziomek2025"):
        path = root / f"config/experiments/{file}.yaml"
        plan = make_plan(read_experiment_file(path), [path])
        for found in plan.branches.values():
            assert resources.estimate(found, 1).unknown == (), found.key


class Silent(Algorithm):
    """Says nothing of what it costs."""

    Parameters = ConfidenceParameters


class Peculiar(PEGPUCB):
    """Counts a step that nobody has measured."""

    @classmethod
    def work(cls, parameters, size, rounds):
        return Work({"round": rounds, "guess": rounds})


class Derived(PEGPUCB):
    """Takes what its base takes."""


def of_class(found):
    known = branch()
    registered = replace(known.algorithm.registered, target=f"{__name__}:{found.__name__}")
    return replace(known, algorithm=replace(known.algorithm, registered=registered))


@pytest.mark.parametrize("found", [Silent, Peculiar])
def test_what_was_not_measured_gets_cautious_numbers_and_is_named(found):
    measured = resources.estimate(branch(), 10)
    unmeasured = resources.estimate(of_class(found), 10)
    assert unmeasured.seconds > 100 * measured.seconds
    assert unmeasured.memory_mb > measured.memory_mb
    assert unmeasured.disk_mb > measured.disk_mb
    assert unmeasured.unknown == (f"{__name__}:{found.__name__}",)


def test_a_class_has_the_prices_of_its_nearest_base():
    assert resources.estimate(of_class(Derived), 10) == resources.estimate(branch(), 10)


def test_requests_have_a_margin_and_grow_with_each_attempt():
    found = resources.estimate(branch(grid=1000, iterations=3200), 1000)
    asked = [resources.memory(found.memory_mb, attempt) for attempt in (1, 2, 3)]
    assert asked[0] > found.memory_mb
    assert asked == [asked[0], 2 * asked[0], 4 * asked[0]]
    times = [resources.minutes(found.seconds, attempt) for attempt in (1, 2, 3)]
    assert 60 * times[0] > 2 * found.seconds
    assert times == [times[0], 2 * times[0], 4 * times[0]]
    assert resources.minutes(1.0, 1) == resources.LEAST_MINUTES
    besides = resources.more_minutes(1200.0, 1)
    assert besides == 20 * resources.TIME_MARGIN
    assert [resources.more_minutes(1200.0, attempt) for attempt in (2, 3)] == [2 * besides, 4 * besides]


# Core seconds of 1,000 rounds, 1,024 decisions x 64 contexts: `tests/benchmarks/forecasts.py played`, by the rounds.
@pytest.mark.parametrize(
    ("objective", "slope", "algorithm", "measured"),
    [
        ({"name": "tv"}, {"difference": 1e-3}, "ts-bocu", 14.5),
        ({"name": "tv"}, "exact", "ucb-bocu-2", 8.1),
        ({"name": "mmd"}, {"difference": 1e-3}, "ucb-bocu-1", 29.2),
        ({"name": "kl"}, None, "ucb-bocu-2", 29.4),
        ({"name": "cr", "k": 2.5}, None, "ts-bocu", 102.0),
    ],
)
def test_the_model_is_within_a_factor_of_two_of_what_was_measured(objective, slope, algorithm, measured):
    stated = {"set": {**objective, "radius": 0.2}}
    stated |= {"alpha": 1, "beta": 1, "slope": slope} if slope else {}
    experiment = tiny(
        algorithms=[algorithm],
        iterations=1000,
        problems=["gp-sample"],
        objectives=[{"label": "o", "name": "gen" if slope else "dro", "parameters": stated}],
        metrics=["so"],
        figures=[],
    )
    (found,) = make_plan(experiment).branches.values()
    assert 0.5 < (resources.estimate(found, 2).seconds - resources.estimate(found, 1).seconds) / measured < 2.0


def test_a_search_takes_its_time_however_small_the_table():
    """Hours of wind power, 2,500 points each: the search under MMD is most of what a rehearsal takes."""
    file = ROOT / "config/experiments/kirschner2020-wind.yaml"
    plan = make_plan(read_experiment_file(file), [file])
    robust, plain = (
        resources.estimate(plan.branches["wind-commitment", objective, algorithm], 1).seconds
        for objective, algorithm in (("dro", "drbo"), ("any", "ucb"))
    )
    assert 3.0 < robust / plain < 8.0


@pytest.mark.parametrize("rule", sorted(resources.taken()))
def test_a_job_asks_for_more_than_any_took_and_twice_as_much_the_next_time(rule):
    assert resources.stage_memory(rule, 1) > 2 * resources.taken()[rule].memory_mb
    assert resources.stage_minutes(rule, 1) * 60 > 10 * resources.taken()[rule].seconds
    assert resources.stage_memory(rule, 2) == 2 * resources.stage_memory(rule, 1)
    assert resources.stage_minutes(rule, 2) == 2 * resources.stage_minutes(rule, 1)


def test_every_rule_that_computes_is_benchmarked_and_asks_by_its_own_name(root):
    rules = {}
    for file in (root / "workflow/rules").glob("*.smk"):
        for name, body in re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", file.read_text(), re.MULTILINE):
            rules[name] = body
    computing = {name for name, body in rules.items() if "script:" in body} - {"download", "mirror"}
    assert computing == {*resources.taken(), "run"}
    for name in computing:
        assert "    benchmark:\n" in rules[name], name
        if name != "run":
            assert f'stage_memory("{name}", attempt)' in rules[name]
            assert f'stage_minutes("{name}", attempt)' in rules[name]


def test_a_search_at_the_weights_of_seeds_asks_for_more_with_seeds_and_dear_sets():
    file = ROOT / "config/experiments/drmobo-sets.yaml"
    experiment = read_experiment_file(file)

    def seconds(entry, **changes):
        plan = make_plan({**experiment, **changes}, [file])
        return resources.optima_seconds(plan, "branin-two", entry)

    few = {"seeds": {"first": 1000, "count": 3, "per_job": 1}}
    assert seconds("tv") == pytest.approx(10 * seconds("tv", **few))
    # Measured on 30 seeds, processor seconds: within what is asked for beside the ten minutes of any search.
    for entry, measured in {"tv": 21, "cressie-read": 88, "wasserstein": 312}.items():
        assert measured < 60 * (10 + resources.more_minutes(seconds(entry), 1))
        assert seconds(entry) > measured / 3
