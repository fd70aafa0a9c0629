"""Distributions of contexts whose coordinates hang together: mixtures, samples, their kernel density, histograms.

A mixture is drawn from by one uniform number more than there are coordinates, which chooses the part; a sample and a
histogram by as many, coordinate after coordinate, each given those before it.
"""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import pydantic
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import READING, Count, NotNegative, Number, Parameters, Positive
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.contexts.estimates import kernel_density, log_kernel_sums, nearest_points, silverman_bandwidth
from bocu.robust.contexts.laws import BoxedLaw, ContextLaw, Histogram, JointLaw, Law, LawParameters, chosen


@dataclass(frozen=True)
class MixedLaw(BoxedLaw):
    """Mixture of distributions of contexts."""

    parts: tuple[JointLaw, ...]  #: those that are mixed, all of one number of coordinates and one box.
    shares: tuple[float, ...]  #: (parts,) weights that sum to 1.

    @property
    def dimension(self) -> int:
        return self.parts[0].dimension

    @property
    def uniforms(self) -> int:
        return self.dimension + 1

    @property
    def support(self) -> tuple[Floats, Floats] | None:
        found = [part.support for part in self.parts]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return None
        weights = [share * mass for share, (_, mass) in zip(self.shares, known, strict=True)]
        return np.concatenate([points for points, _ in known]), np.concatenate(weights)

    def unclipped(self) -> Self:
        return replace(super().unclipped(), parts=tuple(part.unclipped() for part in self.parts))

    def draw(self, uniforms: Floats) -> Floats:
        part, within = chosen(np.asarray(self.shares), uniforms[:, -1])
        drawn = np.empty((len(uniforms), self.dimension))
        for place, law in enumerate(self.parts):
            rows = part == place
            # A part that is a mixture itself is told how far into its share the number lies: that is uniform again.
            told = np.concatenate([uniforms[rows, :-1], within[rows, None]], axis=1)
            drawn[rows] = law.draw(told[:, : law.uniforms])
        return drawn

    def density(self, at: ArrayLike) -> Floats:
        return np.asarray(sum(s * part.density(at) for s, part in zip(self.shares, self.parts, strict=True)))

    def atoms(self) -> Floats:
        return np.asarray(sum(s * part.atoms() for s, part in zip(self.shares, self.parts, strict=True)))

    def breaks(self) -> list[tuple[float, ...]]:
        each = [part.breaks() for part in self.parts]
        return [tuple(sorted({b for breaks in each for b in breaks[axis]})) for axis in range(self.dimension)]

    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        masses = (s * part.node_masses(inside, widths) for s, part in zip(self.shares, self.parts, strict=True))
        return np.asarray(sum(masses))

    def weights_on(self, points: Floats) -> Floats:
        """Probabilities `(n,)` of contexts `(n, Dc)`: those of the parts, each normalised, mixed."""
        weights = (s * part.weights_on(points) for s, part in zip(self.shares, self.parts, strict=True) if s > 0.0)
        return np.asarray(sum(weights))


@dataclass(frozen=True)
class SampleLaw(BoxedLaw):
    """Finitely many contexts: the empirical distribution of a sample, or a weighted one."""

    contexts: Floats  #: (m, Dc).
    shares: Floats  #: (m,), sum to 1.

    @property
    def dimension(self) -> int:
        return self.contexts.shape[1]

    @property
    def support(self) -> tuple[Floats, Floats]:
        return np.clip(self.contexts, self.lower, self.upper), self.shares

    def draw(self, uniforms: Floats) -> Floats:
        """Contexts by the first number, in the order of their first coordinates, ties in that of the next."""
        order = np.lexsort(self.contexts.T[::-1])
        place, _ = chosen(self.shares[order], uniforms[:, 0])
        return self.contexts[order][place]

    def density(self, at: ArrayLike) -> Floats:
        raise BocuError("a sample has no density; take a kernel density (`kde`) or a histogram")

    def atoms(self) -> Floats:
        outside = np.stack([self.contexts < self.lower, self.contexts > self.upper], axis=-1)
        return np.einsum("m,mde->de", self.shares, outside)

    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        raise BocuError("quadrature: contexts of a sample are none of its nodes; take the rule `sobol`")

    def weights_on(self, points: Floats) -> Floats:
        """Probabilities `(n,)` of contexts `(n, Dc)`: the shares of those of the sample that are nearest to each."""
        nearest = nearest_points(np.clip(self.contexts, self.lower, self.upper), points)
        return np.asarray(np.bincount(nearest, weights=self.shares, minlength=len(points)), dtype=np.float64)


