"""Whether an objective keeps its promises: one number a decision, the same in every company."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.objectives.functions import Objective, UncertaintyObjective
from bocu.testing.breaches import same, subject

_CONTEXTS = 5
_RADII = (0.0, 0.2, 0.9)


def check_objective(what: str | type[Objective], parameters: Mapping[str, object] | None = None) -> None:
    """Check an objective on random payoffs and references.

    It is built again from its specification; values are one number a decision, the same for a decision alone and among
    others; the best decision is one of the highest value; what is handed in stays as it is.

    Args:
        what: as an experiment file may name it, or the class.
        parameters: those that differ from the defaults.

    Raises:
        Breach: a promise is not kept.
    """
    __tracebackhide__ = True
    found = subject("objective", what)
    checked = found.parameters(parameters)
    plain = checked.model_dump(mode="json")
    with found.calling("from_specification"):
        objective = found.kind.from_specification(plain)
    again = objective.parameters.model_dump(mode="json")
    found.wants(again == plain, "from_specification: other parameters come back than were written")
    ambiguity = objective.ambiguity
    stated = ambiguity is None or isinstance(ambiguity, SetParameters)
    found.wants(stated, f"ambiguity: found {ambiguity!r}; allowed: a set or None")
    for seed in range(4):
        generator = np.random.default_rng(seed)
        with found.calling("over"):
            over = objective.over(generator.random((_CONTEXTS, 2)))
        found.wants(isinstance(over, UncertaintyObjective), f"over: found {over!r}; allowed: an UncertaintyObjective")
        for radius in _RADII if ambiguity is not None else (0.0,):
            with found.calling("with_epsilon"):
                sized = over.with_epsilon(radius)
            found_there = f"random instance {seed}, radius {radius:g}"
            _check_values(found, sized, generator, objective.reference_matters, found_there)


def _check_values(
    found: Any, objective: UncertaintyObjective, generator: np.random.Generator, matters: bool, where: str
) -> None:
    payoffs = generator.normal(size=(2, 7, _CONTEXTS))
    reference, other = generator.dirichlet(np.ones(_CONTEXTS), 2)
    handed = payoffs.copy(), reference.copy()
    with found.calling(f"{where}: called"):
        values = np.asarray(objective(*handed))
        repeated = np.asarray(objective(*handed))
        elsewhere = np.asarray(objective(payoffs, other))
        alone = np.array([[float(np.squeeze(objective(row[None], reference))) for row in block] for block in payoffs])
        best = objective.argmax(payoffs[0], reference)
    untouched = same(handed[0], payoffs) and same(handed[1], reference)
    found.wants(untouched, f"{where}: writes into an array that it was handed")
    found.wants(values.shape == (2, 7), f"{where}: values of payoffs (2, 7, {_CONTEXTS}) have shape {values.shape}")
    found.wants(values.dtype == np.float64, f"{where}: values are of {values.dtype}; allowed: float64")
    found.wants(not np.isnan(values).any(), f"{where}: a value is not a number")
    found.wants(same(values, repeated), f"{where}: the same question has two answers")
    close = np.allclose(values, alone, rtol=1e-7, atol=1e-9)
    found.wants(close, f"{where}: a decision alone and among others have different values")
    highest = values[0].max()
    good = 0 <= best.index < 7 and (values[0, best.index] >= highest - 1e-7 or values[0, best.index] == highest)
    found.wants(good, f"{where}: argmax: found decision {best.index}, whose value is not the highest")
    told = np.isclose(best.value, highest, rtol=1e-7, atol=1e-7) or best.value == highest
    found.wants(told, f"{where}: argmax: found value {best.value}, not {highest}")
    stays = matters or np.allclose(values, elsewhere, rtol=1e-9, atol=1e-12)
    found.wants(stays, f"{where}: reference_matters is False, but another reference gives other values")
