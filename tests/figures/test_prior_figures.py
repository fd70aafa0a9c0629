"""Which priors were trusted and rejected."""

import numpy as np
import pytest
import synthetic_cubes
from matplotlib.colors import to_hex

from bocu.core import style
from bocu.pages.figures.priors import (
    ChosenPriors,
    PriorsParameters,
    RejectionTimes,
)
from bocu.pages.figures.results import CubeBranch, Digest
from bocu.sweep.evaluation.prior_choices import trusted_shares


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
