"""Digests: what figures and reports read of cubes is what the cubes hold, and need none of them."""

import numpy as np
import pytest
import synthetic_cubes
import synthetic_objectives
import xarray as xr
from scipy.stats import sem

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.pages.figures.results import Cube, Digest
from bocu.sweep.evaluation.curves import POINTS, TRACED, accumulate, kept_rounds
from bocu.sweep.evaluation.digests import build_digest, shown_pairs
from bocu.sweep.experiment.branches import NO_OBJECTIVE

MISSING = [("mle", 1), ("random", 0)]


def with_more(data, initial=3, rounds=12):
    """A cube with an initial design, payoffs, recommendations, and hypervolumes that some seed lacks."""
    longer = np.resize(np.arange(data.sizes["iteration"]), initial + rounds)
    data = data.isel(iteration=longer).assign_coords(iteration=("iteration", np.arange(1 - initial, rounds + 1)))
    for coordinate in data.coords:
        data[coordinate].attrs = {"long_name": "a number", "units": "1"}
    noise = np.random.default_rng(5)
    described = {"long_name": "a number", "units": "1"}
    data["payoff"] = data["seconds"].dims, noise.normal(size=data["seconds"].shape), described
    data["recommended_regret"] = data["regret"].dims, noise.random(data["regret"].shape), described
    data["hypervolume_share"] = data["regret"].dims, noise.random(data["regret"].shape), described
    data["seconds"] = data["seconds"] * (1.0 + noise.random(data["seconds"].shape))
    data["seconds"].attrs = described
    data["regret"] = data["regret"] * noise.random(data["regret"].shape)
    data["regret"].attrs = {**described, "units": "degree_Celsius"}
    for name in ("payoff", "recommended_regret", "hypervolume_share"):
        dims = ("objective", "algorithm", "seed")
        data[name] = data[name].where(data["status"] == 1).transpose(*data[name].dims)
        assert set(dims) <= set(data[name].dims)
        data[name].attrs = described
    return data


@pytest.fixture
def pair(tmp_path):
    """A cube and its digest."""
    cube = synthetic_cubes.write(with_more(synthetic_cubes.cube(missing=MISSING)), tmp_path / "cube.nc")
    build_digest(cube, tmp_path / "digest.nc")
    return cube, tmp_path / "digest.nc"


def expected(cube, branch, metric, kind, from_initial=False):
    """Rounds, mean, standard error and seeds of a curve, from every round of the cube."""
    variable = "recommended_regret" if kind == "recommended" else "regret"
    found, seeds = cube.payoff(branch) if kind == "payoff" else cube.regret(branch, metric, variable)
    rounds, values = accumulate(cube.iterations, found, kind, from_initial)
    return rounds, values.mean(axis=0), sem(values), len(seeds)


@pytest.mark.parametrize("from_initial", [False, True])
@pytest.mark.parametrize("kind", ["cumulative", "average", "recommended", "instantaneous", "simple", "payoff"])
def test_curves_are_those_of_the_cube(pair, kind, from_initial):
    cube, digest = Cube(pair[0]), Digest(pair[1])
    for branch in cube.branches():
        rounds, mean, error, seeds = expected(cube, branch, "ro", kind, from_initial)
        curve = digest.curve(branch, "ro", kind, from_initial)
        assert (curve.rounds.tolist(), curve.seeds) == (rounds.tolist(), seeds)
        np.testing.assert_allclose(curve.mean, mean, rtol=1e-12)
        np.testing.assert_allclose(curve.error, error, rtol=1e-12, atol=1e-12)
        for own, whole in zip(digest.median_times(branch, 50), cube.median_times(branch, 50), strict=True):
            np.testing.assert_array_equal(own, whole)


def test_long_curves_are_thinned_with_both_ends_and_the_first_rounds(tmp_path):
    rounds = 5 * POINTS
    cube = synthetic_cubes.write(with_more(synthetic_cubes.cube(), 2, rounds), tmp_path / "cube.nc")
    build_digest(cube, tmp_path / "digest.nc")
    results, whole = Digest(tmp_path / "digest.nc"), Cube(cube)
    branch = whole.branches()[0]
    for kind, from_initial in (("cumulative", False), ("instantaneous", True), ("payoff", False)):
        thin = results.curve(branch, "so", kind, from_initial)
        every, mean, error, _ = expected(whole, branch, "so", kind, from_initial)
        assert len(thin.rounds) < 2 * POINTS < len(every)
        assert thin.rounds[[0, 1, 2, -1]].tolist() == every[[0, 1, 2, -1]].tolist()
        kept = np.isin(every, thin.rounds)
        np.testing.assert_allclose(thin.mean, mean[kept], rtol=1e-12)
        np.testing.assert_allclose(thin.error, error[kept], rtol=1e-12)


def test_curves_of_seeds_are_those_of_the_cube_thinned(tmp_path):
    rounds = 2 * TRACED
    cube = synthetic_cubes.write(with_more(synthetic_cubes.cube(missing=MISSING), 2, rounds), tmp_path / "cube.nc")
    build_digest(cube, tmp_path / "digest.nc")
    results, whole = Digest(tmp_path / "digest.nc"), Cube(cube)
    branch = next(branch for branch in whole.branches() if branch.algorithm == "mle")
    regret, seeds = whole.regret(branch, "ro")
    assert seeds.tolist() == [0, 2, 3, 4]
    played = regret[:, 2:]
    for kind, every in (("cumulative", played.cumsum(axis=1)), ("simple", np.minimum.accumulate(played, axis=1))):
        thin = results.traces(branch, "ro", kind)
        assert len(thin.rounds) <= TRACED < rounds
        assert thin.rounds[[0, -1]].tolist() == [1, rounds]
        assert thin.seeds.tolist() == seeds.tolist()
        np.testing.assert_allclose(thin.values, every[:, thin.rounds - 1], rtol=1e-6)
    assert results.traces(branch, "ro", "recommended") is None


def test_curves_of_seeds_are_kept_of_what_pages_show(tmp_path):
    cube = synthetic_cubes.write(synthetic_objectives.cube("one"), tmp_path / "cube.nc")
    build_digest(cube, tmp_path / "digest.nc")
    results = Digest(tmp_path / "digest.nc")
    shown = {
        (branch, metric)
        for objective, metric in shown_pairs(results.objectives(), results.metrics)
        for branch in results.branches()
        if branch.objective in (objective, NO_OBJECTIVE)
    }
    every = {(branch, metric) for branch in results.branches() for metric in results.metrics}
    assert {pair for pair in every if results.traces(*pair, "simple")} == shown
    assert shown < every


def test_no_round_is_left_out_of_a_short_curve():
    assert kept_rounds(np.arange(-4, POINTS - 4)).tolist() == list(range(POINTS))


def test_groups_of_rounds_that_a_digest_lacks_are_refused(pair):
    results = Digest(pair[1])
    branch = results.branches()[0]
    with pytest.raises(BocuError, match=r"digest\.nc: found medians of 50 rounds"):
        results.median_times(branch, 7)


def test_a_digest_is_small_described_and_sealed(pair):
    digest = read_netcdf(pair[1], sealed=True)
    for name, variable in digest.variables.items():
        assert variable.attrs.get("units"), name
        assert variable.attrs.get("long_name"), name
    assert not [name for name in digest.data_vars if "iteration" in digest[name].dims]
    with xr.open_dataset(pair[0]) as cube:
        assert digest.attrs["specification"] == cube.attrs["specification"]
