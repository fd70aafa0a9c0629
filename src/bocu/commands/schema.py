"""`bocu schema`: the JSON schema of an experiment file, for editors."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def schema_command(
    output: Annotated[Path | None, typer.Option(help="File to write; standard output if left out.")] = None,
) -> None:
    """Print the JSON schema of an experiment file, generated from its typed model."""
    from bocu.files import write_text

    text = json.dumps(experiment_schema(), indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)


def experiment_schema() -> dict[str, Any]:
    """Give the schema of the whole file; the parameters of every registered name are part of it."""
    from bocu.experiment import Experiment
    from bocu.registry import REGISTRY

    schema = Experiment.model_json_schema(ref_template="#/$defs/{model}")
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    definitions = schema["$defs"]
    kinds = {
        "ProblemEntry": "problem",
        "AlgorithmEntry": "algorithm",
        "FigureEntry": "figure",
        "ObjectiveEntry": "judge",
    }
    for definition, kind in kinds.items():
        entry = definitions[definition]
        entry["required"] = ["name"]  # a label left out is the name
        entry["allOf"] = []
        registered = [*REGISTRY[kind], *(REGISTRY["objective"] if kind == "judge" else ())]
        for thing in registered:
            parameters = thing.load().Parameters.model_json_schema(ref_template="#/$defs/{model}")
            definitions.update(parameters.pop("$defs", {}))
            names = {"enum": [thing.name, *thing.aliases]}
            entry["allOf"].append(
                {"if": {"properties": {"name": names}}, "then": {"properties": {"parameters": parameters}}}
            )
        allowed = [name for thing in registered for name in (thing.name, *thing.aliases)]
        entry["properties"]["name"]["enum"] = allowed
        schema["$defs"][definition] = {"anyOf": [{"enum": allowed, "type": "string"}, entry]}
    # What may be written in short.
    definitions["Data"] = {"anyOf": [definitions["Data"]["properties"]["source"], definitions["Data"]]}
    definitions["Seeds"] = {"anyOf": [definitions["Seeds"]["properties"]["count"], definitions["Seeds"]]}
    return schema
