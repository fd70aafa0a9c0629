"""An initial design that is given, so that runs are paired with anyone's.

A CSV file with a row for each point: its `seed`, the coordinates `decision_1`, `decision_2`, ... of its decision and
`context_1`, ... of its context, as run files have them. A seed's rows are told in their order, and there are as many
for each seed. A run depends on the file's content, and not on where it lies.
"""

import csv
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.io.files import write_text
from bocu.core.parameters import Integer, Parameters
from bocu.core.rounds import Domain, FiniteDomain

#: How far a coordinate may lie from the grid point that it names: files often have six digits.
SAME = 1e-6

KINDS = ("decision", "context")

MOST_POINTS = 10_000  #: Decisions, or contexts, of a grid: models keep a matrix over all pairs of either.


class GivenDesign(Parameters):
    """An initial design that is read from a file."""

    file: str | None = Field(
        None,
        exclude=True,  # what counts is what it holds
        description="CSV file with the columns `seed`, `decision_1`, ..., `context_1`, ...: a row a point, as many for "
        "each seed; coordinates as run files have them, on a grid those of one of its points. `bocu design` writes one",
    )
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        None, description="SHA-256 of that file; found by itself, and checked where it is stated"
    )
    points: Annotated[Integer, Field(ge=1)] | None = Field(
        None, description="points for each seed; counted by itself, and checked where it is stated"
    )

    @pydantic.model_validator(mode="after")
    def _from_somewhere(self) -> Self:
        if self.file is None and (self.sha256 is None or self.points is None):
            raise ValueError("the key 'file' is required: a CSV file")
        return self

    def settled(self, seeds: Iterable[int]) -> "GivenDesign":
        """Return the design with hash and number of points, once it is known to hold some seeds.

        Raises:
            BocuError: the file cannot be read, lacks a seed, or is not what was stated.
        """
        assert self.file is not None
        design = read_design(self.file)
        for seed in seeds:
            design.of(seed)
        for key, found in (("sha256", design.sha256), ("points", design.points)):
            stated = getattr(self, key)
            if stated not in (None, found):
                raise BocuError(f"{self.file}: {key}: found {found}, stated is {stated}")
        return self.model_copy(update={"sha256": design.sha256, "points": design.points})


#: The key `initial` of a problem: how many points are drawn, or a design.
InitialDesign = Annotated[Integer, Field(ge=0, le=MOST_POINTS)] | GivenDesign


def points_in_design(initial: int | GivenDesign) -> int:
    """Return the number of points for each seed of the key `initial`; 0 for a design that is not settled yet."""
    return (initial.points or 0) if isinstance(initial, GivenDesign) else initial


