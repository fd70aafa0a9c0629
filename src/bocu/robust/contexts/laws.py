"""Distributions that continuous contexts are drawn from, clipped to a box: those of independent coordinates.

Source: Huang et al. (2024), appendix B.2. Draws and quasi-random points are made by inversion: one uniform number is
one coordinate, so that the same numbers make comparable contexts under every law; mixtures take one more, which chooses
the part. Clipping leaves an atom at either end of the box; densities and quantiles of a `Marginal` are those before
clipping. Others than independent coordinates: `bocu.robust.contexts.joint_laws`.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pydantic
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.loading import from_registry
from bocu.core.parameters import READING, NoParameters, Number, Parameters, Positive, Reading, validate
from bocu.core.plain import Plain
from bocu.core.randomness import scrambled_sobol
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.checks import Floats


class NamedParameters(Parameters):
    """A name with parameters; a name alone is what is named with its defaults."""

    #: What is named, a key of the registry.
    kind: ClassVar[str]

    name: str = Field(description="a registered name, an entry point, `module:Class` or `file.py:Class`")
    parameters: Plain = Field(default_factory=dict, description="those that differ from the defaults")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _of_what_is_named(cls, data: object, info: pydantic.ValidationInfo) -> object:
        given: object = {"name": data} if isinstance(data, str) else data
        if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
            return given
        stated = given.get("parameters") or {}
        if not isinstance(stated, Mapping):
            return given
        reading = (info.context or {}).get(READING)
        try:
            entry = from_registry("find")(cls.kind, given["name"], folder=reading.folder if reading else None)
            parameters = validate(entry.load().Parameters, stated, "parameters.", reading or Reading())
        except BocuError as error:
            raise ValueError(str(error)) from None
        return {**given, "name": entry.called, "parameters": parameters.model_dump(mode="json")}

    def made(self) -> Any:
        """Return what is named, with its parameters."""
        family = from_registry("find")(self.kind, self.name).load()
        return family(family.Parameters.model_validate(self.parameters))


def named_in(data: object) -> Iterator[str]:
    """Return every name that plain data state with parameters, however deep."""
    if isinstance(data, Mapping):
        if isinstance(data.get("name"), str) and isinstance(data.get("parameters"), Mapping):
            yield data["name"]
        for value in data.values():
            yield from named_in(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from named_in(value)


# Uniform numbers are kept this far from 0 and 1, where quantiles of unbounded distributions are infinite.
_SMALLEST = 2.0**-53


class Marginal(ABC):
    """The distribution of one coordinate on the line; all methods work elementwise on arrays."""

    @abstractmethod
    def density(self, at: Floats) -> Floats:
        """Density."""

    @abstractmethod
    def cumulative(self, at: Floats) -> Floats:
        """Distribution function."""

    @abstractmethod
    def quantile(self, uniforms: Floats) -> Floats:
        """Inverse of the distribution function, at numbers in (0, 1)."""

    @property
    def breaks(self) -> tuple[float, ...]:
        """Where the density jumps, ascending: quadrature puts no panel across."""
        return ()


@dataclass(frozen=True)
class Gaussian(Marginal):
    """Normal distribution."""

    mean: float
    std: float

    def density(self, at: Floats) -> Floats:
        return np.exp(-0.5 * ((at - self.mean) / self.std) ** 2) / (self.std * math.sqrt(2 * math.pi))

    def cumulative(self, at: Floats) -> Floats:
        from scipy.special import ndtr  # slow to import, and planning needs none of it

        return np.asarray(ndtr((at - self.mean) / self.std))

    def quantile(self, uniforms: Floats) -> Floats:
        from scipy.special import ndtri

        return self.mean + self.std * np.asarray(ndtri(uniforms))


@dataclass(frozen=True)
class Cauchy(Marginal):
    """Cauchy distribution, by location and half-width at half-maximum."""

    location: float
    scale: float

    def density(self, at: Floats) -> Floats:
        return 1.0 / (math.pi * self.scale * (1.0 + ((at - self.location) / self.scale) ** 2))

    def cumulative(self, at: Floats) -> Floats:
        return np.arctan2(self.scale, self.location - at) / math.pi

    def quantile(self, uniforms: Floats) -> Floats:
        # Written with the nearer end, so that the far tails keep their digits.
        tail = np.minimum(uniforms, 1.0 - uniforms)
        return self.location + np.sign(uniforms - 0.5) * self.scale / np.tan(math.pi * tail)


@dataclass(frozen=True)
class BurrXII(Marginal):
    """Burr XII distribution with density `a b c^(a-1) / (1 + c^a)^(b+1)` on c > 0."""

    a: float
    b: float

    def density(self, at: Floats) -> Floats:
        c = np.maximum(at, 0.0)
        return np.where(at > 0.0, self.a * self.b * c ** (self.a - 1.0) / (1.0 + c**self.a) ** (self.b + 1.0), 0.0)

    def cumulative(self, at: Floats) -> Floats:
        return -np.expm1(-self.b * np.log1p(np.maximum(at, 0.0) ** self.a))

    def quantile(self, uniforms: Floats) -> Floats:
        return np.expm1(-np.log1p(-uniforms) / self.b) ** (1.0 / self.a)


@dataclass(frozen=True)
class Uniform(Marginal):
    """Uniform distribution between `low` and `high`."""

    low: float = 0.0
    high: float = 1.0

    def density(self, at: Floats) -> Floats:
        return np.where((at >= self.low) & (at <= self.high), 1.0 / (self.high - self.low), 0.0)

    def cumulative(self, at: Floats) -> Floats:
        return np.clip((at - self.low) / (self.high - self.low), 0.0, 1.0)

    def quantile(self, uniforms: Floats) -> Floats:
        return self.low + (self.high - self.low) * uniforms

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.low, self.high


@dataclass(frozen=True)
class Histogram(Marginal):
    """Cells of equal width on [0, 1], each with its share, uniform within; shares sum to 1."""

    shares: tuple[float, ...]

    def density(self, at: Floats) -> Floats:
        inside = (at >= 0.0) & (at <= 1.0)
        cell = np.clip((np.where(inside, at, 0.0) * len(self.shares)).astype(int), 0, len(self.shares) - 1)
        return np.where(inside, np.asarray(self.shares)[cell] * len(self.shares), 0.0)

    def cumulative(self, at: Floats) -> Floats:
        edges = np.linspace(0.0, 1.0, len(self.shares) + 1)
        return np.interp(at, edges, np.concatenate([[0.0], np.cumsum(self.shares)]))

    def quantile(self, uniforms: Floats) -> Floats:
        shares = np.asarray(self.shares)
        cell, within = chosen(shares, uniforms)
        return (cell + within) / len(shares)

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(np.linspace(0.0, 1.0, len(self.shares) + 1).tolist())


def chosen(shares: Floats, uniforms: Floats) -> tuple[np.ndarray, Floats]:
    """Choose places by inversion.

    Args:
        shares: (n,), 0 or more, with a positive sum.
        uniforms: numbers in [0, 1], of any shape.

    Returns:
        Places of positive share, of that shape, and how far into the share each number lies, which is uniform again.
    """
    cumulative = np.cumsum(shares)
    wanted = np.asarray(uniforms) * cumulative[-1]
    place = np.minimum(np.searchsorted(cumulative, wanted, side="right"), np.flatnonzero(shares)[-1])
    within = (wanted - (cumulative[place] - shares[place])) / shares[place]
    return place, np.clip(within, 0.0, 1.0)


@dataclass(frozen=True)
class Mixture(Marginal):
    """Mixture of distributions, with equal weights."""

    parts: tuple[Marginal, ...]

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(sorted({place for part in self.parts for place in part.breaks}))

    def density(self, at: Floats) -> Floats:
        return np.asarray(sum(part.density(at) for part in self.parts) / len(self.parts))

    def cumulative(self, at: Floats) -> Floats:
        return np.asarray(sum(part.cumulative(at) for part in self.parts) / len(self.parts))

    def quantile(self, uniforms: Floats) -> Floats:
        """Newton's method on the distribution function, bisecting wherever it leaves the bracket."""
        u = np.asarray(uniforms, dtype=np.float64)
        each = [part.quantile(u).ravel() for part in self.parts]
        wanted = u.ravel()
        low, high = np.minimum.reduce(each), np.maximum.reduce(each)  # a mixture's quantile lies among its parts'
        found = 0.5 * (low + high)
        left = np.arange(len(wanted))
        for _ in range(_ITERATIONS):
            at = found[left]
            excess = self.cumulative(at) - wanted[left]
            high[left] = np.where(excess >= 0.0, at, high[left])
            low[left] = np.where(excess <= 0.0, at, low[left])
            with np.errstate(divide="ignore", invalid="ignore"):
                step = at - excess / self.density(at)
            inside = (step > low[left]) & (step < high[left])
            found[left] = np.where(inside, step, 0.5 * (low[left] + high[left]))
            left = left[np.abs(found[left] - at) > _TOLERANCE * (1.0 + np.abs(at))]
            if not len(left):
                break
        return found.reshape(u.shape)


