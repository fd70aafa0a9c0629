"""Published results, and the pages that show them.

    python docs/make_published.py results/tay2024 results/drmobo

reduces the results of these experiments to docs/results/, judges the claims of all papers by what is published, and
writes the section of each paper's page and the totals of claims.md. Without an argument it reduces none. Its place is
the folder of the clone.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from bocu.commands.claims import claims_command
from bocu.evaluation.claims import FAILS, HOLDS, NOT_RUN, UNDECIDED
from bocu.evaluation.claims.reduced import reduce_results
from bocu.io.files import write_text

PAPERS = ("tay2024", "kirschner2020", "huang2024", "drmobo", "ziomek2025")
PUBLISHED = Path("docs/results")
OUTCOMES = (HOLDS, FAILS, UNDECIDED, NOT_RUN)
BLOCK = re.compile(r"(?<=<!-- totals: begin -->\n).*?(?=<!-- totals: end -->)", re.DOTALL)


def totals(docs: Path) -> str:
    """Return the table of verdicts by paper, from the sections of their pages."""
    lines = [f"| claims of | {' | '.join(OUTCOMES)} |", "|---" * (1 + len(OUTCOMES)) + "|"]
    for paper in PAPERS:
        counts = dict(_counts((docs / f"{paper}.md").read_text(encoding="utf-8")))
        lines.append(f"| [{paper}]({paper}.md) | {' | '.join(str(counts.get(outcome, 0)) for outcome in OUTCOMES)} |")
    return "\n".join(lines) + "\n"


def _counts(page: str) -> Iterator[tuple[str, int]]:
    (told,) = re.findall(r"^Made by `bocu claims [^`]*`: (.*)\.$", page, re.MULTILINE)
    for part in told.split(", "):
        count, _, outcome = part.partition(" ")
        yield outcome, int(count)


def main() -> None:
    """Reduce, judge and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=Path, help="folders of experiments, such as results/tay2024")
    for folder in parser.parse_args().results:
        reduce_results(folder, PUBLISHED / f"{folder.name}.nc")
    for paper in PAPERS:
        claims_command(Path(f"config/claims/{paper}.yaml"), PUBLISHED, page=Path(f"docs/{paper}.md"))
    page = Path("docs/claims.md")
    written = BLOCK.sub(lambda _: totals(Path("docs")), page.read_text(encoding="utf-8"))
    write_text(page, written)


if __name__ == "__main__":
    main()
