"""What the arrays of run files, scores and cubes take on disk, and what they would take with fewer digits.

    python tests/benchmarks/disk.py results/quickstart/cubes/*.nc results/quickstart/runs/hills/any/pe-gp-ucb/*.nc

Bytes a number of every array of rounds: plain; compressed as files are (zlib 2 after shuffling bytes); with no digit
lost by zlib 9 and by LZMA after the same; as files are, but as float32, and with the binary digits of a double after
the seventh decimal figure set to 0. Before them, bytes a round of a seed of the whole file.
"""

import argparse
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

import netCDF4
import numpy as np

KEPT_BITS = 23
"""Of 52 binary digits after the point: seven figures."""


def stored(values: np.ndarray, compress: Callable[[bytes], bytes] = lambda plain: zlib.compress(plain, 2)) -> float:
    """Return the bytes a number that compressed values take."""
    plain = np.frombuffer(np.ascontiguousarray(values).tobytes(), dtype=np.uint8)
    shuffled = plain.reshape(-1, values.dtype.itemsize).T.tobytes()
    return len(compress(shuffled)) / max(values.size, 1)


def rounded(values: np.ndarray) -> np.ndarray:
    """Set the last digits of doubles to 0."""
    bits = np.ascontiguousarray(values, dtype="f8").view("u8")
    mask = np.uint64(2**64 - 2 ** (52 - KEPT_BITS))
    return (bits & mask).view("f8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    for path in parser.parse_args().files:
        with netCDF4.Dataset(path) as data:
            data.set_auto_mask(False)
            size, rows = path.stat().st_size, 0
            if "iteration" in data.dimensions:
                seeds, rounds = (len(data.dimensions[dim]) for dim in ("seed", "iteration"))
                rows = seeds * rounds
            print(f"{path}: {size / 1e6:.2f} MB, {rows} rounds of seeds, {size / max(rows, 1):.1f} bytes each")
            for name, variable in data.variables.items():
                if "iteration" in variable.dimensions and variable.ndim > 1:
                    values = variable[:]
                    least = [stored(values.astype("f4")), stored(rounded(values))] if values.dtype == "f8" else []
                    harder = [stored(values, lambda plain: zlib.compress(plain, 9)), stored(values, lzma.compress)]
                    found = (values.itemsize, stored(values), *harder, *least)
                    shown = "  ".join(f"{each:5.2f}" for each in found)
                    print(f"    {name:24} {shown}")


if __name__ == "__main__":
    main()
