"""Published results, and the pages that show them.

    python docs/make_published.py results/tay2024 results/drmobo

reduces the results of these experiments to docs/results/, freezes what is asked of them, judges the claims of all
papers by what is published, and writes the sections of each page, who wins with its picture, claims, numbers and what
is seen in them, and results.md over all papers. Without an argument it reduces none.
Its place is the folder of the clone.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator
from published_numbers import PublishedNumbers, line, marks, overview, scale_of

from bocu.commands.claims import claims_command
from bocu.core import style
from bocu.core.io.files import write_text
from bocu.core.written import NOTHING, number
from bocu.pages.figures.base import Drawing, finish, svg_of
from bocu.pages.figures.regret import CUT_WORDS
from bocu.pages.figures.who_wins import HOW_TO_READ, NARROW, WIDE, Compared, drawn, who_leads
from bocu.pages.report.claims import BEGIN as CLAIMS_BEGIN
from bocu.pages.report.claims import END as CLAIMS_END
from bocu.pages.report.claims import (
    HEADER,
    StandingCubes,
    judge,
    markdown_row,
    markdown_row_of,
    tally,
    why,
    write_section,
)
from bocu.pages.report.claims import numbers as numbers_of
from bocu.pages.report.forests import chip
from bocu.pages.report.tables import Fields
from bocu.sweep.evaluation.claims import FAILS, HOLDS, LEANS_AGAINST, LEANS_FOR, OPEN, read_claims
from bocu.sweep.evaluation.claims.reduced import Reduced, freeze, read_reduced, reduce_results
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.papers import Paper, known_papers
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.record import config_of
from bocu.sweep.experiment.registry import registered

OVERVIEW = marks("papers")
CITED = re.compile(r"DRMOBO|[A-Z]\w+ (?:et al\.|and [A-Z]\w+) \(?\d{4}")
"""A paper as classes name it."""
COLUMNS = {
    "algorithms": ("algorithm",),
    "problems": ("problem",),
    "sets, objectives, metrics": ("set", "objective", "metric"),
}
"""Of the table of papers: kinds of registered classes by heading."""
TITLES = {
    "tay2024": "Tay et al. 2024",
    "kirschner2020": "Kirschner et al. 2020",
    "huang2024": "Huang et al. 2024",
    "drmobo": "DRMOBO",
    "ziomek2025": "Ziomek et al. 2025",
}
READ_OVERVIEW = (
    "A panel is a paper, a line a method, a dot the mean regret of one comparison (a problem under one metric) beside "
    "the least there, a large mark their geometric mean. Shaded: who leads most often, told from luck over paired "
    "seeds; where nobody does, more seeds are needed. Problems and methods that we added to a paper's file count too; "
    "the functions of Kirschner et al. are ours, and on draws of their prior [DRBO and UCB are not told "
    "apart](kirschner2020.md#functions-that-nobody-made-for-it). Made by `python docs/make_published.py`."
)
PAPERS = ("tay2024", "kirschner2020", "huang2024", "drmobo", "ziomek2025")
JUDGED = (*PAPERS, "shifts", "shifts-1", "peers", "drmobo-shifts")
"""Experiments whose claims stand on their page."""
PUBLISHED = Path("docs/results")
NUMBERS = {
    "tay2024": ("figure-2", "figure-2-feasible-infection", "figure-3", "posterior-samples"),
    "tay2024-as-coded": ("figure-2", "figure-3"),
    "kirschner2020": ("figure-2", "figure-2-variance"),
    "kirschner2020-draws": ("draws",),
    "kirschner2020-contexts": ("contexts",),
    "kirschner2020-wind": ("figure-3", "figure-3-narrow"),
    "kirschner2020-wind-margins": ("margins",),
    "huang2024": ("figure-1a", "figure-1a-payoff", "figure-1b", "figure-2"),
    "huang2024-350": ("figure-1a", "figure-1a-payoff", "figure-1b", "figure-2"),
    "huang2024-as-published": ("figure-1a", "figure-1a-payoff", "figure-1b", "figure-2"),
    "huang2024-runtime": ("table-1",),
    "drmobo": (
        *("figures-6-and-7", "figure-8", "figures-9-and-10", "front-tv", "front-newsvendor"),
        *("figure-1", "figure-2", "figure-3", "figure-4", "figure-5"),
    ),
    "drmobo-sets": ("regret",),
    "ziomek2025": ("cumulative-regret", "average-regret", "chosen-priors"),
    "ziomek2025-continuous": ("cumulative-regret",),
    "unknown-prior-contextual": ("by-objective", "chosen-priors"),
    "drifting": ("by-objective", "chosen-priors"),
    "theorem-widths": ("by-width",),
    "saday2023": ("by-metric",),
    "huang2024-models": ("regret", "seconds-a-run"),
    "shifts-1": ("tracks", "deployed-at-last"),
    "shifts": ("huang", "seasons", "references", "regret"),
    "peers": ("decided", "recommended", "by-one-model"),
    "peers-cvar": ("judged",),
    "shifts-1-peers": ("tracks", "recommended"),
    "drmobo-shifts": ("tracks", "front-potatoes"),
    "grand-tour": ("grid-ranking", "continuous-ranking", "grid", "continuous", "time-varying"),
}
"""Experiment: the figures whose numbers stand on its page."""
PAGES = {
    "ziomek2025-regions": "regions",
    "tay2024-regions": "regions",
    "huang2024-regions": "regions",
    "kirschner2020-regions": "regions",
    "theorem-widths": "regions",
    "saday2023": "papers",
    "unknown-prior-contextual": "ziomek2025",
    "drifting": "ziomek2025",
    "shifts-1-peers": "peers",
}
"""Of experiments whose page has neither their name nor that of their paper."""
WITHOUT_RUNS = {"huang2024-runtime": ("table-2-normal", "table-2-complicated")}
"""Likewise figures that no run is made for."""
SEEN = {
    "shifts-1": (("tracks", "deployed-at-last"), ()),
    "grand-tour": (("grid", "continuous", "time-varying"), ("grid-ranking", "continuous-ranking")),
}
"""Likewise the scoreboards and rankings of which the page says what they come to."""
READ = (
    "mean ± standard error over seeds, or relative to that of random decisions. Bold: the least of a row, or of a "
    "column where it is relative, and what has hardly more, from 30 seeds on ([how](statistics.md#verdicts)). Italic: "
    "not told apart from random decisions."
)
DRAWN = "Drawn by `python docs/make_published.py` from [published results](results/{}.nc)."
PICTURES = Path("docs/published")
FINE = re.compile(r"(?<=\.\d\d)\d+")
"""Digits of coordinates that nobody sees: with them pictures are twice as large."""
IDS = re.compile(r"\b[mp][0-9a-f]{10}\b")
"""What pictures call their markers and clippings: by a hash of all those digits, which differ from run to run."""
CURVES = {
    "tay2024": ("figure-2", "figure-3"),
    "kirschner2020": ("figure-2", "figure-2-variance"),
    "huang2024": ("figure-1a", "figure-1b"),
    "drmobo": ("figures-6-and-7", "figure-8", "figures-9-and-10"),
    "ziomek2025": (),
}
"""Experiment: the paper's figures that its page shows as ours, out of the published results."""
JUDGED_BESIDE = {
    "huang2024-350": "huang2024",
    "huang2024-as-published": "huang2024",
    "shifts-1-fresh": "shifts-1",
    "tay2024-fourier": "tay2024",
}
"""Experiments with other settings, seeds or method: that of the same labels and claims beside which they are judged."""
SWAPPED = {"tay2024-fourier": ("ts-bocu", "ts-bocu-fourier")}
"""Of these the one whose single method takes the place of another's: labels of both."""
LONGER = {"huang2024-350": "huang2024"}
"""Experiments of more rounds: that of the same file."""
FINAL_ALONE = (
    *("shifts-1", "shifts-1-fresh", "grand-tour", "tay2024-as-coded", "tay2024-regions", "drmobo-sets"),
    *("unknown-prior-contextual", "drifting", "saday2023", "huang2024-models", "shifts"),
    *("kirschner2020-regions", "kirschner2020-wind-margins", "peers-cvar", "shifts-1-peers"),
)
"""Experiments whose published results hold final numbers alone."""
OURS = "ours"
"""Where claims that no paper makes stand."""
NOT_JUDGED = "not judged"
LOOKS = {
    HOLDS: (style.COLOURS["blue"], True),
    LEANS_FOR: (style.COLOURS["blue"], False),
    OPEN: (style.COLOURS["grey"], False),
    LEANS_AGAINST: (style.COLOURS["vermillion"], False),
    FAILS: (style.COLOURS["vermillion"], True),
    NOT_JUDGED: (style.PALE, False),
}
"""Colours of verdicts, and whether they are filled, as on their chips."""
READ_TOTALS = (
    "What became of the papers' claims: filled where a verdict stands, hollow where it leans or is open. Not judged: "
    "not run here, on data that stand in for the paper's, or of what cannot be compared."
)


