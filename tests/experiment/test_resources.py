"""Estimates of what a job needs."""

import subprocess
import sys
from pathlib import Path

import pytest
from experiments import ALGORITHMS, tiny

from bocu.experiment import resources
from bocu.experiment.branches import Branch
from bocu.experiment.planning import make_plan
from bocu.experiment.registry import registered

ROOT = Path(__file__).parents[2]


def branch(algorithm: str = "pe-gp-ucb", grid: int = 500, iterations: int = 200) -> Branch:
    experiment = tiny(
        algorithms=[algorithm], iterations=iterations, problems=[{"name": "hills", "parameters": {"grid": grid}}]
    )
    plan = make_plan(experiment, sources_file=ROOT / "data/sources.yaml")
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


def test_a_block_by_hand():
    found = resources.estimate(branch("pe-gp-ucb", grid=1000, iterations=3200), 2)
    a_round = 6e-5 + 7e-9 * 11 * 1000 + 1.5e-10 * 1000 * 1600
    assert found.seconds == pytest.approx(resources.START_SECONDS + 0.04 + 0.16 + 6400 * a_round)
    machinery = resources.WORKFLOW_MB + resources.PROCESS_MB
    assert found.memory_mb == pytest.approx(machinery + 48 + 8e-6 * 7 * 3_200_000 + 7 * 6400 * 43e-6)
    assert found.disk_mb == pytest.approx(0.1 + 6400 * 43e-6)


@pytest.mark.parametrize(
    ("kind", "table"),
    [("problem", resources.SIZES), ("algorithm", resources.COSTS)],
)
def test_every_line_of_the_tables_is_of_a_registered_class(kind, table):
    assert set(table) <= {entry.target for entry in registered(kind)}


def test_what_was_not_measured_gets_cautious_numbers(monkeypatch):
    measured = resources.estimate(branch(), 10)
    monkeypatch.setattr(resources, "COSTS", {})
    monkeypatch.setattr(resources, "SIZES", {})
    unmeasured = resources.estimate(branch(), 10)
    assert unmeasured.seconds > measured.seconds
    assert unmeasured.memory_mb > measured.memory_mb
    assert unmeasured.disk_mb > measured.disk_mb


def test_requests_have_a_margin_and_grow_with_each_attempt():
    block = branch(grid=1000, iterations=3200)
    found = resources.estimate(block, 1000)
    asked = [resources.run_memory(block, 0, "999", attempt) for attempt in (1, 2, 3)]
    assert asked[0] > found.memory_mb
    assert asked == [asked[0], 2 * asked[0], 4 * asked[0]]
    times = [resources.run_minutes(block, 0, "999", attempt) for attempt in (1, 2, 3)]
    assert 60 * times[0] > 2 * found.seconds
    assert times == [times[0], 2 * times[0], 4 * times[0]]
    assert resources.run_minutes(branch("random"), 0, 0, 1) == resources.LEAST_MINUTES


def test_estimating_imports_nothing_heavy():
    heavy = "('numpy', 'torch', 'xarray', 'pydantic')"
    code = f"import sys, bocu.experiment.resources; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def on_grid(algorithm, objective=None, contexts=(8, 8), iterations=1000, **parameters):
    experiment = tiny(
        algorithms=[{"name": algorithm, "parameters": parameters}],
        iterations=iterations,
        problems=[{"name": "gp-sample", "parameters": {"context_points": list(contexts)}}],
        objectives=[{"label": "dro", "name": "dro", "parameters": {"set": objective}}] if objective else [],
        metrics=["so"],
        figures=[],
    )
    (found,) = make_plan(experiment, sources_file=ROOT / "data/sources.yaml").branches.values()
    return resources.estimate(found, 1)


@pytest.mark.parametrize(
    ("algorithm", "objective", "parameters"),
    [
        ("ucb-so", None, {}),
        ("ucb-bocu-2", "mmd", {}),
        ("ts-bocu", "tv", {}),
        ("ts-bocu", "tv", {"posterior": "fourier"}),
    ],
)
def test_on_a_grid_contexts_and_rounds_count(algorithm, objective, parameters):
    one = on_grid(algorithm, objective, **parameters)
    more = on_grid(algorithm, objective, (16, 16), **parameters)
    longer = on_grid(algorithm, objective, iterations=2000, **parameters)
    assert 1.5 * one.seconds < more.seconds < (24.0 if objective == "mmd" else 6.0) * one.seconds
    assert longer.seconds > 1.5 * one.seconds
    assert min(more.memory_mb, longer.memory_mb) > one.memory_mb
    # The whole runs of tests/benchmarks/finite.py stay below these core seconds.
    assert one.seconds < 90.0


def test_on_a_grid_the_posterior_and_the_distance_count():
    seconds = [
        on_grid("ts-bocu", "tv").seconds,
        on_grid("ts-bocu", "tv", posterior="fourier", features=256).seconds,
        on_grid("ts-bocu", "tv", posterior="fourier", features=1024).seconds,
    ]
    assert seconds == sorted(seconds)
    assert on_grid("ucb-bocu-2", "mmd").seconds > on_grid("ucb-bocu-2", "tv").seconds > on_grid("random").seconds
    assert on_grid("ucb-bocu-2", "mmd").memory_mb > on_grid("ucb-bocu-2", "tv").memory_mb


@pytest.mark.parametrize(("contexts", "measured"), [(8, 0.0127), (16, 1.49), (32, 11.0)])
def test_a_round_of_gen_with_mmd_gets_the_time_that_it_was_measured_to_take(contexts, measured):
    # Core seconds a round: tests/benchmarks/valuations.py for 64 and 256 contexts; those of 1,024 in a longer run.
    rounds = 100
    asked = 60 * resources.minutes(on_grid("ucb-bocu-2", "mmd", (contexts, contexts), rounds).seconds, 1)
    assert asked > 1.5 * rounds * measured


def test_memory_covers_the_records_of_all_seeds():
    def seeds_mb(algorithm, rounds, seeds):
        block = branch(algorithm, 60, rounds)
        return resources.estimate(block, seeds).memory_mb - resources.estimate(block, 1).memory_mb

    # Peak of a process with so many seeds less that of one with one seed, MB: hills, grid 60, algorithms dropped.
    assert seeds_mb("random", 5000, 100) == pytest.approx(188.3 - 111.7, rel=0.1)
    assert seeds_mb("fully-bayesian", 2000, 60) == pytest.approx(196.0 - 113.0, rel=0.1)
