"""Who sees what: the protocols with contexts, through whole runs."""

import json

import numpy as np
import pytest
import xarray as xr
from experiments import scored_by
from grids import Waves, WavesParameters, specification

from bocu.core.randomness import Streams
from bocu.sweep.evaluation.cubes import build_cube, build_summary
from bocu.sweep.evaluation.scores import score
from bocu.sweep.runs.execution import Block, execute, replayed_to
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.seed_run import SeedRun

METRICS = [
    {"label": "so", "class": "bocu.sweep.evaluation.metrics:ExpectedPayoff", "parameters": {"under": "truth"}},
    {"label": "dro", **scored_by("DistributionallyRobust", set={"name": "mmd"})},
    {"label": "ro", **scored_by("Robust")},
]


def run(folder, name="run.nc", **parts):
    block = Block(specification(**parts), {}, "0")
    execute(block, folder / name, folder / "checkpoints")
    return xr.load_dataset(folder / name)


def problem(**parameters):
    return Waves(WavesParameters(**parameters), {})


def test_the_initial_design_comes_first_and_is_everyones(tmp_path):
    shorter = run(tmp_path, iterations=3, initial=4)
    longer = run(tmp_path, "other.nc", iterations=6, initial=4)
    assert shorter["iteration"].values.tolist() == [-3, -2, -1, 0, 1, 2, 3]
    assert (longer["context_index"].isel(iteration=slice(7)) == shorter["context_index"]).all()
    assert shorter["decision_index"].isel(iteration=slice(4)).values.min() >= 0


def test_more_iterations_continue_a_run_with_an_initial_design(tmp_path):
    straight = run(tmp_path, "straight.nc", iterations=9)
    run(tmp_path, "continued.nc", iterations=4)
    continued = run(tmp_path, "continued.nc", iterations=9)
    for name in ("decision_index", "context_index", "payoff", "observation"):
        assert (continued[name] == straight[name]).all()
    assert (continued["stream_states"] == straight["stream_states"]).all()


def test_replaying_nothing_but_the_initial_design(tmp_path):
    run(tmp_path, iterations=3)
    realisation, algorithm = replayed_to(tmp_path / "run.nc", {}, 0, 0, named=["grids:Waves"])
    observed = xr.load_dataset(tmp_path / "run.nc").sel(seed=0, iteration=slice(None, 0))
    best = observed["decision_index"].values[observed["observation"].values.argmax()]
    assert algorithm.recommend() == best
    assert realisation.payoffs(1).shape == (6, 4)


def test_observations_are_payoffs_of_the_table_plus_noise(tmp_path):
    found = run(tmp_path, iterations=200, seeds=(0, 0), noise=0.1).isel(seed=0)
    table = problem().realise(Streams(0)).payoffs(1)
    assert (found["payoff"] == table[found["decision_index"], found["context_index"]]).all()
    errors = found["observation"] - found["payoff"]
    assert 0.08 < float(errors.std()) < 0.12


def test_contexts_come_from_the_truth_and_not_from_the_reference(tmp_path):
    truth = {"weights": [0.0, 3.0, 1.0, 0.0]}
    found = run(tmp_path, iterations=400, seeds=(0, 0), truth=truth, initial=0)["context_index"].values
    shares = np.bincount(found.ravel(), minlength=4) / 400
    assert shares[[0, 3]].tolist() == [0, 0]
    assert shares[1] == pytest.approx(0.75, abs=0.07)  # three standard errors


def test_distributions_may_change_over_the_rounds(tmp_path):
    one_hot = [{"weights": [float(place == hot) for place in range(4)]} for hot in (2, 0)]
    found = run(tmp_path, iterations=4, seeds=(0, 0), truth=one_hot, initial=0)["context_index"].values[0]
    assert found.tolist() == [2, 0, 0, 0]


def test_every_algorithm_meets_the_same_design_contexts_and_noise(tmp_path):
    first = run(tmp_path)
    other = run(tmp_path, "other.nc", algorithm="grids:First")
    assert (other["context_index"] == first["context_index"]).all()
    noise = [found["observation"] - found["payoff"] for found in (first, other)]
    assert noise[1].values == pytest.approx(noise[0].values, abs=1e-12)
    assert (other["decision_index"].sel(iteration=slice(1, None)) == 0).all()


