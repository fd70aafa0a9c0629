"""Draw the maps of `docs/regions.md` from the published results, `docs/results/*-regions.nc`.

Run `python docs/make_region_pictures.py`.
"""

from io import BytesIO
from pathlib import Path

from PIL import Image

from bocu.core import style
from bocu.pages.figures.region import Region
from bocu.sweep.evaluation.claims.reduced import read_reduced
from bocu.sweep.evaluation.regions import region
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan

MAPS = {
    "ziomek2025-regions": ("ahead-of-mle-by", "mle-sticks", "ahead-of-fully-bayesian"),
    "tay2024-regions": ("hartmann-3-sampling-ahead",),
    "kirschner2020-draws": ("ahead-of-ucb", "ahead-of-stableopt"),
    "huang2024-regions": ("density-ahead-of-gp-ucb", "average-ahead-of-robust"),
}
"""Experiment: the figures that the page shows."""


def main() -> None:
    """Draw and write them."""
    root = Path(__file__).parents[1]
    for name, labels in MAPS.items():
        file = root / f"config/experiments/{name}.yaml"
        plan = make_plan(read_experiment_file(file), [file], sources_file=root / "data/sources.yaml")
        points = list(read_reduced(root / f"docs/results/{name}.nc").problems.values())
        for label in labels:
            figure = Region(plan.figures[label].parameters)
            with style.applied():
                picture, _, _ = figure.map_of(region(figure.parameters.stated, points), "")
                drawn = BytesIO()
                picture.savefig(drawn, format="png", metadata={"Software": None})
            few = Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE)  # a third of the bytes
            few.save(root / f"docs/regions-{name.removesuffix('-regions')}-{label}.png", optimize=True)


if __name__ == "__main__":
    main()
