"""From digests and figures to a page and its tables."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from bocu.core.errors import BocuError
from bocu.core.io.files import open_netcdf, reading, write_text
from bocu.core.io.lineage import lineage_of
from bocu.core.io.pages import page_template
from bocu.core.parameters import nearest
from bocu.core.written import counted, spoken
from bocu.pages.figures.results import DONE, MISSING, NO_OBJECTIVE, Digest, Tables, foremost, standings_of
from bocu.pages.figures.who_wins import comparisons
from bocu.pages.report import embedded, tables
from bocu.pages.report.claims import COLUMNS as CLAIMS
from bocu.pages.report.claims import beside, csv_records, on_page, opening
from bocu.pages.report.findings import against, answers, written
from bocu.pages.report.origins import data_set, kernel_words, traces
from bocu.pages.report.pictures import pictures
from bocu.sweep.evaluation.audits import read_audit
from bocu.sweep.evaluation.claims.records import read_verdicts
from bocu.sweep.evaluation.cubes import families_of, metrics_off_paths
from bocu.sweep.evaluation.run_statistics import TOLD
from bocu.sweep.evaluation.standings import VERDICT_SEEDS
from bocu.sweep.evaluation.statistics import LEAST_SEEDS
from bocu.sweep.experiment.papers import papers
from bocu.sweep.experiment.paths import ResultPaths
from bocu.sweep.origin_files import OriginFiles, results_folder

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "final-regret": (
        "problem", "objective", "metric", "algorithm", "rounds", "seeds", "mean", "standard_error", "median",
        "worst_tenth", "stuck_seeds", "standing", "margin", "units",
    ),
    "differences": (
        "problem", "objective", "metric", "algorithm", "reference", "seeds", "mean_difference", "low", "high",
        "p_value", "on_average", "differing_seeds", "share_with_less_regret", "share_low", "share_high",
        "p_value_of_share", "usually", "units",
    ),
    "ranks": ("problem", "objective", "metric", "algorithm", "seeds", "mean_rank", "friedman_p_value"),
    **{told.file: told.columns for told in TOLD},
    "checkpoints": (
        "problem", "objective", "metric", "algorithm", "round", "seeds", "mean", "standard_error", "units",
    ),
    "holes": ("problem", "objective", "algorithm", "what", "metric", "count", "seeds"),
}  # fmt: skip
COLUMNS = {kind: (*columns, "data") for kind, columns in _COLUMNS.items()}
"""The CSV files beside the page, `tables/<kind>.csv`, and their columns: one file a kind, all problems in it."""

SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "contents_script": ("contents",),
    "script": ("elements", "state", "tables", "plot", "panels", "page"),
}
"""What the page calls its scripts, and the files under `script/` that they are joined from."""
BESIDE_ARCHIVE = Path(ResultPaths("").beside_archive()).stem  #: Label of the figure of results beside the archive.
_MANY, _FIRST = 8, 3  #: Words beyond which not all are listed, and how many are then.


def table_files(output: str | Path) -> dict[str, Path]:
    """Return the CSV files that `build_page` writes beside the page `output`, by kind."""
    return {kind: Path(output).parent / "tables" / f"{kind}.csv" for kind in COLUMNS}


@dataclass(frozen=True)
class Part:
    """What a page shows of one experiment."""

    #: the configuration with every parameter as it stands, plain data, from `Plan.describe`.
    experiment: Mapping[str, Any]
    digests: Sequence[str | Path]  #: one a problem, in the order of the report.
    summary: str | Path  #: the experiment's summary.
    #: descriptions (JSON) of the figures, in the order of the report; each names its pictures.
    figures: Sequence[str | Path]
    audits: Sequence[str | Path] = ()  #: what `bocu audit` found, one file or none.
    claims: Sequence[str | Path] = ()  #: verdicts on claims, one file or none.


def build_page(parts: Sequence[Part], output: str | Path, reference: str | None = None) -> None:
    """Write the report: one HTML file that needs no network, and its tables as CSV files.

    Args:
        parts: one an experiment; names of several stand before their problems.
        output: the page; tables go to `table_files(output)`.
        reference: label of the algorithm that others are compared with; that of each experiment, if left out. Where
            there is none, or it has no finished run, it is the best of each table.

    Raises:
        BocuError: a file is missing or broken, or no algorithm has the label `reference`.
    """
    folder = Path(output).parent
    chapters = [_Chapter(part, folder, part.experiment["name"] if len(parts) > 1 else "", reference) for part in parts]
    cubes = [cube for chapter in chapters for cube in chapter.cubes]
    planned: Any = [entry for part in parts for entry in part.experiment.get("algorithms", [])]
    known = {label for cube in cubes for label in cube.names} | {entry["label"] for entry in planned}
    if reference is not None and reference not in known:
        raise BocuError(f"report: reference: no algorithm '{reference}'; {nearest(reference, known)}")
    pictures = [each for chapter in chapters for each in chapter.pictures]
    lineage = lineage_of(output)
    claimed = [record for part in parts for file in part.claims for record in read_verdicts(file)]
    written_for = _titles(cubes)
    page = {
        **_page(chapters, cubes),
        **_told(chapters, output, reference),
        "audit": _audit([audit for part in parts for audit in part.audits]),
        "claims": on_page(claimed, written_for),
        "opening": opening(claimed, written_for),
        "claims_beside": beside(claimed, pictures, written_for),
        "lineage": lineage.text if lineage else "",
    }
    for kind, found in csv_records(claimed).items() if claimed else ():
        with tables.csv_file(Path(output).parent / "tables" / f"{kind}.csv", CLAIMS[kind]) as write:
            write(found)
    parquet = tables.parquet_beside(list(table_files(output).values()))
    page["parquet"] = {path.stem: f"tables/{path.name}" for path in parquet}
    write_text(output, page_template("bocu.pages.report", "page.html.jinja").render(page))


def _titles(cubes: Sequence[Digest]) -> dict[str, dict[str, str]]:
    """Return what is written for labels, by kind."""
    found: dict[str, dict[str, str]] = {kind: {} for kind in ("problem", "objective", "metric", "algorithm")}
    for cube in cubes:
        shared = sum(each.title == cube.title for each in cubes) > 1
        found["problem"][str(cube.data.attrs["problem_label"])] = cube.called if shared else cube.title
        found["objective"] |= cube.objective_titles
        found["metric"] |= cube.metric_titles
        found["algorithm"] |= cube.titles
    return found


class _Chapter:
    """One experiment, opened. Problems and pictures of one among several have its name before theirs."""

    def __init__(self, part: Part, folder: Path, prefix: str, reference: str | None) -> None:
        self.experiment, self.summary = part.experiment, part.summary
        self.reference: str | None = reference or part.experiment.get("reference")
        self.cubes = [Digest(path) for path in part.digests]
        self.pictures = pictures(part.figures, folder)
        self.origin = OriginFiles(part.experiment, results_folder(part.experiment, part.digests), folder)
        self.problems = [entry["label"] for entry in part.experiment.get("problems", [])]
        self.absent = [label for label in self.problems if label not in {cube.problem for cube in self.cubes}]
        if prefix:
            self.absent = [f"{prefix}/{label}" for label in self.absent]
            for cube in self.cubes:
                cube.problem = f"{prefix}/{cube.problem}"
            self.pictures = [
                replace(
                    each,
                    identifier=f"{prefix}-{each.identifier}",
                    problem=f"{prefix}/{each.problem}" if each.problem else "",
                )
                for each in self.pictures
            ]


def _told(chapters: Sequence[_Chapter], output: str | Path, reference: str | None) -> dict[str, Any]:
    """Write the tables, problem by problem, and collect what the page shows of each: no more is ever in memory."""
    shown: dict[str, list[Any]] = {key: [] for key in ("holes", "resets", "against", "problems")}
    panels: list[dict[str, Any]] = []
    islands: list[tuple[str, str]] = []
    compared, spent, tried = [], [], []
    cubes = [cube for chapter in chapters for cube in chapter.cubes]
    seeds, looks = embedded.seeds_shown(cubes), embedded.looks_of_page(cubes)
    with ExitStack() as files:
        write = {
            kind: files.enter_context(tables.csv_file(path, COLUMNS[kind]))
            for kind, path in table_files(output).items()
        }
        for chapter, cube, checkpoints in _opened(chapters):
            found = standings_of(cube, chapter.experiment.get("leads_within"))
            kinds = _records(cube, found, checkpoints, chapter.reference)
            data = "simulated" if cube.data_label else ""
            for kind, rows in kinds.items():
                write[kind]([{**row, "data": data} for row in rows])
            shown["holes"] += [tables.with_titles(cube, hole) for hole in kinds["holes"]]
            shown["resets"] += [tables.with_titles(cube, reset) for reset in tables.resets(cube)]
            sentences = [] if chapter.reference is None else against(cube, found, chapter.reference)
            shown["against"] += [(cube.problem, each) for each in sentences]
            shown["problems"].append(_problem(cube, kinds, chapter))
            compared += comparisons(cube, chapter.experiment.get("leads_within"), found)
            if cube.attribute("specification").get("parameters", {}).get("protocol") == "simulator":
                tried.append(cube.called)
            spent += tables.spent(cube)
            for objective, metric in foremost(cube):
                panel = embedded.panel(cube, (objective, metric), found[objective, metric], chapter.origin, looks)
                panels.append({**panel, "totals": [], "pairs": [], "curves": dict.fromkeys(panel["curves"])})
                islands.append((f"numbers-{panel['id']}", embedded.script_json(panel)))
                traced = embedded.traces(cube, objective, metric, seeds)
                islands.append((f"traces-{panel['id']}", embedded.script_json(traced)))
            cube.release()
    commands = " && ".join(chapter.origin.sweep_command() for chapter in chapters)
    names = [chapter.origin.name for chapter in chapters]
    archive = any(each.label == BESIDE_ARCHIVE and not each.empty for chapter in chapters for each in chapter.pictures)
    return {
        **shown,
        "answers": answers(compared, spent, commands, tried, archive),
        "times": tables.times(spent),
        "absent": [label for chapter in chapters for label in chapter.absent],
        "numbers": embedded.script_json(embedded.index(panels, names, reference, seeds, str(output))),
        "islands": islands,
    }


def _opened(chapters: Sequence[_Chapter]) -> Iterator[tuple[_Chapter, Digest, list[tables.Fields]]]:
    """Return every problem of every experiment with its regret at checkpoints."""
    for chapter in chapters:
        with open_netcdf(chapter.summary) as totals:
            for cube in chapter.cubes:
                with reading(chapter.summary):
                    checkpoints = [*tables.checkpoints(totals, cube)]
                yield chapter, cube, checkpoints


def _records(
    cube: Digest, found: Tables, checkpoints: list[tables.Fields], reference: str | None
) -> dict[str, list[tables.Fields]]:
    return {
        "final-regret": [*tables.final_regret(cube, found)],
        "differences": [*tables.difference_records(cube, found, reference)],
        "ranks": [*tables.mean_ranks(cube)],
        **{told.file: [*tables.told_records(cube, told)] for told in TOLD},
        "checkpoints": checkpoints,
        "holes": [*tables.holes(cube)],
    }


def _page(chapters: Sequence[_Chapter], cubes: Sequence[Digest]) -> dict[str, Any]:
    """Collect what the template shows of all."""
    experiments = [chapter.experiment for chapter in chapters]
    scripts = {name: _script(*files) for name, files in SCRIPTS.items()}
    done, missing = _runs(cubes)
    named = [str(experiment.get("title") or experiment["name"]) for experiment in experiments]
    return {
        "name": ", ".join(chapter.origin.name for chapter in chapters),
        "title": " · ".join(named),
        "lead": _lead(cubes),
        "trials": list(filter(None, (chapter.origin.trial for chapter in chapters))),
        "facts": _facts(experiments, cubes),
        "missing": missing,
        "planned": done + missing,
        "simulated": [cube.problem for cube in cubes if cube.data_label],
        "data_label": next((cube.data_label for cube in cubes if cube.data_label), ""),
        "reference": spoken(list(dict.fromkeys(written(cubes, c.reference) for c in chapters if c.reference))),
        "least_seeds": LEAST_SEEDS,
        "verdict_seeds": VERDICT_SEEDS,
        "statistics": " ".join(told.sentence for told in TOLD if told.sentence),
        "terms": [told.term for told in TOLD if told.term],
        "pictures": [each for chapter in chapters for each in chapter.pictures if not each.problem and not each.empty],
        "not_drawn": [each for chapter in chapters for each in chapter.pictures if each.empty],
        "tables": {kind: f"tables/{kind}.csv" for kind in COLUMNS},
        "configuration": "---\n".join(
            yaml.safe_dump(dict(each), allow_unicode=True, width=100)  # sorted: a job has it with sorted keys
            for each in experiments
        ),
        "traces": traces(cubes),
        "papers": papers(list(dict.fromkeys(paper for each in experiments for paper in each.get("papers", [])))),
        "style": resources.files("bocu.core").joinpath("style.css").read_text(encoding="utf-8"),
        **scripts,
        "script_hashes": [_source_hash(script) for script in scripts.values()],
    }


def _script(*names: str) -> str:
    """Join scripts to one whose names are seen nowhere else."""
    folder = resources.files("bocu.pages.report").joinpath("script")
    texts = [folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in names]
    return '{\n"use strict";\n' + "\n".join(texts) + "}\n"


def _source_hash(script: str) -> str:
    """Return what the page's policy knows a script by: no other one runs in it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _audit(files: Sequence[str | Path]) -> Mapping[str, Any] | None:
    """Return what an audit found."""
    for file in files:
        found = read_audit(file)
        return {"told": found.told, "found": found, "table": tables.audited(found)}
    return None


