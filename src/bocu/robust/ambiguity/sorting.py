"""Sorted rows: the step that total variation, CVaR and the chi-squared sets share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bocu.robust.ambiguity.checks import Floats


def sorted_rows(f: Floats, p: Floats, *, descending: bool = False) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Contexts of each row in the order of their payoffs.

    Args:
        f: (B, n) payoffs.
        p: (1, n) shared or (B, n) own references.
        descending: largest payoffs first.

    Returns:
        order : (B, n) positions in the flattened `(B, n)` array, so that `f.ravel()[order]` is sorted by row.
        f, p : (B, n) both in that order.
    """
    order = (-f if descending else f).argsort(axis=1)
    sorted_p = p[0].take(order) if len(p) == 1 else np.take_along_axis(p, order, axis=1)
    if len(f) > 1:
        order += np.arange(0, f.size, f.shape[1])[:, None]
    return order, f.take(order), sorted_p


def unsorted(order: NDArray[np.intp], values: Floats) -> Floats:
    """Undo `sorted_rows`: values `(B, n)` in sorted order back to the order of the contexts."""
    back = np.empty_like(values)
    back.ravel()[order.ravel()] = values.ravel()
    return back


def at_first(mask: NDArray[np.bool_], values: Floats, otherwise: Floats | float) -> Floats:
    """Per row the value `(B,)` at the first true entry of `mask` `(B, n)`, or `otherwise` where there is none."""
    first = mask.argmax(axis=1)
    row = np.arange(len(mask))
    return np.where(mask[row, first], values[row, first], otherwise)