def _claims(page: str) -> Iterator[list[str]]:
    """Return the cells of every claim in the section of a page, but for the settings that are ours."""
    for row in page[page.index(CLAIMS_BEGIN) : page.index(CLAIMS_END)].splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        if len(cells) == len(HEADER) and cells[2].startswith("**"):
            yield cells[:-1]


def published_of(experiment: str, root: Path = Path()) -> tuple[PublishedNumbers, Reduced | None]:
    """Return the numbers of an experiment as published, and the file that they stand in, if there is one."""
    source = root / PUBLISHED / f"{experiment}.nc"
    found = read_reduced(source) if source.is_file() else None
    return PublishedNumbers(plan_of(root / file_of(experiment), root), found.problems if found else {}), found


def plan_of(file: Path, root: Path = Path()) -> Plan:
    """Return the plan of an experiment's file, which finds data where the clone says."""
    return make_plan(read_experiment_file(file), [file], sources_file=root / "data/sources.yaml")


def file_of(experiment: str) -> Path:
    """Return the experiment's file, below the folder of the clone."""
    return Path(f"config/experiments/{LONGER.get(experiment, experiment)}.yaml")


def seen(experiment: str, root: Path = Path()) -> str:
    """Return what a page says to be seen in the numbers of an experiment."""
    return overview(published_of(experiment, root)[0], *SEEN[experiment])


