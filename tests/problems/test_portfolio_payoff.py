"""The portfolio's payoff: a Gaussian-process mean of decisions and contexts, its kernel, and its optima."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from bocu.core.errors import BocuError
from bocu.core.io.files import write_netcdf
from bocu.core.kernels import Matern52
from bocu.problems.data.catalogue import load_catalogue
from bocu.problems.data.means import Mean, mean_dataset
from bocu.problems.data.portfolio import PUBLISHED, payoff_mean, prepare_portfolio, read_samples
from bocu.problems.optima import EXPECTATIONS, ExpectedPayoffFunction, expected_payoff, quadrature_rule, stored_optimum
from bocu.problems.portfolio import PortfolioPayoff


def small_mean(points=30, inputs=5):
    generator = np.random.default_rng(0)
    names = tuple("abcdefgh"[:inputs])
    return Mean(
        names,
        generator.random((points, inputs)),
        generator.standard_normal(points),
        np.full(inputs, 0.4),
        1.5,
        Matern52,
    )


@pytest.fixture(scope="module")
def real(mirror, root):
    """Inputs (3000, 5) and Y (3000,)."""
    record = load_catalogue(root / "data" / "sources.yaml").record("portfolio", "samples")
    parts = [read_samples(mirror / "portfolio" / file.name) for file in record.files_of("mirror")]
    return np.concatenate([part.inputs for part in parts]), np.concatenate([part.values for part in parts])


@pytest.fixture(scope="module")
def surrogate(real):
    return PortfolioPayoff(payoff_mean(PUBLISHED, *real))


def test_payoff_is_the_mean_at_decision_and_context():
    mean = small_mean()
    generator = np.random.default_rng(1)
    x, c = generator.random((4, 3)), generator.random((6, 2))
    table = PortfolioPayoff(mean)(x[:, None], c[None])
    assert table.shape == (4, 6)
    expected = [[mean(np.concatenate([one, other])) for other in c] for one in x]
    np.testing.assert_allclose(table, expected, rtol=1e-12)


@pytest.mark.real_data
def test_payoff_is_read_from_the_prepared_data(real, surrogate, mirror, root, tmp_path):
    record = load_catalogue(root / "data" / "sources.yaml").record("portfolio", "samples")
    origin = {"dataset": "portfolio", "record": "samples", "source": "mirror", "title": "t", "licence": "l"}
    raw = [mirror / "portfolio" / file.name for file in record.files_of("mirror")]
    prepare_portfolio(raw, tmp_path / "p.nc", origin | {"citation": "c"}, subset=50)
    x, c = np.random.default_rng(0).random((5, 3)), np.random.default_rng(1).random((5, 2))
    np.testing.assert_allclose(PortfolioPayoff.load(tmp_path / "p.nc")(x, c), surrogate(x, c), rtol=1e-9)
    assert np.abs(PortfolioPayoff.load(tmp_path / "p.nc", "refitted")(x, c) - surrogate(x, c)).max() > 1e-3


def test_another_data_set_is_refused(tmp_path):
    for name, inputs in (("portfolio", 5), ("plant", 2)):
        bounds = np.zeros(inputs), np.ones(inputs)
        write_netcdf(mean_dataset(small_mean(inputs=inputs), ["1"] * inputs, bounds), tmp_path / f"{name}.nc")
    x, c = np.full(3, 0.3), np.full(2, 0.6)
    assert PortfolioPayoff.load(tmp_path / "portfolio.nc")(x, c) == PortfolioPayoff(small_mean())(x, c)
    with pytest.raises(BocuError, match=r"plant.nc: a mean of a, b; allowed: prepared portfolio data"):
        PortfolioPayoff.load(tmp_path / "plant.nc")


KERNELS = {
    "matern-1/2": lambda r: np.exp(-r),
    "matern-3/2": lambda r: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
    "matern-5/2": lambda r: (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r),
    "squared-exponential": lambda r: np.exp(-0.5 * r**2),
}


def test_published_optima_are_above_what_can_be_reached():
    for name, excess in (("portfolio-uniform", 0.68), ("portfolio-normal", 0.41)):
        assert EXPECTATIONS[name].published - stored_optimum(name).value == pytest.approx(excess, abs=0.01)


@pytest.mark.real_data
def test_published_hyper_parameters_predict_best_with_the_matern_five_halves_kernel(real):
    x, y = real
    split = np.random.default_rng(0).permutation(3000)
    told, held = split[600:], split[:600]
    scaled = x / np.array(PUBLISHED.lengthscales)
    among, across = cdist(scaled[told], scaled[told]), cdist(scaled[held], scaled[told])
    target = (y[told] - PUBLISHED.offset) / PUBLISHED.scale - PUBLISHED.constant
    error = {}
    for name, kernel in KERNELS.items():
        gram = PUBLISHED.variance * kernel(among) + PUBLISHED.noise * np.eye(len(told))
        mean = PUBLISHED.constant + PUBLISHED.variance * kernel(across) @ np.linalg.solve(gram, target)
        predicted = PUBLISHED.offset + PUBLISHED.scale * mean
        error[name] = np.sqrt(np.mean((predicted - y[held]) ** 2))
        if name == "matern-5/2":
            own = payoff_mean(PUBLISHED, x[told], y[told])
            np.testing.assert_allclose(own(x[held]), -predicted, atol=1e-7)
    assert min(error, key=error.get) == "matern-5/2", error


@pytest.mark.real_data
@pytest.mark.parametrize("name", [pytest.param("portfolio-uniform", marks=pytest.mark.drill), "portfolio-normal"])
def test_quadrature_agrees_with_the_published_number_of_sobol_points(name, surrogate):
    x = np.vstack([stored_optimum(name).decision, np.random.default_rng(0).random((1, 3))])
    found = expected_payoff(name, "quadrature", surrogate)(x)
    np.testing.assert_allclose(found, expected_payoff(name, "sobol", surrogate)(x), atol=2e-5)
    finer = quadrature_rule(EXPECTATIONS[name].law, panels=5)
    np.testing.assert_allclose(found, ExpectedPayoffFunction(surrogate, 3, finer)(x), atol=1e-7)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "value"), [("portfolio-uniform", 19.32), ("portfolio-normal", 21.59)])
def test_stored_optima_belong_to_the_published_surrogate(name, value, surrogate):
    stored = stored_optimum(name, "quadrature")
    assert stored.value == pytest.approx(value, abs=0.01)
    expected = expected_payoff(name, "quadrature", surrogate)
    assert expected(stored.decision[None])[0] == pytest.approx(stored.value, abs=1e-7)
    generator = np.random.default_rng(3)
    near = np.clip(stored.decision + 0.01 * generator.standard_normal((20, 3)), 0, 1)
    assert expected(np.vstack([near, generator.random((20, 3))])).max() <= stored.value + 1e-7