def _facts(experiments: Sequence[Mapping[str, Any]], cubes: Sequence[Digest]) -> list[tuple[str, str]]:
    """Say what was run, a heading and a text each."""
    done, missing = _runs(cubes)
    metrics = [cube.metric_titles[label] for cube in cubes for label in metrics_off_paths(cube.data)]
    metrics += [f"{family.title} (a path of laws)" for cube in cubes for family in families_of(cube.data)]
    algorithms = list(dict.fromkeys(cube.titles[label] for cube in cubes for label in cube.names))
    seeds = sorted({seed for cube in cubes for seed in cube.seeds})
    rounds = {int(cube.iterations[-1]) for cube in cubes}
    sources: dict[str, list[str]] = {}
    for cube in cubes:
        if data := data_set(cube):
            sources.setdefault(data["source"], []).append(cube.called)
    data_sets = [f"{source} ({some(problems)})" for source, problems in sources.items()]
    each = some([f"{cube.called} {int(cube.iterations[-1])}" for cube in cubes], "; ")
    return [
        ("Problems", some([cube.called for cube in cubes])),
        ("Algorithms", ("; " if any("," in title for title in algorithms) else ", ").join(algorithms)),
        ("Metrics", ", ".join(dict.fromkeys(metrics))),
        ("Seeds", f"{len(seeds)} ({tables.seed_ranges(seeds)}), paired: all algorithms meet the same draws"),
        ("Rounds", str(rounds.pop()) if len(rounds) == 1 else each),
        ("Runs", f"{done} done" + (f", {missing} missing" if missing else ", none missing")),
        ("Data sets", "; ".join(data_sets if len(data_sets) > 1 else sources) or "none: formulas and draws"),
    ]


