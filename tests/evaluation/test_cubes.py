"""Scores, cubes and summary from real runs."""

import json
import shutil
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
import synthetic_cubes
import xarray as xr
from experiments import metric, run_all, tiny

from bocu.core.errors import BocuError
from bocu.core.io import chunks as chunks
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.sweep.evaluation.cubes import DONE, MISSING, NOT_DEFINED, build_cube, build_summary
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.seed_run import build_problem

METRICS = ["so", "ro", "best-fixed-decision"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A plan with two problems of different lengths, all run and scored."""
    folder = tmp_path_factory.mktemp("cubes")
    experiment = tiny(
        problems=[
            {"name": "hills", "parameters": {"grid": 60}},
            {"name": "hills", "label": "coarse", "parameters": {"grid": 40}},
        ],
        algorithms=["random", "pe-gp-ucb", {"name": "mle", "problems": ["coarse"]}],
        metrics=METRICS,
    )
    with chdir(folder):
        plan = make_plan(experiment)
        run_all(plan)
        yield plan, folder


def description(plan, problem):
    return json.loads(plan.parameters.cube(problem)["description"])


@pytest.fixture
def place(finished, elsewhere):
    """The finished results, copied so that a test may damage them."""
    plan, folder = finished
    shutil.copytree(folder / "results", elsewhere / "results")
    return plan


def test_cube_holds_every_branch_at_its_place(place):
    cube = read_netcdf(place.paths.cube("coarse"))
    assert cube.sizes == {"objective": 1, "algorithm": 3, "metric": 3, "seed": 4, "iteration": 12, "prior": 11}
    assert (cube["status"] == DONE).all()
    for branch in place.branches_of("coarse"):
        scores = read_netcdf(place.paths.score_file(branch))
        chunk = cube.sel(objective="any", algorithm=branch.key[2])
        for name in ("regret", "value", "payoff"):
            np.testing.assert_array_equal(chunk[name].transpose(*scores[name].dims), scores[name])


def test_scores_are_the_regret_of_the_recorded_decisions(place):
    branch = place.branch("hills", "any", "random")
    scores = read_netcdf(place.paths.score_file(branch))
    runs = xr.concat([read_netcdf(file) for file in place.products.runs(branch)], "seed", data_vars="all")
    problem = build_problem(branch.specification["problem"], {})
    from bocu.core.randomness import Streams

    for seed in range(4):
        realisation = problem.realise(Streams(seed))
        for t in (1, 2, 12):
            payoffs = realisation.payoffs(t)[:, 0]
            available = realisation.round(t).available
            best = payoffs.max() if available is None else payoffs[available].max()
            chosen = payoffs[int(runs["decision_index"].sel(seed=seed, iteration=t))]
            found = scores["regret"].sel(seed=seed, iteration=t, metric="so")
            assert float(found) == pytest.approx(best - chosen, abs=1e-12)
    np.testing.assert_array_equal(scores["regret"].sel(metric="so"), scores["regret"].sel(metric="ro"))
    assert (scores["regret"].sel(metric="so") >= 0).all()


def test_every_variable_has_units_and_a_name(place):
    for file in (
        *place.products.cubes(),
        place.paths.summary(),
        place.paths.score_file(place.branch("hills", "any", "random")),
    ):
        for name, variable in read_netcdf(file).variables.items():
            assert variable.attrs.get("units"), (file, name)
            assert variable.attrs.get("long_name"), (file, name)


def test_a_missing_score_is_a_hole_and_never_a_number(place):
    Path(place.paths.score_file(place.branch("coarse", "any", "mle"))).unlink()
    build_cube(description(place, "coarse"), "holed.nc")
    cube = read_netcdf("holed.nc")
    hole = cube.sel(algorithm="mle")
    assert (hole["status"] == MISSING).all()
    assert np.isnan(hole["regret"]).all()
    assert (hole["chosen_prior"] == -1).all()
    assert (cube.drop_sel(algorithm="mle")["status"] == DONE).all()


def test_a_score_of_another_length_is_refused(place):
    branch = place.branch("coarse", "any", "mle")
    scores = read_netcdf(place.paths.score_file(branch))
    write_netcdf(scores.isel(iteration=slice(5)), place.paths.score_file(branch))
    with pytest.raises(BocuError, match=r"mle\.nc: dimension 'iteration' does not fit the plan"):
        build_cube(description(place, "coarse"), "cube.nc")


def test_blocks_of_different_specifications_are_not_mixed(place):
    branch = place.branch("coarse", "any", "mle")
    files = place.products.runs(branch)
    run = read_netcdf(files[1])
    specification = json.loads(run.attrs["specification"])
    specification["problem"]["parameters"]["noise"] = 0.5
    write_netcdf(run.assign_attrs(specification=json.dumps(specification)), files[1])
    with pytest.raises(BocuError, match=r"seeds-2-3\.nc: attribute 'specification' is not that of the plan"):
        metric(place, branch, "score.nc")
    assert not Path("score.nc").exists()


@pytest.mark.parametrize("damage", ["missing", "truncated", "other"])
def test_a_partial_score_leaves_out_what_is_not_of_the_branch(place, damage):
    branch = place.branch("coarse", "any", "mle")
    whole = read_netcdf(place.paths.score_file(branch))
    broken = Path(place.products.runs(branch)[0])
    if damage == "missing":
        broken.unlink()
    elif damage == "truncated":
        broken.write_bytes(broken.read_bytes()[:1000])
    else:
        shutil.copy(place.products.runs(place.branch("coarse", "any", "random"))[0], broken)
    metric(place, branch, partial=True)
    scores = read_netcdf(place.paths.score_file(branch))
    assert scores["seed"].values.tolist() == [2, 3]
    np.testing.assert_array_equal(scores["regret"], whole["regret"].sel(seed=[2, 3]))
    build_cube(description(place, "coarse"), "cube.nc")
    cube = read_netcdf("cube.nc").sel(algorithm="mle", objective="any")
    assert cube["status"].values.tolist() == [MISSING, MISSING, DONE, DONE]
    assert np.isnan(cube["regret"].sel(seed=[0, 1])).all()
    np.testing.assert_array_equal(cube["regret"].sel(seed=[2, 3]), whole["regret"].sel(seed=[2, 3]))


def test_chunks_of_any_size_give_the_same_files(place, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_ELEMENTS", 13)
    build_cube(description(place, "coarse"), "small.nc")
    assert read_netcdf("small.nc").identical(read_netcdf(place.paths.cube("coarse")))
    build_summary(place.products.cubes(), "summary.nc")
    assert read_netcdf("summary.nc").identical(read_netcdf(place.paths.summary()))


def test_machines_that_differ_are_listed(place):
    branch = place.branch("coarse", "any", "mle")
    files = place.products.runs(branch)
    write_netcdf(read_netcdf(files[1]).assign_attrs(cpu="another", commit="another", kernel="another"), files[1])
    metric(place, branch)
    build_cube(description(place, "coarse"), "cube.nc")
    build_summary(["cube.nc"], "summary.nc")
    run = read_netcdf(files[0]).attrs
    for gathered in ("cube.nc", "summary.nc"):
        found = read_netcdf(gathered).attrs
        for key in ("cpu", "commit", "kernel"):
            assert json.loads(found[key]) == sorted([run[key], "another"])
        assert run["fingerprint"] in json.loads(found["fingerprint"])


def test_summary_sums_regret_and_says_what_is_not_defined(place):
    summary = read_netcdf(place.paths.summary())
    cube = read_netcdf(place.paths.cube("hills"))
    total = summary["cumulative_regret"].sel(
        problem="hills", algorithm="random", metric="so", checkpoint=1.0, objective="any"
    )
    wanted = cube["regret"].sel(algorithm="random", metric="so", objective="any").sum("iteration")
    np.testing.assert_allclose(total.sel(seed=wanted["seed"]), wanted, rtol=1e-12)
    assert (summary["status"].sel(problem="hills", algorithm="mle") == NOT_DEFINED).all()
    assert np.isnan(summary["cumulative_regret"].sel(problem="hills", algorithm="mle")).all()
    assert summary["iteration_of"].sel(problem="hills").values.tolist() == [1, 3, 6, 12]


def test_summary_keeps_labels_of_any_length_apart(tmp_path):
    paths = []
    for problem, metrics in (("wells", ["so", "ro"]), ("dry-wells", ["so-of-the-truth", "so"])):
        data = synthetic_cubes.cube(label=problem)
        data = data.assign_coords(metric=("metric", metrics, data["metric"].attrs))
        paths.append(synthetic_cubes.write(data, tmp_path / f"{problem}.nc"))
    build_summary(paths, tmp_path / "summary.nc")
    total = read_netcdf(tmp_path / "summary.nc")["cumulative_regret"]
    assert sorted(total["metric"].values) == ["ro", "so", "so-of-the-truth"]
    scored = {
        problem: total.sel(problem=problem).notnull().any(["objective", "algorithm", "seed", "checkpoint"])
        for problem in ("wells", "dry-wells")
    }
    assert scored["wells"]["metric"].values[scored["wells"].values].tolist() == ["ro", "so"]
    assert not scored["dry-wells"].sel(metric="ro")
