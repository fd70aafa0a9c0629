"""Candidate priors as an experiment file states them under `priors`, and what an entry comes to: one prior, or many.

A candidate is a Gaussian process over the decisions and contexts of a problem: a constant mean, and a product kernel
with a length-scale a coordinate. It is written out, or fitted to the data behind the problem. Names and number follow
from the file alone.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

import pydantic
from pydantic import Field

from bocu.core.about import About
from bocu.core.kernels import KernelName
from bocu.core.parameters import Count, Integer, Number, Parameters, Positive

ALL_COORDINATES = "in units of the grid's coordinates, which are scaled to [0, 1]"
PERIOD = r"^\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?$"


def once(values: list[Any]) -> list[Any]:
    """Refuse a value that stands twice in a list.

    Raises:
        ValueError: one does.
    """
    if double := next((value for place, value in enumerate(values) if value in values[:place]), None):
        raise ValueError(f"'{double}' stands twice")
    return values


class StatedPrior(Parameters):
    """A candidate that is written out."""

    label: str = Field(description="its name")
    kernel: KernelName = Field(description="family of the kernel")
    lengthscale: tuple[Positive, ...] = Field(description="of every coordinate; or one for all")
    variance: Positive = Field(description="prior variance of the payoff, in its squared units")
    mean: Number = Field(description="prior mean of the payoff, in its units")


class Scenario(Parameters):
    """A share of the rows, by one of their inputs."""

    input: str = Field(description="name of the input")
    part: Count = Field(description="which share, the rows of the lowest values first")
    of: Annotated[Integer, Field(ge=2)] = Field(description="number of shares, of equally many rows")


class Period(Parameters):
    """The rows of a month or a day."""

    period: Annotated[str, Field(pattern=PERIOD)] = Field(description="YYYY-MM or YYYY-MM-DD")


class PriorFitSettings(Parameters):
    """What a fit maximises over, and how thoroughly."""

    ard: bool = Field(True, description="a length-scale for each coordinate; false: one for all")
    noise: Literal["fitted", "known"] | Positive = Field(
        "fitted",
        description="standard deviation of the rows' noise: `fitted`, `known` (that of the problem), or a number in "
        "units of the payoff. Runs know the noise of their problem, whatever was fitted here",
    )
    points: Annotated[Integer, Field(ge=5, le=1_000)] = Field(
        400, description="rows that are fitted to; of more, a random choice, the same every time"
    )
    starts: Annotated[Integer, Field(ge=1, le=1_000)] = Field(
        6, description="starts of the fit: two at different noise levels, the others drawn"
    )


class FittedPrior(PriorFitSettings):
    """A candidate that is fitted to the data behind a problem."""

    label: str = Field(description="its name")
    kernel: KernelName = Field(description="family of the kernel")
    rows: Scenario | Period | None = Field(description="the rows that it is fitted to; null: all")

    def known_noise(self, noise: float) -> float | None:
        """Return the noise that the fit takes for known, where that of the problem is `noise`; None: it is fitted."""
        if isinstance(self.noise, str):
            return noise if self.noise == "known" else None
        return self.noise


Candidate = StatedPrior | FittedPrior


class PriorParameters(Parameters):
    """What an entry of `priors` states."""

    def candidates(self, label: str) -> Iterator[Candidate]:
        """Return what the entry of this label comes to."""
        raise NotImplementedError(f"{type(self).__name__} has no candidates")


class StatedParameters(PriorParameters):
    """The numbers of one candidate."""

    kernel: KernelName = Field("squared-exponential", description="family of the kernel")
    lengthscale: Positive | tuple[Positive, ...] = Field(
        description=f"of every coordinate, decisions first, {ALL_COORDINATES}; one number is that of all"
    )
    variance: Positive = Field(1.0, description="prior variance of the payoff, in its squared units")
    mean: Number = Field(0.0, description="prior mean of the payoff, in its units")

    def candidates(self, label: str) -> Iterator[Candidate]:
        """Return what the entry of this label comes to."""
        scales = self.lengthscale if isinstance(self.lengthscale, tuple) else (self.lengthscale,)
        yield StatedPrior(label=label, kernel=self.kernel, lengthscale=scales, variance=self.variance, mean=self.mean)


class Stated:
    """A candidate prior that is written out."""

    about = About(title="Stated prior", summary="a candidate prior that is written out")
    Parameters = StatedParameters


class ScenariosParameters(Parameters):
    """Shares of the rows by an input: one candidate each."""

    input: str = Field(description="name of the input in the data set, such as `transmission`")
    count: Annotated[Integer, Field(ge=2, le=100)] = Field(description="number of shares, of equally many rows")


class FittedParameters(PriorFitSettings, PriorParameters):
    """One candidate for each kernel, and each month, day or scenario."""

    kernel: list[KernelName] = Field(
        ["squared-exponential"], min_length=1, description="families of the kernel: one candidate each"
    )
    months: list[Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])$")]] = Field(
        [], description="months of the data, such as 2013-11: one candidate each"
    )
    days: list[Annotated[str, Field(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$")]] = Field(
        [], description="days of the data, such as 2013-11-05: one candidate each"
    )
    scenarios: ScenariosParameters | None = Field(
        None, description="shares of the rows by one of their inputs: one candidate each"
    )

    @pydantic.field_validator("kernel", "months", "days")
    @classmethod
    def _once(cls, values: list[Any]) -> list[Any]:
        return once(values)

    @pydantic.field_validator("kernel", mode="before")
    @classmethod
    def _one_alone(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @pydantic.model_validator(mode="after")
    def _one_split(self) -> Self:
        if sum(map(bool, (self.months, self.days, self.scenarios))) > 1:
            raise ValueError("the rows are split by 'months', 'days' or 'scenarios', one of them")
        return self

    def candidates(self, label: str) -> Iterator[Candidate]:
        """Return what the entry of this label comes to; names say kernel and rows where there are several."""
        settings = {name: getattr(self, name) for name in PriorFitSettings.model_fields}
        for kernel in self.kernel:
            family = [kernel.replace("/", "")] if len(self.kernel) > 1 else []
            for name, rows in self._splits():
                yield FittedPrior(label="-".join([label, *family, *name]), kernel=kernel, rows=rows, **settings)

    def _splits(self) -> Iterator[tuple[list[str], Scenario | Period | None]]:
        for period in [*self.months, *self.days]:
            yield [period], Period(period=period)
        if self.scenarios is not None:
            for part in range(1, self.scenarios.count + 1):
                yield [str(part)], Scenario(input=self.scenarios.input, part=part, of=self.scenarios.count)
        if not (self.months or self.days or self.scenarios):
            yield [], None


class Fitted:
    """Candidate priors that are fitted to the data behind a problem."""

    about = About(title="Fitted priors", summary="candidate priors fitted by GPyTorch to the data behind a problem")
    Parameters = FittedParameters