def numbers(experiment: str, root: Path = Path()) -> str:
    """Return the numbers that a page shows of an experiment, with the command that makes them."""
    file, made = file_of(experiment), "Made by `python docs/make_published.py` from"
    published, found = published_of(experiment, root)
    figures = NUMBERS[experiment] + WITHOUT_RUNS.get(experiment, ())
    titles = [published.titled(label) for label in figures]
    parts = [f"<details><summary>{'; '.join(dict.fromkeys(titles)).replace('<', '&lt;')}</summary>"]
    if found:
        command = f"snakemake --cores all --configfile {file.as_posix()} {config_of(found.settings)}".strip()
        parts += [
            f"{made} [published results](results/{experiment}.nc) of",
            f"    {command}",
            f"{scale_of(found.problems)}. Regret is summed over the rounds after the initial design: {READ}",
            *filter(None, [published.data()]),
            published.section(NUMBERS[experiment]).rstrip(),
        ]
    else:
        parts.append(f"{made} `{file.as_posix()}`, of which no results are published yet.")
    if without := WITHOUT_RUNS.get(experiment):
        parts.append(published.section(without).rstrip())
    return "\n\n".join([*parts, "</details>"]) + "\n"


def overview_of_papers(root: Path, wins: Mapping[str, str]) -> str:
    """Return a table of all papers: who wins, what became of the claims, from their pages' sections, and core hours.

    Args:
        root: the folder of the clone.
        wins: who wins, in a sentence, by experiment.
    """
    words = f"Forest plot of five papers. {' '.join(f'{paper}: {sentence}' for paper, sentence in wins.items())}"
    totals = f"Bars of verdicts. {' '.join(f'{paper}: {_tallied(root, paper, False)}.' for paper in wins)}"
    lines = [shown("who-wins", words), "", READ_OVERVIEW, "", shown("totals", totals), "", READ_TOTALS, ""]
    heads = ("results", "who wins", "claims of the paper", "ours beside them", "core hours of the runs")
    lines += markdown_row_of(heads)
    for paper, sentence in wins.items():
        counts = [_tallied(root, paper, ours) for ours in (False, True)]
        _, hours = published_of(paper, root)[0].spent()
        lines.append(markdown_row([f"[{paper}]({paper}.md)", sentence, *counts, number(hours, 2, significant=True)]))
    return "\n".join([*lines, "", "Made by `python docs/make_published.py` from `docs/results/`."]) + "\n"


