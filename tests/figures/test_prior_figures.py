"""Which priors were trusted and rejected, and figures that build the problem again or replay a run of the hills."""

import re

import numpy as np
import pytest
import synthetic_cubes
import synthetic_objectives
from matplotlib.colors import to_hex

from bocu.core import style
from bocu.core.io.files import open_netcdf, read_netcdf
from bocu.pages.figures.landscapes import Landscape, PriorMeans
from bocu.pages.figures.priors import ChosenPriors, PriorsParameters, Rejection, RejectionParameters, RejectionTimes
from bocu.pages.figures.realised import OneSeedParameters, arm_axis
from bocu.pages.figures.relative_regret import Summary, SummaryParameters, relative_regret
from bocu.pages.figures.results import CubeBranch, Digest
from bocu.sweep.evaluation.prior_choices import account, trusted_shares


def chosen(path, **parameters):
    return ChosenPriors(PriorsParameters(**parameters)).draw({"digest": path})


def rejected(path, **parameters):
    return RejectionTimes(PriorsParameters(**parameters)).draw({"digest": path})


def test_shares_by_hand():
    found = trusted_shares(np.array([[0, 0, 1, -1], [2, 2, 2, 2], [-1, -1, -1, -1]]), 3)
    np.testing.assert_allclose(found, [[2 / 3, 1 / 3, 0], [0, 0, 1]])


def test_bars_are_the_shares_of_the_cube(digest_path):
    drawing = chosen(digest_path)
    assert [axes.get_title() for axes in drawing.figure.axes] == ["PE-GP-UCB"]
    assert [bar.get_width() for bar in drawing.figure.axes[0].patches] == pytest.approx([0.25, 0.75, 0.0])
    assert "Not drawn: MLE (prior c), in all rounds of all seeds." in drawing.caption
    of_mle = drawing.table[drawing.table["algorithm"] == "MLE"]
    assert list(of_mle["share_of_rounds"]) == pytest.approx([0.0, 0.0, 1.0])


def test_the_best_prior_is_marked_in_the_picture_and_named(digest_path):
    drawing = chosen(digest_path)
    colours = [to_hex(bar.get_facecolor()).upper() for bar in drawing.figure.axes[0].patches]
    assert colours[0] == colours[2] == style.PALE != colours[1]
    assert "b (best)" in [label.get_text() for label in drawing.figure.axes[0].get_yticklabels()]
    assert "The best prior is b." in drawing.caption


def test_rejections_are_dots_at_their_rounds(digest_path):
    drawing = rejected(digest_path)
    axes = drawing.figure.axes[0]
    dots = [line for line in axes.get_lines() if line.get_marker() == "o"]
    assert sorted(dots[0].get_xdata()) == [3, 4, 5, 6]
    assert [len(line.get_xdata()) for line in dots] == [4, 0, 0]
    assert [text.get_text() for text in axes.texts if "/" in text.get_text()] == ["4/5", "0/5", "0/5"]
    assert "rejected 0.8 of 2 wrong priors in a run on average, and the best one in 0 of 5 seeds" in drawing.caption


def test_where_no_algorithm_rejects_the_figure_says_so(digest_path):
    drawing = rejected(digest_path, algorithms=["random"])
    assert "no algorithm rejects candidate priors" in drawing.caption
    assert drawing.table is None


def test_the_rejection_that_empties_the_list_counts_and_is_told(tmp_path):
    data = synthetic_cubes.cube()
    # In seed 4 prior c is rejected in round 7 as the last one; all are candidates again at the end of that round.
    place = {"algorithm": "pe-gp-ucb", "seed": 4, "iteration": 7}
    data["rejected_prior"].loc[place] = 2
    data["all_rejected"].loc[place] = 1
    path = synthetic_cubes.digest(data, tmp_path / "c.nc")
    rounds = Digest(path).rejection_rounds(CubeBranch("any", "pe-gp-ucb"))
    assert rounds[4, 2] == 7
    assert "In 1 seed it rejected all of them and took all back." in rejected(path).caption


def lines(axes):
    return {line.get_label(): line for line in axes.get_lines()}


@pytest.fixture
def run(hills_inputs):
    files = hills_inputs("rejection")["runs"]
    return lambda seed: next(data.sel(seed=seed) for data in map(read_netcdf, files) if seed in data["seed"].values)


