"""Laws of contexts as an experiment file states them: a name with parameters.

Here are those of independent coordinates; the others are in `contexts.stated_joint_laws`. A law of one's own is a
class here in all but place; see `Law`.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import NoParameters, Number, Parameters, Positive
from bocu.core.plain import Plain
from bocu.robust.contexts.laws import BurrXII, ContextLaw, Gaussian, JointLaw, Marginal, Uniform, complicated
from bocu.robust.contexts.named import NamedParameters


class LawParameters(NamedParameters):
    """A law of contexts; a name alone is the law with its defaults."""

    kind: ClassVar[str] = "law"

    name: str = Field(description="the law (see `bocu list laws`), an entry point, `module:Class` or `file.py:Class`")
    parameters: Plain = Field(default_factory=dict, description="those that differ from the defaults")

    def over(self, dimension: int) -> JointLaw:
        """Return the law of contexts of so many coordinates.

        Raises:
            BocuError: it is defined for other numbers of coordinates.
        """
        law: JointLaw = self.made().over(dimension)
        if law.dimension != dimension:
            raise BocuError(f"law: '{self.name}' has {law.dimension} coordinates; contexts have {dimension}")
        return law

    def weights_on(self, points: np.ndarray) -> np.ndarray:
        """Return its weights `(contexts,)` at context points `(contexts, dimension)`.

        They are its density there, normalised; of a sample the shares of the contexts nearest to each.

        Raises:
            BocuError: it has no mass at any of them, or other numbers of coordinates.
        """
        try:
            return self.over(points.shape[1]).weights_on(points)
        except BocuError as error:
            said = str(error)
            raise BocuError(said if said.startswith("law: ") else f"law: '{self.name}': {said}") from None


class Law(ABC):
    """A family of context laws, one for each number of coordinates."""

    about: ClassVar[About]
    Parameters: ClassVar[type[Parameters]]

    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters

    @abstractmethod
    def over(self, dimension: int) -> JointLaw:
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
    """Its ends."""

    low: Number = Field(0.0, description="lower end of a coordinate, before clipping")
    high: Number = Field(1.0, description="upper end of a coordinate, before clipping")

    @pydantic.model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"'low' is {self.low:g} and 'high' {self.high:g}: high is to be above low")
        return self


class UniformLaw(IndependentLaw):
    """Uniform in every coordinate."""

    about = About(title="uniform", summary="uniform in every coordinate, on the unit cube or a part of it")
    Parameters = UniformLawParameters

    def marginal(self) -> Marginal:
        return Uniform(self.parameters.low, self.parameters.high)


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
    Parameters = NoParameters

    def marginal(self) -> Marginal:
        return complicated().marginals[0]
