"""`bocu schema`: the JSON schema of an experiment file, for editors, in the words of JSON Schema (draft 2020-12)."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from bocu.commands.options import writable
from bocu.core.plain import Plain

if TYPE_CHECKING:
    from bocu.sweep.experiment.registry import RegisteredClass

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


def schema_command(
    output: Annotated[
        Path | None, typer.Option(help="File to write; standard output if left out.", callback=writable)
    ] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="Tables for people instead, in Markdown; a file a kind beside the output.")
    ] = False,
    installed: Annotated[
        bool,
        typer.Option("--installed", help="With what installed packages offer by entry points, in the JSON schema."),
    ] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Of the settings file of `bocu suggest` instead of an experiment file.")
    ] = False,
    claims: Annotated[bool, typer.Option("--claims", help="The JSON schema of a claims file instead.")] = False,
) -> None:
    """Print the JSON schema of an experiment file, or its keys as tables; both are made from the typed model."""
    from bocu.core.io.files import write_text

    if suggest:
        text = settings_tables() if tables else json.dumps(settings_schema(), indent=2) + "\n"
    else:
        schema = claims_schema() if claims else {} if tables else experiment_schema(installed)
        pages = key_tables() if tables else {}
        text = "\n".join(pages.values()) if tables else json.dumps(schema, indent=2) + "\n"
        if output is not None:
            for kind, page in pages.items():
                write_text(output.with_stem(f"{output.stem}{kind and f'-{kind}s'}"), page)
    if output is None:
        typer.echo(text, nl=False)
    elif suggest or not tables:
        write_text(output, text)


KINDS = ("problem", "prior", "set", "law", "shift", "objective", "algorithm", "metric", "figure")
"""What has a page of its parameters."""


def key_tables() -> dict[str, str]:
    """Return the keys of an experiment file, and the parameters of everything registered, as Markdown tables.

    Returns:
        The page of the file, by an empty name, and one for each of `KINDS`.
    """
    from bocu.learners.algorithms.botorch_model import BotorchModelParameters
    from bocu.robust.ambiguity.parameters import SetParameters, told
    from bocu.sweep.evaluation.claims import ClaimsFile
    from bocu.sweep.experiment import configuration as file
    from bocu.sweep.experiment.registry import aliases, registered
    from bocu.sweep.experiment.sweep_axes import Axis

    parts = [
        TABLES_HEAD,
        _table("The file", file.Experiment),
        _table("`seeds`", file.Seeds),
        _table("`data`", file.Data),
    ]
    for entry in (file.PriorEntry, file.ObjectiveEntry, file.AlgorithmEntry, file.MetricEntry, file.FigureEntry):
        parts.append(_table(f"An entry of `{entry.__name__.removesuffix('Entry').lower()}s`", entry))
    parts += [_table("A parameter of `sweep`", Axis, SWEEP), _table("A claims file", ClaimsFile, CLAIMS)]
    objectives = {thing.name: thing.load().Parameters for thing in registered("objective")}
    parts.append(_table("An ambiguity set", SetParameters, "The keys that every set has, under the key `set`."))
    parts.append(_table("A BoTorch model", BotorchModelParameters, MODEL))
    pages = {"": told("\n".join(parts))}
    for kind in KINDS:
        parts = [
            f"# Parameters of {kind}s\n\nOf [the experiment file](experiment-file.md); generated (`make schema`).\n"
        ]
        for thing in registered(kind):
            title, parameters = f"{kind.capitalize()} `{thing.name}`", thing.load().Parameters
            others, summary = aliases(kind, thing.name), thing.load().about.line
            also = f" Also: {', '.join(f'`{alias}`' for alias in others)}." if others else ""
            if kind == "metric" and parameters is objectives.get(thing.name):
                parts.append(f"## {title}\n\n{_sentence(summary)}. Parameters: those of the objective.\n")
            else:
                common = SetParameters if kind == "set" else None
                parts.append(_table(title, parameters, f"{summary}.{also}", common))
        pages[kind] = told("\n".join(parts))
    return pages


def settings_schema() -> dict[str, object]:
    """Return the schema of a settings file of `bocu suggest`."""
    from bocu.advice.asked import Settings

    schema = json_schema_of(Settings)
    # What may be written in short.
    keys = schema["properties"]
    for key, short in (("contexts", {"type": "array", "items": {"type": "string"}}), ("outcome", {"type": "string"})):
        keys[key] = {"anyOf": [short, keys[key]]}
    keys["set"] = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/SetEntry"}]}
    return {"$schema": DIALECT, **schema}


def settings_tables() -> str:
    """Return the keys of a settings file of `bocu suggest` as Markdown tables."""
    from bocu.advice import asked as given

    tables = {
        "The file": given.Settings,
        "A decision that is a number": given.NumberEntry,
        "A choice of names": given.ChoiceEntry,
        "A context": given.ContextEntry,
        "An outcome": given.OutcomeEntry,
    }
    parts = [SETTINGS_HEAD, *(_table(title, model, nested=False) for title, model in tables.items())]
    parts.append(_table("The set", given.SetEntry, "Keys of the set of that name stand beside these.", nested=False))
    return "\n".join(parts)


SETTINGS_HEAD = """# The settings file of `bocu suggest`

