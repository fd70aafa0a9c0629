"""What experiment files called otherwise in earlier versions gets a line with its name of today."""

import pytest
from bad_configurations import grid

from bocu.core.errors import BocuError
from bocu.core.io.yaml_files import parse_yaml
from bocu.sweep.experiment.planning import make_plan


def refused(**changes):
    with pytest.raises(BocuError) as caught:
        make_plan(grid(**changes))
    return str(caught.value)


def test_the_file_before_the_words_changed():
    experiment = grid()
    experiment["judges"] = experiment.pop("metrics", ["so"])
    with pytest.raises(BocuError, match=r"judges: unknown key; it is called 'metrics' now \(allowed: .*metrics"):
        make_plan(experiment)


@pytest.mark.parametrize(
    ("parameters", "key", "successor"),
    [
        ("{ball: {distance: tv, radius: 0.1}}", "ball", "set"),
        ("{set: {distance: tv, radius: 0.1}}", "distance", "name"),
        ("{set: {distance: mmd, lengthscale: 0.1}}", "distance", "name"),
    ],
)
def test_a_set_around_the_reference(parameters, key, successor):
    line = refused(objectives=[{"name": "dro", "parameters": parse_yaml(parameters)}])
    assert f".{key}: " in line
    assert f"it is called '{successor}' now" in line
