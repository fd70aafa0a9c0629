"""The one numerical kernel that jobs, commands and tests run under, so that a run has the same bits on every processor.

OpenBLAS, NumPy and numba choose their code by the processor: sums are added up in another order, and exponentials,
powers and the order of equal numbers differ. Under Linux on x86-64 with AVX2 all three are held to what such processors
have in common; elsewhere nothing is. They read these variables as they are loaded, so `pin_kernel` comes before NumPy
is imported. `import bocu` sets nothing.
"""

import functools
import os
import platform
import sys
from collections.abc import Collection
from pathlib import Path

from bocu.core.errors import BocuError

#: What is held to: OpenBLAS's kernel, and NumPy's level of vector instructions; numba compiles for the same.
KERNEL = "Haswell, AVX2"

_FLAGS = frozenset({"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe", "abm"})  # all that comes with AVX2: x86-64-v3
_INSTEAD = {"NPY_DISABLE_CPU_FEATURES": "NPY_ENABLE_CPU_FEATURES"}  # NumPy refuses both at once


def pin_kernel() -> None:
    """Let this process, which is yet to import NumPy, and those that it starts compute by the one kernel.

    What the user has set stays.
    """
    for name, value in _variables().items():
        if _heeded(name) == name:
            os.environ.setdefault(name, value)


def kernel() -> str:
    """Return what jobs and commands compute by, as part of a specification: `KERNEL`, and what the user has set."""
    return "; ".join([KERNEL, *_own_settings()]) if _variables() else f"not pinned, {platform.machine()}"


def told_of_own_settings() -> str | None:
    """Return a line on what the user has set besides; None where that is nothing."""
    own = ", ".join(_own_settings())
    return f"{own}: set by you, so part of what is run; results under '{KERNEL}' are others" if own else None


def _own_settings() -> list[str]:
    """Return the variables that the user has set to other values than `pin_kernel` would, as NAME=VALUE."""
    named = {_heeded(name): value for name, value in _variables().items()}
    return [f"{name}={os.environ[name]}" for name, value in named.items() if os.environ.get(name, value) != value]


def _heeded(name: str) -> str:
    """Return the variable that the user has set in place of one, else its name."""
    other = _INSTEAD.get(name, "")
    return other if other in os.environ else name


@functools.cache
def kernel_in_use() -> str:
    """Return what this process computes by: OpenBLAS's kernel (or which other library), NumPy's vector instructions."""
    import numpy._core._multiarray_umath as built
    from threadpoolctl import threadpool_info

    libraries = {
        str(pool["architecture"] if pool["internal_api"] == "openblas" else pool["internal_api"])
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    level = [name for name in built.__cpu_dispatch__ if built.__cpu_features__.get(name)][-1:] or ["baseline"]
    return ", ".join([*sorted(libraries), *("AVX2" if name == "X86_V3" else name for name in level)])


def refuse_other_kernel(stated: str) -> None:
    """Refuse to compute by another kernel what a specification wants computed by the one kernel.

    Raises:
        BocuError: the libraries were loaded before `pin_kernel`, or do not heed what it sets.
    """
    found = set(kernel_in_use().split(", ")) - {"mkl", "blis", "flexiblas"}  # the user's own choice of a library
    if stated == KERNEL and not found <= set(KERNEL.split(", ")):
        wanted = " ".join(f"{name}='{value}'" for name, value in _variables().items())
        raise BocuError(f"kernel: wanted '{KERNEL}', found '{kernel_in_use()}' in this process; set {wanted}")


@functools.cache
def _variables() -> dict[str, str]:
    from importlib.metadata import version

    return variables(sys.platform, platform.machine(), _flags(), version("numpy"))


def variables(system: str, machine: str, flags: Collection[str], numpy: str) -> dict[str, str]:
    """Return the variables that hold libraries to the one kernel; none where that is not to be had.

    Args:
        system: as `sys.platform` has it.
        machine: as `platform.machine` has it.
        flags: of the processor, as Linux has them.
        numpy: its version.
    """
    if system != "linux" or machine != "x86_64" or not _FLAGS.issubset(flags):
        return {}
    grouped = tuple(map(int, numpy.split(".")[:2])) >= (2, 4)
    return {
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": " ".join(
            [
                *(["X86_V4"] if grouped else ["AVX512F", "AVX512CD", "AVX512_SKX", "AVX512_CLX", "AVX512_CNL"]),
                *("AVX512_ICL", "AVX512_SPR"),
            ]
        ),
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "",  # those of the name; else numba adds what this processor has besides
    }


def _flags() -> frozenset[str]:
    """Return the flags of the first processor."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            return frozenset(next((line for line in lines if line.startswith("flags")), "").split())
    except OSError:
        return frozenset()
