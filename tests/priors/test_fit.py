"""`bocu.problems.priors.fit` and `bocu.problems.priors.fit`: a day in, a prior out, and back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.learners.surrogates.time_varying import TimeVaryingPrior
from bocu.problems.data.intel import load_days
from bocu.problems.priors.fit import SeparableLikelihood, differing_in_scale_only, fit_prior, read_prior

COMPLETE = np.array([1, 2, 4, 5])


def fitted(prepared: Path, **changes: Any) -> Path:
    specification = {"label": "2", "day": "2", "prior_days": ["1", "2"], "target": "3", "noise": 0.1, **changes}
    output = prepared.with_name("prior.nc")
    fit_prior(specification, {"data": str(prepared)}, output)
    return output


def test_a_prior_is_the_empirical_covariance_and_the_most_likely_forgetting(prepared: Path) -> None:
    prior = read_prior(fitted(prepared), COMPLETE)
    days = load_days(prepared, ["1", "2", "3"])
    day = days.temperatures[1]
    around = day - day.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(prior.covariance, around @ around.T / 23, rtol=1e-12)
    np.testing.assert_allclose(prior.mean, days.temperatures[:2].mean(), rtol=1e-15)
    likelihood = SeparableLikelihood(day - prior.mean[:, None], prior.covariance, 0.1)
    best = max(likelihood(rate) for rate in np.linspace(0.0, 1.0, 301))
    assert likelihood(prior.forgetting) >= best - 1e-6
    assert (prior.label, prior.arms) == ("2", 4)


@pytest.mark.parametrize("centre", ["own-day", "own-day-sensors"])
def test_other_centres_move_the_mean(prepared: Path, centre: str) -> None:
    prior = read_prior(fitted(prepared, centre=centre), COMPLETE)
    day = load_days(prepared, ["1", "2", "3"]).temperatures[1]
    expected = day.mean() if centre == "own-day" else day.mean(axis=1)
    np.testing.assert_allclose(prior.mean, expected, rtol=1e-14)


def test_a_course_of_the_day_is_the_mean_of_all_sensors_at_each_step(prepared: Path) -> None:
    prior = read_prior(fitted(prepared, centre="own-day-course"), COMPLETE)
    day = load_days(prepared, ["1", "2", "3"]).temperatures[1]
    for t in range(1, 25):
        np.testing.assert_allclose(prior.mean_at(t), day[:, t - 1].mean(), rtol=1e-13)
    np.testing.assert_allclose(prior.covariance, np.cov(day), rtol=1e-12)
    likelihood = SeparableLikelihood(day - day.mean(axis=0), prior.covariance, 0.1)
    assert likelihood(prior.forgetting) >= max(likelihood(rate) for rate in np.linspace(0.0, 1.0, 301)) - 1e-6
    still = read_prior(fitted(prepared), COMPLETE)
    assert still.course is None
    near = TimeVaryingPrior("near", prior.mean, prior.covariance, prior.forgetting)
    assert differing_in_scale_only([near, prior]) == []


def test_the_file_tells_how_the_fit_went(prepared: Path) -> None:
    stored = read_netcdf(fitted(prepared))
    assert float(stored["log_likelihood"]) >= float(stored["log_likelihood_curve"].max())
    assert int(stored["at_bound"]) == 0
    assert int(stored["rank"]) == 4
    assert (int(stored["steps"]), float(stored["step"])) == (24, 3600.0)
    eigenvalues = np.linalg.eigvalsh(stored["covariance"].values) + 0.01
    assert float(stored["condition_number"]) == pytest.approx(eigenvalues[-1] / eigenvalues[0])
    assert float(stored["scale"]) == pytest.approx(np.diag(stored["covariance"].values).mean())
    assert stored.attrs["source"] == "simulate"
    assert stored.attrs["data_label"] == "simulated data"
    assert stored.attrs["jitter"] == "none"
    assert stored["sensor"].values.tolist() == COMPLETE.tolist()


def test_fitting_twice_gives_the_same_numbers(prepared: Path) -> None:
    first = read_netcdf(fitted(prepared))
    assert first.identical(read_netcdf(fitted(prepared)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"day": "7", "prior_days": ["1", "7"]}, r"prepared\.nc: no data on day '7'; allowed: 1 to 3"),
        ({"day": "9"}, r"prepared\.nc: day '9' is neither a prior day nor the target; allowed: 1, 2, 3"),
        ({"noise": 0}, "prior specification: noise: found 0"),
        ({"centre": "day"}, "prior specification: centre: found 'day'; .*'own-day'"),
        ({"dya": "1"}, "dya: unknown key; did you mean 'day'"),
    ],
)
def test_a_wrong_specification_gets_one_line_and_no_file(prepared: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BocuError, match=message) as caught:
        fitted(prepared, **changes)
    assert "\n" not in str(caught.value)
    assert not prepared.with_name("prior.nc").exists()


def test_a_day_without_data_is_named(prepared: Path, tmp_path: Path) -> None:
    dataset = read_netcdf(prepared)
    dataset["temperature"][:, 24:48] = np.nan
    write_netcdf(dataset, tmp_path / "silent.nc")
    with pytest.raises(BocuError, match=r"silent\.nc: day '2'"):
        fitted(tmp_path / "silent.nc")


def test_a_day_that_does_not_vary_is_named(prepared: Path, tmp_path: Path) -> None:
    dataset = read_netcdf(prepared)
    dataset["temperature"][:, 24:48] = 20.0
    write_netcdf(dataset, tmp_path / "frozen.nc")
    with pytest.raises(BocuError, match=r"frozen\.nc: day '2': temperatures do not vary"):
        fitted(tmp_path / "frozen.nc")


def test_a_file_that_is_no_prior_or_is_over_other_sensors_is_refused(prepared: Path) -> None:
    with pytest.raises(BocuError, match=r"prepared\.nc: not a fitted prior: no mean, covariance, forgetting"):
        read_prior(prepared, COMPLETE)
    with pytest.raises(BocuError, match=r"prior\.nc: prior over 4 sensors, the data have 2 complete ones"):
        read_prior(fitted(prepared), COMPLETE[:2])
    with pytest.raises(BocuError, match=r"missing\.nc: no such file"):
        read_prior(prepared.with_name("missing.nc"), COMPLETE)


def test_priors_that_differ_in_scale_only_are_found() -> None:
    generator = np.random.default_rng(0)
    root, mean = generator.standard_normal((6, 6)), generator.standard_normal(6)
    base = TimeVaryingPrior("base", mean, root @ root.T, 0.1)
    others = [
        TimeVaryingPrior("wider", mean, 9.0 * base.covariance, 0.1),
        TimeVaryingPrior("slower", mean, 9.0 * base.covariance, 0.02),
        TimeVaryingPrior("warmer", mean + 1.0, base.covariance, 0.1),
        TimeVaryingPrior("other shape", mean, np.eye(6), 0.1),
    ]
    assert differing_in_scale_only([base, *others]) == [("base", "wider")]
    assert differing_in_scale_only([base]) == []