Every key, its default and what it does: `bocu suggest LOG.csv --settings FILE.yaml`. This page is generated
(`make schema`); so is `workflow/schemas/suggest.schema.json`, which editors complete and check settings by, led
there by its first line: `# yaml-language-server: $schema=PATH`. See [suggest.md](suggest.md) for an example.
"""


def claims_schema() -> dict[str, object]:
    """Return the schema of a claims file; what a claim leaves out may stand once at the top."""
    from bocu.sweep.evaluation.claims import ClaimsFile

    schema = json_schema_of(ClaimsFile)
    claim = schema["$defs"]["Claim"]
    claim["required"] = [key for key in claim["required"] if key != "experiment"]
    return {"$schema": DIALECT, **schema}


EXPERIMENT_MODULE = "bocu.sweep.experiment.configuration"
CLAIMS = "Named under `claims`; see [claims.md](claims.md). Its schema is `workflow/schemas/claims.schema.json`."
MODEL = (
    "In place of our own under the key `model` of algorithms with continuous decisions. A registered name alone is the "
    "model with its defaults: `model: botorch-default`."
)
SWEEP = (
    "Under a name of its own, which labels have: `length: {of: problems.hills.kernel_lengthscale, values: [0.1, 0.3]}` "
    "makes `hills-length-0p1` and `hills-length-0p3`. In short, `problems.hills.noise: [0.05, 0.1]`, named by the last "
    "key. Of a list of grids the first says what is set, the others may have names and values alone. Parameters of one "
    "grid are combined; entries that belong to no common point of it never meet. How maps are drawn of it: "
    "[regions.md](regions.md)"
)
TABLES_HEAD = """# The experiment file

