"""Pictures and their words write titles of objectives and metrics; labels stand in their tables alone."""

import re

import pytest
import synthetic_cubes

from bocu.sweep.evaluation.cubes import build_summary
from bocu.sweep.evaluation.digests import build_digest
from bocu.sweep.experiment.registry import find

LABEL = "raw-label"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A cube of two pursued objectives and two metrics whose labels nobody should read, its digest and summary."""
    folder = tmp_path_factory.mktemp("titled")
    one = synthetic_cubes.cube()
    pursued = [f"{LABEL}-one", f"{LABEL}-two"]
    data = one.isel(objective=[0, 0]).assign_coords(objective=pursued, metric=pursued)
    data["status"][:] = 1
    titles = {f"{dim}_title": (dim, ["First title", "Second title"]) for dim in ("objective", "metric")}
    told = {name: (*title, {"long_name": name, "units": "1"}) for name, title in titles.items()}
    data = data.assign_coords(told)
    for dim in ("objective", "metric"):
        data[dim].attrs = {"long_name": dim, "units": "1"}
    cube = synthetic_cubes.write(data, folder / "wells.nc")
    build_digest(cube, folder / "digest.nc")
    build_summary([folder / "digest.nc"], folder / "summary.nc")
    digest = folder / "digest.nc"
    return {"cube": cube, "digest": digest, "digests": [digest], "summary": folder / "summary.nc"}


@pytest.mark.parametrize(
    "name",
    ["regret", "panels", "scoreboard", "summary", "cost", "across-objectives", "chosen-priors", "rejection-times"],
)
def test_no_label_is_read(name, files):
    kind = find("figure", name).load()
    wanted = {"rows": [{"metric": f"{LABEL}-one", "pursued": [f"{LABEL}-one", f"{LABEL}-two"]}] * 2}
    drawing = kind(kind.Parameters.model_validate(wanted if name == "panels" else {})).draw(files)
    shown = [text.get_text() for text in drawing.figure.findobj(lambda part: hasattr(part, "get_text"))]
    words = " ".join([*shown, drawing.title, drawing.caption, drawing.alternative]).replace("\n", " ")
    assert LABEL not in words
    assert re.search("First title|Second title", words)
