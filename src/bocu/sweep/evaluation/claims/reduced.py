"""Reduced results: what claims, pages and maps of regions read of an experiment, in one small file.

A row is what a word of checks stands for at one place (problem, objective, algorithm, and metric or prior), a column a
seed: verdicts and paired intervals come out as from the cubes. Regret up to a round is kept at some shares of the
rounds, in single precision, and so is every round where claims are judged over rounds; every other number is exact.
"""

import functools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pydantic

from bocu.core.about import read_look
from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import canonical_json, open_netcdf, read_netcdf, reading, write_netcdf
from bocu.core.io.provenance import collected, refuse_other_schema, united
from bocu.core.plain import Plain
from bocu.sweep.evaluation.claims.expressions import WORDS
from bocu.sweep.evaluation.claims.numbers import CubeNumbers, Numbers, Sample
from bocu.sweep.evaluation.claims.places import Known, Place
from bocu.sweep.evaluation.claims.records import checks_of, read_verdicts
from bocu.sweep.evaluation.cubes import CUBE_DIMENSIONS
from bocu.sweep.experiment.branches import NO_OBJECTIVE
from bocu.sweep.experiment.paths import PARTIAL, RESULTS
from bocu.sweep.experiment.record import MADE_FROM, record_in, settings_of, trial_of

if TYPE_CHECKING:
    import xarray as xr

REDUCED = "reduced_version"  #: Attribute of files of reduced results.
VERSION = 1
CHECKS = "checks"  #: Attribute that says what claims asked when results were reduced, or when that was frozen.
IDENTITY, STATED, IDENTITIES, ARCHIVED = "identity", "stated", "identities", "archived"
"""Variables of the identities in a file (which, what stands behind them, whose they are), and attribute of `about`."""
LARGEST = 512_000_000  #: Bytes that reduced results may have in memory: strangers send them.
SHARES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9)  #: Shares of the rounds up to which regret is kept.
_OF_A_METRIC, _OF_RUNS, _OF_A_PRIOR = (
    ("final", "growth", "recommended", "hypervolume"),
    ("payoff", "seconds"),
    ("share", "sticks", "rejected"),
)
FINAL = ("final", "payoff", "seconds", "share", "rejected")
"""Words that are one number of all rounds: what files of many problems keep, to be small."""
_LABELS = ("word", "problem", "objective", "algorithm", "metric", "prior")
_OF_THE_PROBLEM = ("title", "payoff_units", "data_label")
_SUMMARY, _MISSING, _PLANNED = "summary", "missing", "iterations_of"


@dataclass(frozen=True)
class Reduced:
    """Reduced results of an experiment."""

    experiment: str  #: its name.
    settings: Plain  #: those of the command line that say at which scale it was run.
    trial: str  #: how much less that is than the experiment's file asks for; empty: no less.
    seeds: tuple[int, ...]  #: those that any problem has.
    problems: Mapping[str, Numbers]  #: label -> numbers.
    #: what claims asked of these results when that was frozen, as `checks_of` has it; None: it never was.
    checks: Mapping[str, str] | None = None
    #: what stands behind an identity, by identity; empty: the file has none.
    stated: Mapping[str, Plain] = field(default_factory=dict)
    #: label of a problem -> those of it, its branches and scores, as `Identities.problems` has them.
    identities: Mapping[str, Plain] = field(default_factory=dict)
    #: titles and looks by kind and label; "config": the experiment, where the file holds it; "added": who submitted it,
    #: how and when.
    about: Plain = field(default_factory=dict)
    runs: int = 0  #: how many stand in it.
    missing: tuple[str, ...] = ()  #: labels of planned problems of which nothing was gathered.
    by_round: frozenset[str] = frozenset()  #: labels of problems of which every round is kept.
    provenance: Mapping[str, Sequence[str]] = field(default_factory=dict)  #: as `collected` tells it.