@dataclass(frozen=True)
class KernelLaw(BoxedLaw):
    """Gaussian kernels around the contexts of a sample, clipped to a box: what a kernel density estimate says."""

    contexts: Floats  #: (m, Dc).
    bandwidth: Floats  #: (Dc,) standard deviations of the kernels.

    @property
    def dimension(self) -> int:
        return self.contexts.shape[1]

    @property
    def uniforms(self) -> int:
        return self.dimension + 1

    def draw(self, uniforms: Floats) -> Floats:
        from scipy.special import ndtri  # slow to import, and planning needs none of it

        order = np.lexsort(self.contexts.T[::-1])
        place, _ = chosen(np.full(len(order), 1.0 / len(order)), uniforms[:, -1])
        return self.contexts[order][place] + self.bandwidth * np.asarray(ndtri(uniforms[:, :-1]))

    def density(self, at: ArrayLike) -> Floats:
        return kernel_density(self.contexts, self.bandwidth, np.asarray(at, dtype=np.float64))

    def atoms(self) -> Floats:
        from scipy.special import ndtr

        ends = np.array([self.lower, self.upper])
        below = np.asarray(ndtr((ends - self.contexts[..., None]) / self.bandwidth[:, None])).mean(axis=0)
        return np.stack([below[:, 0], 1.0 - below[:, 1]], axis=-1)

    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        shares = [self._axis(axis, at, width) for axis, (at, width) in enumerate(zip(inside, widths, strict=True))]
        weight = 1.0 / len(self.contexts)
        return weight * (shares[0].sum(axis=0) if len(shares) == 1 else shares[0].T @ shares[1])

    def _axis(self, axis: int, at: Floats, width: Floats) -> Floats:
        """Masses `(m, n + 2)` of every kernel in one coordinate: the lower end, nodes, the upper end."""
        from scipy.special import ndtr

        centre, scale = self.contexts[:, axis, None], self.bandwidth[axis]
        inside = np.exp(-0.5 * ((at - centre) / scale) ** 2) * width / (scale * math.sqrt(2.0 * math.pi))
        below, above = ndtr((self.lower - centre) / scale), ndtr((centre - self.upper) / scale)
        return np.concatenate([below, inside, above], axis=1)

    def weights_on(self, points: Floats) -> Floats:
        """Probabilities `(n,)` of contexts `(n, Dc)`: the density at them, normalised, however small it is."""
        logarithms = log_kernel_sums(self.contexts, self.bandwidth, points)
        weights = np.exp(logarithms - logarithms.max())
        return weights / weights.sum()


@dataclass(frozen=True)
class HistogramLaw(BoxedLaw):
    """Cells of a regular grid over the unit cube, each with its share, uniform within."""

    shares: Floats  #: one axis a coordinate, sum to 1.

    @property
    def dimension(self) -> int:
        return self.shares.ndim

    def draw(self, uniforms: Floats) -> Floats:
        """Contexts, coordinate after coordinate: each by its number, given the cells chosen before."""
        drawn = np.empty((len(uniforms), self.dimension))
        left = np.broadcast_to(self.shares, (len(uniforms), *self.shares.shape))
        for axis, count in enumerate(self.shares.shape):
            cumulative = np.cumsum(left.reshape(len(left), count, -1).sum(axis=2), axis=1)
            wanted = np.minimum(uniforms[:, axis] * cumulative[:, -1], np.nextafter(cumulative[:, -1], 0.0))
            cell = np.minimum((cumulative <= wanted[:, None]).sum(axis=1), count - 1)
            rows = np.arange(len(left))
            upto = cumulative[rows, cell]
            since = np.where(cell > 0, cumulative[rows, cell - 1], 0.0)
            drawn[:, axis] = (cell + np.clip((wanted - since) / (upto - since), 0.0, 1.0)) / count
            left = left[rows, cell]
        return drawn

    def density(self, at: ArrayLike) -> Floats:
        points = np.asarray(at, dtype=np.float64)
        counts = np.array(self.shares.shape)
        inside = np.asarray(((points >= 0.0) & (points <= 1.0)).all(axis=1))
        cells = np.clip((np.where(inside[:, None], points, 0.0) * counts).astype(int), 0, counts - 1)
        return np.where(inside, self.shares[tuple(cells.T)] * self.shares.size, 0.0)

    def atoms(self) -> Floats:
        return np.zeros((self.dimension, 2))

    def breaks(self) -> list[tuple[float, ...]]:
        return [tuple(np.linspace(0.0, 1.0, count + 1).tolist()) for count in self.shares.shape]

    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        nodes = np.stack([axis.ravel() for axis in np.meshgrid(*inside, indexing="ij")], axis=-1)
        within = self.density(nodes).reshape([len(axis) for axis in inside]) * functools.reduce(
            np.multiply.outer, widths
        )
        return np.pad(within, 1)


