"""Looks: unique, stable, told apart by colour-blind eyes; ticks, headings and bands of every picture can be read."""

import itertools
import re
from collections import Counter
from importlib import resources

import numpy as np
import pytest
import yaml

from bocu.core import style
from bocu.pages.figures import marks
from bocu.pages.figures.base import finish


def test_numbered_looks_differ_in_colour_and_dash():
    looks = [style.numbered_stroke(place) for place in range(6)]
    assert len({look.colour for look in looks}) == len({look.dash for look in looks}) == len(looks)


WITHOUT_GREEN = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
"""What eyes without green cones see, in linear red, green and blue (Machado et al. 2009)."""
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503041]]
)


def linear(colour):
    values = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light):
    scaled = (TO_XYZ @ np.clip(light, 0, 1)) / np.array([0.95047, 1.0, 1.08883])
    root = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def distance(one, other):
    """CIEDE2000."""
    (l1, a1, b1), (l2, a2, b2) = lab(one), lab(other)
    chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25**7))
    c1, c2 = np.hypot(a1 * stretch, b1), np.hypot(a2 * stretch, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a * stretch)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180
    hue, middle, lightness = h1 + turn / 2, (c1 + c2) / 2, (l1 + l2) / 2
    waves = ((0.17, 1, 30, -1), (0.24, 2, 0, 1), (0.32, 3, -6, 1), (0.2, 4, 63, -1))
    weight = 1 + sum(sign * share * np.cos(np.radians(times * hue - shift)) for share, times, shift, sign in waves)
    of_lightness = 1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2)
    parts = (
        (l2 - l1) / of_lightness,
        (c2 - c1) / (1 + 0.045 * middle),
        2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * middle * weight),
    )
    turned = -2 * np.sqrt(middle**7 / (middle**7 + 25**7))
    turned *= np.sin(np.radians(60 * np.exp(-((((hue % 360) - 275) / 25) ** 2))))
    return np.sqrt(sum(part**2 for part in parts) + turned * parts[1] * parts[2])


@pytest.mark.parametrize(("colours", "ground"), [(style.COLOURS, "#FFFFFF"), (style.DARK_COLOURS, "#14171B")])
def test_any_two_colours_are_told_apart_without_green_cones_and_from_the_ground(colours, ground):
    seen = {name: linear(colour) for name, colour in colours.items()}
    for one, other in itertools.combinations(seen, 2):
        assert distance(WITHOUT_GREEN @ seen[one], WITHOUT_GREEN @ seen[other]) >= 10, (one, other)
        assert distance(seen[one], seen[other]) >= 10, (one, other)
    for name, light in seen.items():
        luminances = sorted(float(TO_XYZ[1] @ each) for each in (light, linear(ground)))
        assert (luminances[1] + 0.05) / (luminances[0] + 0.05) >= 3, name


def test_pages_draw_methods_in_the_colours_of_pictures():
    sheet = resources.files("bocu.core").joinpath("style.css").read_text(encoding="utf-8")
    light, dark = sheet.split("prefers-color-scheme: dark", 1)
    for colours, part in ((style.COLOURS, light), (style.DARK_COLOURS, dark.split("@media", 1)[0])):
        assert (
            dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", part)).items()
            >= {name: colour.lower() for name, colour in colours.items()}.items()
        )


@pytest.mark.parametrize(("first", "lowest"), [(2.0, 1.5), (0.1, 0.0), (-0.1, -0.6)])
def test_an_error_band_covers_its_width_on_both_sides_and_ends_at_zero_where_no_mean_is_below(first, lowest):
    axes = style.new_figure(2.0).subplots()
    style.error_band(axes, np.array([0.0, 1.0]), np.array([first, 3.0]), np.array([0.5, 1.0]), style.BLUE)
    (band,) = axes.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.round(12)}
    assert corners >= {(0.0, lowest), (0.0, first + 0.5), (1.0, 2.0), (1.0, 4.0)}
    assert band.get_alpha() == style.BAND_OPACITY


def test_lines_of_one_picture_share_no_colour_while_there_are_colours():
    same = {str(place): style.Stroke(style.BLUE, style.SOLID, "o") for place in range(12)}
    found = style.apart(same)
    assert found["0"] == same["0"]
    assert len({look.colour for look in found.values()}) == 12
    assert {(look.dash, look.marker) for look in found.values()} == {(style.SOLID, "o")}


def test_axes_have_two_to_four_ticks_and_long_titles_break():
    picture = style.new_figure(2.0)
    for axes, ends in zip(picture.subplots(1, 3), ((0.0, 1.07), (-14.0, 33.0), (0.0, 61234.0)), strict=True):
        axes.plot(ends, ends)
        axes.set_title("A title that is far too long for one of three panels")
    finish(picture)
    for axes in picture.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = axis.get_view_interval()
            assert 2 <= sum(low <= place <= high for place in axis.get_ticklocs()) <= 4
        assert max(map(len, axes.get_title().split("\n"))) < 32


SAY_WHAT_DIFFERS = {"regret", "robustness-curve", "price-of-robustness", "across-objectives"}
"""Figures whose own heading tells their parameters."""


def headings(experiment):
    """Count (problem, kind, stated heading) over the figures of a file that do not say themselves what differs."""
    problems = [each if isinstance(each, str) else each.get("label", each["name"]) for each in experiment["problems"]]
    entries = [{"name": each} if isinstance(each, str) else each for each in experiment.get("figures", ())]
    return Counter(
        (problem, entry["name"], entry.get("parameters", {}).get("title"))
        for entry in entries
        if entry["name"] not in SAY_WHAT_DIFFERS
        for problem in entry.get("problems", problems)
    )


def test_shipped_figures_of_a_kind_are_told_apart_by_their_titles(root):
    files = sorted((root / "config/experiments").glob("*.yaml"))
    assert len(files) > 20
    for file in files:
        found = headings(yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
        assert max(found.values(), default=1) == 1, f"{file.name}: {found.most_common(1)}"


def test_rounds_have_whole_ticks():
    picture = style.new_figure(2.0)
    axes = picture.subplots()
    axes.plot([1, 10], [0.0, 1.0])
    axes.set_xlabel("round")
    finish(picture)
    assert all(float(place).is_integer() for place in axes.get_xticks())
    assert not all(float(place).is_integer() for place in axes.get_yticks())


def test_the_mark_of_simulated_data_stands_above_the_panels():
    figure, axes = style.single(2.0)
    axes.set_ylabel("regret")
    style.mark_simulated(figure)
    figure.canvas.draw()
    panel, mark = axes.get_tightbbox(), figure.texts[0].get_window_extent()
    assert 0.0 <= panel.x0 < panel.x1 <= figure.bbox.width
    assert panel.y1 <= mark.y0 < mark.y1 <= figure.bbox.height


def test_names_at_the_ends_of_lines_move_apart_alike_far_and_others_stay():
    _, axes = style.single(2.0)
    axes.set_ylim(0.0, 2.0)
    ends = {"one": 0.9, "two": 1.0, "far": 1.9}
    marks.label_ends(axes, ends, dict.fromkeys(ends, style.numbered_stroke(0)))
    one, two, far = (text.get_position()[1] for text in axes.texts)
    assert (one + two) / 2 == pytest.approx(0.475)
    assert two - one > 0.05
    assert far == 0.95
