"""Laws of contexts as an experiment file states them: a name with parameters.

A law of one's own is a class here in all but place; see `Law`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pydantic
from pydantic import Field

from bocu.contexts.laws import BurrXII, ContextLaw, Gaussian, Marginal, Uniform, complicated
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.loading import from_registry
from bocu.core.parameters import READING, Number, Parameters, Positive, Reading, validate


class LawParameters(Parameters):
    """A law of contexts; a name alone is the law with its defaults."""

    name: str = Field(description="the law (see `bocu list laws`), an entry point, `module:Class` or `file.py:Class`")
    parameters: dict[str, Any] = Field(default_factory=dict, description="those that differ from the defaults")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _of_the_law_named(cls, data: object, info: pydantic.ValidationInfo) -> object:
        given: object = {"name": data} if isinstance(data, str) else data
        if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
            return given
        stated = given.get("parameters") or {}
        if not isinstance(stated, Mapping):
            return given
        reading = (info.context or {}).get(READING)
        try:
            entry = from_registry("find")("law", given["name"], folder=reading.folder if reading else None)
            family = entry.load() if reading is None or reading.imports else entry.described()
            read = family.read_parameters if not isinstance(family, type) else _reader(family)
            parameters = read(stated, "parameters.", reading or Reading())
        except BocuError as error:
            raise ValueError(str(error)) from None
        return {**given, "name": entry.called, "parameters": parameters.model_dump(mode="json")}

    def over(self, dimension: int) -> ContextLaw:
        """Return the law of contexts of so many coordinates.

        Raises:
            BocuError: it is defined for other numbers of coordinates.
        """
        family = from_registry("find")("law", self.name).load()
        law: ContextLaw = family(family.Parameters.model_validate(self.parameters)).over(dimension)
        if law.dimension != dimension:
            raise BocuError(f"law: '{self.name}' has {law.dimension} coordinates; contexts have {dimension}")
        return law

    def weights_on(self, points: np.ndarray) -> np.ndarray:
        """Return its density at context points `(contexts, dimension)`, normalised to weights `(contexts,)`.

        Raises:
            BocuError: it is 0 at all of them.
        """
        density = self.over(points.shape[1]).density(points)
        if not density.sum() > 0.0:
            raise BocuError(f"law: the density of '{self.name}' is 0 at every context")
        return density / density.sum()


def _reader(family: Any) -> Any:
    return lambda stated, where, reading: validate(family.Parameters, stated, where, reading)


class Law(ABC):
    """A family of context laws, one for each number of coordinates."""

    about: ClassVar[About]
    Parameters: ClassVar[type[Parameters]]

    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters

    @abstractmethod
    def over(self, dimension: int) -> ContextLaw:
        """Return the law of contexts of so many coordinates.

        Raises:
            BocuError: it is defined for other numbers of coordinates.
        """


class IndependentLaw(Law):
    """Coordinates are independent and alike, clipped to [0, 1]."""

    @abstractmethod
    def marginal(self) -> Marginal:
        """Return the distribution of one coordinate."""

    def over(self, dimension: int) -> ContextLaw:
        return ContextLaw((self.marginal(),) * dimension)


class NormalLawParameters(Parameters):
    """Where it is, and how wide."""

    mean: Number = Field(0.5, description="mean of a coordinate, before clipping")
    std: Positive = Field(0.1, description="standard deviation of a coordinate, before clipping")


class NormalLaw(IndependentLaw):
    """Normal in every coordinate."""

    about = About(title="normal", summary="normal in every coordinate, clipped to [0, 1]")
    Parameters = NormalLawParameters

    def marginal(self) -> Marginal:
        return Gaussian(self.parameters.mean, self.parameters.std)


class UniformLawParameters(Parameters):
    """Nothing to set."""


class UniformLaw(IndependentLaw):
    """Uniform on the unit cube."""

    about = About(title="uniform", summary="uniform on the unit cube")
    Parameters = UniformLawParameters

    def marginal(self) -> Marginal:
        return Uniform()


class BurrLawParameters(Parameters):
    """Its two shapes."""

    a: Positive = Field(2.0, description="first shape")
    b: Positive = Field(20.0, description="second shape")


class BurrLaw(IndependentLaw):
    """Burr XII in every coordinate."""

    about = About(
        title="Burr XII", summary="Burr XII in every coordinate, clipped to [0, 1]", paper="Huang et al. 2024"
    )
    Parameters = BurrLawParameters

    def marginal(self) -> Marginal:
        return BurrXII(self.parameters.a, self.parameters.b)


class ComplicatedLaw(IndependentLaw):
    """The mixture of complicated Hartmann, in every coordinate."""

    about = About(
        title="complicated", summary="six normal and two Cauchy distributions, mixed", paper="Huang et al. 2024"
    )
    Parameters = UniformLawParameters

    def marginal(self) -> Marginal:
        return complicated().marginals[0]