def _verdicts_of(root: Path, paper: str, ours: bool = False) -> list[str]:
    """Return what became of the claims of a paper, or of those of ours beside them, as its page has it."""
    claims = _claims((root / f"docs/{paper}.md").read_text(encoding="utf-8"))
    return [claim[2].split("**")[1] for claim in claims if (claim[1] == OURS) == ours]


def _tallied(root: Path, paper: str, ours: bool) -> str:
    verdicts = _verdicts_of(root, paper, ours)
    return f"{len(verdicts)}: {tally(verdicts)}" if verdicts else NOTHING


def drawn_totals(root: Path, width: float) -> Picture:
    """Draw what became of all papers' claims: a bar a paper, a part a verdict, filled where it stands."""
    looks: dict[str, dict[str, Any]] = {}
    for verdict, (colour, filled) in LOOKS.items():
        face = to_rgba(colour, 0.4) if filled else "none"  # pale: numbers on it are read by day and by night
        looks[verdict] = {"facecolor": face, "edgecolor": colour, "linewidth": 1.0}
    picture = style.new_figure(1.6, width)
    axes = picture.add_subplot()
    for at, paper in enumerate(PAPERS):
        found = Counter(one if one in LOOKS else NOT_JUDGED for one in _verdicts_of(root, paper))
        left = 0
        for verdict in (verdict for verdict in LOOKS if found[verdict]):
            count = found[verdict]
            axes.barh(at, count - 0.15, 0.7, left, **looks[verdict])
            axes.text(left + count / 2 - 0.08, at, str(count), ha="center", va="center", fontsize=6.5)
            left += count
    axes.set_yticks(range(len(PAPERS)), [TITLES[paper] for paper in PAPERS], fontsize=6.5)
    axes.set(xlabel="claims of the paper", ylim=(len(PAPERS) - 0.5, -0.6))
    axes.tick_params("y", length=0)
    axes.spines["left"].set_visible(False)
    handles = [Patch(**look, label=verdict) for verdict, look in looks.items()]
    picture.legend(handles=handles, loc="outside lower center", ncols=6 if width == WIDE else 3, fontsize=6.5)
    return picture


