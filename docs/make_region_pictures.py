"""Draw and count the maps of where an ordering holds from the published results, `docs/results/*-regions.nc`.

Run `python docs/make_region_pictures.py`: it draws the pictures, and writes tables of verdicts into the pages.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from make_published import page_of, published_of
from PIL import Image
from published_numbers import head, line, marks

from bocu.core import style
from bocu.pages.figures.region import OUTCOMES, Region
from bocu.pages.report.claims import write_section
from bocu.sweep.evaluation.regions import Cell, region

MAPS = {
    "ziomek2025-regions": ("ahead-of-mle-by", "mle-sticks", "ahead-of-fully-bayesian"),
    "tay2024-regions": ("hartmann-3-sampling-ahead",),
    "kirschner2020-regions": ("ahead-of-ucb", "ahead-of-stableopt"),
    "huang2024-regions": ("density-ahead-of-gp-ucb", "average-ahead-of-robust"),
}
"""Experiment: the maps that the page shows."""


def maps_of(experiment: str, root: Path) -> dict[str, tuple[Region, list[Cell]]]:
    """Return the maps of an experiment, by their labels, with their cells from the published results."""
    published, _ = published_of(experiment, root)
    points = list(published.numbers.values())
    own = {label: one for label, one in published.plan.figures.items() if one.registered.name == "region"}
    maps: dict[str, Any] = {label: Region(one.parameters) for label, one in own.items()}
    return {label: (drawn, region(drawn.parameters.stated, points)) for label, drawn in maps.items()}


def counted(experiment: str, maps: Mapping[str, tuple[Region, Sequence[Cell]]]) -> str:
    """Return a table of how many cells of each map have each verdict."""
    lines = [*head(["at how many points it", *OUTCOMES])]
    for drawn, cells in maps.values():
        counts = Counter(cell.verdict.outcome for cell in cells)
        if drawn.parameters.show == "verdict":
            lines.append(line([drawn.parameters.title, *(str(counts[verdict]) for verdict in OUTCOMES)]))
    made = f"Made by `python docs/make_region_pictures.py` from [published results](results/{experiment}.nc)."
    return "\n".join([*lines, "", made]) + "\n"


def main() -> None:
    """Draw, count and write them."""
    root = Path(__file__).parents[1]
    for name, labels in MAPS.items():
        maps = maps_of(name, root)
        write_section(root / page_of(name), counted(name, maps), marks(f"maps of {name}"))
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
