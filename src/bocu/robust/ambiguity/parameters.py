"""How an experiment file states an ambiguity set: its name, how large it is in a round, and its class's own keys.

`SetParameters` is what all sets have. Validating plain data gives the `Parameters` of the class that the name stands
for; that class alone is imported.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pydantic
from pydantic import Field
from pydantic_core import InitErrorDetails, PydanticCustomError

from bocu.core.errors import BocuError, shown
from bocu.core.loading import from_registry
from bocu.core.parameters import READING, NotNegative, Number, Parameters, Positive, Reading, nearest
from bocu.core.rounds import Situation

if TYPE_CHECKING:
    from bocu.robust.ambiguity.base import AmbiguitySet
    from bocu.robust.ambiguity.checks import Floats


#: By its name, and not where it is loaded: runs reach this module, and a line in the registry is to rerun none of them.
_REGISTRY = "bocu.sweep.experiment.registry"


# In descriptions, for what the registered sets say of themselves: `told` puts it there.
_CONCENTRATING, _RADII = "SETS THAT CONCENTRATE", "THEIR RADII"


class Concentration(Parameters):
    """The radius within which the distribution of N contexts seen lies of the true one, but for a probability.

    What it comes to is said by the set (`AmbiguitySet.concentration_radius`). Infinite while nothing was seen.
    """

    delta: Annotated[Number, Field(gt=0.0, lt=1.0)] = Field(
        0.1,
        description=f"probability with which the truth may lie outside after N of n contexts; the radius is {_RADII}",
    )
    rounds: Literal["each", "all"] = Field(
        "each",
        description="whether that is for each N by itself, or for all of them together: 6 delta / (pi^2 N^2) for N, "
        "which is the radius of Kirschner et al. (2020), Corollary 4, at a third of its delta",
    )

    def share(self, observations: int) -> float:
        """Return the probability that is left for so many contexts seen; over all numbers of them they sum to delta."""
        if self.rounds == "each":
            return self.delta
        return 6.0 * self.delta / (math.pi * max(1, observations)) ** 2


class AnnouncedShare(Parameters):
    """A share of the radius that the problem announces."""

    announced: Positive = Field(description="factor of what the problem announces; 1: all of it")


LARGEST_RADIUS = 1e12
"""What files and command lines may state: with more, squares of distances leave the numbers that computers have."""

_Size = Annotated[NotNegative, Field(le=LARGEST_RADIUS)]
Radius = _Size | list[_Size] | Literal["margin", "announced"] | AnnouncedShare | Concentration


def named(name: str) -> Any:
    """Return the field `name` of the parameters of a set."""
    return Field(name, description="the set (see `bocu list sets`), whose own keys stand beside its name")


class SetParameters(Parameters):
    """An ambiguity set around the reference; a name alone is the set with its defaults.

    Raises:
        BocuError: as a `pydantic.ValidationError` while it is validated: there is no such set, or it has no such key.
    """

    name: str = named("tv")
    radius: Radius = Field(
        "margin",
        description="a number; a list over the rounds, whose last number stays; `margin`: the distance of the true "
        "distribution from the reference; `announced`: what the problem announces; `{announced: 0.1}`: a tenth of it; "
        f"`{{delta: 0.1}}`: shrinking with the number of contexts seen ({_CONCENTRATING})",
    )

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _of_the_set_named(
        cls, data: object, validate: pydantic.ModelWrapValidatorHandler[SetParameters], info: pydantic.ValidationInfo
    ) -> SetParameters:
        given = {"name": data} if isinstance(data, str) else data
        if not isinstance(given, Mapping):
            return validate(given)
        name = given.get("name", cls.model_fields["name"].default)
        if not isinstance(name, str):
            return validate({"name": name})
        called, model = _named(name, (info.context or {}).get(READING))
        for key in given:
            if key not in model.model_fields:
                known = nearest(str(key), model.model_fields)
                raise fault(key, given[key], f"the set '{name}' has no such key; {known}")
        given = {**given, "name": called}
        return validate(given) if model is cls else model.model_validate(given, context=info.context)

    @pydantic.model_validator(mode="after")
    def _a_radius_that_there_is(self) -> SetParameters:
        if isinstance(self.radius, list) and not self.radius:
            raise ValueError("a list of radii holds one number or more")
        if isinstance(self.radius, Concentration) and not self.family.concentrates():
            raise ValueError(f"the set '{self.name}' {self.family.no_concentration()}")
        return self

    @property
    def family(self) -> type[AmbiguitySet]:
        """The class of the set, which says what is known of it whatever its parameters."""
        return set_class(self.name)

    @property
    def takes_announced(self) -> bool:
        """Whether the radius is what the problem announces, or a share of it."""
        return self.radius == "announced" or isinstance(self.radius, AnnouncedShare)

    def note(self) -> str:
        """Say that the radius is beyond all distances, where a number is stated that is; else nothing."""
        stated = max(self.radius) if isinstance(self.radius, list) else self.radius
        largest = self.family.about.largest_radius
        if largest is None or not isinstance(stated, float) or stated <= largest:
            return ""
        return (
            f"radius: {stated:g} is beyond {largest:g}, the largest by '{self.name}': every distribution is in the set"
        )

    def over(self, contexts: Floats | None) -> AmbiguitySet:
        """Build the set over context points `(contexts, dimension)`, at radius 0.

        Raises:
            BocuError: no set can be built, or it needs coordinates and there are none.
        """
        return self.family.stated(self, contexts)

    def epsilon(self, situation: Situation, ambiguity_set: AmbiguitySet) -> float:
        """Return the radius in a situation.

        Raises:
            BocuError: the problem announces no radius.
        """
        rule = self.radius
        if isinstance(rule, Concentration):
            share = rule.share(situation.observed)
            return ambiguity_set.concentration_radius(situation.observed, len(situation.reference), share)
        if isinstance(rule, list):
            return rule[min(max(situation.t, 1), len(rule)) - 1]
        if rule == "margin":
            return float(ambiguity_set.distance(situation.truth, situation.reference))
        if self.takes_announced:
            if situation.margin is None:
                raise BocuError("radius: found 'announced', but the problem announces no radius; give another rule")
            return situation.margin * (rule.announced if isinstance(rule, AnnouncedShare) else 1.0)
        assert isinstance(rule, float)
        return rule


#: What a key that holds a set is annotated with: written out again, the keys of its class are there.
StatedSet = pydantic.SerializeAsAny[SetParameters]


def by_default(name: str, **keys: object) -> Any:
    """Return the default of a key that holds a set, as plain data: no set is imported before one is needed."""
    return {"name": name, **keys}


def set_class(name: str) -> type[AmbiguitySet]:
    """Return the class of the sets of a registered name; imports that class alone.

    Raises:
        BocuError: there is no such set.
    """
    return from_registry("find")("set", name).load()


def sets_that(holds: Callable[[type[AmbiguitySet]], bool]) -> str:
    """Name the registered sets whose class has a property, for people: "tv, mmd or wass". Imports all of them."""
    *first, last = [name for name, family in _registered_sets() if holds(family)]
    return f"{', '.join(first)} or {last}" if first else last


def told(text: str) -> str:
    """Put into descriptions of keys what the registered sets say of themselves. Imports all of them.

    Args:
        text: descriptions, as people or JSON have them.
    """
    found = [(name, family) for name, family in _registered_sets() if family.concentrates()]
    told_of = ((name, (inspect.getdoc(family.concentration_radius) or "").partition("\n")[0]) for name, family in found)
    radii = "; ".join(f"for `{name}` {line.rstrip('.')}" for name, line in told_of if line)
    return text.replace(_CONCENTRATING, sets_that(lambda family: family.concentrates())).replace(_RADII, radii)


def _registered_sets() -> Iterator[tuple[str, type[AmbiguitySet]]]:
    for entry in from_registry("registered")("set"):
        yield entry.name, entry.load()


def _named(name: str, reading: Reading | None) -> tuple[str, type[SetParameters]]:
    """Return what specifications call a set, and the class of its parameters."""
    try:
        entry = from_registry("find")("set", name, folder=reading.folder if reading else None)
        return entry.called, entry.load().Parameters
    except BocuError as error:
        raise fault("name", name, str(error).removeprefix(f"found {shown(name)}; ")) from None


def fault(key: str, found: object, message: str) -> pydantic.ValidationError:
    """Return the error of a key of a set."""
    details = InitErrorDetails(
        type=PydanticCustomError("set", "{message}", {"message": message}), loc=(key,), input=found
    )
    return pydantic.ValidationError.from_exception_data("SetParameters", [details])