def _lead(cubes: Sequence[Digest]) -> str:
    """Say what was run in a sentence, from what there is: what a file says of itself may be of another scale."""
    if not cubes:
        return ""
    algorithms = {cube.titles[label] for cube in cubes for label in cube.names}
    rounds = sorted({int(cube.iterations[-1]) for cube in cubes})
    several = counted(rounds[-1], "round") if len(rounds) == 1 else f"{rounds[0]:,} to {rounds[-1]:,} rounds"
    seeds = {seed for cube in cubes for seed in cube.seeds}
    told = (counted(len(algorithms), "algorithm"), counted(len(cubes), "problem"), counted(len(seeds), "paired seed"))
    return f"{told[0]} on {told[1]}: {told[2]}, {several} each."


def _runs(cubes: Sequence[Digest]) -> tuple[int, int]:
    """Return how many runs are done and missing."""
    status = [cube.status(branch) for cube in cubes for branch in cube.branches()]
    done, missing = (sum(int((one == word).sum()) for one in status) for word in (DONE, MISSING))
    return done, missing


def some(words: Sequence[str], between: str = ", ") -> str:
    """List words, of many the first: the page has all in its contents."""
    if len(words) <= _MANY:
        return between.join(words)
    return f"{len(words)}: {between.join(words[:_FIRST])} and {len(words) - _FIRST} more"