def test_data_driven_references_are_the_shares_of_what_was_seen():
    realisation = problem(protocol="data-driven").realise(Streams(0))
    protocol = PROTOCOLS["data-driven"]
    nothing = protocol.situation(realisation, 1, np.array([], dtype=int))
    assert (nothing.reference.tolist(), nothing.observed) == ([0.25] * 4, 0)
    some = protocol.situation(realisation, 5, np.array([1, 1, 3, 0]))
    assert (some.reference.tolist(), some.observed) == ([0.25, 0.5, 0.0, 0.25], 4)


def test_the_learner_is_told_reference_and_radius_and_never_the_truth():
    run_ = SeedRun(
        specification(
            objective={
                "class": "bocu.robust.objectives.functions:DistributionallyRobust",
                "parameters": {"set": {"name": "tv"}},
            },
            initial=0,
        ),
        problem(initial=0),
        0,
    )
    announced = run_.announced()
    reference, truth = run_.situation().reference, run_.situation().truth
    assert announced.epsilon == pytest.approx(np.abs(reference - truth).sum())
    assert not hasattr(announced, "truth")


@pytest.mark.parametrize("protocol", ["general", "data-driven", "simulator"])
def test_regret_is_against_the_best_of_the_table(tmp_path, protocol):
    parts = {"iterations": 6, "protocol": protocol, "initial": 2}
    found = run(tmp_path, **parts)
    branch = specification(**parts)
    branch.pop("seeds")
    score([tmp_path / "run.nc"], {}, branch, METRICS, tmp_path / "score.nc")
    scores = xr.load_dataset(tmp_path / "score.nc")
    assert scores["iteration"].values.tolist() == [-1, 0, 1, 2, 3, 4, 5, 6]
    assert scores["regret"].min() >= 0.0
    for seed in (0, 1):
        table = problem().realise(Streams(seed)).payoffs(1)
        worst = table.min(axis=1)
        taken = found["decision_index"].sel(seed=seed).values
        expected = worst.max() - worst[taken]
        assert scores["regret"].sel(seed=seed, metric="ro").values == pytest.approx(expected)
        mean = table.mean(axis=1)  # the truth is uniform
        assert scores["value"].sel(seed=seed, metric="so").values == pytest.approx(mean[taken])


def test_robust_regret_of_a_growing_reference_uses_the_reference_of_its_round(tmp_path):
    parts = {"iterations": 5, "protocol": "data-driven", "initial": 0, "seeds": (0, 0)}
    found = run(tmp_path, **parts).isel(seed=0)
    branch = specification(**parts)
    branch.pop("seeds")
    under_reference = [{"label": "so", "class": "bocu.sweep.evaluation.metrics:ExpectedPayoff", "parameters": {}}]
    score([tmp_path / "run.nc"], {}, branch, under_reference, tmp_path / "score.nc")
    values = xr.load_dataset(tmp_path / "score.nc")["value"].values[0, 0]
    table = problem().realise(Streams(0)).payoffs(1)
    contexts, decisions = found["context_index"].values, found["decision_index"].values
    for row in range(5):
        seen = np.bincount(contexts[:row], minlength=4) if row else np.ones(4)
        assert values[row] == pytest.approx(table[decisions[row]] @ seen / seen.sum())


def test_cube_and_summary_keep_the_initial_design_apart(tmp_path):
    parts = {"iterations": 10, "initial": 3}
    run(tmp_path, **parts)
    branch = specification(**parts)
    branch.pop("seeds")
    score([tmp_path / "run.nc"], {}, branch, METRICS, tmp_path / "score.nc")
    description = {
        "experiment": "waves",
        "problem_label": "waves",
        "problem_name": "waves",
        "branches": [
            {
                "objective": "any",
                "algorithm": "random",
                "algorithm_name": "random",
                "algorithm_parameters": {},
                "algorithm_about": {"title": "Random", "look": "grey dotted x", "yardstick": "no"},
                "score": str(tmp_path / "score.nc"),
            }
        ],
        "metrics": [metric["label"] for metric in METRICS],
        "metric_specifications": METRICS,
        "seeds": [0, 2],
        "iterations": 10,
        "initial": 3,
    }
    build_cube(json.loads(json.dumps(description)), tmp_path / "cube.nc")
    cube = xr.load_dataset(tmp_path / "cube.nc")
    assert cube["iteration"].values[0] == -2
    build_summary([tmp_path / "cube.nc"], tmp_path / "summary.nc")
    summary = xr.load_dataset(tmp_path / "summary.nc")
    from_round_one = cube["regret"].sel(iteration=slice(1, None)).sum("iteration")
    last = summary["cumulative_regret"].sel(checkpoint=1.0, problem="waves")
    assert last.transpose(*from_round_one.dims).values == pytest.approx(from_round_one.values)
