"""Random numbers: one seed spawns independent streams that are keyed by name.

Every algorithm of one problem and seed is handed streams of the same names, and therefore meets the same initial
design, contexts, noise and problem draw: comparisons are paired.
"""

import hashlib

import numpy as np

from bocu.core.plain import State

STREAMS = ("problem", "initial-design", "contexts", "noise", "weights", "algorithm")


class Streams:
    """The named generators of one seed.

    A stream depends on the seed and its own name alone, never on which other streams exist or were used.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._generators = {name: np.random.Generator(np.random.PCG64(_sequence(seed, name))) for name in STREAMS}

    def __getitem__(self, name: str) -> np.random.Generator:
        return self._generators[name]

    def state(self) -> State:
        """Return the state of every stream as plain data."""
        return {name: dict(generator.bit_generator.state) for name, generator in self._generators.items()}

    def restore(self, state: State) -> None:
        """Put back what `state` gave."""
        for name, generator in self._generators.items():
            generator.bit_generator.state = state[name]


def scrambled_sobol(lower: np.ndarray, upper: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return the first `size` points of a scrambled Sobol sequence in a box with corners (D,), shape (size, D)."""
    from scipy.stats import qmc  # slow to import, and planning needs none of it

    # Handed a generator, SciPy would take a child of it, which the generator's state does not tell.
    sequence = qmc.Sobol(len(lower), scramble=True, seed=int(generator.integers(2**32)))
    # A power of two draws no warning; the points that are too many are not balanced anyway.
    points = sequence.random_base2(max(size - 1, 0).bit_length())[:size]
    return lower + points * (upper - lower)


def _sequence(seed: int, name: str) -> np.random.SeedSequence:
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    return np.random.SeedSequence(entropy=seed, spawn_key=(key,))
