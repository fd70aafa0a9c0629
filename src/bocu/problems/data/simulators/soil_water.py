"""Sums over the compartments of a soil that AquaCrop asks for many times a day, quicker and equal to the last bit.

Of what `aquacrop.solution` sums up anew at each call, all but the water content itself depends on a depth alone, which
takes few values in a season; and numpy takes long to round one number. `quickly` puts these functions in the place of
AquaCrop's for as long as seasons of one soil and one crop are simulated: they take two thirds of the time then.
"""

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

USERS = {
    "root_zone_water": (
        "solution.harvest_index",
        "solution.irrigation",
        "solution.canopy_cover",
        "solution.transpiration",
        "timestep.run_single_timestep",
    ),
    "evap_layer_water_content": ("solution.soil_evaporation",),
}
"""Modules of AquaCrop-OSPy 3.1 that call the two functions, by name."""


@contextmanager
def quickly() -> Iterator[None]:
    """Let AquaCrop sum up by the functions of this module: for one soil and one crop."""
    places = [
        (importlib.import_module(f"aquacrop.{module}"), name) for name, users in USERS.items() for module in users
    ]
    before = [getattr(module, name) for module, name in places]
    sums = Sums()
    for module, name in places:
        setattr(module, name, getattr(sums, name))
    try:
        yield
    finally:
        for (module, name), function in zip(places, before, strict=True):
            setattr(module, name, function)


class Layer(NamedTuple):
    """The compartments down to a depth.

    Attributes:
        covered: mm of soil of each, times its covered share, as AquaCrop forms it: a factor and a thickness.
        kept: water at saturation, field capacity, wilting point, air dryness and the aeration threshold, mm.
    """

    covered: list[tuple[float, float]]
    kept: tuple[float, ...]


class Sums:
    """The two functions, which remember what they summed up for a depth."""

    def __init__(self) -> None:
        self._layers: dict[tuple[Any, ...], Layer] = {}

    def evap_layer_water_content(self, content: np.ndarray, depth: float, soil: Any) -> tuple[float, ...]:
        """Return the water of the evaporation layer, mm: saturated, at capacity, wilting, dry, and as it is."""
        layer = self._layers.get(key := ("evaporation", float(depth)))
        if layer is None:
            reached = int((soil.dzsum < depth).sum()) + 1
            layer = self._layers[key] = _layer(soil, depth, reached, _same)
        saturated, capacity, wilting, dry = layer.kept[:4]
        return saturated, capacity, wilting, dry, max(_water(layer, content.tolist(), _same), 0.0)

    def root_zone_water(
        self, soil: Any, roots: float, content: np.ndarray, top: float, least: float, aeration: float
    ) -> tuple[float, ...]:
        """Return water, depletion and available water of the root zone and of the top soil, in AquaCrop's order."""
        depth = two_decimals(max(float(roots), float(least)))
        layer = self._layers.get(key := ("roots", depth, float(aeration)))
        if layer is None:
            reached = int(np.flatnonzero(soil.dzsum >= depth)[0]) + 1
            layer = self._layers[key] = _layer(soil, depth, reached, two_decimals, aeration / 100.0)
        contents = content.tolist()
        water = max(_water(layer, contents, two_decimals), 0.0)
        saturated, capacity, wilting, dry, aerated = layer.kept
        available = max(capacity - wilting, 0.0)
        depleted = min(capacity - water, available)
        depleted_top, available_top = depleted, available
        if depth > top:
            depleted_top, available_top = self._top(soil, contents, two_decimals(float(top)))
        shares = (each / (depth * 1000) for each in (water, saturated, capacity, wilting, dry, aerated))
        return water, depleted_top, depleted, available_top, available, *shares

    def _top(self, soil: Any, contents: Sequence[float], depth: float) -> tuple[float, float]:
        layer = self._layers.get(key := ("top", depth))
        if layer is None:
            layer = self._layers[key] = _layer(soil, depth, int((soil.dzsum <= depth).sum()), _same)
        _, capacity, wilting, *_ = layer.kept
        available = max(capacity - wilting, 0.0)
        return min(capacity - max(_water(layer, contents, _same), 0.0), available), available


def two_decimals(number: float) -> float:
    """Round as numpy does."""
    return round(number * 100.0) / 100.0


def _same(number: float) -> float:
    return number


def _layer(soil: Any, depth: float, reached: int, rounded: Callable[[float], float], aeration: float = 0.0) -> Layer:
    thickness, ends = soil.dz.tolist()[:reached], soil.dzsum.tolist()[:reached]
    covered = [
        ((1 - (end - depth) / thick if end > depth else 1.0) * 1000, thick)
        for thick, end in zip(thickness, ends, strict=True)
    ]
    bare = Layer(covered, ())
    saturated = soil.th_s.tolist()
    contents = (saturated, soil.th_fc.tolist(), soil.th_wp.tolist(), soil.th_dry.tolist())
    aerated = [each - aeration for each in saturated]
    return Layer(covered, tuple(_water(bare, content, rounded) for content in (*contents, aerated)))


def _water(layer: Layer, contents: Sequence[float], rounded: Callable[[float], float]) -> float:
    """Sum the water of a layer, mm, compartment by compartment."""
    total = 0.0
    for (factor, thickness), content in zip(layer.covered, contents, strict=False):
        total += rounded(factor * content * thickness)
    return total
