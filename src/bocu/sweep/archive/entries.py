"""The archive: a folder of reduced files, what is in it, and whether another file fits in.

There is no index to be kept: it is made of the files. They are strangers' work, and name no code and no place.
"""

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.errors import BocuError, shown
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.io.hashes import sha256
from bocu.core.kernels import KERNELS
from bocu.core.plain import Plain
from bocu.core.written import counted
from bocu.sweep.evaluation.claims.numbers import Numbers
from bocu.sweep.evaluation.claims.places import Place
from bocu.sweep.evaluation.claims.reduced import Reduced, read_reduced, with_identities
from bocu.sweep.experiment.branches import NO_OBJECTIVE
from bocu.sweep.experiment.registry import find

if TYPE_CHECKING:
    from bocu.sweep.experiment.plan import Plan

FOLDER = Path("docs/results")  #: The archive of the clone.
OF_NUMBERS = ("iterations", "threads", "problems", "priors", "objectives", "algorithms", "metrics", "sweep")
"""Keys of an experiment that its numbers come from: with them a file can be played again."""
CHECKED = ".checked.json"
"""Suffix, in the place of `.nc`, of the note that seeds of a file were played again, and what came of it."""


@dataclass(frozen=True, eq=False)
class Run:
    """A branch of the archive: who it is, and where its numbers stand."""

    entry: "ArchivedFile"  #: the file.
    problem: str  #: label of its problem there.
    objective: str  #: label of what is pursued there, or `any`.
    algorithm: str  #: label of the method there.
    key: tuple[str, str, str]  #: identities of problem, objective (empty: none) and method.

    def __str__(self) -> str:
        return f"{self.problem}/{self.objective}/{self.algorithm}"

    @property
    def numbers(self) -> Numbers:
        """Of its problem."""
        return self.entry.reduced.problems[self.problem]

    @property
    def told(self) -> Plain:
        """Title, look and whether a yardstick."""
        return self.entry.reduced.about["algorithms"][self.algorithm]

    @cached_property
    def seeds(self) -> frozenset[int]:
        """Those that it was run for, by its payoffs, which every run has; else by its regret."""
        place = Place(self.objective, self.algorithm, self.numbers.known.metrics[0])
        found = self.numbers.at("payoff", place) if "payoff" in self.numbers.variables else {}
        return frozenset(found or self.numbers.at("final", place))


@dataclass(frozen=True, eq=False)
class ArchivedFile:
    """A file of the archive."""

    file: Path
    reduced: Reduced

    @cached_property
    def runs(self) -> list[Run]:
        """Its branches; none where the file has no identities."""
        found = []
        for problem, of in self.reduced.identities.items():
            for algorithm, objectives in self.reduced.problems[problem].known.algorithms.items():
                for objective in objectives:
                    pursued = "" if objective == NO_OBJECTIVE else of["objectives"][objective]
                    key = (of["problem"], pursued, of["algorithms"][algorithm])
                    found.append(Run(self, problem, objective, algorithm, key))
        return found

    @cached_property
    def checked(self) -> Plain:
        """What `bocu archive check --note` found of the file as it stands; empty: nothing."""
        try:
            found: Plain = json.loads(self.file.with_suffix(CHECKED).read_text(encoding="utf-8"))
            return found if found["sha256"] == sha256(self.file) else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    @property
    def added(self) -> str:
        """Who added it, how and when."""
        found = self.reduced.about.get("added") or {}
        return "; ".join(str(found[key]) for key in ("by", "how", "on") if found.get(key))


