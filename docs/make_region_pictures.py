"""Draw and count the maps of where an ordering holds from the published results, `docs/results/*-regions.nc`.

Run `python docs/make_region_pictures.py`: it draws the pictures, and writes tables of verdicts into the pages.
"""

from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from make_published import page_of
from PIL import Image
from published_numbers import line

from bocu.core import style
from bocu.pages.figures.region import Region
from bocu.pages.report.claims import write_section
from bocu.sweep.evaluation.claims import FAILS, HOLDS, LEANS_AGAINST, LEANS_FOR, OPEN
from bocu.sweep.evaluation.claims.reduced import read_reduced
from bocu.sweep.evaluation.regions import Cell, region
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan

MAPS = {
    "ziomek2025-regions": ("ahead-of-mle-by", "mle-sticks", "ahead-of-fully-bayesian"),
    "tay2024-regions": ("hartmann-3-sampling-ahead",),
    "kirschner2020-draws": ("ahead-of-ucb", "ahead-of-stableopt"),
    "huang2024-regions": ("density-ahead-of-gp-ucb", "average-ahead-of-robust"),
}
"""Experiment: the maps that the page shows."""
VERDICTS = (HOLDS, LEANS_FOR, OPEN, LEANS_AGAINST, FAILS)


def main() -> None:
    """Draw, count and write them."""
    root = Path(__file__).parents[1]
    for name, labels in MAPS.items():
        file = root / f"config/experiments/{name}.yaml"
        plan = make_plan(read_experiment_file(file), [file], sources_file=root / "data/sources.yaml")
        points = list(read_reduced(root / f"docs/results/{name}.nc").problems.values())
        lines = [line(["at how many points it", *VERDICTS]), f"|{'---|' * (len(VERDICTS) + 1)}"]
        for label, figure in plan.figures.items():
            if figure.registered.name != "region":
                continue
            drawn = Region(figure.parameters)
            cells = region(drawn.parameters.stated, points)
            counts = Counter(cell.verdict.outcome for cell in cells)
            if drawn.parameters.show == "verdict":
                lines.append(line([drawn.parameters.title, *(str(counts[verdict]) for verdict in VERDICTS)]))
            if label in labels:
                _draw(drawn, cells, root / f"docs/regions-{name.removesuffix('-regions')}-{label}.png")
        made = f"Made by `python docs/make_region_pictures.py` from [published results](results/{name}.nc)."
        marks = f"<!-- maps of {name}: begin -->", f"<!-- maps of {name}: end -->"
        write_section(root / page_of(name), "\n".join([*lines, "", made]) + "\n", marks)


def _draw(figure: Region, cells: Sequence[Cell], path: Path) -> None:
    with style.applied():
        picture, _, _ = figure.map_of(cells, "")
        drawn = BytesIO()
        picture.savefig(drawn, format="png", metadata={"Software": None})
    few = Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE)  # a third of the bytes
    few.save(path, optimize=True)


if __name__ == "__main__":
    main()
