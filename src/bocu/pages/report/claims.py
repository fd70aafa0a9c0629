"""Verdicts on claims as people read them: in a table, beside a figure, as rows of CSV files, as a section of a page."""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

from bocu.core.errors import BocuError
from bocu.core.io.files import write_text
from bocu.core.parameters import nearest
from bocu.core.written import NOTHING, counted, decimals, number, probability, spoken
from bocu.pages.report import forests
from bocu.pages.report.forests import AGAINST, FOR
from bocu.pages.report.tables import NO_WIDTH, Fields, Table
from bocu.sweep.evaluation.claims.expressions import Scope, beside_one, leaves, problems_of
from bocu.sweep.evaluation.claims.model import BY_HOW_MUCH, EACH, Claim, read_claims
from bocu.sweep.evaluation.claims.numbers import Numbers, Source, Swapped, as_numbers
from bocu.sweep.evaluation.claims.parsing import parse
from bocu.sweep.evaluation.claims.places import Known
from bocu.sweep.evaluation.claims.planned import refuse_unknown
from bocu.sweep.evaluation.claims.records import CLAIM_COLUMNS, COMPARISON_COLUMNS, checks_of
from bocu.sweep.evaluation.claims.records import record as record_of
from bocu.sweep.evaluation.claims.reduced import Reduced, read_reduced
from bocu.sweep.evaluation.claims.verdicts import (
    FAILS,
    HOLDS,
    LEANS_AGAINST,
    LEANS_FOR,
    MOST_SEEDS,
    NOT_RUN,
    OUTCOMES,
    verdicts,
)
from bocu.sweep.evaluation.statistics import CONFIDENCE, holm
from bocu.sweep.experiment.papers import papers
from bocu.sweep.experiment.paths import PARTIAL, RESULTS, ResultPaths
from bocu.sweep.experiment.record import config_of, record_in, settings_of, trial_of

COLUMNS = {"claims": CLAIM_COLUMNS, "claim-comparisons": COMPARISON_COLUMNS}
"""The CSV files that a report with claims has besides, and their columns."""
HEADER = ("Claim", "Where", "Verdict", "Numbers", "Seeds", "p", "p, corrected", "Ours")
CAPTION = (
    "Claims and verdicts. Numbers: the left side less the right, a ratio, or what is compared with a number, with 95 % "
    "intervals over paired seeds, not corrected; p: before Holm's correction within a family of claims, and after it. "
    "A verdict takes 30 paired seeds; from 10 on, or before the correction alone, a claim leans."
)
Titles = Mapping[str, Mapping[str, str]]
"""What is written for labels, by kind: "problem", "objective", "metric", "algorithm"."""
NO_TITLES: Titles = {}
LABELS = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_LISTED = 3  #: Comparisons of a claim that are written out.
BY_THEMSELVES = ", by themselves at 5 %"


def csv_records(records: Sequence[Fields]) -> dict[str, list[Fields]]:
    """Return the rows of the CSV files of `COLUMNS`."""
    return {
        "claims": [{key: record[key] for key in CLAIM_COLUMNS} for record in records],
        "claim-comparisons": [
            {key: one[key] for key in COMPARISON_COLUMNS} for record in records for one in record["comparisons"]
        ],
    }


def table(records: Sequence[Fields], titles: Titles = NO_TITLES) -> Table:
    """Set all claims in a table but those whose runs are not there."""
    judged = [record for record in records if record["verdict"] != NOT_RUN]
    rows = tuple(row(record, titles) for record in judged)
    return Table("claims-table", CAPTION, HEADER, rows, scopes=tuple(scope(record, titles) for record in judged))


def scope(record: Fields, titles: Titles) -> dict[str, str]:
    """Return what a claim is about, for the page's filters: kind -> labels with spaces between; no kind: any."""
    words = {*re.findall(LABELS, record["check"] or ""), record["problem"], record["metric"]}
    found = {kind: [label for label in known if label in words] for kind, known in titles.items()}
    # On a page over several experiments, problems have the name of theirs before them.
    found["problem"] = [
        each for label in found.get("problem", ()) for each in (label, f"{record['experiment']}/{label}")
    ]
    return {kind: " ".join(labels) for kind, labels in found.items() if labels}


