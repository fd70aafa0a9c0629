"""The figure of wind power commitment, on small real runs over a drawn series."""

import numpy as np
import pytest
import wind_power
import xarray as xr

from bocu.core.errors import BocuError
from bocu.pages.figures.results import Cube
from bocu.pages.figures.wind_commitment import WindCommitmentFigure, WindFigureParameters
from bocu.sweep.evaluation.digests import build_digest

HOURS = 12


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wind-figure")
    wind_power.write_series(folder / "wind.nc", missing=(746,))
    cube = wind_power.cube(folder, folder / "wind.nc", ["drbo", "ucb", "commit-zero"], iterations=HOURS)
    build_digest(cube, folder / "digest.nc")
    return {"cube": cube, "digest": folder / "digest.nc", "problem_data": str(folder / "wind.nc")}


def draw(files, **parameters):
    return WindCommitmentFigure(WindFigureParameters(**parameters)).draw(files)


def lines(files, axes):
    """The lines of a panel by the labels of their algorithms."""
    drawn = {line.get_label(): line for line in axes.get_lines()}
    return {label: drawn[title] for label, title in Cube(files["cube"]).titles.items() if title in drawn}


def test_the_panels_are_revenue_and_robust_regret_summed_up(files):
    drawing = draw(files)
    cube = xr.load_dataset(files["cube"])
    above, below = drawing.figure.axes
    assert above.get_ylabel() == "cumulative revenue"
    for label, objective in (("drbo", "dro"), ("ucb", "any"), ("commit-zero", "any")):
        own = cube.sel(algorithm=label, objective=objective)
        revenue = own["payoff"].cumsum("iteration").mean("seed").values
        assert lines(files, above)[label].get_ydata() == pytest.approx(revenue)
        regret = own["regret"].sel(metric="dro").cumsum("iteration").mean("seed").values
        assert lines(files, below)[label].get_ydata() == pytest.approx(regret)
    assert "scored by dro" in drawing.caption
    assert "2 seeds" in drawing.caption
    assert f"in {HOURS} hours from 2013-02-01, 00" in drawing.caption
    assert drawing.data_label == ""


def test_hours_stand_at_their_dates_and_the_gap_stays_empty(files):
    drawn = lines(files, draw(files).figure.axes[0])["ucb"].get_xdata()
    hours = np.asarray(drawn, dtype="datetime64[h]")
    assert str(hours[0]) == "2013-02-01T00"
    assert np.diff(hours).astype(int).tolist() == [1, 2, *[1] * (HOURS - 3)]


def test_algorithms_and_metric_can_be_chosen(files):
    drawing = draw(files, algorithms=["ucb"], metric="so")
    assert list(lines(files, drawing.figure.axes[1])) == ["ucb"]
    assert "scored by so" in drawing.caption
    with pytest.raises(BocuError, match="no objective 'wcs'"):
        draw(files, objective="wcs")
