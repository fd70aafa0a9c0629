"""The parameters of an entry, checked as far as nothing else of the experiment is needed."""

from collections.abc import Mapping
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters, Reading, sections, validate


def read_parameters(family: Any, data: Mapping[str, object], where: str, reading: Reading) -> Parameters:
    """Check what an experiment file states for a class.

    Args:
        family: the class.
        data: what is stated.
        where: the file, and the keys that lead there, for the error line.
        reading: how classes from outside are found.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed.
    """
    parameters: Parameters = validate(family.Parameters, data, where, reading)
    for path, part in sections(parameters):
        for key, reason in part.unused().items():
            if key in part.model_fields_set:
                raise BocuError(f"{where}{path}{key}: it changes nothing: {reason}; leave it out")
        try:
            part.refuse_misfits()
        except BocuError as error:
            raise BocuError(f"{where}{path}{error}") from None
    return parameters