def row(record: Fields, titles: Titles = NO_TITLES) -> tuple[str, ...]:
    """Return the cells of a claim, below `HEADER`."""
    return (
        record["statement"],
        source(record) or NOTHING,
        outcome(record),
        "; ".join(numbers(record, titles)) or NOTHING,
        f"{record['seeds']} blocks" if record["p_by_blocks"] else str(record["seeds"] or NOTHING),
        *(
            NOTHING if record[key] is None or record["verdict"] == NOT_RUN else probability(record[key])
            for key in ("p_value", "p_value_holm")
        ),
        "; ".join(filter(None, (record["ours"], record["note"]))),
    )


def source(record: Fields) -> str:
    """Say who claims it and where: "Ziomek et al. 2025, figure 2"; empty where nobody is named."""
    known = papers([record["paper"]])[0] if record["paper"] else None
    named = ""
    if known is not None:
        first, *others = known.authors.split(", ") if known.authors else [known.key]
        surname = first.rpartition(" ")[2] if len(others) else first
        named = f"{surname} et al. {known.year}" if others and known.year else known.key
    return ", ".join(part for part in (named, record["where"]) if part)


def outcome(record: Fields) -> str:
    """Write the verdict, with the reason where there is one, and what it would take where it is none."""
    return ": ".join(filter(None, (record["verdict"], why(record))))


def why(record: Fields) -> str:
    """Write why a verdict is what it is, and what one would take."""
    seeds, hours, farthest = record["seeds_wanted"], record["hours_wanted"], record["thresholds"]
    told = [record["reason"]]
    if farthest is not None:
        ends = spoken([number(end, 3, significant=True) for end in farthest])
        which = f"thresholds as far as {ends}" if farthest else "no threshold near"
        told.append(f"by itself it holds for {which}")
    for place, (length, sides) in enumerate((record["p_by_blocks"] or {}).items()):
        p_value, side = min(zip(sides, ("for it", "against it"), strict=True))
        shown = "" if place == 0 else f": p {probability(p_value, sign=True)} {side}"
        told.append(f"by moving blocks of {length} rounds{shown}")
    if seeds is None:
        return "; ".join(filter(None, told))
    cost = "" if hours is None or hours < 0.05 else f", {number(hours, 1 if hours < 10 else 0)} core hours"
    power = f"{seeds:,} seeds{cost}" if seeds else f"more than {MOST_SEEDS:,} seeds"
    return "; ".join(filter(None, [*told, f"80 % power takes {power}"]))


def numbers(record: Fields, titles: Titles = NO_TITLES) -> list[str]:
    """Write what the numbers say: every comparison, or of many how they stand and the most telling ones."""
    every = record["comparisons"]
    found = [one for one in every if one["seeds"]]
    if len(every) <= _LISTED:
        return [compared(one, record, titles) for one in found]
    sides = [forests.side(one) for one in found]
    number = f"{len(found)} of {len(every)}" if len(found) < len(every) else str(len(every))
    counted = f"{number} comparisons: {sides.count(FOR)} for it, {sides.count(AGAINST)} against{BY_THEMSELVES}"
    # What the verdict rests on, or, where there is none, what stands in the way of one.
    best_first = record["verdict"] == HOLDS or str(record.get("check")).startswith("any(")
    telling = sorted(found, key=lambda one: one["p_for"] if best_first else one["p_against"] - one["p_for"])
    if set(sides) == {FOR}:  # the weakest
        telling = [max(found, key=lambda one: one["p_for"])]
    return [counted, *(compared(one, record, titles) for one in telling[: _LISTED - 1])]


def compared(one: Fields, record: Fields, titles: Titles = NO_TITLES) -> str:
    """Write a comparison with its number: "final(a) < final(b): −22.5 [−35.0, −10.0]"."""
    keys = [key for key in ("problem", "metric", "objective") if one[key] and one[key] != record.get(key)]
    scopes = [titles.get(key, {}).get(one[key], one[key]) for key in keys]
    where = f" ({', '.join(scopes)})" if scopes else ""
    return f"{one['comparison']}{where}: {measured(one)}"


def measured(one: Fields) -> str:
    """Write a number with its interval, both to the second figure of a quarter of the interval."""
    value, low, high = (nan if one[key] is None else float(one[key]) for key in ("value", "low", "high"))
    if isnan(low) and one["seeds"] > 1 and not isnan(value):
        return f"{number(value, 4, significant=True)} [−∞, ∞]"
    if not high - low > NO_WIDTH * abs(value):
        return number(value, 4, significant=True)
    digits = decimals((high - low) / 4)
    return f"{number(value, digits)} [{number(low, digits)}, {number(high, digits)}]"


