"""Checks of what a user hands to the ambiguity sets: each fault is one `BocuError` line with its index and value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bocu.core.errors import BocuError

Floats = NDArray[np.float64]

#: Kinds of dtype that are real numbers: truth values, integers, floats.
_REAL = "biuf"

#: A probability vector may miss a sum of one by this much.
SUM_TOLERANCE = 1e-8


def where(mask: NDArray[np.bool_]) -> tuple[int, ...] | int:
    """Index of the first true entry, as a plain number for vectors and a tuple of numbers otherwise."""
    first = tuple(int(i) for i in np.argwhere(mask)[0])
    return first[0] if len(first) == 1 else first


def floats(name: str, values: object) -> Floats:
    """`values` as a float64 array; what is not made of real numbers, or partly masked, is refused by name."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    parts = values if isinstance(values, list | tuple) else (values,)
    if any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in parts):
        raise BocuError(f"{name} is masked in places: it must be an array of numbers without holes")
    try:
        array = np.asarray(values)
        if array.dtype.kind not in _REAL:
            raise TypeError(f"dtype {array.dtype}")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise BocuError(f"{name} must be an array of real numbers, not {type(values).__name__} ({error})") from None


def real_tensor(name: str, values: Any) -> Any:
    """A torch tensor of real numbers, as it is; a complex one would lose its imaginary part unsaid."""
    if values.is_complex():
        raise BocuError(f"{name} must be a tensor of real numbers, not of {values.dtype}")
    return values


def finite(name: str, values: Floats) -> Floats:
    """Refuse NaN and infinities, telling where the first one is."""
    good = np.isfinite(values)
    if not good.all():
        index = where(~good)
        raise BocuError(f"{name}[{index}] is {values[index]}: {name} must be finite")
    return values


def real(name: str, value: Any) -> float:
    """`value` as one float."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BocuError(f"{name} must be one number, not {value!r}") from None


def radius(value: object, name: str = "epsilon") -> float:
    """A radius: not negative, not NaN; infinity stands for the largest set."""
    number = real(name, value)
    if math.isnan(number) or number < 0:
        raise BocuError(f"{name} is {number}: it must be 0 or more")
    return number


def concentration(observations: int, contexts: int, delta: float) -> None:
    """What a radius by concentration is made from: 0 draws or more, 1 context or more, delta in (0, 1)."""
    if observations < 0:
        raise BocuError(f"observations is {observations}: it must be 0 or more")
    if contexts < 1:
        raise BocuError(f"contexts is {contexts}: it must be 1 or more")
    if not 0.0 < delta < 1.0:
        raise BocuError(f"delta is {delta}: it must lie in (0, 1)")


def payoffs(values: ArrayLike) -> Floats:
    """Payoffs `(..., n)`: finite, at least one context."""
    array = floats("payoffs", values)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise BocuError(f"payoffs has shape {array.shape}: it must be (..., contexts) with one context or more")
    return finite("payoffs", array)


def distribution(values: ArrayLike, n: int | None = None, name: str = "reference") -> Floats:
    """Probability vectors `(..., n)`: finite, none negative, each summing to 1 within 1e-8; never renormalised."""
    array = floats(name, values)
    if array.ndim == 0 or array.shape[-1] == 0 or (n is not None and array.shape[-1] != n):
        wanted = "contexts" if n is None else n
        raise BocuError(f"{name} has shape {array.shape}: its last axis must have length {wanted}")
    if array.ndim == 1 and array.min() >= 0.0 and abs(array.sum() - 1.0) <= SUM_TOLERANCE:
        return array  # as nearly all are; what follows says what is wrong
    finite(name, array)
    if array.min() < 0:
        index = where(array < 0)
        raise BocuError(f"{name}[{index}] is {array[index]}: probabilities must be 0 or more")
    total = array.sum(axis=-1)
    off = np.abs(total - 1.0) > SUM_TOLERANCE
    if off.any():
        row = f"[{where(off)}]" if array.ndim > 1 else ""
        raise BocuError(f"{name}{row} sums to {float(total[off][0])!r}: it must sum to 1 within {SUM_TOLERANCE:g}")
    return array


def square(name: str, values: ArrayLike) -> Floats:
    """A finite matrix `(n, n)`, symmetric to 1e-10 of its largest entry."""
    matrix = floats(name, values)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise BocuError(f"{name} has shape {matrix.shape}: it must be a square matrix (contexts, contexts)")
    finite(name, matrix)
    difference = np.abs(matrix - matrix.T)
    if difference.max() > 1e-10 * max(1.0, float(np.abs(matrix).max())):
        i, j = (int(v) for v in np.unravel_index(int(difference.argmax()), matrix.shape))
        raise BocuError(f"{name}[{i}, {j}] is {matrix[i, j]} but {name}[{j}, {i}] is {matrix[j, i]}: not symmetric")
    return matrix


def rows(payoff: Floats, reference: Floats) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Payoffs and reference as matrices, and the leading shape of the answer.

    Returns `(B, n)` payoffs and `(1, n)` (shared) or `(B, n)` references.
    """
    n = payoff.shape[-1]
    if reference.ndim == 1:  # shared by all
        return payoff.reshape(-1, n), reference.reshape(1, n), payoff.shape[:-1]
    try:
        leading = np.broadcast_shapes(payoff.shape[:-1], reference.shape[:-1])
    except ValueError:
        raise BocuError(
            f"reference has shape {reference.shape}: it must be ({n},) or match the payoffs' shape {payoff.shape}"
        ) from None
    if payoff.shape[:-1] != leading:
        payoff = np.broadcast_to(payoff, (*leading, n))
    if math.prod(reference.shape[:-1]) == 1:
        return payoff.reshape(-1, n), reference.reshape(1, n), leading
    return payoff.reshape(-1, n), np.broadcast_to(reference, (*leading, n)).reshape(-1, n), leading


def coordinates(contexts: ArrayLike | None, name: str) -> Floats:
    """Context points `(n, l)`, of which `(n,)` is one coordinate, for the set called so, which cannot do without."""
    if contexts is None:
        raise BocuError(f"the set '{name}' needs the coordinates of the contexts")
    return points("contexts", contexts)


def points(name: str, values: ArrayLike) -> Floats:
    """Finite points `(n, l)`, of which `(n,)` is one coordinate."""
    array = finite(name, floats(name, values))
    if array.ndim == 1:
        return array[:, None]
    if array.ndim != 2:
        raise BocuError(f"{name} has shape {array.shape}: it must be (points, dimension)")
    return array


def matching(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Finite numbers, broadcast to a shape."""
    array = finite(name, floats(name, values))
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise BocuError(f"{name} has shape {array.shape}: it must be one number or match {shape}") from None
