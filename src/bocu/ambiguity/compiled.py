"""One decorator for compiled inner loops: cached on disk where a place can be found, compiled in memory otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

#: Sums may be reordered for vector instructions; NaN and infinity keep their meaning.
_OPTIONS: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy", "nogil": True}


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`numba.njit` with a cache.

    numba looks for a cache folder beside the source, then in the user's home, and raises where neither can be written
    (a read-only installation without a home, say). Then each process compiles for itself.

    The cache of a function follows its own file only: what calls a compiled function of another file keeps the old one
    when that changes. Hence an algorithm is one file; only helpers that have settled are shared.
    """
    try:
        return numba.njit(function, cache=True, **_OPTIONS)
    except RuntimeError:
        return numba.njit(function, **_OPTIONS)
