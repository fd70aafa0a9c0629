"""Everything that is registered keeps the promises that outsiders are held to."""

import pytest

from bocu.experiment.registry import registered
from bocu.testing import check_algorithm

NEEDED = {"constant": {"decision": 2}}


@pytest.mark.parametrize("name", [entry.name for entry in registered("algorithm")])
def test_algorithm(name):
    check_algorithm(name, NEEDED.get(name))