MOST_NUMBERS = 10_000  #: In the data of a law: they stand in every specification.


class MixturePart(Parameters):
    """A law that is mixed."""

    law: LawParameters = Field(description="the law: `{name, parameters}`, or a name alone")
    weight: NotNegative = Field(1.0, description="its weight; weights are normalised")


class MixtureLawParameters(Parameters):
    """What is mixed."""

    of: list[MixturePart] = Field(min_length=1, description="the parts, each `{law, weight}`")

    @pydantic.model_validator(mode="after")
    def _with_mass(self) -> Self:
        if not sum(part.weight for part in self.of) > 0.0:
            raise ValueError("all weights are 0; one or more above 0 are wanted")
        return self


class MixtureLaw(Law):
    """One of several laws, drawn anew for every context."""

    about = About(title="mixture", summary="several laws, one of them drawn for every context")
    Parameters = MixtureLawParameters

    def over(self, dimension: int) -> JointLaw:
        weights = np.array([part.weight for part in self.parameters.of])
        parts = tuple(part.law.over(dimension) for part in self.parameters.of)
        return MixedLaw(parts, tuple((weights / weights.sum()).tolist()))


class CoordinatesLawParameters(Parameters):
    """One law a coordinate."""

    of: list[LawParameters] = Field(min_length=1, description="the laws, one a coordinate of the context")


class CoordinatesLaw(Law):
    """Independent coordinates, each with a law of its own."""

    about = About(title="coordinates", summary="independent coordinates, each with a law of its own")
    Parameters = CoordinatesLawParameters

    def over(self, dimension: int) -> JointLaw:
        if len(self.parameters.of) != dimension:
            raise BocuError(f"law: found {len(self.parameters.of)} coordinates; contexts have {dimension}")
        marginals = []
        for stated in self.parameters.of:
            law = stated.over(1)
            if not isinstance(law, ContextLaw):
                raise BocuError(
                    f"law: '{stated.name}' cannot be one of several coordinates: mix or sample them jointly"
                )
            marginals.append(law.marginals[0])
        return ContextLaw(tuple(marginals))


class DataFile(Parameters):
    """Rows of a CSV file, read when the experiment is planned: they then stand in it."""

    file: str = Field(description="CSV file with a line of headings; the path is relative to the experiment file")
    columns: list[str] | None = Field(None, description="headings of the coordinates, in order; null: all columns")
    first: Count = Field(1, description="the first row that counts, from 1 on")
    last: Count | None = Field(None, description="the last row that counts; null: that of the file")
    lower: list[Number] | None = Field(None, description="what becomes 0, one number a column; null: as it stands")
    upper: list[Number] | None = Field(None, description="what becomes 1, one number a column; null: as it stands")

    _rows: list[list[float]] = pydantic.PrivateAttr([])

    @pydantic.model_validator(mode="after")
    def _read(self, info: pydantic.ValidationInfo) -> Self:
        reading = (info.context or {}).get(READING)
        try:
            self._rows = self._read_from((reading and reading.folder) or Path())
        except BocuError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def rows(self) -> list[list[float]]:
        """The rows that count, one list a context."""
        return self._rows

    def _read_from(self, folder: Path) -> list[list[float]]:
        path = folder / self.file
        try:
            with path.open(newline="", encoding="utf-8") as stream:
                headings, *lines = [line for line in csv.reader(stream) if line] or [[]]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise BocuError(f"{path}: no table of contexts ({error})") from None
        wanted = self.columns or headings
        if missing := [name for name in wanted if name not in headings]:
            raise BocuError(f"{path}: no column '{missing[0]}'; it has {', '.join(headings) or 'none'}")
        places = [headings.index(name) for name in wanted]
        chosen = lines[self.first - 1 : self.last]
        if not chosen:
            last = "the last" if self.last is None else self.last
            raise BocuError(f"{path}: no rows from {self.first} to {last}; it has {len(lines)}")
        try:
            table = np.array([[float(line[place]) for place in places] for line in chosen])
            if not np.isfinite(table).all():
                raise ValueError
        except (ValueError, IndexError):
            raise BocuError(
                f"{path}: a number is missing in rows {self.first} to {self.first + len(chosen) - 1}"
            ) from None
        low = self._ends("lower", self.lower, 0.0, len(places))
        high = self._ends("upper", self.upper, 1.0, len(places))
        if not (high > low).all():
            raise BocuError(f"upper: found {high.tolist()}; numbers above {low.tolist()} are wanted")
        return ((table - low) / (high - low)).tolist()

    @staticmethod
    def _ends(key: str, stated: list[float] | None, otherwise: float, columns: int) -> np.ndarray:
        ends = np.full(columns, otherwise) if stated is None else np.array(stated)
        if len(ends) != columns:
            raise BocuError(f"{key}: found {len(ends)} numbers; {columns} wanted, one a column")
        return ends


