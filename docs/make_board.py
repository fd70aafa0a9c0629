"""The board: every method of the archive on every problem, who leads, who added what, and what was played again.

    python docs/make_board.py [--freeze board-1] [--results docs/results]

writes docs/board.md and its picture from the files of the archive. `--freeze` keeps the standings of now as a version
that is never written again. Its place is the folder of the clone.
"""

import argparse
import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from make_published import shown, write_pictures
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import PercentFormatter

from bocu.core import style
from bocu.core.io.files import write_text
from bocu.core.written import NOTHING, counted, number, spoken
from bocu.pages.figures.who_wins import NARROW, WIDE
from bocu.sweep.archive.comparing import Meeting, board
from bocu.sweep.archive.entries import FOLDER, Archive, ArchivedFile, core_hours
from bocu.sweep.evaluation.standings import BEHIND, LEADING
from bocu.sweep.experiment.branches import NO_OBJECTIVE

PAGE = Path("docs/board.md")
COLUMNS = (
    *("problem", "problem_label", "objective", "metric", "rounds", "method", "title", "file", "seeds", "mean_regret"),
    *("relative", "standing", "core_hours"),
)
COMPARED = ("problem", "problem_label", "objective", "metric", "rounds")
KINDS = ("SO", "DRO", "WCS", "GEN", "of what is deployed", "other")
SHADES = (style.BLUE, "#8FB4DC", style.PALE)
PARTS = ("leads alone", "leads, not alone", "behind")
ENOUGH = 10  # comparisons that tell where a method stands, for it to have a line
SEVERAL = 3  # problems, to be named
YARDSTICK = "yardstick"
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
    f"to the least mean ({NOTHING} where that is not positive); who leads, with the least or told to have hardly more, "
    "is bold and comes first, told from luck over 30 paired seeds ([how](statistics.md#verdicts)). Who has fewer is "
    "left out where several have as many."
)


def rows(found: Iterable[tuple[ArchivedFile, Meeting]]) -> Iterator[dict[str, object]]:
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
                "standing": table.standing.get(key, YARDSTICK),
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


def comparisons(every: list[dict[str, object]]) -> Iterator[tuple[tuple[object, ...], list[dict[str, object]]]]:
    """Return what each comparison is of, and its rows."""
    for about, group in groupby(every, key=lambda row: tuple(row[key] for key in COMPARED)):
        yield about, list(group)


def kind(metric: str) -> str:
    """Return the column of a metric in the table of methods."""
    first, _, rest = metric.partition(" ")
    return KINDS[4] if rest.startswith("of what") else first if first in KINDS else KINDS[5]


class Tally(NamedTuple):
    """How often a method leads."""

    title: str
    told: Counter[str]  #: by the column of the metric, comparisons in which it is told to lead or to be behind.
    leads: Counter[str]
    problems: int  #: how many these are on; one under other parameters is the same.
    shares: pd.Series  #: of `PARTS` among its comparisons, each problem counted once.

    def __str__(self) -> str:
        return f"{self.title} ({1 - self.shares[PARTS[2]]:.0%} over {counted(self.problems, 'problem')})"


def tallied(every: list[dict[str, object]]) -> tuple[str, list[Tally]]:
    """Return what the board says first, and the tallies of methods of enough comparisons, by how often they lead."""
    decided = []
    count = none = clear = 0
    for about, methods in comparisons(every):
        standings = [row["standing"] for row in methods]
        leading = standings.count(LEADING)
        alone = leading == 1 and {*standings} <= {LEADING, BEHIND, YARDSTICK}
        count, none, clear = count + 1, none + (not leading), clear + alone
        part = {LEADING: PARTS[0] if alone else PARTS[1], BEHIND: PARTS[2]}
        problem, metric = str(about[0]).rpartition("-")[0], kind(str(about[3]))
        decided += [
            (row["title"], problem, metric, part[row["standing"]]) for row in methods if row["standing"] in part
        ]
    found = []
    for title, own in pd.DataFrame(decided, columns=["title", "problem", "metric", "part"]).groupby("title"):
        if len(own) >= ENOUGH:
            counts = pd.crosstab(own["part"], own["problem"]).reindex(PARTS, fill_value=0)
            told, leads = Counter(own["metric"]), Counter(own["metric"][own["part"] != PARTS[2]])
            found.append(Tally(str(title), told, leads, counts.shape[1], (counts / counts.sum()).mean(axis=1)))
    found.sort(key=lambda one: one.shares[PARTS[2]])
    named = [str(one) for one in found if one.problems >= SEVERAL][:3]
    sentence = (
        f"Of {counted(count, 'comparison')} {clear} have one leader and all others behind it, "
        f"{count - clear - none} leaders that some are not told from, and {none} none: their seeds do not "
        f"decide. Of methods with {ENOUGH} or more comparisons that do, on {SEVERAL} problems or more, each problem "
        f"counted once, {spoken(named)} lead most often, each among those that ran beside it."
    )
    return sentence, found


