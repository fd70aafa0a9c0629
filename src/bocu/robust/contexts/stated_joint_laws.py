"""Stated laws whose coordinates differ or hang together: mixtures, data, their kernel density, histograms."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import READING, Count, NotNegative, Number, Parameters, Positive
from bocu.robust.contexts.estimates import silverman_bandwidth
from bocu.robust.contexts.joint_laws import HistogramLaw, KernelLaw, MixedLaw, SampleLaw
from bocu.robust.contexts.laws import ContextLaw, Histogram, JointLaw
from bocu.robust.contexts.stated_laws import Law, LawParameters

MOST_NUMBERS = 10_000
"""In the data of a law: they stand in every specification."""


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
        found: list[list[float]] = ((table - low) / (high - low)).tolist()
        return found

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
