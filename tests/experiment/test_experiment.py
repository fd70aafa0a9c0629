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


FAULTS = {
    "unknown key": ({"iteration": 3}, r"iteration: unknown key; did you mean 'iterations'\?"),
    "unknown nested key": (
        {"seeds": {"count": 3, "perjob": 1}},
        r"seeds\.perjob: unknown key; did you mean 'per_job'\?",
    ),
    "unknown key of an entry": (
        {"algorithms": [{"name": "mle", "params": {}}]},
        r"algorithms\.0\.params: unknown key; did you mean 'parameters'",
    ),
    "wrong type": ({"iterations": "many"}, r"iterations: found 'many'; input should be a valid integer"),
    "truth value for a number": ({"iterations": True}, r"iterations: found True; a number is wanted"),
    "negative count": ({"seeds": {"count": -1}}, r"seeds\.count: found -1; input should be greater than or equal to 1"),
    "no iterations": ({"iterations": 0}, r"iterations: found 0; input should be greater than or equal to 1"),
    "bad label": ({"algorithms": [{"name": "mle", "label": "My MLE"}]}, r"algorithms\.0\.label: found 'My MLE'"),
    "label twice": ({"algorithms": ["mle", "mle"]}, r"algorithms: the label 'mle' stands twice"),
    "empty list": ({"problems": []}, r"problems: found \[\]; list should have at least 1 item"),
    "unknown source": (
        {"data": "web"},
        r"data\.source: found 'web'; input should be 'download', 'mirror', 'shipped' or 'simulate'",
    ),
    "mirror without folder": ({"data": "mirror"}, r"data: .*source 'mirror' and the key 'mirror'"),
    "not a list": ({"problems": 3}, r"problems: found 3; input should be a valid list"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_gets_one_line_with_file_and_key(tmp_path, fault):
    change, message = FAULTS[fault]
    path = tmp_path / "faulty.yaml"
    path.write_text(yaml.safe_dump(tiny(**change)))
    with pytest.raises(BocuError, match=message) as caught:
        parse_experiment(read_experiment_file(path), [path])
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_missing_key_is_named():
    experiment = tiny()
    del experiment["iterations"]
    with pytest.raises(BocuError, match="iterations: this key is required"):
        parse_experiment(experiment)


def test_an_override_is_blamed_on_the_command_line(tmp_path):
    path = tmp_path / "fine.yaml"
    path.write_text(yaml.safe_dump(tiny()))
    with pytest.raises(BocuError, match=r"^--config: iterations: found 'x'"):
        parse_experiment({**tiny(), "iterations": "x"}, [path], {"iterations": "x"})


@pytest.mark.parametrize("text", ["a: [1", "just text", "- 1\n- 2", "\x00"])
def test_what_is_no_mapping_in_yaml_gets_one_line(tmp_path, text):
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(BocuError, match=r"broken\.yaml: ") as caught:
        read_experiment_file(path)
    assert "\n" not in str(caught.value)


def test_committed_schema_is_the_generated_one(root):
    committed = json.loads((root / "workflow/schemas/experiment.schema.json").read_text())
    assert committed == experiment_schema(), "run `make schema`"


def test_committed_tables_are_the_generated_ones(root):
    for kind, page in key_tables().items():
        name = f"docs/experiment-file{kind and f'-{kind}s'}.md"
        assert (root / name).read_text() == page, f"{name}: run `make schema`"


def experiment_files(root):
    return [root / "config/config.yaml", *sorted((root / "config/experiments").glob("*.yaml"))]


def test_schema_accepts_every_experiment_file_of_the_project(root):
    schema = experiment_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in experiment_files(root):
        # YAML has dates, JSON has text.
        data = json.loads(json.dumps(read_experiment_file(path), default=str))
        validator.validate(data)


@pytest.mark.parametrize(
    "change",
    [{"iteration": 3}, {"algorithms": ["pe-gp-ubc"]}, {"problems": [{"name": "hills", "parameters": {"gird": 3}}]}],
)
def test_schema_refuses_what_the_model_refuses(change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(experiment_schema()).validate(tiny(**change))


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