def table_of_papers(root: Path = Path()) -> str:
    """Return a table of papers: what of each is here, as registered classes say, and what became of its claims."""
    here: dict[str, dict[str, list[str]]] = {}
    for column, kinds in COLUMNS.items():
        for entry in (entry for kind in kinds for entry in registered(kind)):
            for cited in CITED.findall(entry.load().about.line):
                here.setdefault(cited.replace("(", ""), {}).setdefault(column, []).append(f"`{entry.name}`")
    keys = {cited: [paper for paper in known_papers().values() if _is_cited_as(paper, cited)] for cited in here}
    claimed = {cited: [paper.key for paper in found if paper.key in PAPERS] for cited, found in keys.items()}
    lines = list(markdown_row_of(("paper", *COLUMNS, "its claims")))
    for cited in sorted(here, key=lambda cited: (not claimed[cited], cited)):
        titles = "; ".join(f"[{one.title}]({one.link})" if one.link else one.title for one in keys[cited])
        classes = [", ".join(dict.fromkeys(here[cited].get(column, [NOTHING]))) for column in COLUMNS]
        verdict = [f"[{_tallied(root, key, False)}]({key}.md#claims-and-verdicts)" for key in claimed[cited]]
        lines.append(markdown_row([f"{cited}: {titles}" if titles else cited, *classes, *(verdict or [NOTHING])]))
    return "\n".join([*lines, "", "Made by `python docs/make_published.py`."]) + "\n"


def _is_cited_as(paper: Paper, cited: str) -> bool:
    first = paper.authors.split(",")[0].split()[-1]
    return cited.lower() == paper.key or (cited.startswith(f"{first} ") and cited.endswith(f" {paper.year}"))


def winners(experiment: str, root: Path = Path()) -> tuple[str, str, Drawing]:
    """Return who wins in an experiment as published, in a sentence, with how to read the picture, and the picture."""
    published, _ = published_of(experiment, root)
    found = published.comparisons()
    with style.applied():
        drawing = drawn(found)
    sentence = who_leads(found)
    lines = [
        f"**{sentence}**",
        "",
        shown(f"who-wins-{experiment}", drawing.alternative),
        "",
        f"{HOW_TO_READ} ([How](statistics.md#verdicts).) {DRAWN.format(experiment)}",
    ]
    figures = CURVES[experiment]
    for label in figures:
        parameters: Any = published.plan.figures[label].parameters
        title = parameters.title or label
        words = f"Curves of cumulative regret over the rounds, a panel a problem and metric: {title}"
        lines += ["", f"**{title}** (`{label}`)", "", shown(f"{experiment}-{label}", words)]
    if figures:
        lines += [
            "",
            "Mean and one standard error over seeds, at the rounds that are kept."
            f"{CUT_WORDS} {DRAWN.format(experiment)}",
        ]
    return sentence, "\n".join(lines) + "\n", drawing


def shown(name: str, words: str) -> str:
    """Return a picture for a page: the narrow one on a phone."""
    words = words.replace('"', "'").replace("<", "&lt;")
    return (
        f'<picture><source media="(max-width: 40rem)" srcset="published/{name}-narrow.svg">'
        f'<img src="published/{name}.svg" alt="{words}" width="100%"></picture>'
    )


def write_pictures(name: str, wide: Picture, narrow: Picture) -> None:
    """Write a picture for wide and for narrow pages, as SVG that suits dark ones too."""
    PICTURES.mkdir(exist_ok=True)
    with style.applied():
        for picture, suffix in ((wide, ""), (narrow, "-narrow")):
            finish(picture)
            svg = svg_of(picture, {"Date": None, "Title": name})
            write_text(PICTURES / f"{name}{suffix}.svg", compact(svg))


def compact(svg: str) -> str:
    """Return a picture in one line, without digits of coordinates that nobody sees; those of texts stay."""
    names: dict[str, str] = {}
    svg = IDS.sub(lambda found: names.setdefault(found[0], f"{found[0][0]}{len(names)}"), svg)
    coarse = re.sub(r"<[^>]*>", lambda tag: FINE.sub("", tag[0]), svg)
    return re.sub(r">\s+<", "><", re.sub(r"\s+", " ", coarse.strip(), flags=re.ASCII)) + "\n"