@dataclass(frozen=True)
class Design:
    """What a file holds."""

    file: str  #: its path.
    sha256: str  #: hash of its content.
    points: int  #: number of points for each seed.
    rows: Mapping[int, tuple[np.ndarray, np.ndarray]]  #: by seed, decisions (points, Dx) and contexts (points, Dc).

    def of(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return decisions (points, Dx) and contexts (points, Dc) of a seed.

        Raises:
            BocuError: the file has none.
        """
        if seed not in self.rows:
            first, last = min(self.rows), max(self.rows)
            raise BocuError(f"{self.file}: no rows of seed {seed}; it has {len(self.rows)} seeds, {first} to {last}")
        return self.rows[seed]

    def members(self, seed: int, decisions: Domain, contexts: Domain | None) -> list[tuple[Any, Any]]:
        """Return a seed's points as members of the domains: indices of finite ones, coordinates in boxes.

        Args:
            seed: the seed.
            decisions: the decision space.
            contexts: the context space; None: all contexts of its dimension are members.

        Raises:
            BocuError: a point has another dimension than its space, or is no member of it.
        """
        chosen = self.of(seed)
        members = [
            [self._member(kind, domain, point, seed, place) for place, point in enumerate(points, 1)]
            for kind, domain, points in zip(KINDS, (decisions, contexts), chosen, strict=True)
        ]
        return list(zip(*members, strict=True))

    def _member(self, kind: str, domain: Domain | None, point: np.ndarray, seed: int, place: int) -> object:
        where = f"{self.file}: {kind} {place} of seed {seed}: found {point.tolist()}"
        if domain is None:  # the whole space
            return point
        if len(point) != domain.dimension:
            raise BocuError(f"{where}; allowed: {domain.dimension} coordinates, {kind}_1 to {kind}_{domain.dimension}")
        if isinstance(domain, FiniteDomain):
            distance = np.abs(domain.points - point).max(axis=1)
            nearest = int(distance.argmin())
            if distance[nearest] > SAME:
                raise BocuError(f"{where}; no point of the grid, whose nearest is {domain.points[nearest].tolist()}")
            return nearest
        if (point < domain.lower).any() or (point > domain.upper).any():
            raise BocuError(f"{where}; allowed: between {domain.lower.tolist()} and {domain.upper.tolist()}")
        return point


def read_design(path: str | Path) -> Design:
    """Read a design.

    Raises:
        BocuError: one line with file, row and column of what is wrong.
    """
    try:
        content = Path(path).read_bytes()
        lines = content.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise BocuError(f"{path}: an initial design could not be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BocuError(f"{path}: found no text in UTF-8; an initial design is a CSV file") from None
    table = list(csv.reader(lines))
    seed_at, decision_at, context_at = _columns(path, table[0] if table else [])
    rows: dict[int, list[list[float]]] = {}
    for line, cells in enumerate(table[1:], 2):
        if not cells:
            continue
        if len(cells) != len(table[0]):
            raise BocuError(f"{path}: line {line}: found {len(cells)} cells; allowed: {len(table[0])}, one a column")
        try:
            seed = int(cells[seed_at])
        except ValueError:
            raise BocuError(f"{path}: line {line}: seed: found '{cells[seed_at]}'; allowed: an integer") from None
        rows.setdefault(seed, []).append([_number(path, line, table[0], cells, k) for k in decision_at + context_at])
    if not rows:
        raise BocuError(f"{path}: found no rows; an initial design has one or more for each seed")
    first, points = next((seed, len(found)) for seed, found in rows.items())
    for seed, found in rows.items():
        if len(found) != points:
            raise BocuError(f"{path}: found {len(found)} rows of seed {seed}; allowed: {points}, as of seed {first}")
    width = len(decision_at)
    arrays = {seed: np.array(found) for seed, found in rows.items()}
    split = {seed: (found[:, :width], found[:, width:]) for seed, found in arrays.items()}
    return Design(str(path), hashlib.sha256(content).hexdigest(), points, split)


def write_design(path: str | Path, rows: Mapping[int, tuple[np.ndarray, np.ndarray]]) -> None:
    """Write a design, every digit of it.

    Args:
        path: of the file.
        rows: by seed, decisions (points, Dx) and contexts (points, Dc).
    """
    decisions, contexts = next(iter(rows.values()))
    names = [
        *(f"decision_{k + 1}" for k in range(decisions.shape[1])),
        *(f"context_{k + 1}" for k in range(contexts.shape[1])),
    ]
    lines = [",".join(["seed", *names])]
    for seed, both in rows.items():
        lines += [",".join([str(seed), *map(repr, row)]) for row in np.concatenate(both, axis=1).tolist()]
    write_text(path, "\n".join(lines) + "\n")


def _columns(path: str | Path, header: list[str]) -> tuple[int, list[int], list[int]]:
    """Find the places of seed, decision's and context's coordinates."""
    stripped = [name.strip() for name in header]
    counts = {kind: sum(re.fullmatch(rf"{kind}_\d+", name) is not None for name in stripped) for kind in KINDS}
    wanted = ["seed", *(f"{kind}_{k + 1}" for kind in KINDS for k in range(counts[kind]))]
    if sorted(stripped) != sorted(wanted) or not all(counts.values()):
        found = ", ".join(stripped) or "none"
        raise BocuError(f"{path}: found the columns {found}; allowed: seed, decision_1, ..., context_1, ..., by commas")
    place = {name: k for k, name in enumerate(stripped)}
    decisions, contexts = ([place[f"{kind}_{k + 1}"] for k in range(counts[kind])] for kind in KINDS)
    return place["seed"], decisions, contexts


def _number(path: str | Path, line: int, header: list[str], cells: list[str], column: int) -> float:
    try:
        value = float(cells[column])
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        name = header[column].strip()
        raise BocuError(f"{path}: line {line}: {name}: found '{cells[column]}'; allowed: a finite number")
    return value