def by_method(found: list[Tally]) -> Iterator[str]:
    """Return the lines of a table of how often each method leads."""
    yield f"| method | problems | leads | leads alone | comparisons | {' | '.join(KINDS)} |"
    yield "|---|---|---|---|---|" + "---|" * len(KINDS)
    for one in found:
        cells = [f"{one.leads[kind]} of {one.told[kind]}" if one.told[kind] else NOTHING for kind in KINDS]
        shares = [f"{share:.0%}" for share in (1 - one.shares[PARTS[2]], one.shares[PARTS[0]])]
        every = f"{one.leads.total()} of {one.told.total()}"
        yield f"| {' | '.join([one.title, str(one.problems), *shares, every, *cells])} |"


def drawn(found: list[Tally], width: float) -> Picture:
    """Draw the shares of comparisons in which each method leads alone, leads with others and is behind."""
    shares = pd.DataFrame([one.shares for one in found], index=[f"{one.title} ({one.problems})" for one in found])
    picture = style.new_figure(0.5 + 0.17 * len(found), width)
    axes = shares.plot.barh(stacked=True, width=0.78, color=SHADES, legend=False, ax=picture.add_subplot())
    axes.invert_yaxis()
    axes.set(xlabel="share of the comparisons that decide, each problem counted once", xlim=(0, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.tick_params("y", length=0, labelsize=6.5)
    axes.spines["left"].set_visible(False)
    picture.legend(handles=axes.containers, labels=PARTS, loc="outside lower center", ncols=3, fontsize=6.5)
    return picture


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
    for about, methods in comparisons(every):
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
        seeds = [str(seed) for seed in again.get("seeds", ())]
        how = "the same to rounding" if again.get("regrets", {}).get("same to rounding") else "equal bits"
        told = f"seed{'s' * (len(seeds) > 1)} {spoken(seeds)}: {how}" if again else NOTHING
        told += f", to round {again['rounds']}" if "rounds" in again else ""
        known = str(len(entry.runs)) if entry.runs else NOTHING
        by = (entry.added or "the project").replace("|", "\\|")
        name, runs = entry.file.name, entry.reduced.runs
        yield f"| [{name}](results/{name}) | {known} | {runs:,} | {by} | {told} |"


def page(archive: Archive, frozen: list[str]) -> tuple[str, list[dict[str, object]]]:
    """Return the page, and its standings; its picture is written."""
    every = list(rows(board(archive)))
    sentence, found = tallied(every)
    with style.applied():
        write_pictures("board", *(drawn(found, width) for width in (WIDE, NARROW)))
    versions = ", ".join(f"[{name}]({name}.csv)" for name in frozen) or "none yet"
    lines = [
        "# The board",
        f"**{sentence}**",
        HOW,
        shown("board", f"Stacked bars, a method each: {'; '.join(map(str, found))}."),
        "In brackets: on how many problems. Drawn by `python docs/make_board.py` from the files below.",
        "## By method\n\nShares of the comparisons that decide about a method in which it leads, and leads alone, each "
        "problem counted once whatever its parameters, objectives, rounds and tracks, for a map of fifteen points is "
        "not fifteen problems; then comparisons as they are, and those by what regret is under. It says nothing about "
        "problems that are not here; runs that are scored by two metrics count twice; and the field differs from "
        "line to line: a method meets those of its papers and files. Methods of "
        f"{ENOUGH} such comparisons or more.",
        "\n".join(by_method(found)),
        f"## Standings\n\nA row a comparison. Versions that never change: {versions}; this page is the "
        "next, and grows with the archive.",
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
