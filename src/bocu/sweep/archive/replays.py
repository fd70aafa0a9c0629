"""Reduced results played again: seeds that the file's own hash picks, of every branch, by the code of today."""

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bocu.core.errors import BocuError, shown
from bocu.core.io.files import write_text
from bocu.core.io.hashes import sha256
from bocu.core.io.provenance import machine
from bocu.core.plain import Plain
from bocu.sweep.archive.entries import refuse_places
from bocu.sweep.archive.identities import asked_of, identities_of
from bocu.sweep.evaluation.agreement import REGRETS, ROUNDING
from bocu.sweep.evaluation.claims.expressions import WORDS
from bocu.sweep.evaluation.claims.numbers import Numbers, Sample
from bocu.sweep.evaluation.claims.places import Place
from bocu.sweep.evaluation.claims.reduced import Reduced
from bocu.sweep.experiment.configuration import LABEL
from bocu.sweep.experiment.paths import in_clone
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.record import OF_SCALE
from bocu.sweep.opening import MadeFrom, merge, plan_of, sources_of

EQUAL, WITHIN, DIFFERS, ABSENT = "equal bits", "same to rounding", "differs", "only on one side"


@dataclass(frozen=True)
class Replayed:
    """What came of playing a branch again, under one metric."""

    run: str  #: problem, objective and algorithm, by labels, and the metric.
    #: `EQUAL`; `WITHIN` the share `ROUNDING` of the regret, as other packages add it up, which other decisions are not;
    #: `DIFFERS`; or `ABSENT`.
    verdict: str
    told: str = ""  #: where it differs first, and by how much.


@dataclass(frozen=True)
class Again:
    """How a file is played again."""

    path: Path  #: the file.
    found: Reduced  #: what it holds.
    experiment: str = ""  #: file that the user names in place of what the file holds or names; empty: none.
    mirror: str | None = None  #: folder to take data from.
    config: Sequence[str] = ()  #: settings, `key=value`.
    trust: bool = False  #: import and read also what the file names.

    def seeds(self, count: int) -> list[int]:
        """Return so many of its seeds, next to each other, from where its own hash says."""
        every = self.found.seeds
        count = min(count, len(every))
        first = int(sha256(self.path), 16) % (len(every) - count + 1)
        return list(every[first : first + count])

    def plan(self, seeds: Sequence[int], folder: Path) -> tuple[Plan, MadeFrom]:
        """Plan the experiment for some seeds.

        Raises:
            BocuError: whoever wrote the file names a place, or code that no package here offers.
        """
        name, settings = self.found.experiment, dict(self.found.settings)
        if not re.fullmatch(LABEL, name):
            raise BocuError(f"{self.path}: experiment: found {shown(name)}; allowed: the name of one")
        if beyond := sorted(set(settings) - set(OF_SCALE)):
            raise BocuError(f"{self.path}: settings: found {', '.join(beyond)}; allowed: {', '.join(OF_SCALE)}")
        mirror = self.mirror and str(Path(self.mirror).resolve())
        held: Plain = self.found.about.get("config", {})
        if held and not self.experiment:
            if not self.trust:
                refuse_places(held, self.path)
            file = folder / f"{name}.yaml"
            # In its order, which the labels of a sweep follow.
            write_text(file, json.dumps({"name": name, "seeds": 1, **held}))
            sources, settings = sources_of(file, mirror or None, self.config), {}
        else:
            sources = sources_of(self.experiment or name, mirror, self.config)
        counted = {"first": seeds[0], "count": len(seeds), "per_job": len(seeds)}
        merge(sources.settings, {**settings, "name": f"{name}-replay", "seeds": counted})
        record = "" if self.experiment else str(self.path)
        sources = sources._replace(files=[file.resolve() for file in sources.files], record=record)
        return plan_of(sources, self.trust), sources

    def play(self, seeds: Sequence[int], folder: Path, cores: str) -> tuple[Plan, Path]:
        """Play seeds of every branch below a folder, where nothing stands that was made before.

        Returns:
            The plan, and where its cubes are.

        Raises:
            BocuError: it failed.
        """
        plan, sources = self.plan(seeds, folder)
        cubes = [plan.paths.cube(label) for label in plan.problems if label in self.found.problems]
        if not cubes:
            raise BocuError(f"{self.path}: none of its problems is one of the experiment's")
        snakefile = str(in_clone("Snakefile").resolve())
        command = [sys.executable, "-P", "-m", "snakemake", *cubes, "--snakefile", snakefile, "--executor", "warm"]
        done = subprocess.run([*command, "--cores", cores, *sources.arguments], cwd=folder, check=False)
        if done.returncode:
            raise BocuError(f"{self.path}: its runs could not be played again, see above")
        return plan, folder / plan.results


