"""Write `docs/gallery.md` and its pictures: every kind of figure of `docs/gallery.yaml`, small, with data and command.

snakemake --cores 2 --configfile docs/gallery.yaml
python docs/make_gallery.py
"""

import json
from pathlib import Path

import yaml
from PIL import Image

from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import registered

WIDTH = 560
"""Dots of a picture: enough for its text at the width of a page."""
COLOURS = 128
"""Colours of a picture. They are spread over all that it has: the commonest would be shades of one map."""
DOCS = Path(__file__).parent
PICTURES = DOCS / "gallery"
CONFIG = "docs/gallery.yaml"

HEAD = """# Gallery: every kind of figure

Made by `python docs/make_gallery.py` from one small experiment, [gallery.yaml](gallery.yaml):

    snakemake --cores 2 --configfile docs/gallery.yaml

10 seeds of 25 rounds on small problems, the wind simulated: the pictures show what a figure is, and nothing about any
method. Beside each picture lies its table (`<figure>.csv`) and an SVG that suits dark pages. The parameters of every
figure stand in [experiment-file.md](experiment-file.md), what the statistics mean in [statistics.md](statistics.md).
"""


def main() -> None:
    """Write the page from the results in `results/gallery`."""
    plan = make_plan(
        yaml.safe_load((DOCS / "gallery.yaml").read_text()), sources_file=DOCS.parent / "data/sources.yaml"
    )
    PICTURES.mkdir(exist_ok=True)
    kinds = {plan.figures[label].registered.name: label for label in plan.figures}
    parts = [HEAD]
    for entry in registered("figure"):
        about = entry.load().about
        parts.append(f"## `{entry.name}`: {about.title}\n\n{about.line[:1].upper() + about.line[1:]}.\n")
        if entry.name not in kinds:
            parts.append("Not in this experiment: it needs one of its own.\n")
            continue
        label = kinds[entry.name]
        folder = plan.figure_problems[label][0]
        file = plan.paths.figure(label, folder, "png")
        shrink(Path(file), PICTURES / f"{entry.name}.png")
        words = json.loads(Path(plan.paths.figure(label, folder, "json")).read_text())
        parts.append(f"![{words['alternative']}](gallery/{entry.name}.png)\n\n{words['caption']}\n")
        data = "the digest or cube of all problems" if folder == "all" else f"problem `{folder}`"
        parts.append(f"Data: {data}. Command: `snakemake --cores 2 --configfile {CONFIG} -- {file}`\n")
    (DOCS / "gallery.md").write_text("\n".join(parts), encoding="utf-8")


def shrink(source: Path, target: Path) -> None:
    """Write a picture smaller and with few colours."""
    with Image.open(source) as picture:
        height = round(picture.height * WIDTH / picture.width)
        small = picture.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)
        small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main()
