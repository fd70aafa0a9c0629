"""The board: every method of the archive on every problem, who leads, who added what, and what was played again.

    python docs/make_board.py [--freeze board-1] [--results docs/results]

writes docs/board.md and its picture from the files of the archive. `--freeze` keeps the standings of now as a version
that is never written again. Its place is the folder of the clone.
"""

import argparse
import csv
import io
from collections.abc import Iterator
from html import escape
from itertools import groupby, zip_longest
from pathlib import Path

from make_published import shown, write_pictures

from bocu.core import style
from bocu.core.io.files import write_text
from bocu.core.written import NOTHING, counted, number
from bocu.pages.archived import comparison
from bocu.pages.figures.who_wins import HOW_TO_READ, MOST_PANELS, Compared, drawn, who_leads
from bocu.sweep.archive.comparing import Meeting, board
from bocu.sweep.archive.entries import FOLDER, Archive, ArchivedFile, core_hours
from bocu.sweep.evaluation.standings import LEADING
from bocu.sweep.experiment.branches import NO_OBJECTIVE

PAGE = Path("docs/board.md")
COLUMNS = (
    *("problem", "problem_label", "objective", "metric", "rounds", "method", "title", "file", "seeds", "mean_regret"),
    *("relative", "standing", "core_hours"),
)
FILTER = """<p><label>Only rows with <input type="search" id="board-filter" size="24"></label></p>
<script>
document.getElementById("board-filter").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\\s+/);
  for (const row of document.querySelectorAll("#board tbody tr"))
    row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
});
</script>"""
HOW = (
    "Every method that the [published results](archive.md) have of a problem, whoever added it: what ran on the same "
    "problem, by its [identity](archive.md#identities), under the same metric, on seeds in common. Regret is relative "
    "to the least mean; who leads is bold and comes first, told from luck over 30 paired seeds "
    "([how](statistics.md#verdicts))."
)


def rows(found: list[tuple[ArchivedFile, Meeting]]) -> Iterator[dict[str, object]]:
    """Return the standings, a row a method of a comparison, the least mean regret first."""
    for entry, met in found:
        about, table = entry.reduced.about, met.table
        least = table.means[table.competing[0]]
        for key in sorted(table.means, key=lambda key: table.means[key]):
            run = met.runs[key]
            yield {
                "problem": entry.reduced.identities[met.problem]["problem"],
                "problem_label": met.problem,
                "objective": met.objective,
                "metric": about["metrics"][met.metric],
                "rounds": met.rounds,
                "method": key,
                "title": met.titles[key],
                "file": run.entry.file.name,
                "seeds": len(table.regrets[key]),
                "mean_regret": table.means[key],
                "relative": table.means[key] / least if least > 0 else "",
                "standing": table.standing.get(key, "yardstick"),
                "core_hours": core_hours(run),
            }


