"""Small problems, one a protocol, that classes are tried on; none needs a file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Integer, validate
from bocu.core.plain import Plain
from bocu.core.randomness import Streams
from bocu.core.rounds import CONTEXTUAL, ROLLING
from bocu.learners.algorithms.base import SIMULATOR
from bocu.problems.base import Rehearsal
from bocu.problems.candidates import Lengthscale
from bocu.problems.finite import LENGTHSCALE, FiniteParameters, FiniteProblem, FiniteRealisation
from bocu.sweep.experiment.registry import find

_CANDIDATES = [
    {"label": label, "kernel": "squared-exponential", "lengthscale": [length], "variance": 0.5, "mean": 0.0}
    for label, length in (("short", 0.1), ("long", 0.8))
]
"""Candidate priors where decisions and contexts are a grid, for algorithms that know of several."""
_GRID = {"decision_points": [7], "context_points": [5], "initial": 3, "noise": 0.05}
_GAMES: Mapping[str, tuple[str, Plain]] = {
    "time-varying": ("hills", {"grid": 40}),
    "general": ("kirschner", {"protocol": "general", **_GRID}),
    "data-driven": ("kirschner", {"protocol": "data-driven", **_GRID}),
    "simulator": ("kirschner", {"protocol": "simulator", **_GRID}),
    "continuous": ("ackley", {"initial": 4}),
    "scalarised": ("modified-branin-grid", {"initial": 4, "contexts": 5}),
}

PURSUED: Sequence[tuple[str, Plain]] = (
    ("dro", {"set": {"name": "tv", "radius": 0.2}}),
    ("so", {}),
    ("mr", {"set": {"name": "tv"}}),
    ("ro", {}),
    ("var", {"alpha": 0.2}),
    ("dro", {"set": {"name": "cvar", "alpha": 0.2}}),
)
"""Objectives that algorithms are tried on, by name and parameters, the first that fit."""


class RehearsedParameters(FiniteParameters):
    """Parameters of `Rehearsed`."""

    decision_points: list[Integer] = Field([7], description="points of the decision, evenly spaced over [0, 1]")
    context_points: list[Integer] = Field([5], description="points of the context, evenly spaced over [0, 1]")
    lengthscale: Lengthscale = Field(0.1, description=LENGTHSCALE)

    def protocol_among(self, known: tuple[str, ...]) -> str:
        return known[0]


class Rehearsed(FiniteProblem):
    """A seesaw that is rehearsed on a simulator before each round."""

    about = About(title="Rehearsed", summary="a seesaw that is rehearsed before each round")
    protocols: ClassVar[tuple[str, ...]] = ROLLING  # type: ignore[assignment]
    Parameters = RehearsedParameters
    units = "1"
    decision_names, decision_units = ("seat",), ("1",)
    context_names, context_units = ("load",), ("1",)

    def payoff_table(self, streams: Streams) -> np.ndarray:
        tilt = 0.1 * streams["problem"].standard_normal()
        return (self.decisions - 0.5) * (self.contexts.T - 0.5 + tilt)

    def realise(self, streams: Streams) -> FiniteRealisation:
        realisation = super().realise(streams)
        realisation.rehearsal = Rehearsal(initial=2, steps=3)
        realisation.description = replace(realisation.description, protocol=SIMULATOR)
        return realisation


def game(protocol: str) -> Plain:
    """Return the specification of a problem that is played under a protocol."""
    if protocol not in _GAMES:
        made = Rehearsed.Parameters.model_validate({"initial": 0, "candidates": _CANDIDATES})
        return {"class": "bocu.testing.games:Rehearsed", "parameters": made.model_dump(mode="json")}
    name, parameters = _GAMES[protocol]
    priors = {"candidates": _CANDIDATES} if protocol in CONTEXTUAL else {}
    return stated("problem", name, {**parameters, **priors})


def stated(kind: str, name: str, parameters: Mapping[str, Any]) -> Plain:
    """Return what a specification says of something registered."""
    entry = find(kind, name)
    checked = validate(entry.load().Parameters, parameters, f"{name}: ")
    return {"class": entry.identity, "parameters": checked.model_dump(mode="json")}


def named_game(protocol: str) -> tuple[str, Plain] | None:
    """Return name and parameters of the problem, for experiment files; None where it is not registered."""
    return _GAMES.get(protocol)


def run_specification(
    problem: Mapping[str, object], algorithm: Mapping[str, object], objective: Mapping[str, object] | None, rounds: int
) -> Plain:
    """Return the specification of a run of seed 0."""
    return {
        "schema": 1,
        "problem": dict(problem),
        "objective": None if objective is None else dict(objective),
        "algorithm": dict(algorithm),
        "iterations": rounds,
        "threads": 1,
        "seeds": [0, 0],
    }
