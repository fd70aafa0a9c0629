"""Sets by the short names of configuration files and the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bocu.ambiguity.base import AmbiguitySet
from bocu.ambiguity.mmd.gram import JITTER
from bocu.core.errors import BocuError

if TYPE_CHECKING:
    from bocu.ambiguity.checks import Floats


@dataclass(frozen=True, slots=True)
class Settings:
    """What a set may be made from; each kind takes what it needs and names what is missing.

    Attributes:
        epsilon: radius. alpha : of CVaR. k : order of Cressie-Read.
        contexts: (n, l) points, for MMD and Wasserstein. lengthscale, jitter : of the squared exponential MMD kernel.
    """

    epsilon: float | None = None
    alpha: float | None = None
    k: float | None = None
    contexts: ArrayLike | None = None
    lengthscale: ArrayLike | None = None
    jitter: float = JITTER

    def number(self, distance: str, name: str) -> float:
        """The setting `name`, which this distance needs."""
        value: float | None = getattr(self, name)
        if value is None:
            raise BocuError(f"distance {distance} needs {name}")
        return value

    def points(self, distance: str) -> Floats:
        """Context points `(n, l)`."""
        from bocu.ambiguity.checks import floats

        if self.contexts is None:
            raise BocuError(f"distance {distance} needs the coordinates of the contexts")
        points = floats("contexts", self.contexts)
        return points[:, None] if points.ndim == 1 else points


def set_named(distance: str, settings: Settings) -> AmbiguitySet:
    """The set called `tv`, `mmd`, `chi2mod`, `chi2`, `kl`, `cr`, `cvar` or `wass`; another name raises `BocuError`."""
    if distance not in DISTANCES:
        raise BocuError(f"distance is {distance!r}: it must be one of {', '.join(DISTANCES)}")
    return DISTANCES[distance](settings)


def set_class(distance: str) -> type[AmbiguitySet]:
    """The class of the sets called so, `phi` (a divergence of one's own) included; imports that class alone."""
    name = CLASSES[distance]
    kind: type[AmbiguitySet] = getattr(import_module("bocu.ambiguity"), name)
    return kind


def _tv(settings: Settings) -> AmbiguitySet:
    from bocu.ambiguity.total_variation import TotalVariation

    return TotalVariation(settings.number("tv", "epsilon"))


def _mmd(settings: Settings) -> AmbiguitySet:
    from bocu.ambiguity.mmd.gram import squared_exponential_gram
    from bocu.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancy

    if settings.lengthscale is None:
        raise BocuError("distance mmd needs lengthscale")
    gram = squared_exponential_gram(settings.points("mmd"), settings.lengthscale, settings.jitter)
    return MaximumMeanDiscrepancy(settings.number("mmd", "epsilon"), gram)


def _chi2mod(settings: Settings) -> AmbiguitySet:
    from bocu.ambiguity.divergences.chi_squared import ModifiedChiSquared

    return ModifiedChiSquared(settings.number("chi2mod", "epsilon"))


def _chi2(settings: Settings) -> AmbiguitySet:
    from bocu.ambiguity.divergences.chi_squared import ChiSquared

    return ChiSquared(settings.number("chi2", "epsilon"))


def _kl(settings: Settings) -> AmbiguitySet:
    from bocu.ambiguity.divergences.kullback_leibler import KullbackLeibler

    return KullbackLeibler(settings.number("kl", "epsilon"))


def _cr(settings: Settings) -> AmbiguitySet:
    from bocu.ambiguity.divergences.cressie_read import CressieRead

    return CressieRead(settings.number("cr", "epsilon"), settings.number("cr", "k"))


def _cvar(settings: Settings) -> AmbiguitySet:
    from bocu.ambiguity.conditional_value_at_risk import ConditionalValueAtRisk

    return ConditionalValueAtRisk(settings.number("cvar", "alpha"))


def _wass(settings: Settings) -> AmbiguitySet:
    from bocu.ambiguity.wasserstein import Wasserstein

    points = settings.points("wass")
    difference = points[:, None, :] - points[None, :, :]
    return Wasserstein(settings.number("wass", "epsilon"), np.sqrt((difference**2).sum(axis=-1)))


DISTANCES: dict[str, Callable[[Settings], AmbiguitySet]] = {
    "tv": _tv,
    "mmd": _mmd,
    "chi2mod": _chi2mod,
    "chi2": _chi2,
    "kl": _kl,
    "cr": _cr,
    "cvar": _cvar,
    "wass": _wass,
}

CLASSES = {
    "tv": "TotalVariation",
    "mmd": "MaximumMeanDiscrepancy",
    "chi2mod": "ModifiedChiSquared",
    "chi2": "ChiSquared",
    "kl": "KullbackLeibler",
    "cr": "CressieRead",
    "cvar": "ConditionalValueAtRisk",
    "wass": "Wasserstein",
    "phi": "PhiDivergence",
}