def written(every: list[dict[str, object]]) -> str:
    """Return the standings as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in every
    )
    return text.getvalue()


def table(every: list[dict[str, object]]) -> Iterator[str]:
    """Return the lines of the board as a table that can be filtered, a row a comparison."""
    heads = (
        "problem",
        "objective",
        "scored by",
        "rounds",
        "relative regret, by standing",
        "seeds",
        "from",
        "core hours",
    )
    yield '<table id="board"><thead><tr>' + "".join(f"<th>{head}</th>" for head in heads) + "</tr></thead><tbody>"
    compared = ("problem", "problem_label", "objective", "metric", "rounds")
    for about, group in groupby(every, key=lambda row: tuple(row[key] for key in compared)):
        methods = list(group)
        identity, problem, objective, metric, rounds = about
        seeds = sorted({int(str(row["seeds"])) for row in methods})
        files = dict.fromkeys(str(row["file"]) for row in methods)
        cells = [
            f'<span title="{identity}">{escape(str(problem))}</span>',
            NOTHING if objective == NO_OBJECTIVE else escape(str(objective)),
            escape(str(metric)),
            str(rounds),
            "; ".join(by_standing(methods)),
            "–".join(str(count) for count in dict.fromkeys((seeds[0], seeds[-1]))),
            ", ".join(f'<a href="results/{name}">{name.removesuffix(".nc")}</a>' for name in files),
            number(sum(float(str(row["core_hours"])) for row in methods), 2, significant=True),
        ]
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table>"


def by_standing(methods: list[dict[str, object]]) -> Iterator[str]:
    """Return what each standing of a comparison has, methods with their relative regrets, the best standing first."""
    standings = dict.fromkeys((LEADING, *(str(row["standing"]) for row in methods)))
    for standing in standings:
        here = [
            (escape(str(row["title"])), NOTHING if row["relative"] == "" else number(float(str(row["relative"])), 2))
            for row in methods
            if row["standing"] == standing
        ]
        if here:
            told = f"{standing}: {', '.join(map(' '.join, here))}"
            yield f"<b>{told}</b>" if standing == LEADING else told


def entries(archive: Archive) -> Iterator[str]:
    """Return the lines of a table of who added what."""
    yield "| file | branches known | runs | added | played again |"
    yield "|---|---|---|---|---|"
    for entry in archive.entries:
        again = entry.checked
        told = f"seeds {', '.join(map(str, again['seeds']))}: equal bits" if again else NOTHING
        if again.get("regrets", {}).get("same to rounding"):
            told = told.replace("equal bits", "the same to rounding")
        known = str(len(entry.runs)) if entry.runs else NOTHING
        by = (entry.added or "the project").replace("|", "\\|")
        name, runs = entry.file.name, entry.reduced.runs
        yield f"| [{name}](results/{name}) | {known} | {runs:,} | {by} | {told} |"


def page(archive: Archive, frozen: list[str]) -> tuple[str, list[dict[str, object]]]:
    """Return the page, and its standings; its picture is written."""
    found = list(board(archive))
    every = list(rows(found))
    by_file: dict[str, list[Compared]] = {}
    for entry, met in found:
        by_file.setdefault(entry.file.name, []).extend(comparison(met, entry))
    compared = [one for own in by_file.values() for one in own]
    # Each file in turn, or one of many comparisons would be all of the picture.
    turns = [id(one) for turn in zip_longest(*by_file.values()) for one in turn if one is not None and one.unit > 0]
    with style.applied():
        drawing = drawn([one for one in compared if id(one) in turns[:MOST_PANELS]])
    assert drawing.narrow is not None
    write_pictures("board", drawing.figure, drawing.narrow)
    cut = (
        f" {MOST_PANELS} comparisons are drawn, of each file in turn; the table has all."
        if len(compared) > MOST_PANELS
        else ""
    )
    versions = ", ".join(f"[{name}]({name}.csv)" for name in frozen) or "none yet"
    lines = [
        "# The board",
        f"**{who_leads(compared)}**",
        HOW,
        shown("board", drawing.alternative),
        f"{HOW_TO_READ}{cut} Drawn by `python docs/make_board.py` from the files below.",
        f"## Standings\n\n{counted(len(found), 'comparison')}. Versions that never change: {versions}; this page "
        "is the next, and grows with the archive.",
        FILTER,
        "\n".join(table(every)),
        "## Who added what",
        "\n".join(entries(archive)),
        "Where no branch is known, the file is older than identities, and compared by its own page alone. *Played "
        "again*: by [`bocu archive check`](archive.md#is-it-true), of seeds that the file's own hash picks.",
    ]
    return "\n\n".join(lines) + "\n", every


def main() -> None:
    """Write the page, and a version where one is to be frozen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--freeze", default="", help="name of a version to keep, such as board-1")
    parser.add_argument("--results", type=Path, default=FOLDER, help="the archive")
    asked = parser.parse_args()
    frozen = sorted(file.stem for file in PAGE.parent.glob("board-*.csv"))
    if asked.freeze in frozen:
        parser.error(f"--freeze: {asked.freeze} stands already, and never changes")
    text, every = page(Archive(asked.results), [*frozen, *([asked.freeze] if asked.freeze else [])])
    if asked.freeze:
        write_text(PAGE.with_name(f"{asked.freeze}.csv"), written(every))
    write_text(PAGE, text)


if __name__ == "__main__":
    main()
