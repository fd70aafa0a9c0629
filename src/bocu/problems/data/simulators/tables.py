"""Tables of what decisions come to in each situation: computed in parts, one job each, then put together.

What a problem makes of a table is told in `bocu.problems`; `docs/data.md` says which tables are shipped.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.loading import load

if TYPE_CHECKING:
    import xarray as xr

SITUATION = "situation"  #: The dimension that parts are cut along.


class TableSimulator(ABC):
    """A table of decisions and situations, whose situations are computed part by part."""

    package: ClassVar[str]  #: the simulator, as its package is called.

    @abstractmethod
    def situations(self) -> int:
        """Return how many situations there are."""

    @abstractmethod
    def compute(self, situations: Sequence[int]) -> "xr.Dataset":
        """Return the table of some situations, in their order; dimensions `decision` and `situation`."""

    def share(self, part: int, parts: int) -> list[int]:
        """Return the situations of a part, from 0 on: all but evenly many.

        Raises:
            BocuError: there is no such part.
        """
        if not 0 <= part < parts:
            raise BocuError(f"part: found {part}; allowed: 0 to {parts - 1}")
        return np.array_split(np.arange(self.situations()), parts)[part].tolist()


def write_part(table: str, part: int, parts: int, output: str | os.PathLike[str]) -> None:
    """Compute a part of a table and write it.

    Args:
        table: "module:Class" of the table.
        part: its number, from 0 on.
        parts: how many there are.
        output: the NetCDF file.

    Raises:
        BocuError: there is no such part, or the simulator is not installed.
    """
    simulated: TableSimulator = load(table)()
    data = simulated.compute(simulated.share(part, parts))
    write_netcdf(data.assign_attrs(table=table, simulator=f"{simulated.package} {version(simulated.package)}"), output)


def gather(parts: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str]) -> None:
    """Put the parts of a table together, in their order, and write it.

    Raises:
        BocuError: a part is missing or broken, or parts are of different tables or versions of the simulator.
    """
    import xarray as xr

    read = [read_netcdf(part) for part in parts]
    for part, data in zip(parts, read, strict=True):
        if data.attrs != read[0].attrs:
            raise BocuError(f"{part}: made by {data.attrs}; {parts[0]} by {read[0].attrs}; allowed: one table alone")
    table = xr.concat(
        read, SITUATION, data_vars="minimal", coords="minimal", compat="equals", join="exact", combine_attrs="override"
    )
    write_netcdf(table, output)
