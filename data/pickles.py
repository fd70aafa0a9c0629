"""Arrays out of published pickles, without running anything that a pickle names but numpy's own constructors.

A pickle is a program: opening one with `pickle.load` runs what it says. Here every class or function that it names,
except the few from which arrays are built, is replaced by `Inert`, which keeps what it is given and does nothing. So
three data sets of the catalogue were turned into the plain files under `data/shipped/`:

    python data/pickles.py plant NH3pH_gp_leaf_dict.p NH3pH_req_variables.p marchantia_leaf_area_svgp.npz
    python data/pickles.py infection infection_X_y.p infection_X_y.npz
    python data/pickles.py wind wind_data.p de_wind_2013_2014_levels.csv de_wind_reference_distribution.csv
"""

import io
import os
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path

# `numpy.core` became `numpy._core`; files name either.
_CONSTRUCTORS = {
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}

# Beyond it GPflow's softplus is the identity in double precision.
_LARGE = 30.0

_FIRST_YEAR, _MONTHS, _LEVELS = 2013, 24, 49


class Inert:
    """What stands in for an object of a class that is not admitted: it holds what it was given."""

    given: tuple[object, ...]

    def __new__(cls, *given: object, **named: object) -> "Inert":
        # Not `__init__`, which pickles pass over.
        inert = super().__new__(cls)
        inert.given = (given, named)
        return inert

    def __setstate__(self, state: object) -> None:
        self.given = (*self.given, state)

    def __call__(self, *given: object, **named: object) -> "Inert":
        return Inert(self, *given, **named)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        today = module.replace("numpy.core", "numpy._core")
        return super().find_class(today, name) if (today, name) in _CONSTRUCTORS else Inert


def read_pickle(path: str | os.PathLike[str]) -> Any:
    """Return what a pickle holds: arrays, plain containers, and `Inert` in place of everything else.

    Raises:
        BocuError: it cannot be read, or is no pickle.
    """
    try:
        with Path(path).open("rb") as file:
            return _Unpickler(file).load()
    except OSError as error:
        raise BocuError(f"{path}: cannot be read: {error.strerror}") from error
    except Exception as error:  # whatever a broken program of a pickle leads to
        raise BocuError(f"{path}: not a pickle that can be read ({type(error).__name__}: {error})") from error


def arrays_within(value: object) -> list[np.ndarray]:
    """Return all arrays and numbers of numpy inside a value, each once, depth first."""
    found, seen, waiting = [], set[int](), [value]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:  # parts may hold one another in a circle
            continue
        seen.add(id(part))
        if isinstance(part, (np.ndarray, np.generic)):
            found.append(np.asarray(part))
        elif isinstance(part, Inert):
            waiting.append(part.given)
        elif isinstance(part, Mapping):
            waiting += reversed(list(part.values()))
        elif isinstance(part, (tuple, list)):
            waiting += reversed(part)
    return found


def _plant(path: str, variables: str) -> dict[str, np.ndarray]:
    """The first of two latent functions (leaf area, not its noise) of a variational process of GPflow."""
    parameters = read_pickle(path)

    def only(name: str) -> np.ndarray:
        found = arrays_within(parameters.get(name)) if isinstance(parameters, dict) else []
        if len(found) != 1:
            raise BocuError(f"{path}: {len(found)} arrays under '{name}'; allowed: one")
        return found[0]

    kernel = ".kernel.kernels[0]"
    mean, deviation = _several(variables, at_least=2)[:2]
    return {
        "kernel_variance": _softplus(only(f"{kernel}.variance")),
        "kernel_lengthscales": _softplus(only(f"{kernel}.lengthscales")),
        "inducing_points": only(".inducing_variable.inducing_variable_list[0].Z"),
        "whitened_q_mu": only(".q_mu")[:, 0],
        "leaf_area_mean": mean,
        "leaf_area_std": deviation,
    }


def _infection(path: str) -> dict[str, np.ndarray]:
    inputs, values = _several(path, at_least=2)[:2]
    return {"X": inputs, "y": values.ravel()}


def _wind(path: str) -> tuple[str, str]:
    """The hours of 2013 and 2014 in 49ths, month by month, and how often each level came in the years before."""
    probabilities, *months = _several(path, at_least=1 + _MONTHS)[: 1 + _MONTHS]
    hours = [
        f"{_FIRST_YEAR + month // 12},{month % 12 + 1},{hour},{round(level * _LEVELS)}"
        for month, levels in enumerate(months)
        for hour, level in enumerate(levels.tolist())
    ]
    shares = [f"{level},{probability!r}" for level, probability in enumerate(probabilities.tolist())]
    return (
        "\n".join(["year,month,hour_of_month,level_of_49", *hours, ""]),
        "\n".join(["level_of_49,reference_probability", *shares, ""]),
    )


def _several(path: str, at_least: int) -> list[np.ndarray]:
    found = arrays_within(read_pickle(path))
    if len(found) < at_least:
        raise BocuError(f"{path}: {len(found)} arrays; allowed: {at_least} or more")
    return found


def _softplus(unconstrained: np.ndarray) -> np.ndarray:
    """The positive number that GPflow keeps as `log(exp(x) - 1)`."""
    small = np.minimum(unconstrained, _LARGE)
    return np.where(unconstrained > _LARGE, unconstrained, np.log1p(np.exp(small)))


def _npz(arrays: dict[str, np.ndarray]) -> bytes:
    target = io.BytesIO()
    np.savez_compressed(target, **arrays)  # type: ignore[arg-type]
    return target.getvalue()


# By data set: what the files that are read and written are called, and the contents of those written.
_CONVERSIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[..., tuple[bytes, ...]]]] = {
    "plant": (("PARAMETERS.p", "VARIABLES.p"), ("OUTPUT.npz",), lambda *read: (_npz(_plant(*read)),)),
    "infection": (("RUNS.p",), ("OUTPUT.npz",), lambda read: (_npz(_infection(read)),)),
    "wind": (("WIND.p",), ("LEVELS.csv", "REFERENCE.csv"), lambda read: tuple(map(str.encode, _wind(read)))),
}


def main(arguments: Sequence[str]) -> None:
    """Convert the published pickles of a data set.

    Raises:
        BocuError: an unknown data set, or the files do not hold its arrays.
    """
    read, written, convert = _CONVERSIONS.get(arguments[0] if arguments else "", ((), (), None))
    if convert is None or len(arguments) != 1 + len(read) + len(written):
        allowed = ", or ".join(f"{name} {' '.join((*files[0], *files[1]))}" for name, files in _CONVERSIONS.items())
        raise BocuError(f"found: {' '.join(arguments) or 'nothing'}; allowed: {allowed}")
    contents = convert(*arguments[1 : 1 + len(read)])
    for target, content in zip(arguments[1 + len(read) :], contents, strict=True):
        with atomic_path(Path(target)) as temporary:
            temporary.write_bytes(content)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BocuError as error:
        sys.exit(str(error))