def on_page(records: Sequence[Fields], titles: Titles) -> Mapping[str, Any] | None:
    """Return what the page shows of claims: how many of each verdict, the table, what was not run; None without any."""
    if not records:
        return None
    absent = [_told(record, titles) for record in records if record["verdict"] == NOT_RUN]
    return {"told": tally([one["verdict"] for one in records]), "table": table(records, titles), "absent": absent}


class Opening(NamedTuple):
    """What a page opens with: a sentence, a line a problem, and the label of the figure that stands beside them."""

    sentence: str
    lines: tuple[str, ...] = ()
    figure: str = ""


def opening(records: Sequence[Fields], titles: Titles = NO_TITLES) -> list[Opening]:
    """Return what the page opens with: the sentence of each claim that has one, or that it is not shown."""
    found = []
    for record in records:
        if not record.get("sentence") or record["verdict"] == NOT_RUN:
            continue
        if f"{{{EACH}}}" in record["sentence"]:
            found.append(_of_each(record, titles))
        elif record["verdict"] == HOLDS:
            first = record["comparisons"][0]
            numbers = {word: off_one(first, word) for word in BY_HOW_MUCH} | {"value": measured(first)}
            sentence = record["sentence"].format(**numbers).rstrip(".")
            found.append(Opening(f"{sentence} ({counted(record['seeds'], 'paired seed')})."))
        else:
            statement = record["statement"].rstrip(".")
            found.append(Opening(f"Claimed, and not shown by these runs: {statement} ({outcome(record)})."))
    return found


def _of_each(record: Fields, titles: Titles) -> Opening:
    """Say of each algorithm on how many problems it has less and more than the one they are compared with."""
    runs = beside_one(parse(record["check"], Scope(record["problem"] or "", record["metric"] or "")))
    ones = [one for one in zip(runs, record["comparisons"], strict=True) if one[1]["seeds"]]
    p_values = holm([min(one["p_for"], one["p_against"]) for _, one in ones])
    sides: dict[str, list[int]] = {}
    lines: dict[str, list[str]] = {}
    for (run, one), p_value in zip(ones, p_values, strict=True):
        name = titles.get("algorithm", {}).get(run.partition("/")[0], run)
        told = p_value < 1 - CONFIDENCE
        sides.setdefault(name, []).append(0 if not told else -1 if one["value"] < 1 else 1)
        value, low, high = (
            "∞" if one[end] is None else f"{100 * (one[end] - 1):+.0f}".replace("-", "−")
            for end in ("value", "low", "high")
        )
        lines.setdefault(one["problem"], []).append(f"{name} {value} % [{low}, {high}]")
    each = "; ".join(
        f"{name} less in {own.count(-1) or 'none'} of {len(own)}, more in {own.count(1) or 'none'}"
        for name, own in sides.items()
    )
    sentence = record["sentence"].format(**{EACH: each}).rstrip(".")
    how = f"{counted(record['seeds'], 'paired seed')}; at 5 %, corrected by Holm for all {len(ones)} comparisons"
    written = tuple(f"{problem}: {', '.join(parts)}" for problem, parts in lines.items())
    return Opening(f"{sentence} ({how}).", written, record["figure"] or "")


def off_one(one: Fields, word: str) -> str:
    """Write by how many per cent a ratio is less, or more, than 1: "31 % less (95 % interval 24 to 38)"."""
    sign = -1 if word == "less" else 1
    shares = (nan if one[key] is None else 100 * sign * (float(one[key]) - 1) for key in ("value", "low", "high"))
    value, *ends = shares
    low, high = sorted(ends)
    return f"{number(value, 0)} % {word} (95 % interval {number(low, 0)} to {number(high, 0)})"


def tally(verdicts: Sequence[str]) -> str:
    """Say how many claims there are of each verdict: "2 hold, 1 leans for, 1 open"."""
    several = {HOLDS: "hold", FAILS: "fail", LEANS_FOR: "lean for", LEANS_AGAINST: "lean against"}
    counts = {verdict: verdicts.count(verdict) for verdict in OUTCOMES}
    return ", ".join(f"{n} {several.get(verdict, verdict) if n > 1 else verdict}" for verdict, n in counts.items() if n)


