"""The generated schemas say everything in words of JSON Schema, so that editors heed it."""

import json
from functools import cache

import jsonschema
import pytest
from experiments import tiny
from jsonschema_specifications import REGISTRY
from pydantic import Field

from bocu.commands.schema import json_schema_of
from bocu.core.parameters import Count, Number, Parameters, Positive

SHIPPED = ["experiment", "claims", "suggest"]
WORDS = {
    word
    for vocabulary in ("core", "applicator", "unevaluated", "validation", "meta-data", "format-annotation", "content")
    for word in REGISTRY.contents(f"https://json-schema.org/draft/2020-12/meta/{vocabulary}")["properties"]
}
NAMED = {"$defs", "properties", "patternProperties", "dependentSchemas"}  # their keys are names
PLAIN = {"const", "default", "enum", "examples"}  # not schemas


@cache
def shipped(root, name):
    return json.loads((root / f"workflow/schemas/{name}.schema.json").read_text(encoding="utf-8"))


def unknown(schema, path="#"):
    """Return the paths of a schema's words that JSON Schema does not know."""
    for word, value in schema.items():
        if word not in WORDS:
            yield f"{path}/{word}"
        inner = {} if word in PLAIN else value
        inner = dict(enumerate(inner)) if isinstance(inner, list) else inner
        parts = inner if word in NAMED or isinstance(value, list) else {"": inner}
        for name, part in parts.items() if isinstance(parts, dict) else ():
            if isinstance(part, dict):
                yield from unknown(part, f"{path}/{word}/{name}")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_schema_has_no_word_that_is_not_of_json_schema(root, name):
    assert not list(unknown(shipped(root, name)))


@pytest.mark.parametrize(
    "change",
    [
        {"iteration": 3},
        {"algorithms": ["pe-gp-ubc"]},
        {"problems": [{"name": "hills", "parameters": {"gird": 3}}]},
        {"iterations": 0},
        {"seeds": {"first": -1, "count": 2}},
        {"seeds": {"count": 2, "per_job": 0}},
        {"problems": [{"name": "hills", "parameters": {"grid": 0}}]},
        {"problems": [{"name": "hills", "parameters": {"hill_width": 0}}]},
        {"objectives": [{"name": "dro", "parameters": {"set": {"name": "tv", "radius": -0.1}}}]},
        {"algorithms": [{"name": "ucb-bocu-2", "parameters": {"beta": -1}}]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_schema_refuses_unknown_words_and_numbers_beyond_their_bounds(root, change):
    validator = jsonschema.Draft202012Validator(shipped(root, "experiment"))
    validator.validate(tiny())
    assert list(validator.iter_errors(tiny(**change)))


class Bounded(Parameters):
    share: Number = Field(ge=0, lt=1, description="a share")
    width: Positive = Field(description="a width")
    shots: list[Count] = Field(description="some counts")
    le: int | None = Field(3, description="a key of a name that is a bound's")


def test_bounds_have_the_words_of_json_schema_and_keys_keep_their_names():
    keys = json_schema_of(Bounded)["properties"]
    assert keys["share"] == {"minimum": 0, "exclusiveMaximum": 1} | {
        key: keys["share"][key] for key in ("description", "title", "type")
    }
    assert keys["width"]["exclusiveMinimum"] == 0
    assert keys["shots"]["items"]["minimum"] == 1
    assert keys["le"]["default"] == 3