def regrets_again(found: Reduced, played: Mapping[str, Numbers]) -> Iterator[Replayed]:
    """Compare what was played again with what a file says of the same seeds."""
    for problem, numbers in found.problems.items():
        known = numbers.known
        if problem not in played:
            yield Replayed(problem, ABSENT)
            continue
        again = played[problem]
        for algorithm in dict.fromkeys([*known.algorithms, *again.known.algorithms]):
            mine, theirs = (each.known.algorithms.get(algorithm, ()) for each in (numbers, again))
            for objective in dict.fromkeys([*mine, *theirs]):
                branch = f"{problem}/{objective}/{algorithm}"
                if objective not in mine or objective not in theirs:
                    yield Replayed(branch, ABSENT)
                    continue
                for metric in known.metrics:
                    yield from _of_metric(branch, (numbers, again), Place(objective, algorithm, metric))


def _of_metric(branch: str, sides: tuple[Numbers, Numbers], place: Place) -> Iterator[Replayed]:
    run, (numbers, again) = f"{branch} ({place.metric})", sides
    if place.metric not in again.known.metrics:
        yield Replayed(run, ABSENT)
        return
    rounds = again.known.rounds
    if numbers.known.rounds != rounds:
        if rounds not in numbers.kept_rounds:
            kept = ", ".join(map(str, sorted(numbers.kept_rounds)))
            yield Replayed(run, ABSENT, f"in round {rounds}, up to which it was played again; kept: {kept}")
        elif len(pairs := _until(sides, place, rounds)):
            yield Replayed(f"{run}, to round {rounds}", *_verdict(pairs, _first_round(sides, place)))
        return
    for word in REGRETS:
        if not all(WORDS[word].variable in side.variables for side in sides):
            continue
        pairs = _paired(numbers.at(word, place), again.at(word, place))
        if not len(pairs):
            continue
        yield Replayed(f"{run}, {word}", *_verdict(pairs, _first_round(sides, place) if word == "final" else ""))


def _verdict(pairs: np.ndarray, first: str) -> tuple[str, str]:
    gap = float(np.abs(pairs[:, 0] - pairs[:, 1]).max())
    if gap == 0:
        return EQUAL, ""
    return WITHIN if gap <= ROUNDING * np.abs(pairs).max() else DIFFERS, f"by {gap:.3g}{first}"


def _first_round(sides: tuple[Numbers, Numbers], place: Place) -> str:
    """Say by which of the kept rounds regret is another."""
    before = 0
    for round_ in sorted(sides[0].kept_rounds):
        if round_ > sides[1].known.rounds:
            break
        if np.ptp(_until(sides, place, round_), axis=1).any():
            return f", first between rounds {before + 1} and {round_}"
        before = round_
    return ""


def _until(sides: tuple[Numbers, Numbers], place: Place, round_: int) -> np.ndarray:
    """Return regret up to a round, as exactly as the file keeps it, shape (seeds, 2)."""
    until = replace(place, round=round_)
    pairs = _paired(*(side.at("at", until) for side in sides))
    return pairs if round_ == sides[0].known.rounds else pairs.astype(np.float32).astype(float)


def _paired(one: Sample, other: Sample) -> np.ndarray:
    return np.array([(one[seed], other[seed]) for seed in sorted(set(one) & set(other))]).reshape(-1, 2)


def changed_identities(found: Reduced, plan: Plan, folder: Path) -> Iterator[str]:
    """Say which identities of a file the code of today does not give.

    Args:
        found: what the file holds.
        plan: of the same experiment.
        folder: below which its data and priors were made.
    """
    with contextlib.chdir(folder):
        now = identities_of(asked_of(plan), found.problems)
    for problem, of in found.identities.items():
        for kind, label, was, is_ in _beside(of, now.problems.get(problem, {})):
            if was != is_:
                what = [
                    key
                    for key in {**found.stated.get(was, {}), **now.stated.get(is_, {})}
                    if found.stated.get(was, {}).get(key) != now.stated.get(is_, {}).get(key)
                ]
                yield f"{problem}: {kind} {label}: {was}; by the code at hand {is_} (other {', '.join(sorted(what))})"


def _beside(of: Plain, now: Plain) -> Iterator[tuple[str, str, str, str]]:
    yield "problem", "", of["problem"], now.get("problem", "none")
    for kind in ("objectives", "algorithms", "metrics"):
        for label, was in of[kind].items():
            yield kind.removesuffix("s"), f"'{label}'", was, now.get(kind, {}).get(label, "none")


def note(path: Path, seeds: Sequence[int], results: Sequence[Replayed], rounds: int | None) -> Plain:
    """Return what is noted of a file whose seeds came out alike, beside it.

    Args:
        path: the file.
        seeds: those that were played again.
        results: what came of them.
        rounds: up to which they were, where that is fewer than the file has.
    """
    counts = {verdict: sum(each.verdict == verdict for each in results) for verdict in (EQUAL, WITHIN)}
    by = {key: value for key, value in machine().items() if key in ("code_version", "commit", "kernel")}
    cut = {} if rounds is None else {"rounds": rounds}
    return {"sha256": sha256(path), "seeds": list(seeds), **cut, "regrets": counts, **by}