def seed_and_round(drawing):
    words = drawing.caption.replace(",", " ").split()
    return int(words[words.index("Seed") + 1]), int(words[words.index("round") + 1])


def rejections(run, seed):
    """Return prior and round of the rejections of a seed, by whether the prior was trusted before that round."""
    found = {True: [], False: []}
    for prior in run(seed)["rejected_prior"]:
        if prior >= 0:
            own = (int(prior), int(prior["iteration"]))
            found[len(account(run(seed), *own)[0]) > 1].append(own)
    return found


def test_the_rejection_that_is_drawn_happened(hills_inputs, run):
    seed = next(seed for seed in range(2) if rejections(run, seed)[True])
    prior, round_ = rejections(run, seed)[True][0]
    drawing = Rejection(RejectionParameters(seed=seed, prior=str(prior))).draw(hills_inputs("rejection"))
    assert drawing.title == "How a prior is rejected"
    assert seed_and_round(drawing) == (seed, round_)
    recorded = run(seed).sel(iteration=round_)
    above, below = drawing.figure.axes
    spotlight = lines(above)[f"observation of round {round_}"]
    assert spotlight.get_ydata()[0] == float(recorded["observation"])
    assert spotlight.get_xdata()[0] == pytest.approx(int(recorded["decision_index"]) / 59)
    bound, error = below.get_lines()[:2]
    assert error.get_ydata()[-1] == pytest.approx(abs(float(recorded["error_sum"])))
    assert bound.get_ydata()[-1] == pytest.approx(float(recorded["error_limit"]))
    assert error.get_ydata()[-1] > bound.get_ydata()[-1]
    assert all(error.get_ydata()[:-1] <= bound.get_ydata()[:-1])


def test_the_models_are_those_before_the_observation(hills_inputs, run):
    drawing = Rejection(RejectionParameters()).draw(hills_inputs("rejection"))
    seed, round_ = seed_and_round(drawing)
    recorded = run(seed).sel(iteration=round_)
    prior = int(recorded["rejected_prior"])
    arm = int(recorded["decision_index"])
    above = drawing.figure.axes[0]
    mean = lines(above)[f"under prior {prior} (rejected)"].get_ydata()
    assert mean[arm] == pytest.approx(float(recorded["predicted_mean"]), abs=1e-9)
    band = above.collections[1].get_paths()[0].vertices
    here = band[np.isclose(band[:, 0], arm / 59)][:, 1]
    assert (here.max() - here.min()) / 2 == pytest.approx(float(recorded["confidence_width"]), rel=1e-6)


def test_without_a_rejection_a_line_says_how_close_it_came(hills_inputs, run):
    drawing = Rejection(RejectionParameters(prior="2")).draw(hills_inputs("rejection"))
    assert drawing.caption.startswith("Nothing to show: PE-GP-UCB rejected no prior; prior 2 came closest, with ")
    assert not drawing.figure.axes
    share, round_, seed = (
        int(number) for number in re.findall(r"with (\d+)%.*round (\d+) of seed (\d+)", drawing.caption)[0]
    )
    own = run(seed)
    strain = np.abs(own["error_sum"]) / own["error_limit"]
    here = float(strain.sel(iteration=round_))
    assert here == pytest.approx(float(strain.where(own["chosen_prior"] == 2).max()))
    assert round(100 * here) == share < 100


def test_an_account_starts_anew_after_all_were_rejected(run):
    own = run(0).copy(deep=True)
    prior = int(own["chosen_prior"].values[-1])
    last = int(own["iteration"].values[-1])
    rounds, error, limit = account(own, prior, last)
    assert len(rounds) == len(error) == len(limit) == int((own["chosen_prior"] == prior).sum())
    own["all_rejected"].loc[{"iteration": 20}] = 1
    assert account(own, prior, last)[0].min() > 20


def test_prior_means_are_those_of_the_problem(hills_inputs):
    (axes,) = PriorMeans(OneSeedParameters()).draw(hills_inputs("prior-means")).figure.axes
    drawn = dict(zip([text.get_text() for text in axes.texts], axes.get_lines(), strict=True))
    assert len(drawn) == 11
    true = drawn["2 (true)"]
    assert true.get_color() == style.BLACK
    assert true.get_xdata()[np.argmax(true.get_ydata())] == pytest.approx(1 / 9, abs=1 / 59)
    assert all(line.get_color() == style.GREY for label, line in drawn.items() if label != "2 (true)")
    assert np.ptp([line.get_ydata().max() for label, line in drawn.items() if label not in ("0",)]) < 0.2