def beside(records: Sequence[Fields], pictures: Sequence[Any], titles: Titles) -> dict[str, list[Mapping[str, Any]]]:
    """Return what stands beside each figure, by the figure's identifier on the page.

    Args:
        records: the claims.
        pictures: what has `identifier`, `problem` (empty: drawn once for all) and `label`.
        titles: what is written for labels.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for picture in pictures:
        found[picture.identifier] = [
            _told(record, titles)
            for record in records
            if record["figure"] == picture.label
            and (not picture.problem or record["problem"] in (None, picture.problem))
        ]
    return found


def _told(record: Fields, titles: Titles) -> Mapping[str, Any]:
    """Return what a line says of a claim."""
    return {
        **{key: record[key] for key in ("verdict", "reason", "statement")},
        "source": source(record),
        "numbers": "; ".join(numbers(record, titles)),
        "scope": scope(record, titles),
    }


BEGIN, END = "<!-- claims: begin -->", "<!-- claims: end -->"
PUBLISHED = Path("docs/results")  #: Where the project keeps published results, below the clone.
BAR = r"\|"  #: A vertical line inside a cell of a Markdown table.


@dataclass(frozen=True)
class StandingCubes:
    """The results that stand under a folder: cubes, and reduced results."""

    folder: Path = Path(RESULTS)  #: `results/`, or another; or one file of reduced results.
    _reduced: dict[str, Reduced] = field(default_factory=dict, init=False, repr=False, compare=False)

    def cube(self, experiment: str, problem: str) -> "Path | Numbers | None":
        """Return the cube of a problem: of the whole experiment, else of what exists of it, else its reduced numbers.

        None where there is neither.
        """
        paths = ResultPaths(experiment)
        for part in ("", PARTIAL):
            file = self.folder / Path(paths.cube(problem, part)).relative_to(RESULTS)
            if file.is_file():
                return file
        reduced = self._reduced_results(experiment)
        return None if reduced is None else reduced.problems.get(problem)

    def experiments(self) -> list[str]:
        """Return the names of the experiments of which anything stands."""
        if self.folder.is_file():
            return [read_reduced(self.folder).experiment]
        made = {path.name for path in self.folder.glob("*/") if self.problems(path.name)}
        return sorted(made | {path.stem for path in self.folder.glob("*.nc")})

    def problems(self, experiment: str) -> set[str]:
        """Return the labels of an experiment's problems, planned or else with results; empty: nothing of it stands."""
        folder, reduced = self.folder / experiment, self._reduced_results(experiment)
        if planned := record_in(folder).get("iterations_of"):
            return set(planned)
        if reduced is not None:
            return {*reduced.problems, *reduced.missing}
        return {file.stem for part in ("", PARTIAL) for file in folder.glob(f".{part}/cubes/*.nc")} - {"summary"}

    def refuse_other(self, problem: str, *experiments: str) -> None:
        """Raise where reduced results of experiments have another problem, or metric, under the same label.

        Raises:
            BocuError: they have.
        """
        reduced = filter(None, map(self._reduced_results, experiments))
        known = [{"": of["problem"], **of["metrics"]} for one in reduced if (of := one.identities.get(problem))]
        if any(one[label] != other[label] for one in known for other in known for label in {*one} & {*other}):
            raise BocuError(f"'{problem}': another problem or metric in {spoken(experiments)} (`bocu id`)")

    def scales(self, records: Sequence[Fields]) -> Iterator[str]:
        """Say at which scale claims were judged, a line an experiment."""
        about: dict[str, set[str]] = {}
        for record in records:
            found = {one["problem"] for one in record["comparisons"] if one["problem"] and one["seeds"]}
            about.setdefault(record["experiment"], set()).update(found)
        for experiment, problems in about.items():
            sources = [self.cube(experiment, problem) for problem in sorted(problems)]
            shown = [_scale(source) for source in sources if source is not None]
            if shown:
                same = ", ".join(dict.fromkeys(shown))
                yield f"`{experiment}` ({', '.join(sorted(problems))}): {same}{self._settings(experiment)}"

    def frozen(self, records: Sequence[Fields]) -> Iterator[str]:
        """Say, a line an experiment with published results, whether what is asked of them is what was frozen."""
        asked: dict[str, list[Fields]] = {}
        for record in records:
            asked.setdefault(record["experiment"], []).append(record)
        for experiment, own in asked.items():
            reduced = self._reduced_results(experiment)
            if reduced is None:
                continue
            if reduced.checks is None:
                yield f"What is asked of `{experiment}` was never frozen."
                continue
            files = {str(one["file"]) for one in own}
            then = {name: asked for name, asked in reduced.checks.items() if name.partition(":")[0] in files}
            now = checks_of(own)
            changed = [name for name, check in now.items() if then.get(name) != check]
            since = (("new or changed", changed), ("gone", [name for name in then if name not in now]))
            told = [f"{word}: {', '.join(ones)}" for word, ones in since if ones]
            yield f"What is asked of `{experiment}` is {'; '.join(told) or 'as frozen with it'}."

    def _reduced_results(self, experiment: str) -> Reduced | None:
        file = self.folder if self.folder.is_file() else self.folder / f"{experiment}.nc"
        if experiment not in self._reduced and file.is_file():
            found = read_reduced(file)
            self._reduced[found.experiment] = found
        return self._reduced.get(experiment)

    def _settings(self, experiment: str) -> str:
        """Say what the command line changed of the experiment; empty: nothing that matters."""
        record, reduced = record_in(self.folder / experiment), self._reduced_results(experiment)
        told, trial = settings_of(record), trial_of(record)
        if reduced is not None and not record:
            told, trial = reduced.settings, reduced.trial
        return (f", {trial}" if trial else "") + (f", by `{config_of(told)}`" if told else "")


