"""The JSON schema of a typed section, in the words of JSON Schema (draft 2020-12)."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from bocu.core.plain import Plain

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: pydantic names a bound that it checks behind a validator of ours as Python does, and no editor would heed it.
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


class _InWordsOfJsonSchema(GenerateJsonSchema):
    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        made = super().generate_inner(schema)
        return {_BOUNDS.get(key, key): value for key, value in made.items()}


def json_schema_of(model: type[BaseModel]) -> Plain:
    """Return the JSON schema of a section; what it holds stands under `$defs`."""
    return model.model_json_schema(ref_template="#/$defs/{model}", schema_generator=_InWordsOfJsonSchema)
