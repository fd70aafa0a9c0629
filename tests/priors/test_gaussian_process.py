"""Candidate priors over decisions and contexts: GPyTorch's fit against the exact marginal likelihood, and its file."""

import json

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.kernels import KERNELS
from bocu.problems.data.means import Mean, mean_dataset
from bocu.problems.priors.gaussian_process import best_maximum, fit_prior, thinned
from bocu.problems.priors.observations import TrainingRows, prepared_rows, shares
from bocu.problems.priors.statements import Scenario

COUNT = 25
NAMES = ("a", "b")
TOLD = {"long_name": "payoff", "units": "kg"}
LOWER, UPPER = np.array([0.0, 10.0]), np.array([4.0, 30.0])


def rows(count: int = COUNT, noise: float = 0.1) -> TrainingRows:
    generator = np.random.default_rng(3)
    points = generator.random((count, 2))
    values = 30.0 + 5.0 * np.sin(6.0 * points[:, 0]) + 2.0 * np.cos(2.0 * points[:, 1])
    return TrainingRows(points, values + noise * generator.standard_normal(count))


def log_density(
    data: TrainingRows, kernel: str, lengthscales: np.ndarray, variance: float, mean: float, noise: float
) -> float:
    """Return the marginal likelihood by the textbook's dense formula."""
    scales = tuple(np.broadcast_to(lengthscales, 2).tolist())
    gram = variance * KERNELS[kernel](scales)(data.points, data.points) + noise**2 * np.eye(len(data.values))
    factor = cholesky(gram, lower=True)
    whitened = solve_triangular(factor, data.values - mean, lower=True)
    return float(-0.5 * (whitened @ whitened + np.log(2.0 * np.pi * np.diag(factor) ** 2).sum()))


def independent_optimum(data: TrainingRows, kernel: str, ard: bool, noise: float | None) -> float:
    """Climb the dense formula by differences, from many starts."""
    size = 2 if ard else 1

    def loss(vector: np.ndarray) -> float:
        scales, variance = np.exp(vector[:size]), np.exp(vector[size])
        sigma = np.exp(vector[size + 2]) if noise is None else noise
        try:
            return -log_density(data, kernel, scales, variance, vector[size + 1], sigma)
        except np.linalg.LinAlgError:
            return 1e6

    generator = np.random.default_rng(0)
    ends = []
    for _ in range(4):
        start = [*np.log(generator.uniform(0.1, 2.0, size)), np.log(data.values.var()), data.values.mean()]
        start += [np.log(0.1 * data.values.std())] if noise is None else []
        limits = [(-4.6, 4.6)] * size + [(-5.0, 8.0), (0.0, 60.0)] + ([(-8.0, 3.0)] if noise is None else [])
        ends.append(minimize(loss, start, method="L-BFGS-B", bounds=limits, options={"maxiter": 400}).fun)
    return -min(ends)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize(("ard", "noise"), [(True, None), (False, None), (True, 0.3)])
def test_the_fit_is_the_optimum_of_the_exact_marginal_likelihood(kernel: str, ard: bool, noise: float | None) -> None:
    data = rows()
    found = best_maximum(data, kernel, ard=ard, noise=noise)
    told = log_density(data, kernel, found.lengthscales, found.variance, found.mean, found.noise)
    assert found.log_likelihood == pytest.approx(told, abs=1e-6)
    assert found.log_likelihood >= independent_optimum(data, kernel, ard, noise) - 1e-3
    assert found.log_likelihood == found.heights.max()
    assert not (found.at_bound and ard)  # one length-scale for both leaves no noise to be found
    assert noise is None or found.noise == pytest.approx(noise)
    assert ard or np.ptp(found.lengthscales) == 0.0


def test_a_single_start_may_end_on_the_wrong_side() -> None:
    """Few rows: one explanation is noise around a smooth payoff, the better one a payoff without noise."""
    generator = np.random.default_rng(8)
    points = generator.random((14, 1))
    data = TrainingRows(points, np.sin(14.0 * points[:, 0]))
    found = best_maximum(data, "squared-exponential", starts=6)
    assert np.ptp(found.heights) > 1.0
    assert found.log_likelihood == found.heights.max()


def test_units_of_the_payoff_do_not_matter() -> None:
    data = rows()
    one = best_maximum(data, "matern-5/2")
    other = best_maximum(TrainingRows(data.points, 1000.0 * data.values - 7.0), "matern-5/2")
    assert other.lengthscales == pytest.approx(one.lengthscales, rel=1e-3)
    assert other.variance == pytest.approx(1e6 * one.variance, rel=1e-2)
    assert other.log_likelihood == pytest.approx(one.log_likelihood - len(data.values) * np.log(1000.0), abs=1e-4)


