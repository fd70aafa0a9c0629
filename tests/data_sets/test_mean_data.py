"""Plant and infection: Gaussian-process means as parameters, against direct formulas and the carried values."""

import csv

import numpy as np
import pytest

from bocu.core.io.files import read_netcdf
from bocu.core.kernels import Matern52, SquaredExponential
from bocu.problems.data.infection import prepare_infection
from bocu.problems.data.means import load_mean
from bocu.problems.data.plant import prepare_plant

ORIGIN = {"dataset": "plant", "record": "svgp", "source": "mirror", "title": "t", "licence": "l", "citation": "c"}


def svgp(tmp_path, **changes):
    path = tmp_path / "marchantia_leaf_area_svgp.npz"
    arrays = {
        "kernel_variance": 0.7,
        "kernel_lengthscales": np.array([5000.0, 1.5]),
        "inducing_points": np.array([[0.0, 2.5], [10000.0, 4.0], [10000.0, 4.0], [30000.0, 6.5]]),
        "whitened_q_mu": np.array([0.5, -1.0, 0.1, 0.3]),
        "leaf_area_mean": 60.0,
        "leaf_area_std": 50.0,
    }
    kept = {name: value for name, value in (arrays | changes).items() if value is not None}
    np.savez(path, **kept)
    return path


def runs(tmp_path, n=60, **changes):
    rng = np.random.default_rng(0)
    arrays = {"X": rng.random((n, 5)), "y": rng.standard_normal(n)} | changes
    np.savez(tmp_path / "infection_X_y.npz", **arrays)
    return tmp_path / "infection_X_y.npz", arrays


def test_plant_mean_is_the_whitened_formula(tmp_path):
    path = svgp(tmp_path)
    prepare_plant([path], tmp_path / "p.nc", ORIGIN)
    with np.load(path) as arrays:
        z, q, scales = arrays["inducing_points"], arrays["whitened_q_mu"], arrays["kernel_lengthscales"]
    points = np.array([[100.0, 3.0], [12000.0, 5.0]])

    def kernel(a, b):
        return 0.7 * np.exp(-0.5 * (((a[:, None] - b[None]) / scales) ** 2).sum(axis=2))

    factor = np.linalg.cholesky(kernel(z, z) + 1e-6 * np.eye(4))
    np.testing.assert_allclose(load_mean(tmp_path / "p.nc")(points), kernel(points, z) @ np.linalg.inv(factor).T @ q)


def test_prepared_plant_says_its_domain_and_units(tmp_path):
    prepare_plant([svgp(tmp_path)], tmp_path / "p.nc", ORIGIN)
    dataset = read_netcdf(tmp_path / "p.nc")
    assert dataset["input"].values.tolist() == ["nh3", "ph"]
    assert dataset["input_units"].values.tolist() == ["micromolar", "1"]
    assert dataset["upper"].values.tolist() == [30000.0, 6.5]
    assert dataset.attrs["leaf_area_std"] == 50.0


def test_a_wrong_check_value_is_named(tmp_path, refused):
    path, check = svgp(tmp_path), tmp_path / "check_values.csv"
    prepare_plant([path], tmp_path / "p.nc", ORIGIN)
    value = float(load_mean(tmp_path / "p.nc")(np.array([0.0, 2.5])))
    rows = "nh3_micromolar,ph,standardised_leaf_area\n0,2.5,{}\n0,2.5,{}\n"
    check.write_text(rows.format(value, value))
    prepare_plant([path, check], tmp_path / "p.nc", ORIGIN)
    assert read_netcdf(tmp_path / "p.nc").attrs["largest_difference_from_check_values"] < 1e-12
    check.write_text(rows.format(value, value + 0.01))
    with refused(str(check), "line 3", "at most 1e-06"):
        prepare_plant([path, check], tmp_path / "p.nc", ORIGIN)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"whitened_q_mu": None}, ["no array 'whitened_q_mu'"]),
        ({"inducing_points": np.ones((4, 3))}, ["'inducing_points'", "(4, 3)", "('any', 2)"]),
        ({"whitened_q_mu": np.ones(3)}, ["4 inducing_points", "3 whitened_q_mu"]),
        ({"kernel_variance": -1.0}, ["kernel_variance -1", "positive"]),
    ],
)
def test_wrong_parameters_are_named(tmp_path, refused, changes, parts):
    path = svgp(tmp_path, **changes)
    with refused(str(path), *parts):
        prepare_plant([path], tmp_path / "p.nc", ORIGIN)
    assert not (tmp_path / "p.nc").exists()


