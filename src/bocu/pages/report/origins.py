"""Where the numbers come from: data sets behind a cube, and the code and machines that computed it."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bocu.core.io.provenance import ACCEPTED, collected
from bocu.core.numerics import KERNEL
from bocu.pages.figures.results import Digest

_SHOWN = ("title", "description", "licence", "citation", "homepage", "notes")
_SOURCES = {
    "simulate": "simulated stand-ins",
    "mirror": "from a local mirror",
    "shipped": "came with the project",
    "download": "downloaded from their own pages",
}
_LIKELIER = math.log(20.0)  # nats from which on another length-scale is told to be likelier
_SPOKEN_FOR = frozenset({*_SHOWN, "source", "dropped", "raw_sha256", "simulated", "data_label"})


def data_set(cube: Digest) -> dict[str, Any] | None:
    """Return what the page says of the data set of a cube; None where the problem is a formula.

    Title and source are texts, the homepage a link or empty; facts, reasons why something was left out, hashes of raw
    files, and what has no place of its own are pairs.
    """
    known: dict[str, Any] = cube.attribute("data_provenance")
    if not known:
        return None
    source = str(known.get("source", ""))
    facts = ("description", "licence", "citation", "notes")
    return {
        "title": str(known.get("title", known.get("dataset", "data set"))),
        "source": _SOURCES.get(source, source or "not stated"),
        "facts": [(key.capitalize(), str(known[key])) for key in facts if known.get(key)],
        "homepage": str(known.get("homepage", "")),
        "dropped": [(why.replace("_", " "), int(count)) for why, count in _nested(known.get("dropped")).items()],
        "hashes": [(file, str(digest)) for file, digest in _nested(known.get("raw_sha256")).items()],
        "further": [(key, str(value)) for key, value in sorted(known.items()) if key not in _SPOKEN_FOR],
    }


def kernel_words(cube: Digest) -> str:
    """Say which kernel algorithms with one model believe in, and what speaks for it; empty where none is told."""
    told: Mapping[str, Any] = _nested(cube.data.attrs.get("surrogate"))
    if not told:
        return ""
    scales = [f"{scale:.3g}" for scale in told["lengthscale"]]
    said = ", ".join(scales) if len(set(scales)) > 1 else f"{scales[0]} in every coordinate"
    half, own, twice = told["log_likelihood"]
    points = f"{told['points']} payoffs of a draw that no run meets and no budget counts"
    words = f"Algorithms with one model believe in a kernel that is {told['source']}: length-scale {said}. "
    words += f"Log likelihood on {points}: {own:.4g}; at half {half:.4g}, at twice {twice:.4g}."
    likelier = max(half, twice)
    if likelier - own > _LIKELIER:
        other = "half" if half == likelier else "twice"
        words += f" It may be wrong: {other} of it is likelier by a factor of e^{likelier - own:.3g}."
    return words


def _nested(value: object) -> Mapping[str, Any]:
    """Attributes of NetCDF files are flat: mappings are kept in them as JSON text."""
    found = json.loads(value) if isinstance(value, str) and value else value
    return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True)
class Trace:
    """One fact about how the cubes were computed."""

    heading: str  #: what it is.
    values: tuple[tuple[str, str], ...]  #: the values found, each with the problems it was found for.
    mixed: bool  #: whether runs that are compared differ in it.


def traces(cubes: Sequence[Digest]) -> list[Trace]:
    """Collect code version, commit, packages, kernel, CPU and numeric threads.

    More than one value makes it mixed; not commits, for the code that counts is part of what is out of date, nor CPUs
    that all computed by the one kernel.
    """
    told = {cube.problem: collected(cube.data.attrs) for cube in cubes}
    pinned = all(own["kernel"] == [KERNEL] for own in told.values())

    def of(key: str) -> dict[str, list[str]]:
        return {problem: own[key] for problem, own in told.items()}

    found = [
        _trace("bocu", of("code_version")),
        _trace("Commit", of("commit"), alike=True),
        _trace("Numerical kernel", of("kernel")),
        _trace("CPU", of("cpu"), alike=pinned),
        _trace("Numeric threads", {cube.problem: [str(cube.data.attrs["numeric_threads"])] for cube in cubes}),
    ]
    if any(ACCEPTED in own for own in told.values()):
        accepted = {problem: _accepted(own) for problem, own in told.items()}
        found.append(_trace("Accepted of other code", accepted, alike=True))
    versions = {problem: [json.loads(text) for text in own["package_versions"]] for problem, own in told.items()}
    for package in dict.fromkeys(package for several in versions.values() for one in several for package in one):
        own = {problem: [one.get(package, "not installed") for one in each] for problem, each in versions.items()}
        found.append(_trace(package, own))
    return found


def _accepted(told: Mapping[str, Sequence[str]]) -> list[str]:
    """Say what was played anew, for the runs of a problem to stand under code that did not make them."""
    replays = [json.loads(text) for text in told.get(ACCEPTED, [])]
    found = sorted({(one["rounds"], one["of"]) for one in replays})
    return [f"{rounds} of {of} rounds of a seed came out alike, bit for bit" for rounds, of in found]


def _trace(heading: str, by_problem: Mapping[str, Sequence[str]], alike: bool = False) -> Trace:
    where: dict[str, list[str]] = {}
    for problem, found in by_problem.items():
        for value in dict.fromkeys(found):
            where.setdefault(value, []).append(problem)
    values = tuple((value, ", ".join(problems)) for value, problems in where.items())
    return Trace(heading, values, mixed=len(values) > 1 and not alike)
