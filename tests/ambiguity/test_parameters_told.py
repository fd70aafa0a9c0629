"""What descriptions of keys say of the registered sets comes from these."""

import inspect

from bocu.commands.schema import experiment_schema, key_tables
from bocu.robust.ambiguity.parameters import SetParameters, told
from bocu.sweep.experiment.registry import registered


def test_the_radius_tells_which_sets_concentrate_and_how():
    concentrating = {entry.name: entry.load() for entry in registered("set") if entry.load().concentrates()}
    assert len(concentrating) > 1
    text = told(str(SetParameters.model_fields["radius"].description))
    tables, schema = key_tables(), str(experiment_schema())
    for name, family in concentrating.items():
        assert name in text.partition("number of contexts seen")[2]
        formula = inspect.getdoc(family.concentration_radius).partition("`")[2].partition("`")[0]
        assert formula in tables
        assert formula in schema
    for entry in registered("set"):
        if entry.name not in concentrating:
            assert f" {entry.name}" not in text.partition("number of contexts seen")[2]


def test_no_placeholder_is_left():
    for text in (key_tables(), str(experiment_schema())):
        assert "THEIR RADII" not in text
        assert "SETS THAT CONCENTRATE" not in text