def test_nothing_is_unpickled(tmp_path, refused):
    path = svgp(tmp_path, whitened_q_mu=np.array([{"a": 1}, 2, 3, 4], dtype=object))
    with refused(str(path), "not a readable npz file of plain arrays"):
        prepare_plant([path], tmp_path / "p.nc", ORIGIN)


@pytest.mark.parametrize("content", [b"", b"rubbish", b"PK\x03\x04rubbish"])
def test_a_corrupt_npz_is_named(tmp_path, refused, content):
    path = tmp_path / "infection_X_y.npz"
    path.write_bytes(content)
    with refused(str(path), "not a readable npz file"):
        prepare_infection([path], tmp_path / "i.nc", ORIGIN)


def test_infection_mean_is_the_regression_through_the_runs(tmp_path):
    path, arrays = runs(tmp_path)
    prepare_infection([path], tmp_path / "i.nc", ORIGIN)
    mean = load_mean(tmp_path / "i.nc")
    gram = SquaredExponential((0.1,) * 5)(arrays["X"], arrays["X"])
    points = np.random.default_rng(1).random((3, 4, 5))
    cross = SquaredExponential((0.1,) * 5)(points.reshape(-1, 5), arrays["X"])
    expected = cross @ np.linalg.solve(gram + 1e-6 * np.eye(60), arrays["y"])
    np.testing.assert_allclose(mean(points), expected.reshape(3, 4), atol=1e-12)
    np.testing.assert_allclose(mean(arrays["X"]), arrays["y"], atol=1e-4)


def test_wrong_runs_are_named(tmp_path, refused):
    path, _ = runs(tmp_path, X=np.full((60, 5), 1.5))
    with refused(str(path), "X[0, 0] is 1.5", "0 to 1"):
        prepare_infection([path], tmp_path / "i.nc", ORIGIN)
    path, _ = runs(tmp_path, y=np.zeros(59))
    with refused(str(path), "60 rows of X and 59 of y"):
        prepare_infection([path], tmp_path / "i.nc", ORIGIN)


def test_matern_is_the_textbook_formula():
    r = np.sqrt(5) * 0.7
    assert Matern52((1.0,))(np.array([[0.0]]), np.array([[0.7]]))[0, 0] == pytest.approx(
        (1 + r + r**2 / 3) * np.exp(-r), rel=1e-15
    )


def test_points_of_another_dimension_are_refused(tmp_path, refused):
    prepare_plant([svgp(tmp_path)], tmp_path / "p.nc", ORIGIN)
    with refused("shape (3, 5)", "nh3, ph"):
        load_mean(tmp_path / "p.nc")(np.zeros((3, 5)))
    with refused("no hyper-parameters 'published'"):
        load_mean(tmp_path / "p.nc", "published")


@pytest.mark.real_data
def test_carried_plant_parameters_give_the_carried_values(real_files, tmp_path, mirror):
    prepare_plant(real_files("plant", "svgp"), tmp_path / "p.nc", ORIGIN)
    mean = load_mean(tmp_path / "p.nc")
    with (mirror / "plant" / "check_values.csv").open() as stream:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(stream))[1:]]
    assert len(rows) == 63
    for nh3, ph, value in rows:
        assert mean(np.array([nh3, ph])) == pytest.approx(value, abs=1e-9)


@pytest.mark.real_data
def test_carried_infection_runs_are_met_and_impossible_shares_give_zero(real_files, tmp_path):
    prepare_infection(real_files("infection", "runs"), tmp_path / "i.nc", ORIGIN)
    dataset = read_netcdf(tmp_path / "i.nc")
    assert dataset.sizes["point"] == 4085
    assert dataset.attrs["largest_residual_at_the_runs"] < 1e-4
    assert abs(load_mean(tmp_path / "i.nc")(np.array([1.0, 1.0, 0.3, 0.3, 0.5]))) < 1e-6
