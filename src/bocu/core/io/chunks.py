"""NetCDF files written chunk by chunk, so that aggregates of any size need little memory."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bocu.core.io.files import atomic_path, check_metadata
from bocu.core.io.lineage import lineage_attributes

STORED_ELEMENTS = 2**18  # of a compressed chunk: 2 MB of floats
GROWING_CHUNK = 64  # along a dimension of unknown size
CACHE_BYTES = 2**22  # of chunks of one variable; the library's own choice would be many times that
CHUNK_ELEMENTS = 2**22  # read and written at once: 32 MB of floats


class ChunkFile:
    """A NetCDF-4 file under construction; see `chunk_file`.

    Attributes:
        sizes: of all dimensions; None for one that grows as it is written.
    """

    def __init__(self, file: Any, sizes: Mapping[str, int | None]) -> None:
        self._file = file
        self.sizes = dict(sizes)

    def dimension(self, name: str, size: int) -> None:
        """Add a dimension that was not known when the file was opened."""
        self._file.createDimension(name, size)
        self.sizes[name] = size

    def coordinate(self, name: str, dim: str, values: Sequence[Any], attributes: Mapping[str, Any]) -> None:
        """Write a whole one-dimensional variable of numbers or text."""
        array = np.asarray(values)
        attributes = check_metadata(name, attributes)
        if array.dtype.kind not in "UO":
            variable = self._file.createVariable(name, array.dtype, (dim,), fletcher32=True)
            variable.setncatts(attributes)
            variable[:] = array
            return
        # Text as characters: only these have checksums.
        encoded = np.char.encode(array.astype(str), "utf-8")
        length = f"{name}_length"
        self._file.createDimension(length, max(1, encoded.dtype.itemsize))
        variable = self._file.createVariable(name, "S1", (dim, length), fletcher32=True)
        variable.setncatts({**attributes, "_Encoding": "utf-8"})
        variable[:] = array.astype(str)

    def define(self, name: str, dims: Sequence[str], dtype: Any, attributes: Mapping[str, Any]) -> None:
        """Declare a variable whose every element will be written."""
        variable = self._file.createVariable(
            name,
            dtype,
            tuple(dims),
            compression="zlib",
            complevel=2,
            shuffle=True,
            fletcher32=True,
            chunksizes=self._chunks(dims),
            fill_value=np.nan if np.dtype(dtype).kind == "f" else False,
        )
        variable.setncatts(check_metadata(name, attributes))

    def write(self, name: str, selection: tuple[Any, ...], values: np.ndarray | float) -> None:
        """Write values to a part of a variable."""
        self._file.variables[name][selection] = values

    def attributes(self, attributes: Mapping[str, Any]) -> None:
        """Write attributes of the file."""
        self._file.setncatts(dict(attributes))

    def _chunks(self, dims: Sequence[str]) -> list[int]:
        """Whole rounds, as many seeds as fit, one of everything else: figures read by algorithm."""
        chunks = dict.fromkeys(dims, 1)
        left = STORED_ELEMENTS
        for dim in ("output", "weight", "prior", "checkpoint", "iteration", "seed"):
            if dim in chunks:
                chunks[dim] = max(1, min(self.sizes[dim] or GROWING_CHUNK, left))
                left //= chunks[dim]
        return [chunks[dim] for dim in dims]


@contextlib.contextmanager
def chunk_file(path: str | os.PathLike[str], sizes: Mapping[str, int | None]) -> Iterator[ChunkFile]:
    """Open a NetCDF-4 file to be written in chunks; it appears under its name when the block ends well."""
    import netCDF4

    netCDF4.set_chunk_cache(CACHE_BYTES)  # of files opened from now on, for reading too
    with atomic_path(path) as temporary, netCDF4.Dataset(temporary, "w", format="NETCDF4") as file:
        for dim, size in sizes.items():
            file.createDimension(dim, size)
        yield ChunkFile(file, sizes)
        file.setncatts(lineage_attributes(path))


def seed_slices(seeds: int, elements_per_seed: int) -> Iterator[slice]:
    """Cut a number of seeds into slices that are read and written at once."""
    step = max(1, CHUNK_ELEMENTS // max(1, elements_per_seed))
    for start in range(0, seeds, step):
        yield slice(start, min(seeds, start + step))
