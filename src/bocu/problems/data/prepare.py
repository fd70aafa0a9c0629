"""From raw files to a data set: the way that all records have in common."""

import os
from collections.abc import Mapping, Sequence

from bocu.core.loading import load
from bocu.problems.data.raw import check


def prepare(
    function: str,
    raw: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    origin: Mapping[str, str],
    minutes: int | None = None,
) -> None:
    """Prepare a record from raw files that are still what they were when they came.

    Args:
        function: "module:function" that the catalogue names for the record.
        raw: its raw files.
        output: the NetCDF file to be written.
        origin: what the file says of where it comes from.
        minutes: interval to which a record with a choice is resampled.

    Raises:
        BocuError: a raw file changed since it came, or holds what the function refuses.
    """
    check(raw)
    interval = {} if minutes is None else {"minutes": minutes}
    load(function)(raw, output, origin, **interval)
