"""Typed parameters of registered things, and the one line that a wrong value gets."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar

import pydantic
from pydantic import BaseModel, BeforeValidator, ConfigDict

from bocu.errors import BocuError


def _no_boolean(value: Any) -> Any:
    # YAML's `true` would otherwise pass as the number 1.
    if isinstance(value, bool):
        raise ValueError("a number is wanted, not a truth value")
    return value


Integer = Annotated[int, BeforeValidator(_no_boolean)]
Number = Annotated[float, BeforeValidator(_no_boolean), pydantic.AllowInfNan(False)]


class Parameters(BaseModel):
    """Base of all typed sections of the configuration: immutable, unknown keys refused, text coerced to numbers.

    Every field carries a description; the JSON schema and the tables of the docs are made from them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


ParametersType = TypeVar("ParametersType", bound=Parameters)


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Say which allowed name is meant, or which there are.

    Returns:
        A clause to end an error line with, such as ``did you mean 'hills'? (allowed: hills, sensors)``.
    """
    known = sorted(allowed)
    match = difflib.get_close_matches(name, known, n=1)
    listing = f"allowed: {', '.join(known)}" if known else "nothing is allowed here"
    return f"did you mean '{match[0]}'? ({listing})" if match else listing


def validate(model: type[ParametersType], data: Mapping[str, Any], where: str) -> ParametersType:
    """Build a typed section from plain data.

    Args:
        model: the section's type.
        data: what the user wrote.
        where: the file, and the key that the section stands under.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed, for the first fault.
    """
    try:
        return model.model_validate(data)
    except pydantic.ValidationError as error:
        raise BocuError(f"{where}{_first_fault(model, error)}") from None


def _first_fault(model: type[BaseModel], error: pydantic.ValidationError) -> str:
    # Unknown keys first: a misspelt key also makes the right one look missing.
    faults = sorted(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
    fault = faults[0]
    key = ".".join(str(part) for part in fault["loc"])
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    if fault["type"] == "extra_forbidden":
        section = _section(model, fault["loc"][:-1])
        fields = [field.alias or name for name, field in section.model_fields.items()] if section else []
        return f"{key}: unknown key; {nearest(str(fault['loc'][-1]), fields)}{more}"
    if fault["type"] == "missing":
        return f"{key}: this key is required{more}"
    message = fault["msg"].removeprefix("Value error, ")
    return f"{key}: found {fault['input']!r}; {message[:1].lower()}{message[1:]}{more}"


def _section(model: type[BaseModel], location: tuple[str | int, ...]) -> type[BaseModel] | None:
    """Find the model that the keys at `location` belong to, where the path there is unambiguous."""
    current: type[BaseModel] | None = model
    for part in location:
        if current is None or isinstance(part, int):
            continue
        field = current.model_fields.get(part)
        current = model_in(field.annotation) if field else None
    return current


def model_in(annotation: Any) -> type[BaseModel] | None:
    """Find the first typed section in a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        if found := model_in(argument):
            return found
    return None