class Archive:
    """A folder of reduced files, read when they are asked for.

    Args:
        folder: where it is; that of the clone, if left out.

    Raises:
        BocuError: there is no such folder.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        if not folder.is_dir():
            raise BocuError(f"{folder}: no such folder; an archive is a folder of files such as NAME.nc")
        self.folder = folder

    @cached_property
    def entries(self) -> list[ArchivedFile]:
        """Its files, by name."""
        return [ArchivedFile(file, read_reduced(file)) for file in sorted(self.folder.glob("*.nc"))]

    @cached_property
    def by_problem(self) -> dict[str, list[Run]]:
        """Its branches by the identity of their problem."""
        found: dict[str, list[Run]] = {}
        for run in (run for entry in self.entries for run in entry.runs):
            found.setdefault(run.key[0], []).append(run)
        return found


def identify(
    file: Path,
    plan: "Plan",
    config: Mapping[str, Any],
    added: Mapping[str, str] | None = None,
    problems: Collection[str] | None = None,
    earlier: Sequence[Path] = (),
) -> None:
    """Write into reduced results what their branches are known by, and all that it takes to play them again.

    Args:
        file: made of the results of `plan`.
        plan: of the experiment, by which the code of today probes; its data are at hand.
        config: the experiment's files and settings, merged.
        added: who submits it and how; None: nobody does.
        problems: labels of those that are known by it; all of the file, if left out.
        earlier: reduced results that joined it, whose problems are known by it as they were.

    Raises:
        BocuError: those are of another experiment, or a label of theirs is known by something else now.
    """
    from bocu.sweep.archive.identities import asked_of, identities_of  # what lists an archive needs none of it

    data = read_netcdf(file, sealed=True)
    found = identities_of(asked_of(plan), problems or data["problem"].values.astype(str).tolist())
    about = told_of(plan)
    about["config"] = {key: config[key] for key in OF_NUMBERS if key in config}
    if plan.experiment.data.source in ("simulate", "shipped"):
        about["config"]["data"] = plan.experiment.data.source
    if added:
        about["added"] = {**added, "on": time.strftime("%Y-%m-%d", time.gmtime())}
    about = json.loads(json.dumps(about))  # labels may be numbers in YAML, and are text in JSON
    stated, identities = found.stated, found.problems
    for part in earlier:
        if not (before := read_reduced(part)).identities:
            continue
        mine, theirs = about["config"], before.about.get("config", {})
        if other := sorted(key for key in {*mine} | {*theirs} if mine.get(key) != theirs.get(key)):
            raise BocuError(f"{part}: found another {', '.join(other)} than the experiment has; wanted: the same")
        now, then = _known_by(identities), _known_by(before.identities)
        for kind, label in sorted(key for key in {*now} & {*then} if now[key] != then[key]):
            told = f"known by {then[kind, label]}; wanted: {now[kind, label]}, as now"
            raise BocuError(f"{part}: {kind} '{label}': {told}")
        stated, identities = {**before.stated, **stated}, {**before.identities, **identities}
    write_netcdf(with_identities(data, stated, identities, about), file)


def _known_by(identities: Mapping[str, Plain]) -> dict[tuple[str, str], str]:
    """Return what every label of a kind is known by; methods are by the same on every problem."""
    found = {("problem", label): str(of["problem"]) for label, of in identities.items()}
    for of in identities.values():
        for kind in ("objectives", "algorithms", "metrics"):
            found |= {(kind.removesuffix("s"), label): str(known) for label, known in of[kind].items()}
    return found


def told_of(plan: "Plan") -> Plain:
    """Return titles and looks of an experiment, by kind and label."""
    objectives, metrics = plan.titles
    return {"algorithms": plan.algorithm_abouts, "objectives": objectives, "metrics": metrics}


def refuse_places(config: object, path: Path) -> None:
    """Refuse an experiment that a stranger's file holds where it names a place to be read.

    Raises:
        BocuError: it does; classes by where they stand are refused by planning.
    """
    if isinstance(config, Mapping):
        config = [*config, *config.values()]
    if isinstance(config, list):
        for each in config:
            refuse_places(each, path)
    elif isinstance(config, str) and set(config) & set("/\\~") and config not in KERNELS:
        raise BocuError(f"{path}: config: found {shown(config)}, which may be a place; not read without --trust")


def faults(entry: ArchivedFile, archive: Archive) -> Iterator[str]:
    """Say why a file does not go into an archive, a line each, before anything is played.

    It has no identities or others than it states; it is of another revision than the code at hand; all of it is there
    already; a label stands there for another method on the same problem.
    """
    from bocu.sweep.archive.identities import identity_of

    reduced = entry.reduced
    if not reduced.identities:
        yield "no identities: made by an earlier version, or of results without a record; `bocu submit` writes them"
        return
    forged = [identity for identity, stated in reduced.stated.items() if identity_of(stated) != identity]
    missing = {part for run in entry.runs for part in run.key if part} - set(reduced.stated)
    for identity in [*forged, *sorted(missing)]:
        yield f"identity {identity}: not that of what the file states"
    for identity, stated in reduced.stated.items():
        yield from _revision(identity, stated)
    others = [other for other in archive.entries if other.file.resolve() != entry.file.resolve()]
    runs = [run for other in others for run in other.runs]
    known: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        known.setdefault(run.key, []).append(run)
    twice = [
        (run, other)
        for run in entry.runs
        for other in known.get(run.key, ())
        if run.seeds <= other.seeds and run.numbers.known.rounds <= other.numbers.known.rounds
    ]
    if entry.runs and {run for run, _ in twice} == set(entry.runs):
        files = ", ".join(dict.fromkeys(other.entry.file.name for _, other in twice))
        branches = counted(len(entry.runs), "branch")
        yield f"duplicate: all of its {branches} stand in {files}, of the same seeds and rounds"
    labels = {(run.key[0], run.algorithm): run for run in runs}
    for label, run in {(run.key[0], run.algorithm): run for run in entry.runs}.items():
        if (other := labels.get(label)) and other.key[2] != run.key[2]:
            yield (
                f"label '{run.algorithm}': on '{run.problem}' {other.entry.file.name} has another method under it, "
                f"{other.key[2]}, not {run.key[2]}; give it a label of its own"
            )


def _revision(identity: str, stated: Plain) -> Iterator[str]:
    if "revision" not in stated:
        return
    kind, _, name = str(stated["class"]).partition("/")
    try:
        now = find(kind, name).load().about.revision
    except BocuError:
        return  # whoever plays it again has to have it
    if now != stated["revision"]:
        yield f"identity {identity}: of revision {stated['revision']} of {stated['class']}; the code at hand has {now}"


def core_hours(run: Run) -> float:
    """Return the core hours that a branch took."""
    numbers = run.numbers
    if "seconds" not in numbers.variables:
        return float("nan")
    times = numbers.at("seconds", Place(run.objective, run.algorithm, ""))
    return float(np.sum(list(times.values())) * numbers.known.rounds / 3600)
