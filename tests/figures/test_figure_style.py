"""Looks: unique, stable, told apart by colour-blind eyes."""

import itertools

import numpy as np
import pytest

from bocu.experiment.registry import REGISTRY
from bocu.figures import style


def luminance(colour):
    def linear(value):
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_registered_algorithm_has_a_look_of_its_own():
    for entry in REGISTRY["algorithm"]:
        assert entry.name in style.LOOKS, entry.name
    pairs = [(look.colour, look.dash) for look in style.LOOKS.values()]
    assert len(set(pairs)) == len(pairs)


def test_those_of_one_paper_differ_in_colour():
    for together in (
        ["pe-gp-ucb", "mle", "fully-bayesian", "regret-balancing", "random", "oracle"],
        ["ts-bocu", "ucb-bocu-1", "ucb-bocu-2", "ucb-so", "ucb-ro", "random"],
        ["ucb-bocu-2", "ucb-so", "stableopt-finite", "constant"],
        ["sbo-kde", "drbo-kde", "drbo-mmd", "gp-ucb", "stableopt"],
    ):
        assert len({style.LOOKS[name].colour for name in together}) == len(together)


def test_lines_stand_out_from_white_paper():
    for look in style.LOOKS.values():
        assert 1.05 / (luminance(look.colour) + 0.05) > 2.0, look.colour


def test_an_algorithm_looks_the_same_whatever_else_is_drawn():
    names = {"random": "random", "pe-gp-ucb": "pe-gp-ucb", "mle": "mle", "own": "my-own-algorithm"}
    whole = style.algorithm_looks(names)
    for size in (1, 2, 3):
        for subset in itertools.combinations(names, size):
            part = {label: names[label] for label in subset}
            assert style.algorithm_looks(part) == {label: whole[label] for label in subset}


def test_variants_of_one_algorithm_share_its_colour_and_differ_in_dash():
    names = {"wide": "mle", "mle": "mle", "narrow": "mle"}
    looks = style.algorithm_looks(names)
    assert looks["mle"] == style.LOOKS["mle"]
    assert {look.colour for look in looks.values()} == {style.LOOKS["mle"].colour}
    assert len({look.dash for look in looks.values()}) == 3
    assert style.algorithm_looks(dict(reversed(names.items()))) == looks


def test_papers_spelling_goes_with_the_registered_name_and_its_aliases_only():
    names = {"mle": "mle", "bold": "mle", "drbo": "ucb-bocu-2", "ucb-so": "mle", "mine": "mine"}
    titles = {"mle": "MLE", "bold": "bold", "drbo": "DRBO", "ucb-so": "ucb-so", "mine": "mine"}
    assert style.algorithm_titles(names) == titles


def test_numbered_looks_differ_in_colour_and_dash():
    looks = [style.numbered_look(place) for place in range(6)]
    assert len({look.colour for look in looks}) == len({look.dash for look in looks}) == len(looks)


@pytest.mark.parametrize("count", [2, 13, 30])
def test_priors_are_told_apart(count):
    lines = [style.prior_line(place) for place in range(count)]
    assert len({(line["color"], line["linestyle"]) for line in lines}) == count


def test_an_error_band_covers_its_width_on_both_sides():
    axes = style.new_figure(2.0).subplots()
    style.error_band(axes, np.array([0.0, 1.0]), np.array([2.0, 3.0]), np.array([0.5, 1.0]), style.BLUE)
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    assert {tuple(corner) for corner in corners} >= {(0.0, 1.5), (0.0, 2.5), (1.0, 2.0), (1.0, 4.0)}
    assert band.get_alpha() == style.BAND_OPACITY
