"""Draw and count the maps of where an ordering holds from the published results, `docs/results/*-regions.nc`.

Run `python docs/make_region_pictures.py`: it draws the pictures, and writes tables of verdicts into the pages.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

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


def maps_of(experiment: str, root: Path) -> dict[str, tuple[Region, list[Cell]]]:
    """Return the maps of an experiment, by their labels, with their cells from the published results."""
    file = root / f"config/experiments/{experiment}.yaml"
    plan = make_plan(read_experiment_file(file), [file], sources_file=root / "data/sources.yaml")
    points = list(read_reduced(root / f"docs/results/{experiment}.nc").problems.values())
    own = {label: one for label, one in plan.figures.items() if one.registered.name == "region"}
    maps: dict[str, Any] = {label: Region(one.parameters) for label, one in own.items()}
    return {label: (drawn, region(drawn.parameters.stated, points)) for label, drawn in maps.items()}


def counted(experiment: str, maps: Mapping[str, tuple[Region, Sequence[Cell]]]) -> str:
    """Return a table of how many cells of each map have each verdict."""
    lines = [line(["at how many points it", *VERDICTS]), f"|{'---|' * (len(VERDICTS) + 1)}"]
    for drawn, cells in maps.values():
        counts = Counter(cell.verdict.outcome for cell in cells)
        if drawn.parameters.show == "verdict":
            lines.append(line([drawn.parameters.title, *(str(counts[verdict]) for verdict in VERDICTS)]))
    made = f"Made by `python docs/make_region_pictures.py` from [published results](results/{experiment}.nc)."
    return "\n".join([*lines, "", made]) + "\n"


def marks_of_maps(experiment: str) -> tuple[str, str]:
    """Return the lines of a page between which the maps of an experiment are counted."""
    return f"<!-- maps of {experiment}: begin -->", f"<!-- maps of {experiment}: end -->"


def main() -> None:
    """Draw, count and write them."""
    root = Path(__file__).parents[1]
    for name, labels in MAPS.items():
        maps = maps_of(name, root)
        write_section(root / page_of(name), counted(name, maps), marks_of_maps(name))
        for label in labels:
            drawn, cells = maps[label]
            with style.applied():
                picture: Any = drawn.map_of(cells, "")[0]
                stream = BytesIO()
                picture.savefig(stream, format="png", metadata={"Software": None})
            few = Image.open(stream).convert("RGB").quantize(256, dither=Image.Dither.NONE)  # a third of the bytes
            few.save(root / f"docs/regions-{name.removesuffix('-regions')}-{label}.png", optimize=True)


if __name__ == "__main__":
    main()
