"""The gallery shows every kind of figure that there is."""

import yaml

from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import registered

OF_OTHER_EXPERIMENTS = {"region", "density-estimates"}


def test_the_gallery_draws_every_kind_of_figure_and_shows_it(root):
    experiment = yaml.safe_load((root / "docs/gallery.yaml").read_text())
    plan = make_plan(experiment, sources_file=root / "data/sources.yaml")
    drawn = {figure.registered.name: label for label, figure in plan.figures.items()}
    assert {entry.name for entry in registered("figure")} - OF_OTHER_EXPERIMENTS == set(drawn)
    page = (root / "docs/gallery.md").read_text()
    for name, label in drawn.items():
        picture = f"gallery/{name}.png"
        assert f"({picture})" in page, name
        assert (root / "docs" / picture).stat().st_size < 100_000, name
        folder = plan.figure_problems[label][0]
        assert plan.paths.figure(label, folder, "png") in page, name