def test_a_fit_is_the_same_every_time_whatever_torch_has_drawn() -> None:
    import torch

    one = best_maximum(rows(), "squared-exponential", starts=3)
    torch.manual_seed(11)
    torch.rand(7)
    before = torch.random.get_rng_state()
    other = best_maximum(rows(), "squared-exponential", starts=3)
    assert (one.heights == other.heights).all()
    assert (one.lengthscales == other.lengthscales).all()
    assert (torch.random.get_rng_state() == before).all()


def test_more_rows_than_wanted_are_thinned_the_same_way_every_time() -> None:
    data = rows()
    few = thinned(data, 10)
    assert len(few.values) == 10
    assert (few.values == thinned(data, 10).values).all()
    assert set(few.values) < set(data.values)
    assert thinned(data, COUNT) is data


@pytest.fixture
def prepared(tmp_path):
    data = rows()
    kernel = KERNELS["squared-exponential"]
    mean = Mean(NAMES, LOWER + (UPPER - LOWER) * data.points, np.ones(COUNT), np.array([1.0, 5.0]), 1.0, kernel)
    dataset = mean_dataset(mean, ["m", "s"], (LOWER, UPPER))
    write_netcdf(
        dataset.assign(values=("point", data.values, TOLD)).assign_attrs(dataset="made up", output_units="kg"),
        tmp_path / "runs.nc",
    )
    write_netcdf(dataset, tmp_path / "mean.nc")
    return tmp_path


def specification(**changes):
    told = {
        "label": "lab-1",
        "kernel": "squared-exponential",
        "ard": True,
        "noise": None,
        "points": 400,
        "starts": 2,
        "read": "bocu.problems.priors.observations:prepared_rows",
        "inputs": ["b", "a"],
        "rows": None,
    }
    return {**told, **changes}


def test_rows_are_scaled_and_ordered_as_the_problem_has_its_coordinates(prepared) -> None:
    found = prepared_rows(prepared / "runs.nc", ("b", "a"), None)
    assert found.points == pytest.approx(rows().points[:, ::-1])
    assert (found.values == rows().values).all()
    of_the_mean = prepared_rows(prepared / "mean.nc", ("a", "b"), None)
    assert not np.allclose(of_the_mean.values, rows().values)


def test_scenarios_are_equal_shares_by_an_input(prepared) -> None:
    parts = [prepared_rows(prepared / "runs.nc", ("a",), Scenario(input="b", part=k, of=3)) for k in (1, 2, 3)]
    assert sorted(value for part in parts for value in part.values) == sorted(rows().values)
    edges = [rows().points[np.isin(rows().values, part.values), 1] for part in parts]
    assert edges[0].max() < edges[1].min()
    assert edges[1].max() < edges[2].min()
    assert np.bincount(shares(np.zeros(7), 3)).tolist() == [3, 2, 2]


def test_a_fitted_prior_is_stored_with_its_evidence(prepared) -> None:
    fit_prior(specification(), {"data": str(prepared / "runs.nc")}, prepared / "prior.nc")
    stored = read_netcdf(prepared / "prior.nc")
    found = best_maximum(TrainingRows(rows().points[:, ::-1], rows().values), "squared-exponential", starts=2)
    assert stored["lengthscale"].values == pytest.approx(found.lengthscales)
    assert stored["input"].values.tolist() == ["b", "a"]
    assert float(stored["log_likelihood"]) == pytest.approx(found.log_likelihood)
    assert (int(stored["rows"]), int(stored["fitted_parameters"])) == (COUNT, 5)
    assert (stored["variance"].attrs["units"], stored.attrs["dataset"]) == ("(kg)^2", "made up")
    assert json.loads(stored.attrs["statement"])["label"] == "lab-1"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": ["a", "c"]}, r"runs.nc: no input 'c'; .*allowed: a, b"),
        ({"rows": {"period": "2013-10"}}, r"runs.nc: rows of 2013-10: its rows have no time; take `scenarios`"),
        ({"rows": {"input": "a", "part": 1, "of": 12}}, r"prior 'lab-1': found 3 rows to fit to; allowed: 5 or more"),
        ({"kernel": "rbf"}, r"prior specification: kernel: found 'rbf'"),
    ],
)
def test_what_cannot_be_fitted_gets_one_line(prepared, changes, message) -> None:
    with pytest.raises(BocuError, match=message):
        fit_prior(specification(**changes), {"data": str(prepared / "runs.nc")}, prepared / "prior.nc")
    assert not (prepared / "prior.nc").exists()


def test_a_payoff_that_does_not_vary_cannot_be_fitted(prepared) -> None:
    dataset = read_netcdf(prepared / "runs.nc")
    write_netcdf(dataset.assign(values=("point", np.ones(COUNT), TOLD)), prepared / "flat.nc")
    with pytest.raises(BocuError, match=r"flat.nc: prior 'lab-1': the payoffs do not vary"):
        fit_prior(specification(), {"data": str(prepared / "flat.nc")}, prepared / "prior.nc")
