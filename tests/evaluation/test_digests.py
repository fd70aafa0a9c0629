"""Digests: figures and reports that are made from them are those of the cubes, and need none of them."""

import io

import numpy as np
import pytest
import synthetic_cubes
import synthetic_objectives

from bocu.core import style
from bocu.core.errors import BocuError
from bocu.pages.figures.cost import Cost, CostParameters
from bocu.pages.figures.panels import Panels, PanelsParameters
from bocu.pages.figures.priors import ChosenPriors, PriorsParameters, RejectionTimes
from bocu.pages.figures.regret import Regret, RegretParameters
from bocu.pages.figures.results import Cube, results_at
from bocu.pages.figures.scoreboard import Scoreboard, ScoreboardParameters
from bocu.pages.figures.summary import Summary, SummaryParameters
from bocu.pages.report.build import build, table_files
from bocu.sweep.evaluation.cubes import build_summary
from bocu.sweep.evaluation.curves import POINTS, TRACED
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


def picture(drawing):
    file = io.BytesIO()
    with style.applied():
        drawing.figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def assert_same_picture(one, other):
    assert one.caption == other.caption
    assert one.alternative == other.alternative
    assert picture(one) == picture(other)


@pytest.mark.parametrize(
    "figure",
    [
        *(Regret(RegretParameters(kind=kind)) for kind in ("cumulative", "average", "recommended")),
        *(
            Regret(RegretParameters(kind=kind, from_initial=True, spread="interval-95", log_rounds=True))
            for kind in ("instantaneous", "simple", "payoff")
        ),
        Cost(CostParameters()),
        ChosenPriors(PriorsParameters()),
        RejectionTimes(PriorsParameters()),
    ],
    ids=lambda figure: f"{type(figure).__name__}-{getattr(figure.parameters, 'kind', '')}",
)
def test_a_figure_from_a_digest_is_the_one_from_the_cube(pair, figure):
    cube, digest = pair
    one, other = figure.draw({"cube": cube}), figure.draw({"digest": digest})
    assert "Nothing to show" not in one.caption
    assert_same_picture(one, other)


@pytest.mark.parametrize(
    "figure", [Panels(PanelsParameters()), Summary(SummaryParameters()), Scoreboard(ScoreboardParameters())]
)
def test_a_figure_of_the_whole_experiment_needs_digests_alone(figure, tmp_path):
    cubes = [
        synthetic_cubes.write(synthetic_objectives.cube(problem), tmp_path / f"{problem}.nc")
        for problem in ("one", "three")
    ]
    digests = [tmp_path / f"{cube.stem}.digest.nc" for cube in cubes]
    for cube, digest in zip(cubes, digests, strict=True):
        build_digest(cube, digest)
    one = figure.draw({"cubes": cubes})
    for cube in cubes:
        cube.unlink()
    assert_same_picture(one, figure.draw({"digests": digests}))


def test_a_report_from_digests_is_the_one_from_cubes(pair, tmp_path):
    pages = []
    for path in pair:
        build_summary([path], tmp_path / "summary.nc")
        page = tmp_path / path.stem / "index.html"
        build({"name": "x"}, [path], tmp_path / "summary.nc", [], page)
        pages.append(page)
    told = pages[1].read_text().replace("../digest.nc", "../cube.nc").replace("/digest/index.html", "/cube/index.html")
    assert pages[0].read_text() == told
    for one, other in zip(*(table_files(page).values() for page in pages), strict=True):
        assert one.read_text() == other.read_text()
        assert len(one.read_text().splitlines()) > 1 or one.stem == "hypervolumes"


def test_long_curves_are_thinned_with_both_ends_and_the_first_rounds(tmp_path):
    rounds = 5 * POINTS
    cube = synthetic_cubes.write(with_more(synthetic_cubes.cube(), 2, rounds), tmp_path / "cube.nc")
    build_digest(cube, tmp_path / "digest.nc")
    results, whole = results_at(tmp_path / "digest.nc"), Cube(cube)
    branch = whole.branches()[0]
    for kind, from_initial in (("cumulative", False), ("instantaneous", True), ("payoff", False)):
        thin, full = (found.curve(branch, "so", kind, from_initial=from_initial) for found in (results, whole))
        assert len(thin.rounds) < 2 * POINTS < len(full.rounds)
        assert thin.rounds[[0, 1, 2, -1]].tolist() == full.rounds[[0, 1, 2, -1]].tolist()
        kept = np.isin(full.rounds, thin.rounds)
        np.testing.assert_array_equal(thin.mean, full.mean[kept])
        np.testing.assert_array_equal(thin.error, full.error[kept])


def test_curves_of_seeds_are_those_of_the_cube_thinned(tmp_path):
    rounds = 2 * TRACED
    cube = synthetic_cubes.write(with_more(synthetic_cubes.cube(missing=MISSING), 2, rounds), tmp_path / "cube.nc")
    build_digest(cube, tmp_path / "digest.nc")
    results, whole = results_at(tmp_path / "digest.nc"), Cube(cube)
    branch = next(branch for branch in whole.branches() if branch.algorithm == "mle")
    regret, seeds = whole.regret(branch, "ro")
    assert seeds.tolist() == [0, 2, 3, 4]
    for kind, expected in (("cumulative", regret[:, 2:].cumsum(axis=1)), ("simple", None)):
        thin, of_cube = results.traces(branch, "ro", kind), whole.traces(branch, "ro", kind)
        assert len(thin.rounds) <= TRACED < rounds
        assert thin.rounds[[0, -1]].tolist() == [1, rounds]
        assert thin.seeds.tolist() == seeds.tolist()
        np.testing.assert_array_equal(thin.values, of_cube.values)
        if expected is not None:
            np.testing.assert_allclose(thin.values, expected[:, thin.rounds - 1], rtol=1e-6)
    assert results.traces(branch, "ro", "recommended") is None


def test_curves_of_seeds_are_kept_of_what_pages_show(tmp_path):
    cube = synthetic_cubes.write(synthetic_objectives.cube("one"), tmp_path / "cube.nc")
    build_digest(cube, tmp_path / "digest.nc")
    results = results_at(tmp_path / "digest.nc")
    shown = {
        (branch, metric)
        for objective, metric in shown_pairs(results.objectives(), results.metrics)
        for branch in results.branches()
        if branch.objective in (objective, NO_OBJECTIVE)
    }
    every = {(branch, metric) for branch in results.branches() for metric in results.metrics}
    assert {pair for pair in every if results.traces(*pair, "simple")} == shown
    assert shown < every


def test_groups_of_rounds_that_a_digest_lacks_are_refused(pair):
    results = results_at(pair[1])
    branch = results.branches()[0]
    with pytest.raises(BocuError, match=r"digest\.nc: rounds are averaged from the cube"):
        results.curve(branch, "so", "instantaneous", smooth=2)
    with pytest.raises(BocuError, match=r"digest\.nc: found medians of 50 rounds"):
        results.median_times(branch, 7)
