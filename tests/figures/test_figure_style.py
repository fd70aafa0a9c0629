"""Looks: unique, stable, told apart by colour-blind eyes."""

import numpy as np
import pytest

from bocu.core import style


def luminance(colour):
    def linear(value):
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_lines_stand_out_from_white_paper():
    for colour in style.COLOURS.values():
        assert 1.05 / (luminance(colour) + 0.05) > 2.0, colour


def test_numbered_looks_differ_in_colour_and_dash():
    looks = [style.numbered_stroke(place) for place in range(6)]
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