def _problem(cube: Digest, kinds: Mapping[str, list[tables.Fields]], chapter: _Chapter) -> dict[str, Any]:
    groups, pictures = foremost(cube), chapter.pictures
    label = str(cube.data.attrs["problem_label"])

    def folders(objective: str) -> dict[str, str]:
        return {
            branch.algorithm: chapter.origin.run_folder(label, branch)
            for branch in cube.branches()
            if branch.objective in (objective, NO_OBJECTIVE)
        }

    return {
        "label": cube.problem,
        "title": f"{cube.title} ({cube.called})",
        "simulated": cube.data_label,
        "data": data_set(cube),
        "kernel": kernel_words(cube),
        "comparisons": [
            tables.comparison(cube, objective, metric, kinds, folders(objective)) for objective, metric in groups
        ],
        "fronts": [
            tables.by_itself(cube, objective, metric, told, kinds[told.file])
            for told in TOLD
            if told.caption and cube.outputs >= told.outputs
            for objective, metric in groups
        ],
        "ways": [tables.along_the_way(cube, objective, metric, kinds["checkpoints"]) for objective, metric in groups],
        "pictures": [each for each in pictures if each.problem == cube.problem and not each.empty],
        "parameters": yaml.safe_dump(cube.attribute("specification"), sort_keys=False, allow_unicode=True),
    }
