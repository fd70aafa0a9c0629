"""Compiling ahead all that worst cases call, so that the first jobs of a sweep need not."""

from __future__ import annotations

import contextlib

from bocu.robust.ambiguity import machine_code

#: Modules with the functions that are called from Python; those that they call are compiled with them.
ENTRIES = (
    "bocu.robust.ambiguity.mmd.certificates",
    "bocu.robust.ambiguity.mmd.critical_line",
    "bocu.robust.ambiguity.mmd.near_reference",
    "bocu.robust.ambiguity.mmd.nonnegative",
    "bocu.robust.ambiguity.mmd.pivoting",
    "bocu.robust.ambiguity.wasserstein_chain",
)

_READY = "ready"


def is_ready() -> bool:
    """Whether `prepare` has compiled for this processor what the sources say now."""
    places = machine_code.places()
    return all(any((place / name / _READY).is_file() for place in places) for name in map(_name, ENTRIES))


def prepare() -> None:
    """Compile everything for this processor, or find it compiled: some ten seconds, once."""
    import numpy as np

    from bocu.robust.ambiguity.base import worst_case
    from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancy
    from bocu.robust.ambiguity.wasserstein import Wasserstein

    contexts = 8
    gram = np.eye(contexts) + 0.1
    payoffs = np.cos(np.arange(4.0 * contexts)).reshape(4, contexts)
    spread, narrow = np.full(contexts, 1.0 / contexts), np.eye(contexts)[0]
    uneven = np.append(np.full(2, 0.494), np.full(6, 0.002))
    # By pivoting, from the reference, away from a reference without mass at some contexts, and from the floor.
    for epsilon, reference in ((0.05, uneven), (0.4, spread), (0.0, narrow), (2.0, narrow)):
        worst_case(payoffs, reference, MaximumMeanDiscrepancy(epsilon, gram))
    line = np.arange(float(contexts))
    on_a_line = Wasserstein(0.4, np.abs(line[:, None] - line))
    worst_case(payoffs, spread, on_a_line)
    on_a_line.satisficing(payoffs, spread, float(payoffs.mean()) - 0.1)
    for folder in (place / _name(entry) for place in machine_code.places() for entry in ENTRIES):
        with contextlib.suppress(OSError):
            if folder.is_dir():
                (folder / _READY).touch()


def _name(module: str) -> str:
    return machine_code.folder_name(module)
