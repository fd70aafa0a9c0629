"""`bocu schema`: the JSON schema of an experiment file, for editors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer


def schema_command(
    output: Annotated[Path | None, typer.Option(help="File to write; standard output if left out.")] = None,
    tables: Annotated[bool, typer.Option("--tables", help="Tables for people instead, in Markdown.")] = False,
) -> None:
    """Print the JSON schema of an experiment file, or its keys as tables; both are made from the typed model."""
    from bocu.io.files import write_text

    text = key_tables() if tables else json.dumps(experiment_schema(), indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)


def key_tables() -> str:
    """Return the keys of an experiment file, and the parameters of everything registered, as Markdown tables."""
    from bocu.experiment.configuration import (
        AlgorithmEntry,
        Data,
        Experiment,
        FigureEntry,
        MetricEntry,
        ObjectiveEntry,
        Seeds,
    )
    from bocu.experiment.registry import REGISTRY

    parts = [TABLES_HEAD, _table("The file", Experiment), _table("`seeds`", Seeds), _table("`data`", Data)]
    parts += [
        _table("An entry of `objectives`", ObjectiveEntry),
        _table("An entry of `algorithms`", AlgorithmEntry),
        _table("An entry of `metrics`", MetricEntry),
        _table("An entry of `figures`", FigureEntry),
    ]
    objectives = {thing.name: thing.load().Parameters for thing in REGISTRY["objective"]}
    for kind in ("problem", "objective", "algorithm", "metric", "figure"):
        for thing in REGISTRY[kind]:
            title, parameters = f"{kind.capitalize()} `{thing.name}`", thing.load().Parameters
            also = f" Also: {', '.join(f'`{alias}`' for alias in thing.aliases)}." if thing.aliases else ""
            if kind == "metric" and parameters is objectives.get(thing.name):
                parts.append(f"## {title}\n\n{_sentence(thing.summary)}. Parameters: those of the objective.\n")
            else:
                parts.append(_table(title, parameters, f"{thing.summary}.{also}"))
    return "\n".join(parts)


EXPERIMENT_MODULE = "bocu.experiment.configuration"
TABLES_HEAD = """# The experiment file

Every key, its default and what it does. This page is generated (`make schema`); so is
`workflow/schemas/experiment.schema.json`, which editors with a YAML language server use to complete and check
experiment files, led there by the first line of the file: `# yaml-language-server: $schema=PATH`. Problems, objectives,
algorithms, metrics and figures are lists of entries `{label, name, parameters}`; a name alone is an entry with that
label and no parameters.
"""


def _table(title: str, model: object, summary: str = "") -> str:
    rows = list(_rows(model))
    head = [f"## {title}", "", *([_sentence(summary), ""] if summary else [])]
    body = ["| key | default | meaning |", "|---|---|---|", *rows] if rows else ["No parameters."]
    return "\n".join([*head, *body, ""])


def _sentence(summary: str) -> str:
    return summary[:1].upper() + summary[1:]


def _rows(model: Any, prefix: str = "") -> Iterator[str]:
    from bocu.core.parameters import model_in

    for key, field in model.model_fields.items():
        default = "required" if field.is_required() else f"`{_plain(field.get_default(call_default_factory=True))}`"
        yield f"| `{prefix}{key}` | {default} | {' '.join(str(field.description).split())} |"
        nested = model_in(field.annotation)
        if nested and nested.__module__ == model.__module__ != EXPERIMENT_MODULE:  # its sections have their own tables
            yield from _rows(nested, f"{prefix}{key}.")


def _plain(value: object) -> str:
    from pydantic_core import to_jsonable_python

    return json.dumps(to_jsonable_python(value)).replace("|", "\\|")


def experiment_schema() -> dict[str, object]:
    """Return the schema of the whole file; the parameters of every registered name are part of it."""
    from bocu.experiment.configuration import Experiment
    from bocu.experiment.registry import REGISTRY

    schema = Experiment.model_json_schema(ref_template="#/$defs/{model}")
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    definitions = schema["$defs"]
    kinds = {
        "ProblemEntry": "problem",
        "AlgorithmEntry": "algorithm",
        "FigureEntry": "figure",
        "ObjectiveEntry": "objective",
        "MetricEntry": "metric",
    }
    for definition, kind in kinds.items():
        entry = definitions[definition]
        entry["required"] = ["name"]  # a label left out is the name
        entry["allOf"] = []
        for thing in REGISTRY[kind]:
            parameters = thing.load().Parameters.model_json_schema(ref_template="#/$defs/{model}")
            definitions.update(parameters.pop("$defs", {}))
            names = {"enum": [thing.name, *thing.aliases]}
            entry["allOf"].append(
                {"if": {"properties": {"name": names}}, "then": {"properties": {"parameters": parameters}}}
            )
        allowed = [name for thing in REGISTRY[kind] for name in (thing.name, *thing.aliases)]
        entry["properties"]["name"]["enum"] = allowed
        schema["$defs"][definition] = {"anyOf": [{"enum": allowed, "type": "string"}, entry]}
    # What may be written in short.
    definitions["Data"] = {"anyOf": [definitions["Data"]["properties"]["source"], definitions["Data"]]}
    definitions["Seeds"] = {"anyOf": [definitions["Seeds"]["properties"]["count"], definitions["Seeds"]]}
    return schema
