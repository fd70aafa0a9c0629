"""Portfolio: reading the torch files, fitting, and the published hyper-parameters."""

import pickle

import numpy as np
import pytest
import torch

from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.problems.data.means import load_mean
from bocu.problems.data.portfolio import PUBLISHED, fit_hyperparameters, payoff_mean, prepare_portfolio, read_samples
from bocu.sweep.archive.identities import problem_identity
from bocu.testing.games import stated

ORIGIN = {
    "dataset": "portfolio",
    "record": "samples",
    "source": "mirror",
    "title": "t",
    "licence": "l",
    "citation": "c",
}


def smooth(x):
    return -3 + 4 * np.sin(3 * x[:, 0]) + 2 * x[:, 2] * x[:, 3]


def samples(path, n=40, seed=0, **changes):
    x = np.random.default_rng(seed).random((n, 5))
    content = {"X": torch.as_tensor(x)[:, None, :], "Y": torch.as_tensor(smooth(x))[:, None, None]} | changes
    torch.save({key: value for key, value in content.items() if value is not None}, path)
    return path


def test_prepared_portfolio_holds_samples_and_two_fits(tmp_path):
    raw = [samples(tmp_path / f"port_n=100_seed={seed}", seed=seed) for seed in (1, 2, 3)]
    prepare_portfolio(raw, tmp_path / "s.nc", ORIGIN, subset=80)
    dataset = read_netcdf(tmp_path / "s.nc")
    assert dataset.sizes["point"] == 120
    assert dataset["fit"].values.tolist() == ["published", "refitted"]
    np.testing.assert_array_equal(dataset["payoff"], -dataset["published_y"])
    assert dataset["payoff"].attrs["units"] == "percent year-1"
    assert dataset.attrs["held_out_rmse_refitted"] < 0.1 * dataset.attrs["held_out_standard_deviation"]
    assert dataset.attrs["default_fit"] == "published"


def test_prepared_means_predict_the_payoff(tmp_path, refused):
    raw = [samples(tmp_path / f"port_n=100_seed={seed}", seed=seed) for seed in (1, 2, 3)]
    prepare_portfolio(raw, tmp_path / "s.nc", ORIGIN | {"source": "simulate"}, subset=80)
    mean = load_mean(tmp_path / "s.nc")
    assert mean.lengthscales.tolist() == load_mean(tmp_path / "s.nc", "refitted").lengthscales.tolist()
    points = np.random.default_rng(9).random((200, 5))
    assert np.sqrt(np.mean((mean(points) + smooth(points)) ** 2)) < 0.3
    with refused("no hyper-parameters 'mine'", "published, refitted"):
        load_mean(tmp_path / "s.nc", "mine")


@pytest.mark.parametrize(("fit", "changed"), [("published", False), (None, False), ("refitted", True)])
def test_a_fit_that_a_problem_does_not_read_is_none_of_its_identity(tmp_path, fit, changed):
    """What torch fits has other last digits on another type of processor."""
    raw, data = samples(tmp_path / "a"), tmp_path / "s.nc"
    prepare_portfolio([raw], data, ORIGIN, subset=20)
    problem = stated("problem", "portfolio-normal", {"source": "mirror", "fit": fit})
    before = problem_identity(problem, {"data": str(data)})
    other = read_netcdf(data)
    other["constant"].loc["refitted"] += 1e-9
    write_netcdf(other, data)
    assert (str(problem_identity(problem, {"data": str(data)})) != str(before)) is changed


def test_fit_finds_which_inputs_matter():
    x = np.random.default_rng(0).random((120, 5))
    found = fit_hyperparameters(x, smooth(x))
    assert found.lengthscales[0] < min(found.lengthscales[1], found.lengthscales[4])
    assert found.noise < 0.01


def test_fit_repeats_exactly():
    x = np.random.default_rng(0).random((60, 5))
    assert fit_hyperparameters(x, smooth(x)) == fit_hyperparameters(x, smooth(x))


def test_mean_is_minus_y_at_the_samples_when_noise_is_small():
    x = np.random.default_rng(0).random((60, 5))
    np.testing.assert_allclose(payoff_mean(fit_hyperparameters(x, smooth(x)), x, smooth(x))(x), -smooth(x), atol=0.1)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"Y": None}, ["without tensors X and Y"]),
        ({"X": torch.zeros(40, 5)}, ["(40, 5)", "(n, 1, 5)"]),
        ({"Y": torch.zeros(39, 1, 1)}, ["(39, 1, 1)"]),
        ({"X": torch.full((40, 1, 5), 1.2)}, ["X outside [0, 1]"]),
        ({"Y": torch.full((40, 1, 1), float("nan"))}, ["Y not finite"]),
    ],
)
def test_wrong_samples_are_named(tmp_path, refused, changes, parts):
    path = samples(tmp_path / "port_n=100_seed=1", **changes)
    with refused(str(path), *parts):
        read_samples(path)


class Harmful:
    """What a pickle could do."""

    def __reduce__(self):
        return print, ("unpickled",)


def test_nothing_is_unpickled(tmp_path, refused, capsys):
    path = tmp_path / "port_n=100_seed=1"
    torch.save({"X": Harmful()}, path)
    with refused(str(path), "not a readable torch file of plain tensors"):
        read_samples(path)
    path.write_bytes(pickle.dumps({"X": Harmful()}, protocol=2))
    with refused(str(path), "not a readable torch file"):
        read_samples(path)
    assert "unpickled" not in capsys.readouterr().out


def test_a_truncated_file_is_named(tmp_path, refused):
    path = samples(tmp_path / "port_n=100_seed=1")
    path.write_bytes(path.read_bytes()[:1000])
    with refused(str(path), "not a readable torch file"):
        read_samples(path)
    path.write_bytes(b"")
    with refused(str(path), "not a readable torch file"):
        read_samples(path)


@pytest.mark.real_data
def test_published_hyper_parameters_belong_to_the_carried_samples(real_files):
    parts = [read_samples(path) for path in real_files("portfolio", "samples")]
    x, y = np.concatenate([part.inputs for part in parts]), np.concatenate([part.values for part in parts])
    assert len(y) == 3000
    assert y.mean() == pytest.approx(PUBLISHED.offset, abs=1e-4)
    assert y.std(ddof=1) == pytest.approx(PUBLISHED.scale, abs=1e-4)
    split = np.random.default_rng(0).permutation(3000)
    mean = payoff_mean(PUBLISHED, x[split[600:]], y[split[600:]])
    assert np.sqrt(np.mean((mean(x[split[:600]]) + y[split[:600]]) ** 2)) < 0.35 * y.std()
