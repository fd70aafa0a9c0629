"""Names for plain data whose inside is known to those who write and read it alone."""

from collections.abc import Mapping
from typing import Any

State = dict[str, Any]
"""What is kept between two rounds, in a checkpoint: nested dicts of arrays, numbers, strings and lists of those."""

Specification = Mapping[str, Any]
"""What numbers depend on, as a run's `params` have it: nested mappings of numbers, strings and lists of those."""

Plain = dict[str, Any]  #: What JSON holds: nested dicts of numbers, truth values, strings and lists of those.

Inputs = Mapping[str, str | list[str]]
"""The files that a problem is built from, by the keys of its parameters' `inputs`."""