def test_landscape_shows_payoffs_closed_arms_and_the_best_open_one(hills_inputs):
    drawing = Landscape(OneSeedParameters(seed=1)).draw(hills_inputs("landscape"))
    axes = drawing.figure.axes[0]
    values = axes.collections[0].get_array()
    assert values.shape == (60, 30)
    assert not values.mask[:, 0].any()
    assert values.mask[:, 1].any()
    best = lines(axes)["best available decision"].get_ydata()
    assert best[0] == pytest.approx(1 / 9, abs=2 / 59)
    assert abs(best[1] - 1 / 9) > 0.05
    assert "seed 1" in drawing.caption


def test_summary_is_the_ratio_to_random(hills):
    plan, folder = hills
    regret = read_netcdf(folder / plan.paths.cube("hills"))["regret"].sel(objective="any", metric="so")
    regret = regret.sel(iteration=slice(1, None)).sum("iteration").mean("seed")
    drawing = Summary(SummaryParameters()).draw({"digests": [folder / plan.paths.digest("hills")]})
    titles = Digest(folder / plan.paths.digest("hills")).titles
    table = drawing.table.set_index("algorithm")
    for label in ("mle", "pe-gp-ucb", "oracle"):
        row = table.loc[titles[label]]
        assert row["ratio"] == pytest.approx(float(regret.sel(algorithm=label) / regret.sel(algorithm="random")))
        assert row["low"] <= row["ratio"] <= row["high"]
    assert table.loc["Random", ["ratio", "low", "high"]].tolist() == [1.0, 1.0, 1.0]
    assert drawing.problem == ""
    assert "relative to Random" in drawing.figure.axes[0].get_xlabel()


def test_points_of_a_summary_are_told_apart_without_their_dashes(cube_path, tmp_path):
    with open_netcdf(cube_path) as data:
        whole = data.load()
    looks = whole["algorithm_look"].astype(object)
    looks[:3] = ["grey dotted x", "blue solid P", "blue dashed P"]
    whole["algorithm_look"] = looks
    paths = []
    for label in ("pe-gp-ucb", "mle"):  # in rows apart
        part = whole.sel(algorithm=["random", label]).assign_attrs(problem_label=label)
        paths.append(synthetic_cubes.digest(part, tmp_path / f"{label}.nc"))
    axes = Summary(SummaryParameters()).draw({"digests": paths}).figure.axes[0]
    points = {line.get_label(): (line.get_color(), line.get_marker()) for line in axes.get_lines() if line.get_marker()}
    named = [points[label] for label in points if not label.startswith("_")]
    assert len(named) == len(set(named)) == 3


def test_a_row_is_scored_by_its_own_objective_unless_a_metric_is_wanted(tmp_path):
    cube = Digest(synthetic_cubes.digest(synthetic_objectives.cube(), tmp_path / "one.nc"))
    for wanted, metrics in ((None, ["dro", "wcs"]), ("wcs", ["wcs"]), ("xyz", [])):
        assert list(dict.fromkeys(row[2] for row in relative_regret(cube, wanted, "random"))) == metrics


def test_arms_are_a_line_only_where_their_order_means_something(hills):
    from bocu.core.rounds import FiniteDomain

    assert arm_axis(FiniteDomain(np.linspace(0, 1, 5)[:, None], ("position",), ("1",))).continuous
    sensors = arm_axis(FiniteDomain(np.array([[3.0], [7.0], [12.0]]), ("sensor",), ("1",)))
    assert not sensors.continuous
    assert sensors.names == ("3", "7", "12")


def test_a_prior_rejected_in_its_first_round_has_its_sum_in_words(hills_inputs, run):
    prior, round_ = rejections(run, 0)[False][0]
    drawing = Rejection(RejectionParameters(seed=0, prior=str(prior))).draw(hills_inputs("rejection"))
    assert len(drawing.figure.axes) == 1
    recorded = run(0).sel(iteration=round_)
    error, bound = abs(float(recorded["error_sum"])), float(recorded["error_limit"])
    assert error > bound
    assert f"in this round only, with an error of {error:.3g}, against the bound" in drawing.caption
    assert f"{bound:.3g} here" in drawing.caption