Every key, its default and what it does. This page is generated (`make schema`); so is
`workflow/schemas/experiment.schema.json`, which editors with a YAML language server use to complete and check
experiment files, led there by its first line: `# yaml-language-server: $schema=PATH`. Problems, priors,
objectives, algorithms, metrics and figures are lists of entries `{label, name, parameters}`; a name alone is an entry
with that label and no parameters. An ambiguity set is `{name, radius, ...}`; a name alone is the set with its defaults.
Parameters stand on pages of their own: {pages}.
""".replace("{pages}", ", ".join(f"[{kind}s](experiment-file-{kind}s.md)" for kind in KINDS))


def _table(title: str, model: object, summary: str = "", common: Any = None, nested: bool = True) -> str:
    """Make a table of the keys of a model, but for those that it has in common with another.

    Sections inside it are part of it, unless they have tables of their own: not `nested`.
    """
    rows = list(_rows(model, common.model_fields if common else (), nested))
    head = [f"## {title}", "", *([_sentence(summary), ""] if summary else [])]
    body = (
        ["| key | default | meaning |", "|---|---|---|", *rows]
        if rows
        else ["No parameters." if common is None else "No keys of its own."]
    )
    return "\n".join([*head, *body, ""])


def _sentence(summary: str) -> str:
    return summary[:1].upper() + summary[1:]


def _rows(model: Any, but: Collection[str], nested: bool, prefix: str = "") -> Iterator[str]:
    from bocu.core.parameters import models_in

    for key, field in model.model_fields.items():
        if key in but:
            continue
        default = "required" if field.is_required() else f"`{_plain(field.get_default(call_default_factory=True))}`"
        yield f"| `{prefix}{key}` | {default} | {' '.join(str(field.description).split())} |"
        for inside in dict.fromkeys(models_in(field.annotation)) if nested else ():
            if inside.__module__ == model.__module__ != EXPERIMENT_MODULE:  # its sections have their own tables
                yield from _rows(inside, (), nested, f"{prefix}{key}.")


def _plain(value: object) -> str:
    from pydantic_core import to_jsonable_python

    return json.dumps(to_jsonable_python(value)).replace("|", "\\|")


OUTSIDE = {"pattern": ":"}  # module:Class, or path/to/file.py:Class


def _known(kind: str, installed: bool) -> "list[RegisteredClass]":
    """Return what is registered and, if wanted, what installed packages offer."""
    from bocu.sweep.experiment.plugins import offered
    from bocu.sweep.experiment.registry import registered

    return [*registered(kind), *(offered(kind) if installed else ())]


def experiment_schema(installed: bool = False) -> dict[str, object]:
    """Return the schema of the whole file; the parameters of every registered name are part of it.

    Args:
        installed: add what installed packages offer by entry points.
    """
    from bocu.robust.ambiguity.parameters import told
    from bocu.sweep.experiment.configuration import Experiment
    from bocu.sweep.experiment.registry import aliases

    schema = {"$schema": DIALECT, **json_schema_of(Experiment)}
    definitions = schema["$defs"]
    kinds = {
        "ProblemEntry": "problem",
        "PriorEntry": "prior",
        "AlgorithmEntry": "algorithm",
        "FigureEntry": "figure",
        "ObjectiveEntry": "objective",
        "MetricEntry": "metric",
    }
    for definition, kind in kinds.items():
        entry = definitions[definition]
        entry["required"] = ["name"]  # a label left out is the name
        entry["allOf"] = []
        things = _known(kind, installed)
        for thing in things:
            parameters = json_schema_of(thing.load().Parameters)
            definitions.update(parameters.pop("$defs", {}))
            names = {"enum": [thing.name, *aliases(kind, thing.name)]}
            entry["allOf"].append(
                {"if": {"properties": {"name": names}}, "then": {"properties": {"parameters": parameters}}}
            )
        allowed = [name for thing in things for name in (thing.name, *aliases(kind, thing.name))]
        entry["properties"]["name"]["anyOf"] = [{"enum": allowed}, OUTSIDE]
        schema["$defs"][definition] = {"anyOf": [{"anyOf": [{"enum": allowed}, OUTSIDE], "type": "string"}, entry]}
    definitions["SetParameters"] = _any_set(definitions, _known("set", installed))
    # What may be written in short.
    for name in ("BotorchModelParameters", "BotorchDecisionModelParameters", "LawParameters", "ShiftParameters"):
        definitions[name] = {"anyOf": [{"type": "string"}, definitions[name]]}
    definitions["Data"] = {"anyOf": [definitions["Data"]["properties"]["source"], definitions["Data"]]}
    definitions["Seeds"] = {"anyOf": [definitions["Seeds"]["properties"]["count"], definitions["Seeds"]]}
    grid = _sweep_grid(definitions)
    schema["properties"]["sweep"].update(anyOf=[grid, {"type": "array", "items": grid}])
    for key in ("items", "type"):
        schema["properties"]["sweep"].pop(key)
    return json.loads(told(json.dumps(schema)))


def _sweep_grid(definitions: Plain) -> Plain:
    """Return the schema of a grid of a sweep, whose parameters may be written in short."""
    targets = definitions["Axis"]["properties"]["of"]
    targets["anyOf"] = [{"type": "string"}, {key: targets.pop(key) for key in ("items", "minItems", "type")}]
    values = {"type": ["number", "string", "boolean", "array", "object"], "not": {"required": ["of"]}}
    return {"type": "object", "additionalProperties": {"anyOf": [{"$ref": "#/$defs/Axis"}, values]}}


def _any_set(definitions: Plain, things: "list[RegisteredClass]") -> Plain:
    """Return the schema of a set of any name, whose own keys stand beside its name; adds to the definitions."""
    from bocu.robust.ambiguity.parameters import SetParameters

    name = dict(definitions["SetParameters"]["properties"]["name"])
    forms = []
    for thing in things:
        schema = json_schema_of(thing.load().Parameters)
        definitions.update(schema.pop("$defs", {}))
        # Of those without a name all but the default are ruled out.
        required = [] if thing.name == SetParameters.model_fields["name"].default else ["name"]
        forms.append({"if": {"properties": {"name": {"const": thing.name}}, "required": required}, "then": schema})
    name["anyOf"] = [{"enum": [thing.name for thing in things]}, OUTSIDE]
    return {
        "anyOf": [
            {"anyOf": name["anyOf"], "type": "string"},
            {"type": "object", "properties": {"name": name}, "allOf": forms},
        ]
    }