_ITERATIONS = 200
_TOLERANCE = 4e-16


class JointLaw(ABC):
    """Distribution of a context, clipped to a box whose ends are the same in every coordinate."""

    lower: float  #: the lower end; infinite ones do not clip.
    upper: float  #: likewise.

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of coordinates, Dc."""

    @property
    def uniforms(self) -> int:
        """Number of uniform numbers that a context is made of: Dc, and one more where a part is chosen first."""
        return self.dimension

    @property
    def support(self) -> tuple[Floats, Floats] | None:
        """Contexts `(m, Dc)` and their probabilities `(m,)` where there are finitely many, or None."""
        return None

    @abstractmethod
    def unclipped(self) -> JointLaw:
        """The same distribution on the whole space."""

    @abstractmethod
    def draw(self, uniforms: Floats) -> Floats:
        """Contexts `(n, Dc)`, before clipping, for numbers `(n, uniforms)` in (0, 1)."""

    @abstractmethod
    def density(self, at: ArrayLike) -> Floats:
        """Density `(n,)` at contexts `(n, Dc)`, before clipping.

        Raises:
            BocuError: it has none.
        """

    @abstractmethod
    def atoms(self) -> Floats:
        """Probability `(Dc, 2)` of being clipped to the lower and to the upper end, coordinate by coordinate."""

    @abstractmethod
    def breaks(self) -> list[tuple[float, ...]]:
        """For every coordinate where the density jumps, ascending."""

    @abstractmethod
    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        """Weights of a product rule, one axis a coordinate: the lower end, nodes inside, the upper end.

        Args:
            inside: for every coordinate the nodes within the box, (n,).
            widths: for every coordinate what the rule multiplies densities at them by, (n,).
        """

    def transform(self, uniforms: ArrayLike) -> Floats:
        """Contexts `(..., Dc)` for numbers `(..., uniforms)` in [0, 1], by inversion.

        Raises:
            BocuError: where the last axis has another length.
        """
        u = checks.floats("uniforms", uniforms)
        if u.shape[-1:] != (self.uniforms,):
            raise BocuError(f"uniforms has shape {u.shape}: its last axis must have length {self.uniforms}")
        u = np.clip(u, _SMALLEST, 1.0 - _SMALLEST)
        drawn = self.draw(u.reshape(-1, self.uniforms)).reshape(*u.shape[:-1], self.dimension)
        return np.clip(drawn, self.lower, self.upper)

    def sample(self, generator: np.random.Generator, size: int) -> Floats:
        """Independent draws `(size, Dc)`.

        The generator gives Dc numbers a context whatever the law, so that later contexts meet the same numbers under
        every law. The one that chooses a part comes from a copy of it, far ahead.
        """
        ahead = self.uniforms - self.dimension
        choosing = np.random.Generator(generator.bit_generator.jumped()).random((size, ahead)) if ahead else None  # type: ignore[attr-defined]
        uniforms = generator.random((size, self.dimension))
        return self.transform(uniforms if choosing is None else np.concatenate([uniforms, choosing], axis=1))

    def points(self, size: int, generator: np.random.Generator) -> Floats:
        """Quasi-random contexts `(size, Dc)` of equal weight: a Sobol sequence that the generator scrambles.

        Raises:
            BocuError: `size` is no power of 2.
        """
        if size < 1 or size.bit_count() != 1:
            raise BocuError(f"points: found {size}; allowed: a power of 2, for which a Sobol sequence is balanced")
        return self.transform(scrambled_sobol(np.zeros(self.uniforms), np.ones(self.uniforms), size, generator))

    def weights_on(self, points: Floats) -> Floats:
        """Probabilities `(n,)` of contexts `(n, Dc)`: the density at them, normalised.

        Raises:
            BocuError: there is none at any of them.
        """
        density = self.density(points)
        if not density.sum() > 0.0:
            raise BocuError("its density is 0 at every context")
        return density / density.sum()


@dataclass(frozen=True)
class BoxedLaw(JointLaw):
    """A law as data; left out, its box is the unit cube."""

    lower: float = field(default=0.0, kw_only=True)
    upper: float = field(default=1.0, kw_only=True)

    def unclipped(self) -> Self:
        return replace(self, lower=-math.inf, upper=math.inf)

    def breaks(self) -> list[tuple[float, ...]]:
        return [()] * self.dimension


@dataclass(frozen=True)
class ContextLaw(BoxedLaw):
    """Distribution of a context: independent coordinates."""

    marginals: tuple[Marginal, ...]  #: one a coordinate, Dc in all.

    @property
    def dimension(self) -> int:
        return len(self.marginals)

    def draw(self, uniforms: Floats) -> Floats:
        return np.stack([one.quantile(uniforms[:, j]) for j, one in enumerate(self.marginals)], axis=-1)

    def density(self, at: ArrayLike) -> Floats:
        points = np.asarray(at, dtype=np.float64)
        return np.prod([one.density(points[:, j]) for j, one in enumerate(self.marginals)], axis=0)

    def atoms(self) -> Floats:
        ends = np.array([self.lower, self.upper])
        mass = np.array([one.cumulative(ends) for one in self.marginals])
        return np.stack([mass[:, 0], 1.0 - mass[:, 1]], axis=-1)

    def breaks(self) -> list[tuple[float, ...]]:
        return [one.breaks for one in self.marginals]

    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        shares = [
            np.concatenate([atoms[:1], width * one.density(at), atoms[1:]])
            for one, atoms, at, width in zip(self.marginals, self.atoms(), inside, widths, strict=True)
        ]
        return functools.reduce(np.multiply.outer, shares)


def clipped_normal(dimension: int = 1, *, mean: float = 0.5, std: float = 0.1) -> ContextLaw:
    """Normal in every coordinate, clipped to [0, 1]."""
    return ContextLaw((Gaussian(mean, std),) * dimension)


def uniform(dimension: int = 1) -> ContextLaw:
    """Uniform on the unit cube."""
    return ContextLaw((Uniform(),) * dimension)


def burr_xii(a: float = 2.0, b: float = 20.0) -> ContextLaw:
    """Burr XII, clipped to [0, 1]: the newsvendor's demand."""
    return ContextLaw((BurrXII(a, b),))


def complicated() -> ContextLaw:
    """The context of complicated Hartmann: six normal and two Cauchy distributions, equally weighted, clipped."""
    normals = ((0.1, 0.02), (0.3, 0.075), (0.4, 0.1), (0.5, 0.1), (0.7, 0.075), (0.8, 0.03))
    parts = (*(Gaussian(mean, std) for mean, std in normals), Cauchy(0.2, 0.02), Cauchy(0.8, 0.02))
    return ContextLaw((Mixture(parts),))


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