def draw_curves_of(experiment: str) -> None:
    """Draw the paper's figures of an experiment from its published results."""
    published, _ = published_of(experiment)
    for label in CURVES[experiment]:
        parameters: Any = published.plan.figures[label].parameters
        with style.applied():
            wide, narrow = (published.curves(parameters, narrow) for narrow in (False, True))
            assert wide is not None
            assert narrow is not None
            write_pictures(f"{experiment}-{label}", wide, narrow)


def drawn_papers(papers: Mapping[str, Sequence[Compared]], width: float) -> Picture:
    """Draw who wins over papers: a panel a paper, a line a method, a dot a comparison, its mean regret to the least.

    Large marks: geometric means. Shaded: who leads most often, with how often.
    """
    names: dict[str, list[str]] = {}
    ratios: dict[str, dict[str, list[float]]] = {}
    for paper, found in papers.items():
        own = ratios.setdefault(paper, {})
        for each in (each for each in found if each.unit > 0):
            for label in each.table.competing:
                own.setdefault(each.titles[label], []).append(each.table.means[label] / each.unit)
        names[paper] = sorted(own, key=lambda title: np.mean(np.log(own[title])))
    abreast = 1 if width < WIDE else 2
    order = sorted(names, key=lambda paper: -len(names[paper]))  # those as high as each other stand abreast
    rows = [order[at : at + abreast] for at in range(0, len(order), abreast)]
    tall = [max(len(names[paper]) for paper in row) for row in rows]
    picture = style.new_figure(0.14 * sum(tall) + 0.36 * len(rows) + 0.35, width)
    grid = picture.add_gridspec(len(rows), abreast, height_ratios=tall)
    for place, row in enumerate(rows):
        for column, paper in enumerate(row):
            axes = picture.add_subplot(grid[place, column])
            _draw_paper(axes, papers[paper], names[paper], ratios[paper])
            decided = any(each.leading for each in papers[paper])
            title = TITLES[paper] + ("" if decided else " (open)")
            axes.set_title(title, loc="left", fontweight="bold", fontsize=7.5)
            axes.set_ylim(tall[place] - 0.5, -0.5)
            axes.tick_params("x", labelbottom=place == len(rows) - 1 or (place, column) == (len(rows) - 2, 1))
    picture.supxlabel("final regret, the least mean of a comparison = 1", fontsize=7.5)
    return picture


def _draw_paper(
    axes: Axes, found: Sequence[Compared], names: Sequence[str], ratios: Mapping[str, Sequence[float]]
) -> None:
    looks = style.apart({each.titles[label]: each.looks[label] for each in found for label in each.table.competing})
    leads = Counter(title for each in found for title in each.leading)
    for at, title in enumerate(names):
        own, look, count = np.clip(ratios[title], 1.0, 30.0), looks[title], leads[title]
        if count and count == max(leads.values()):
            axes.axhspan(at - 0.5, at + 0.5, color=style.PALE, alpha=0.75, linewidth=0, zorder=0)
        axes.plot(own, np.full(len(own), at), "o", color=look.colour, markersize=2.6, alpha=0.45, markeredgewidth=0)
        axes.plot(
            np.exp(np.mean(np.log(own))), at, look.marker, color=look.colour, markersize=5, zorder=4, clip_on=False
        )
        told = f"leads {count} of {sum(title in each.competing for each in found)}" if leads else ""
        axes.annotate(told, (1.01, at), xycoords=axes.get_yaxis_transform(), va="center", fontsize=6)
    axes.set(xscale="log", xlim=(0.93, 32.0))
    axes.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(names)), names, fontsize=6.5)
    axes.tick_params("y", length=0)
    axes.spines["left"].set_visible(False)
    style.grid(axes, "x")


