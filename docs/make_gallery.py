"""Write `docs/gallery.md` and its pictures: every kind of figure, from the quick start or else `docs/gallery.yaml`.

snakemake --cores 2
snakemake --cores 2 --configfile docs/gallery.yaml
python docs/make_gallery.py

What has no results under results/ stays as it stands on the page.
"""

import json
import re
from pathlib import Path

from make_published import compact, plan_of

from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.registry import registered

DOCS = Path(__file__).parent
PICTURES, PAGE = DOCS / "gallery", DOCS / "gallery.md"
CONFIGS = {"config/config.yaml": "", "docs/gallery.yaml": " --configfile docs/gallery.yaml"}
"""Experiments in the order in which a kind of figure is looked for, and what Snakemake is told of them."""
QUICK = "It stands in the report of the quick start."

HEAD = """# Gallery: every kind of figure

Made by `python docs/make_gallery.py` from the quick start, 30 seeds of 72 rounds on irrigation that came with the
project and on simulated sensors, and, for what that does not draw, from [gallery.yaml](gallery.yaml), 30 seeds on
the two functions of Kirschner et al. (2020), 60 hours of German wind power and Ackley with two payoffs:

    snakemake --cores 2
    snakemake --cores 2 --configfile docs/gallery.yaml

Beside each picture lies its table (`<figure>.csv`). The parameters of every figure stand
[on a page](experiment-file-figures.md), what the statistics mean in [statistics.md](statistics.md).
"""


def main() -> None:
    """Write the page."""
    plans = {command: plan_of(Path(file), DOCS.parent) for file, command in CONFIGS.items()}
    PICTURES.mkdir(exist_ok=True)
    standing = re.split(r"^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    kept = {part.split("`")[1]: part.rstrip() + "\n" for part in standing}
    parts = [HEAD]
    for entry in registered("figure"):
        about = entry.load().about
        head = f"## `{entry.name}`: {about.title}\n\n{about.line[:1].upper() + about.line[1:]}.\n"
        found = (section(plan, entry.name, command) for command, plan in plans.items())
        body = next(filter(None, found), None)
        missing = "Not in these experiments: it needs one of its own.\n"
        parts.append(kept.get(entry.name, f"{head}\n{missing}") if body is None else f"{head}\n{body}")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def section(plan: Plan, kind: str, command: str) -> str | None:
    """Copy the picture of a kind of figure, and return what stands below its heading; None where it is not drawn."""
    for label, figure in plan.figures.items():
        if figure.registered.name != kind:
            continue
        for folder in plan.figure_problems[label]:
            words, svg = (Path(plan.paths.figure(label, folder, suffix)) for suffix in ("json", "svg"))
            if not words.is_file():
                continue
            told = json.loads(words.read_text(encoding="utf-8"))
            if told["caption"].startswith("Nothing to show"):
                continue
            (PICTURES / f"{kind}.svg").write_text(compact(svg.read_text(encoding="utf-8")), encoding="utf-8")
            (PICTURES / f"{kind}.png").unlink(missing_ok=True)
            data = "the digest or cube of all problems" if folder == "all" else f"problem `{folder}`"
            alternative = told["alternative"].replace("[", "(").replace("]", ")")
            return (
                f"![{alternative}](gallery/{kind}.svg)\n\n{told['caption']}\n\n"
                f"Data: {data}. {f'Command: `snakemake --cores 2{command} -- {svg}`' if command else QUICK}\n"
            )
    return None


if __name__ == "__main__":
    main()
