"""The gallery shows every kind of figure that there is."""

import re

import yaml

from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import registered

OF_OTHER_EXPERIMENTS = {"region", "density-estimates"}


def test_the_gallery_draws_every_kind_of_figure_and_shows_it(root):
    experiment = yaml.safe_load((root / "docs/gallery.yaml").read_text())
    plan = make_plan(experiment, sources_file=root / "data/sources.yaml")
    assert {entry.name for entry in registered("figure")} - OF_OTHER_EXPERIMENTS == {
        figure.registered.name for figure in plan.figures.values()
    }
    page = (root / "docs/gallery.md").read_text()
    shown = dict(re.findall(r"\]\(gallery/(\S+)\.(svg|png)\)", page))
    for name in {figure.registered.name for figure in plan.figures.values()}:
        picture = root / f"docs/gallery/{name}.{shown[name]}"
        assert picture.stat().st_size < 600_000, name
    assert {f"{name}.{suffix}" for name, suffix in shown.items()} == {
        file.name for file in (root / "docs/gallery").iterdir()
    }
