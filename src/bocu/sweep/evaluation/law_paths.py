"""Metrics that score along a path of laws (`under: {from, to, steps}`): one entry of an experiment, a metric a law."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.io.files import canonical_json
from bocu.sweep.evaluation.cubes import METRIC_SPECIFICATION

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Family:
    """The metrics along one path.

    Attributes:
        label: that of their entry.
        metrics: labels, by growing s.
        specifications: likewise.
        s: likewise.
    """

    label: str
    metrics: Sequence[str]
    specifications: Sequence[Mapping[str, Any]]
    s: np.ndarray

    @property
    def title(self) -> str:
        """Its label in words."""
        return self.label.replace("-", " ")


def families_of(data: "xr.Dataset") -> list[Family]:
    """Gather the metrics of a cube or digest that score along paths of laws."""
    if METRIC_SPECIFICATION not in data.variables:
        return []
    found: dict[tuple[str, str], list[tuple[float, str, dict[str, Any]]]] = {}
    for label, text in zip(map(str, data["metric"].values), data[METRIC_SPECIFICATION].values, strict=True):
        specification = json.loads(str(text))
        under = specification.get("under")
        entry, _, place = label.rpartition("-")
        # Another entry may score under a law of the same path.
        if under is not None and place.isdigit():
            path = canonical_json({**specification, "under": {**under, "s": None}})
            found.setdefault((entry, path), []).append((under["s"], label, specification))
    families = []
    for (entry, _), members in found.items():
        if len(members) > 1:
            members.sort(key=lambda member: member[0])
            s, labels, specifications = zip(*members, strict=True)
            families.append(Family(entry, labels, specifications, np.array(s)))
    return families


def metrics_off_paths(data: "xr.Dataset") -> list[str]:
    """Return the metrics that are shown one by one: not those along paths, whose curves show them all at once.

    Where every metric stands on a path, all are shown.
    """
    metrics = [str(label) for label in data["metric"].values]
    along = {metric for family in families_of(data) for metric in family.metrics}
    return [metric for metric in metrics if metric not in along] or metrics