def reduce_results(folder: Path, output: Path, final: bool = False, earlier: Sequence[Path] = ()) -> None:
    """Reduce the results of an experiment to one file.

    Args:
        folder: such as `results/NAME`; of a sweep that is not finished, what was gathered of it.
        output: the file.
        final: whether to keep the words of `FINAL` alone, and no regret up to a round.
        earlier: reduced results of the same experiment, of other problems or seeds, which are in the file too; what was
            frozen there stays, of two that differ the first.

    Raises:
        BocuError: there are no cubes, or one cannot be read; or the earlier results are of another experiment, hold
            some of the same runs, or leave a gap between their seeds and these.
    """
    cubes = {file.stem: file for file in cubes_in(folder)}
    described, judged = record_in(folder), folder / "claims/verdicts.json"
    asked = read_verdicts(judged) if judged.is_file() else []
    before = {part: read_reduced(part) for part in earlier}
    by_round = {one["problem"] for claim in asked if claim["blocks"] for one in claim["comparisons"]}
    reduction = _Reduction(by_round.union(*(part.by_round for part in before.values())))
    for label in _in_order({*cubes}.union(*(part.problems for part in before.values())), described):
        if file := cubes.get(label):
            with open_netcdf(file, decode_times=False) as cube, reading(file):
                refuse_other_schema(file, cube.attrs)
                reduction.add_cube(cube, final)
        for part, held in before.items():
            if isinstance(numbers := held.problems.get(label), ReducedNumbers):
                reduction.add(numbers, numbers.about, part)
    data = reduction.dataset(reduction.joined(before, described) if before else described)
    if own := [claim for claim in asked if claim["experiment"] == data.attrs["experiment"]]:
        data.attrs[CHECKS] = canonical_json(checks_of(own))
    if frozen := [part.checks for part in before.values() if part.checks is not None]:
        data.attrs[CHECKS] = canonical_json(
            {key: check for checks in reversed(frozen) for key, check in checks.items()}
        )
    write_netcdf(data, output)