class DataParameters(Parameters):
    """Contexts that were observed."""

    data: list[Number] | list[list[Number]] | DataFile = Field(
        description="the contexts, scaled to [0, 1]: numbers, or rows of one number a coordinate, or `{file, columns, "
        f"first, last, lower, upper}}`; up to {MOST_NUMBERS} numbers"
    )

    @pydantic.field_validator("data", mode="after")
    @classmethod
    def _as_rows(cls, value: Sequence[float] | Sequence[Sequence[float]] | DataFile) -> object:
        rows = value.rows if isinstance(value, DataFile) else value
        return [list(row) if isinstance(row, Sequence) else [row] for row in rows]

    @pydantic.model_validator(mode="after")
    def _a_table(self) -> Self:
        rows: Any = self.data
        numbers = sum(map(len, rows))
        if not numbers or len({len(row) for row in rows}) > 1:
            raise ValueError(f"{len(rows)} rows of {numbers} numbers; one row or more, all of one length, are wanted")
        if numbers > MOST_NUMBERS:
            raise ValueError(f"{numbers} numbers; up to {MOST_NUMBERS} are allowed")
        return self

    def contexts(self, dimension: int) -> np.ndarray:
        """Return the contexts (rows, dimension).

        Raises:
            BocuError: they have other numbers of coordinates.
        """
        found = np.array(self.data, dtype=np.float64)
        if found.shape[1] != dimension:
            raise BocuError(f"law: the data have {found.shape[1]} columns; contexts have {dimension} coordinates")
        return found


class EmpiricalLaw(Law):
    """The empirical distribution of data."""

    about = About(title="empirical", summary="the contexts of a table, all equally likely")
    Parameters = DataParameters

    def over(self, dimension: int) -> JointLaw:
        contexts = self.parameters.contexts(dimension)
        return SampleLaw(contexts, np.full(len(contexts), 1.0 / len(contexts)))


class KernelLawParameters(DataParameters):
    """Data, and how far they are smeared."""

    bandwidth: Literal["silverman"] | Positive | list[Positive] = Field(
        "silverman",
        description="standard deviation of the Gaussian kernels: a number, one a coordinate, or by Silverman's rule",
    )


class KernelDensityLaw(Law):
    """The kernel density of data."""

    about = About(title="kernel density", summary="Gaussian kernels around the contexts of a table, clipped to [0, 1]")
    Parameters = KernelLawParameters

    def over(self, dimension: int) -> JointLaw:
        contexts, stated = self.parameters.contexts(dimension), self.parameters.bandwidth
        if stated == "silverman":
            return KernelLaw(contexts, silverman_bandwidth(contexts))
        if isinstance(stated, list) and len(stated) != dimension:
            raise BocuError(f"law: bandwidth: found {len(stated)} numbers; contexts have {dimension} coordinates")
        return KernelLaw(contexts, np.broadcast_to(np.asarray(stated, dtype=np.float64), (dimension,)))


class HistogramLawParameters(Parameters):
    """Weights of cells."""

    weights: Annotated[list[NotNegative], Field(min_length=1, max_length=MOST_NUMBERS)] = Field(
        description="weights of cells of equal size over [0, 1], which are normalised; all coordinates are alike and "
        "independent, unless `cells` are given"
    )
    cells: list[Count] | None = Field(
        None,
        description="numbers of cells a coordinate of a joint histogram, whose weights stand in one list, those of the "
        "last coordinate next to each other; null: the weights are those of a single coordinate",
    )

    @pydantic.model_validator(mode="after")
    def _with_mass(self) -> Self:
        if not sum(self.weights) > 0.0:
            raise ValueError("all weights are 0; one or more above 0 are wanted")
        if self.cells is not None and math.prod(self.cells) != len(self.weights):
            raise ValueError(f"{len(self.weights)} weights for {math.prod(self.cells)} cells; as many are wanted")
        return self


class HistogramStatedLaw(Law):
    """Cells with weights."""

    about = About(title="histogram", summary="cells of equal size with weights, uniform within, by coordinate or joint")
    Parameters = HistogramLawParameters

    def over(self, dimension: int) -> JointLaw:
        shares = np.array(self.parameters.weights) / sum(self.parameters.weights)
        if self.parameters.cells is None:
            return ContextLaw((Histogram(tuple(shares.tolist())),) * dimension)
        if len(self.parameters.cells) != dimension:
            raise BocuError(
                f"law: cells: found {len(self.parameters.cells)} numbers; contexts have {dimension} coordinates"
            )
        return HistogramLaw(shares.reshape(self.parameters.cells))