def side_by_side(experiment: str, root: Path = Path()) -> str:
    """Return what is claimed of one experiment, judged by it and by another with the same labels."""
    ours, cubes = JUDGED_BESIDE[experiment], StandingCubes(root / PUBLISHED)
    file = root / f"config/claims/{ours}.yaml"
    right = judge(file, cubes, experiment, swap := SWAPPED.get(experiment))
    both = {record["id"] for record in right}
    left = [record for record in judge(file, cubes) if record["experiment"] == ours and record["id"] in both]
    command = f"bocu claims config/claims/{ours}.yaml --results docs/results --experiment {experiment}"
    command += f" --swap {'='.join(swap)}" if swap else ""
    picture = f"{ours}-claims.svg"
    pairs = list(zip(left, right, strict=True))
    heads = ("Claim", f"`{ours}`", f"`{experiment}`")
    lines = [
        f"Made by `python docs/make_published.py`: verdicts of the table above, and those by `{command}`, corrected "
        f"for {max(one['corrected'] for one in right)} claims.",
        "",
        *markdown_row_of(heads),
        *(
            line([one["statement"].replace("<", "&lt;"), *(chip(side["verdict"], picture) for side in (one, other))])
            for one, other in pairs
        ),
        "",
        "<details><summary>Why, and by which numbers</summary>",
        "",
        *markdown_row_of(heads),
        *(markdown_row([one["statement"], _verdict(one), _verdict(other)]) for one, other in pairs),
        "",
        "</details>",
    ]
    return "\n".join(lines) + "\n"


def _verdict(record: Fields) -> str:
    said = "; ".join(filter(None, (why(record), *numbers_of(record))))
    return f"**{record['verdict']}**" + (f": {said}" if said else "")


def page_of(experiment: str) -> Path:
    """Return the page that shows the numbers of an experiment."""
    own = (page for page in (*JUDGED[::-1], experiment) if experiment.startswith(page))
    return Path(f"docs/{PAGES.get(experiment) or next(own)}.md")


def freeze_checks(file: Path) -> None:
    """Keep what claims ask with all published results that do not say so yet."""
    stated = read_claims(file).claims
    for experiment in dict.fromkeys(claim.experiment for claim in stated):
        if (published := PUBLISHED / f"{experiment}.nc").is_file():
            own = [claim for claim in stated if claim.experiment == experiment]
            asked = [{"file": file.name, **claim.model_dump(), "family": claim.corrected_with} for claim in own]
            freeze(published, asked)


def main() -> None:
    """Reduce, judge and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=Path, help="folders of experiments, such as results/tay2024")
    for folder in parser.parse_args().results:
        reduce_results(folder, PUBLISHED / f"{folder.name}.nc", final=folder.name in FINAL_ALONE)
    for experiment in JUDGED:
        claims = Path(f"config/claims/{experiment}.yaml")
        freeze_checks(claims)
        claims_command(claims, PUBLISHED, page=page_of(experiment))
    wins, found = {}, {}
    for experiment in PAPERS:
        wins[experiment], section, drawing = winners(experiment)
        write_section(page_of(experiment), section, marks(f"who wins in {experiment}"))
        assert drawing.narrow is not None
        write_pictures(f"who-wins-{experiment}", drawing.figure, drawing.narrow)
        draw_curves_of(experiment)
        found[experiment] = published_of(experiment)[0].comparisons()
    with style.applied():
        write_pictures("who-wins", *(drawn_papers(found, width) for width in (WIDE, NARROW)))
        write_pictures("totals", *(drawn_totals(Path(), width) for width in (WIDE, NARROW)))
    for experiment in NUMBERS:
        write_section(page_of(experiment), numbers(experiment), marks(f"numbers of {experiment}"))
    for experiment in JUDGED_BESIDE:
        write_section(page_of(experiment), side_by_side(experiment), marks(f"verdicts of {experiment}"))
    for experiment in SEEN:
        write_section(page_of(experiment), seen(experiment), marks(f"seen in {experiment}"))
    write_section(Path("docs/results.md"), overview_of_papers(Path(), wins), OVERVIEW)
    write_section(Path("docs/papers.md"), table_of_papers(), OVERVIEW)


if __name__ == "__main__":
    main()