def freeze(file: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Keep with reduced results what claims ask of them from now on, where nothing of it is kept there yet."""
    data = read_netcdf(file, sealed=True)
    if CHECKS not in data.attrs:
        write_netcdf(data.assign_attrs({CHECKS: canonical_json(checks_of(records))}), file)


def cubes_in(folder: Path) -> list[Path]:
    """Return the cubes of the problems of an experiment, else those of what exists of it.

    Raises:
        BocuError: there are none.
    """
    described = record_in(folder)
    for part in ("", PARTIAL.strip("/")):
        found = {file.stem: file for file in (folder / part / "cubes").glob("*.nc") if file.stem != _SUMMARY}
        if labels := [label for label in _in_order(found, described) if label in described.get(_PLANNED, found)]:
            return [found[label] for label in labels]
    raise BocuError(f"{folder}: no cubes in it; a folder such as {RESULTS}/NAME is wanted, after `snakemake partial`")


def _in_order(labels: Collection[str], described: Plain) -> list[str]:
    """Return labels of problems as they are planned, and those that are not after them by name."""
    planned = [label for label in described.get(_PLANNED, ()) if label in labels]
    return [*planned, *sorted({*labels} - {*planned})]


def read_reduced(path: Path) -> Reduced:
    """Read reduced results.

    Raises:
        BrokenFileError: the file is none of `reduce_results`, or of another version of it.
    """
    data = read_netcdf(path, sealed=True, largest=LARGEST)
    if data.attrs.get(REDUCED) != VERSION:
        raise BrokenFileError(path, f"attribute '{REDUCED}': found {data.attrs.get(REDUCED)}; allowed: {VERSION}")
    with reading(path):
        table = _Table(data)
        problems = {label: ReducedNumbers(label, json.loads(text), table) for label, text in table.about.items()}
        trial = str(data.attrs.get("trial", ""))
        checks = json.loads(data.attrs[CHECKS]) if CHECKS in data.attrs else None
        settings, seeds = json.loads(data.attrs["settings"]), tuple(map(int, table.seeds))
        stated, known = ({}, {}) if IDENTITIES not in data else (_plain(data, *pair) for pair in _KNOWN_BY)
        identities = {label: of for label, of in known.items() if of}  # those of some problems may not be known
        about = json.loads(data.attrs.get(ARCHIVED, "{}"))
        _check_known(problems, stated, identities, about)
        name, missing = str(data.attrs["experiment"]), tuple(map(str, json.loads(data.attrs.get(_MISSING, "[]"))))
        known_by = (stated, identities, about)
        kept = table.by_round_of, collected(data.attrs)
        return Reduced(name, settings, trial, seeds, problems, checks, *known_by, _runs(data), missing, *kept)


class _Stated(pydantic.BaseModel):
    kind: str = pydantic.Field(alias="class")
    parameters: "_Parameters | None" = None


class _Parameters(pydantic.BaseModel):
    objective: _Stated | None = None  # of a metric that is one


class _KnownBy(pydantic.BaseModel):
    problem: str
    objectives: dict[str, str]
    algorithms: dict[str, str]
    metrics: dict[str, str]


class _Written(pydantic.BaseModel):
    title: str
    look: str
    yardstick: str


class _About(pydantic.BaseModel):
    algorithms: dict[str, _Written] = {}
    objectives: dict[str, str] = {}
    metrics: dict[str, str] = {}
    config: dict[str, Any] = {}
    added: dict[str, str] = {}


_KNOWN, _STATED = pydantic.TypeAdapter(dict[str, _KnownBy]), pydantic.TypeAdapter(dict[str, _Stated])


def _check_known(problems: Mapping[str, Numbers], stated: Plain, identities: Mapping[str, Plain], about: Plain) -> None:
    """Refuse identities of another form than `with_identities` writes, or without some that runs of the file need.

    Raises:
        ValueError: they are; a stranger may have written the file.
    """
    _STATED.validate_python(stated)
    told = _About.model_validate(about)
    for written in told.algorithms.values():
        read_look(written.look)
    for label, of in _KNOWN.validate_python(identities).items():
        known = problems[label].known
        pursued = {each for objectives in known.algorithms.values() for each in objectives} - {NO_OBJECTIVE}
        for kind, wanted in (
            ("algorithms", {*known.algorithms}),
            ("objectives", pursued),
            ("metrics", {*known.metrics}),
        ):
            if lacking := sorted(wanted - ({*getattr(of, kind)} & {*getattr(told, kind)})):
                raise ValueError(f"no identity or title for {kind} {', '.join(lacking)} of {label}")


def _runs(data: "xr.Dataset") -> int:
    """Count the runs: seeds of a branch of which any number is there."""
    labels = np.stack([data[f"row_{label}"].values.astype(str) for label in ("problem", "objective", "algorithm")])
    branches, branch = np.unique(labels, axis=1, return_inverse=True)
    there = np.zeros((branches.shape[1], data.sizes["seed"]), dtype=bool)
    np.logical_or.at(there, branch.ravel(), np.isfinite(data["number"].values))
    return int(there.sum())


_KNOWN_BY = ((IDENTITY, STATED), ("problem", IDENTITIES))


def with_identities(
    data: "xr.Dataset", stated: Mapping[str, Plain], identities: Mapping[str, Plain], about: Plain
) -> "xr.Dataset":
    """Return the data set of a file of reduced results with what `Reduced` has besides."""
    of_problems = [canonical_json(identities.get(label, {})) for label in data["problem"].values.astype(str).tolist()]
    parts = {
        IDENTITY: _told(IDENTITY, list(stated), "what is known by behaviour"),
        STATED: _told(IDENTITY, [*map(canonical_json, stated.values())], "what its identity is the hash of, JSON"),
        IDENTITIES: _told("problem", of_problems, "identities of the problem, and by label of what ran there, JSON"),
    }
    held = json.dumps(about, separators=(",", ":"), allow_nan=False)  # a sweep's labels follow the order of its axes
    return data.drop_vars(parts, errors="ignore").assign(parts).assign_attrs({ARCHIVED: held})


def _plain(data: "xr.Dataset", keys: str, values: str) -> dict[str, Plain]:
    texts: list[str] = data[values].values.astype(str).tolist()
    return dict(zip(data[keys].values.astype(str).tolist(), map(json.loads, texts), strict=True))


def numbers_in(path: Path, files: ExitStack) -> dict[str, Numbers]:
    """Return numbers by problem.

    Args:
        path: reduced results, a cube, or the folder of an experiment, `results/NAME`.
        files: cubes are open until these are closed.

    Raises:
        BocuError: there are none, or a file cannot be read.
    """
    found: dict[str, Numbers] = {}
    for file in cubes_in(path) if path.is_dir() else [path]:
        data = files.enter_context(open_netcdf(file, decode_times=False))
        if REDUCED in data.attrs:
            return dict(read_reduced(file).problems)
        if missing := [dim for dim in (*CUBE_DIMENSIONS, "iteration") if dim not in data.dims]:
            raise BocuError(f"{file}: no cube of a problem, and no reduced results: no dimension {', '.join(missing)}")
        with reading(file):
            refuse_other_schema(file, data.attrs)
            numbers = CubeNumbers(data)
        found[numbers.known.problem] = numbers
    return found


class ReducedNumbers(Numbers):
    """The numbers of a problem among reduced results."""

    def __init__(self, problem: str, about: Plain, table: "_Table") -> None:
        self._table, self._kept, self._words = table, list(about["kept"]), about.get("words")
        self.about = about
        self.data_label = str(about["data_label"])
        self.kept_rounds = {*self._kept, int(about["rounds"])}
        known = Known(problem, **{key: about[key] for key in ("algorithms", "metrics", "rounds", "priors")})
        super().__init__(known, about["variables"], about["swept"], about["finished"])

    def _column(self, word: str, place: Place) -> tuple[np.ndarray, np.ndarray]:
        stored = "final" if word in ("mean", "at") else word
        if self._words is not None and stored not in self._words:
            kept = ", ".join(self._words)
            raise BocuError(
                f"'{self.known.problem}' was reduced without '{word}', which the check asks for; kept: {kept}"
            )
        row = self._row(stored, place)
        if row < 0:
            return np.empty(0, dtype=int), np.empty(0)
        values = self._table.numbers[row]
        if word == "at" and place.round != self.known.rounds:
            if place.round not in self._kept:
                kept = ", ".join(map(str, [*self._kept, self.known.rounds]))
                raise BocuError(f"found round {place.round} of '{self.known.problem}'; kept in reduced results: {kept}")
            values = self._table.until[self._table.curve_of[row], self._kept.index(place.round)]
        return self._table.seeds, values / self.known.rounds if word == "mean" else values

    def _row(self, word: str, place: Place) -> int:
        metric = place.metric if word in _OF_A_METRIC else ""
        own = (word, self.known.problem, place.objective, place.algorithm, metric, place.prior)
        return self._table.rows.get(own, -1)

    def by_round(self, word: str, place: Place) -> np.ndarray:
        if (row := self._row(word, place)) not in self._table.series_of:
            raise BocuError(f"'{self.known.problem}' was reduced without its rounds, over which the check is judged")
        found: np.ndarray = self._table.by_round[self._table.series_of[row]][:, : self.known.rounds]
        return found[~np.isnan(found).any(axis=1)].astype(float)


class _Table:
    """The rows of all problems, in memory."""

    def __init__(self, data: "xr.Dataset") -> None:
        columns = [data[f"row_{label}"].values.astype(str).tolist() for label in _LABELS]
        self.rows = {place: row for row, place in enumerate(zip(*columns, strict=True))}
        self.numbers: np.ndarray = data["number"].values
        self.until: np.ndarray = data["regret_until"].values
        self.curve_of = {int(row): curve for curve, row in enumerate(data["curve_row"].values)}
        self.series_of: dict[int, int] = {}
        if "by_round" in data:
            self.series_of = {int(row): place for place, row in enumerate(data["series_row"].values)}
            self.by_round: np.ndarray = data["by_round"].values
        self.by_round_of = frozenset(columns[1][row] for row in self.series_of)
        self.seeds: np.ndarray = data["seed"].values
        self.about = dict(zip(*(data[key].values.astype(str).tolist() for key in ("problem", "about")), strict=True))


class _Reduction:
    """What is gathered of problems, one after another, and of the seeds of one in parts.

    Args:
        by_round: labels of problems of which every round is kept.
    """

    def __init__(self, by_round: Collection[str]) -> None:
        self.by_round = by_round
        self.about: dict[str, Plain] = {}
        self.samples: dict[tuple[str, ...], dict[int, float]] = {}  # by what stands before a row
        self.curves: dict[tuple[str, ...], list[dict[int, float]]] = {}
        self.series: dict[tuple[str, ...], dict[int, np.ndarray]] = {}
        self.provenance: list[Mapping[str, Sequence[str]]] = []
        self.shared: Plain = {}

    def add_cube(self, cube: "xr.Dataset", final: bool) -> None:
        numbers = CubeNumbers(cube)
        known = numbers.known
        shares = () if final else SHARES
        kept = sorted({max(1, round(share * known.rounds)) for share in shares} - {known.rounds})
        told = asdict(known)
        about = {key: told[key] for key in ("algorithms", "metrics", "rounds", "priors")}
        about |= {"swept": numbers.swept, "finished": numbers.finished, "variables": sorted(numbers.variables)}
        if final:
            dropped = {word.variable for word in WORDS.values()} - {WORDS[word].variable for word in FINAL}
            about |= {"words": list(FINAL), "variables": sorted(set(numbers.variables) - dropped)}
        about |= {"kept": kept, **{key: str(cube.attrs[key]) for key in _OF_THE_PROBLEM}}
        self.shared = {key: cube.attrs[key] for key in ("experiment", "schema_version")}
        self.provenance.append(collected(cube.attrs))
        self.add(numbers, json.loads(canonical_json(about)))

    def joined(self, before: Mapping[Path, Reduced], described: Plain) -> Plain:
        """Return the record of the experiment as if what the earlier files hold had been run with the rest.

        Raises:
            BocuError: one is of another experiment, or they leave a gap between their seeds and the others.
        """
        for file, part in before.items():
            if part.experiment != self.shared["experiment"]:
                raise BocuError(f"{file}: found {part.experiment}; wanted: {self.shared['experiment']}")
            self.provenance.append(part.provenance)
        seeds = {"first": self.seeds[0], "count": len(self.seeds)}
        if self.seeds[-1] - self.seeds[0] >= len(self.seeds):
            found = ", ".join(f"{part.seeds[0]} to {part.seeds[-1]}" for part in before.values())
            files = ", ".join(map(str, before))
            raise BocuError(f"{files}: found seeds {found}; wanted: no gap between them and the others")
        if not described or seeds.items() <= described["seeds"].items():
            return described
        made = described.get(MADE_FROM, {})
        made = {**made, "config": {**made.get("config", {}), "seeds": seeds}}
        return {**described, "seeds": {**described["seeds"], **seeds}, MADE_FROM: made}

    def add(self, numbers: Numbers, about: Plain, file: Path | None = None) -> None:
        """Add a problem, or further seeds of it, which `file` holds.

        Raises:
            BocuError: the problem is there with something else than seeds, or with one of these.
        """
        known = numbers.known
        there = self.about.get(known.problem, {**about, "finished": 0})
        other = sorted(key for key in {**there, **about} if key != "finished" and there.get(key) != about.get(key))
        if other:
            raise BocuError(f"{file}: '{known.problem}': found another {', '.join(other)} than the rest has")
        self.about[known.problem] = {**about, "finished": there["finished"] + about["finished"]}
        for word, place in _places(known):
            if word not in about.get("words", [word]):
                continue
            if WORDS[word].variable not in numbers.variables or not (sample := numbers.at(word, place)):
                continue
            row = (word, known.problem, place.objective, place.algorithm, place.metric, place.prior)
            column = self.samples.setdefault(row, {})
            if twice := sorted({*column} & {*sample}):
                raise BocuError(f"{file}: '{known.problem}': found seed {twice[0]}, which is there already")
            column |= sample
            if word == "final" and (kept := about["kept"]):
                curve = self.curves.setdefault(row, [{} for _ in kept])
                for until, round_ in zip(curve, kept, strict=True):
                    until |= numbers.at("at", replace(place, round=round_))
            if word in ("final", "payoff") and known.problem in self.by_round:
                rounds = numbers.by_round(word, place)
                self.series.setdefault(row, {}).update(zip(sample, rounds, strict=True))

    @property
    def seeds(self) -> list[int]:
        return sorted({seed for sample in self.samples.values() for seed in sample})

    def dataset(self, described: Plain) -> "xr.Dataset":
        import xarray as xr

        rows, seeds = {row: place for place, row in enumerate(self.samples)}, self.seeds
        longest = max((len(curve) for curve in self.curves.values()), default=0)
        until = np.full((len(self.curves), longest, len(seeds)), np.nan, dtype=np.float32)
        for place, curve in enumerate(self.curves.values()):
            until[place, : len(curve)] = [_spread(sample, seeds) for sample in curve]
        columns = {
            f"row_{label}": _told("row", [row[column] for row in rows], f"{label} of a row")
            for column, label in enumerate(_LABELS)
        }
        stated = {key: described[key] for key in described if key not in ("data", MADE_FROM)}
        about = [*map(canonical_json, self.about.values())]
        missing = sorted(set(described.get(_PLANNED, ())) - set(self.about))
        return xr.Dataset(
            {
                **columns,
                "number": (
                    ("row", "seed"),
                    np.array([_spread(sample, seeds) for sample in self.samples.values()]).reshape(-1, len(seeds)),
                    {"long_name": "what the word stands for; not a number: nothing", "units": "those of the word"},
                ),
                "curve_row": _told("curve", [rows[row] for row in self.curves], "row of the regret of all rounds"),
                "regret_until": (
                    ("curve", "kept", "seed"),
                    until,
                    {"long_name": "regret summed up to a kept round of the problem", "units": "payoff_units"},
                ),
                **self._series(rows, seeds),
                "about": _told("problem", about, "what is known of the problem, JSON"),
            },
            {"problem": _told("problem", list(self.about), "problem"), "seed": _told("seed", seeds, "seed")},
            {
                REDUCED: VERSION,
                **self.shared,
                **united(self.provenance),
                "title": str(described.get("title", "")),
                "experiment_sha256": sha256(canonical_json(stated).encode()).hexdigest() if stated else "",
                "settings": canonical_json(settings_of(described)),
                "trial": trial_of(described),
                **({_MISSING: canonical_json(missing)} if missing else {}),
            },
        )

    def _series(self, rows: Mapping[tuple[str, ...], int], seeds: Sequence[int]) -> dict[str, tuple[Any, ...]]:
        """Return every round of the problems whose claims are judged over rounds."""
        longest = max((len(rounds) for own in self.series.values() for rounds in own.values()), default=0)
        values = np.full((len(self.series), len(seeds), longest), np.nan, dtype=np.float32)
        for place, own in enumerate(self.series.values()):
            for seed, rounds in own.items():
                values[place, seeds.index(seed), : len(rounds)] = rounds
        told = {"long_name": "regret or payoff of each round from 1 on", "units": "payoff_units"}
        row = _told("series", [rows[row] for row in self.series], "row that is the sum of the rounds")
        return {"series_row": row, "by_round": (("series", "seed", "round"), values, told)} if self.series else {}


def _places(known: Known) -> Iterator[tuple[str, Place]]:
    for algorithm, objectives in sorted(known.algorithms.items()):  # as JSON of an earlier file has them
        for objective in objectives:
            run = functools.partial(Place, objective, algorithm)
            yield from ((word, run(metric)) for metric in known.metrics for word in _OF_A_METRIC)
            yield from ((word, run("")) for word in _OF_RUNS)
            yield from ((word, run("", prior)) for prior in known.priors or () for word in _OF_A_PRIOR)


def _spread(sample: Sample, seeds: Sequence[int]) -> list[float]:
    return [sample.get(seed, np.nan) for seed in seeds]


def _told(dim: str, values: Sequence[Any], long_name: str) -> tuple[str, np.ndarray, dict[str, str]]:
    return dim, np.asarray(values), {"long_name": long_name, "units": "1"}
