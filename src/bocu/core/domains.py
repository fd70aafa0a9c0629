"""Where decisions and contexts live: a finite set of points, or a box."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FiniteDomain:
    """A finite set of points; a decision or context in it is named by its index.

    Attributes:
        points: coordinates, shape (size, dimension).
        names: what each coordinate is, with its unit in the same place of `units`.
    """

    points: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.points)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.points.shape[1]

    def coordinates(self, index: int) -> np.ndarray:
        """Return the coordinates (dimension,) of a member, by its index."""
        return self.points[index]


@dataclass(frozen=True)
class BoxDomain:
    """All points between `lower` and `upper`, both of shape (dimension,); a member is named by its coordinates."""

    lower: np.ndarray
    upper: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.lower)

    def coordinates(self, point: np.ndarray) -> np.ndarray:
        """Return a member's coordinates: itself, as an array (dimension,)."""
        return np.asarray(point, dtype=float)


Domain = FiniteDomain | BoxDomain


def unit_cube(kind: str, dimension: int) -> BoxDomain:
    """Return the box [0, 1]^dimension of decisions or contexts."""
    names = tuple(f"{kind} {place + 1}" for place in range(dimension)) if dimension > 1 else (kind,)
    return BoxDomain(np.zeros(dimension), np.ones(dimension), names, ("1",) * dimension)


def time_steps(last: float = np.inf) -> BoxDomain:
    """Return the times 1, 2, ... up to the last one, where time is what contexts are."""
    return BoxDomain(np.array([1.0]), np.array([last]), ("time step",), ("1",))
