"""What an experiment file states by a name with parameters, and any package or file may offer: laws and shifts."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pydantic
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.loading import from_registry
from bocu.core.parameters import READING, Parameters, Reading, validate
from bocu.core.plain import Plain


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
