import json

import jsonschema
import pytest
import yaml
from experiments import tiny

from bocu.commands.schema import experiment_schema, key_tables
from bocu.core.errors import BocuError
from bocu.sweep.experiment.configuration import Seeds, parse_experiment, read_experiment_file


def test_a_bare_name_is_its_own_label():
    experiment = parse_experiment(tiny(algorithms=["random", {"name": "random", "label": "again"}]))
    assert [(entry.label, entry.name) for entry in experiment.algorithms] == [("random", "random"), ("again", "random")]


def test_text_from_the_command_line_becomes_numbers():
    experiment = parse_experiment(tiny(iterations="7", seeds={"count": "5", "per_job": "2"}, overwrite="true"))
    assert (experiment.iterations, experiment.seeds.count, experiment.overwrite) == (7, 5, True)


def test_seeds_may_be_a_number_alone():
    assert parse_experiment(tiny(seeds="5")).seeds == Seeds(first=0, count=5)


def test_the_key_mirror_alone_chooses_the_mirror():
    data = parse_experiment(tiny(data="download", mirror="somewhere")).data
    assert (data.source, data.mirror) == ("mirror", "somewhere")


def test_blocks_are_aligned_so_that_more_seeds_keep_the_whole_ones():
    few = Seeds(first=3, count=25).blocks(10)
    many = Seeds(first=3, count=47).blocks(10)
    assert few == [(3, 12), (13, 22), (23, 27)]
    assert many[:2] == few[:2]
    assert many[2] == (23, 32)


def test_an_override_is_blamed_on_the_command_line(tmp_path):
    path = tmp_path / "fine.yaml"
    path.write_text(yaml.safe_dump(tiny()))
    with pytest.raises(BocuError, match=r"^--config: iterations: found 'x'"):
        parse_experiment({**tiny(), "iterations": "x"}, [path], {"iterations": "x"})


def test_committed_schema_is_the_generated_one(root):
    committed = json.loads((root / "workflow/schemas/experiment.schema.json").read_text())
    assert committed == experiment_schema(), "run `make schema`"


def test_committed_tables_are_the_generated_ones(root):
    for kind, page in key_tables().items():
        name = f"docs/experiment-file{kind and f'-{kind}s'}.md"
        assert (root / name).read_text() == page, f"{name}: run `make schema`"


def test_schema_accepts_every_experiment_file_of_the_project(root):
    schema = experiment_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in [root / "config/config.yaml", *(root / "config/experiments").glob("*.yaml")]:
        # YAML has dates, JSON has text.
        data = json.loads(json.dumps(read_experiment_file(path), default=str))
        validator.validate(data)


def test_every_key_of_the_schema_is_described():
    def undescribed(schema, path=""):
        for key, value in schema.get("properties", {}).items():
            if not value.get("description"):
                yield f"{path}.{key}"
        for name, definition in schema.get("$defs", {}).items():
            for option in definition.get("anyOf", [definition]):
                yield from undescribed(option, name)
                for rule in option.get("allOf", []):
                    then = rule["then"]["properties"]
                    yield from undescribed(then.get("parameters", rule["then"]), name)

    assert list(undescribed(experiment_schema())) == []
