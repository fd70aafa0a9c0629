"""Every figure: drawn, marked, described and written the same way."""

import json
from typing import Annotated

import pytest
import synthetic_cubes
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters
from bocu.core.style import SIMULATED_MARK
from bocu.pages.figures.base import Algorithms, Mention, Naming, PictureParameters, save
from bocu.pages.figures.regret import Regret, RegretParameters
from bocu.sweep.experiment.registry import registered

FROM_CUBE_ALONE = ["regret", "chosen-priors", "rejection-times"]


def draw(name, inputs, **parameters):
    target = next(entry for entry in registered("figure") if entry.name == name).load()
    return target(target.Parameters(**parameters)).draw(inputs)


def texts(drawing):
    return [text.get_text() for text in drawing.figure.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.mark.parametrize("name", FROM_CUBE_ALONE)
def test_simulated_data_are_marked_in_picture_caption_and_words(name, digest_path, tmp_path):
    data = synthetic_cubes.cube(label="simulated-wells", data_label=synthetic_cubes.SIMULATED)
    drawing = draw(name, {"digest": synthetic_cubes.digest(data, tmp_path / "simulated.nc")})
    assert SIMULATED_MARK in texts(drawing)
    assert "Simulated data" in drawing.caption
    assert "simulated data" in drawing.alternative
    real = draw(name, {"digest": digest_path})
    assert SIMULATED_MARK not in texts(real)
    assert "imulated" not in real.caption + real.alternative


def test_settings_of_the_user_change_no_byte(digest_path, tmp_path):
    import matplotlib as mpl

    save(draw("regret", {"digest": digest_path}), tmp_path / "a.png", tmp_path / "a.svg", tmp_path / "a.json")
    with mpl.rc_context({"lines.linewidth": 9.0, "font.size": 30.0, "axes.grid": True}):
        save(draw("regret", {"digest": digest_path}), tmp_path / "b.png", tmp_path / "b.svg", tmp_path / "b.json")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_description_names_pictures_relative_to_itself(digest_path, tmp_path):
    drawing = draw("regret", {"digest": digest_path})
    save(drawing, tmp_path / "p" / "r.png", tmp_path / "p" / "r.svg", tmp_path / "p" / "r.json")
    words = json.loads((tmp_path / "p" / "r.json").read_text())
    assert (words["png"], words["svg"], words["pdf"], words["problem"]) == ("r.png", "r.svg", "r.pdf", "wells")
    assert words["alternative"] == drawing.alternative


def test_a_figure_that_cannot_be_written_leaves_nothing(digest_path, tmp_path, monkeypatch):
    drawing = draw("regret", {"digest": digest_path})

    def broken(path, **_):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(drawing.figure, "savefig", broken)
    with pytest.raises(BocuError, match=r"a\.png: could not be written: No space left on device"):
        save(drawing, tmp_path / "a.png", tmp_path / "a.svg", tmp_path / "a.json")
    assert not list(tmp_path.glob("*a.*"))


def test_a_missing_or_foreign_cube_is_named(tmp_path, digest_path):
    figure = Regret(RegretParameters())
    with pytest.raises(BocuError, match=r"nowhere\.nc: no such file"):
        figure.draw({"digest": tmp_path / "nowhere.nc"})
    (tmp_path / "text.nc").write_text("not a cube")
    with pytest.raises(BocuError, match=r"text\.nc: not a readable NetCDF file"):
        figure.draw({"digest": tmp_path / "text.nc"})
    with pytest.raises(BocuError, match="no metric 'sso'; did you mean 'so'"):
        Regret(RegretParameters(metrics=["sso"])).draw({"digest": digest_path})


class Part(Parameters):
    metric: Annotated[str, Naming("metric")]


class Stated(PictureParameters):
    algorithms: Algorithms = None
    titles: Annotated[dict[str, str], Naming("branch")] = Field({})
    parts: list[Part] = Field([])


def test_fields_say_what_they_name_and_planning_is_told_with_the_place():
    stated = Stated.model_validate({"algorithms": ["mle"], "titles": {"mle/so": "ours"}, "parts": [{"metric": "so"}]})
    assert list(stated.mentioned()) == [
        Mention("algorithms.0", "algorithm", "mle"),
        Mention("titles.mle/so", "branch", "mle/so"),
        Mention("parts.0.metric", "metric", "so"),
    ]
    assert list(Stated().mentioned()) == []