def _scale(source: Source) -> str:
    with ExitStack() as files:
        numbers = as_numbers(source, files)
        label = f" ({numbers.data_label})" if numbers.data_label else ""
        return f"{counted(numbers.finished, 'seed')} and {counted(numbers.known.rounds, 'round')}{label}"


def judge(
    file: Path, cubes: StandingCubes, experiment: str | None = None, swap: tuple[str, str] | None = None
) -> list[Fields]:
    """Return the records of the claims of a file, judged by the results that stand.

    Args:
        file: the claims.
        cubes: where results are looked for.
        experiment: judge by it what is said of the file's own experiment, and that alone; None: all claims as stated.
        swap: take of `experiment` one algorithm alone: a label of the file's own experiment, and that of what takes its
            place. Claims about the first are judged, but for those about the second too, or about other problems.

    Raises:
        BocuError: the file is faulty, or names no experiment of its own and another one is asked for; nothing stands of
            any of the experiments, or one that stands does not have what a claim names.
    """
    known = read_claims(file)
    stated = known.claims if experiment is None else known.asked_of(experiment)
    own_name = known.experiment or ""
    asked = sorted({claim.experiment for claim in stated if claim.check is not None} | ({own_name} if swap else set()))
    lacking = [name for name in asked if not cubes.problems(name)]
    if lacking and (swap or lacking == asked):
        there = cubes.experiments()
        told = (
            nearest(lacking[0], there) if there else "it holds none" if cubes.folder.exists() else "it does not exist"
        )
        where = published_of(file, lacking)
        raise BocuError(f"{file}: no results of {', '.join(lacking)} in {cubes.folder}; {told}{where and f'; {where}'}")
    if swap and experiment:
        stated = [claim for claim in stated if _is_about(claim, swap, cubes.problems(experiment))]
        if not stated:
            raise BocuError(f"{file}: no claim about '{swap[0]}' on the problems of {experiment}")
    with ExitStack() as files:

        @functools.cache
        def numbers(name: str, problem: str) -> Numbers | None:
            source = cubes.cube(name, problem)
            if source is None or not swap:
                return None if source is None else as_numbers(source, files)
            cubes.refuse_other(problem, own_name, name)
            own = cubes.cube(own_name, problem)
            if own is None:
                return None
            return Swapped(as_numbers(own, files), swap[0], as_numbers(source, files), swap[1])

        def planned(name: str, problem: str) -> Known | None:
            found = numbers(name, problem)
            return None if found is None else found.known

        for problem in cubes.problems(experiment) if swap and experiment else ():
            numbers(experiment, problem)  # what is swapped is refused, and not shown as a claim that was not run
        for position, claim in enumerate(stated if experiment is None else ()):
            if problems := cubes.problems(claim.experiment):
                own = functools.partial(planned, claim.experiment)
                refuse_unknown(claim, problems, own, f"{file}: claims.{position}")
        return [record_of(file.name, *judged) for judged in zip(stated, verdicts(stated, numbers), strict=True)]


