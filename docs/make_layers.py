"""Draw the layers of the package, as `pyproject.toml` holds them, into docs/architecture.md.

python docs/make_layers.py
"""

import itertools
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/architecture.md"
BLOCK = re.compile(r"(?<=<!-- layers -->\n).*?(?=<!-- end of layers -->)", re.DOTALL)


def layers() -> list[list[str]]:
    """Return the packages of each layer, from the highest down."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    contract = next(entry for entry in contracts if entry["type"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def drawn() -> str:
    """Return the layers as a picture, with what each package says of itself."""
    nodes, arrows = [], []
    rows = layers()
    for row in rows:
        for name in row:
            first = (ROOT / "src/bocu" / name / "__init__.py").read_text().split('"""')[1].strip().splitlines()[0]
            nodes.append(f'    {name}["<b>{name}</b><br>{first.rstrip(".")}"]')
    for above, below in itertools.pairwise(rows):
        arrows.append(f"    {' & '.join(above)} --> {' & '.join(below)}")
    return "\n".join(["```mermaid", "flowchart TD", *nodes, *arrows, "```", ""])


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(BLOCK.sub(lambda found: drawn(), PAGE.read_text()))


if __name__ == "__main__":
    main()