def _is_about(claim: Claim, swap: tuple[str, str], problems: set[str]) -> bool:
    """Return whether a claim is about the first of two algorithms alone, and about no other problems than these."""
    asked = [] if claim.check is None else [*leaves(claim.node)]
    runs = {measure.runs.partition("/")[0] for leaf in asked for measure in leaf.comparison.measures}
    return {*swap} & runs == {swap[0]} and {*problems_of(claim.node)} <= problems


def published_of(file: Path, experiments: Iterable[str]) -> str:
    """Say where published results of experiments stand beside a claims file of the clone; empty: there are none."""
    for folder in (PUBLISHED, file.resolve().parent.parent.parent / PUBLISHED):
        if found := [name for name in experiments if (folder / f"{name}.nc").is_file()]:
            return f"published results of {', '.join(found)}: --results {folder.as_posix()}"
    return ""


def section(records: Sequence[Fields], cubes: StandingCubes, command: str, picture: str = "") -> str:
    """Return the section: how many of each verdict, a line a claim, and folded at which scale and all numbers.

    Args:
        records: of the claims.
        cubes: what they were judged by.
        command: what makes the section.
        picture: file of `forests.drawn_claims`, from the page, for chips and forests; empty: words alone.
    """
    scales, frozen = list(cubes.scales(records)), list(cubes.frozen(records))
    tallied = tally([record["verdict"] for record in records])
    lines = [
        f"Made by `{command}`: {tallied}.{f' {forests.HOW_TO_READ}' if picture else ''}",
        "",
        *markdown_row_of(("Claim", "Verdict", *(["Comparisons"] if picture else []), "Number")),
        *(_line(record, picture) for record in records),
        "",
        "<details><summary>Where, by which numbers, seeds and p, and why</summary>",
        "",
        " ".join([f"Judged by {'; '.join(scales)}." if scales else "No cube of these experiments stood.", *frozen]),
        "",
        CAPTION,
        "",
        *markdown_table(records),
        "",
        "</details>",
    ]
    return "\n".join(lines) + "\n"


def _line(record: Fields, picture: str) -> str:
    verdict, statement, number = record["verdict"], _escaped(record["statement"]), _escaped(_number(record))
    if not picture:
        return f"| {statement} | **{verdict}** | {number} |"
    return f"| {statement} | {forests.chip(verdict, picture)} | {forests.forest(record, picture)} | {number} |"


def markdown_table(records: Sequence[Fields]) -> Iterator[str]:
    """Return the lines of the table of claims."""
    yield from markdown_row_of(HEADER)
    for record in records:
        cells = list(row(record))
        cells[2] = cells[2].replace(record["verdict"], f"**{record['verdict']}**", 1)
        yield markdown_row(cells)


def markdown_row_of(heads: Sequence[str]) -> tuple[str, str]:
    """Return the two lines that a table begins with."""
    return markdown_row(heads), "|---" * len(heads) + "|"


def _number(record: Fields) -> str:
    """Return one number of a claim: with its interval, or how many of many comparisons are for it."""
    found = numbers(record)
    if not found or len(found) < len(record["comparisons"]):
        return found[0].removesuffix(BY_THEMSELVES) if found else NOTHING
    return found[0].rpartition(": ")[2] + (f", and {len(found) - 1} more" if len(found) > 1 else "")


def markdown_row(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(cell: str) -> str:
    return cell.replace("|", BAR).replace("<", "&lt;")


def write_section(page: Path, text: str, marks: tuple[str, str] = (BEGIN, END)) -> None:
    """Put a section between the marks of a page.

    Args:
        page: the Markdown file.
        text: whole lines.
        marks: the line above the section, and the one below it.

    Raises:
        BocuError: there is no such page, or it does not have the marks once each, in their order.
    """
    if not page.is_file():
        raise BocuError(f"{page}: no such page")
    whole = page.read_text(encoding="utf-8")
    above, below = marks
    begin, end = whole.find(above), whole.find(below)
    if not 0 <= begin < end or whole.count(above) > 1 or whole.count(below) > 1:
        raise BocuError(
            f"{page}: found no place for a section; allowed: one line '{above}', and one '{below}' below it"
        )
    write_text(page, f"{whole[: begin + len(above)]}\n{text}{whole[end:]}")
