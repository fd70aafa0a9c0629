"""What a class from outside must be to take part: told in one line where it is not.

How it behaves when it is run is looked at by the conformance test.
"""

import functools
import inspect
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from bocu.core.about import About
from bocu.core.errors import BocuError, shown
from bocu.core.loading import import_place
from bocu.core.parameters import nearest
from bocu.core.rounds import EVERY

if TYPE_CHECKING:
    from bocu.sweep.experiment.registry import RegisteredClass

HEAVY = ("cvxpy", "jax", "matplotlib", "numba", "pandas", "scipy", "tensorflow", "torch", "xarray")
"""Packages that no module imports at its top whose classes experiments name: each job of a sweep plans anew."""

_IMPORT = """import sys
from bocu.core.loading import import_place
import_place(sys.argv[1])
print("", *{*sys.argv[2:]} & {*sys.modules})"""


class _Wanted(NamedTuple):
    """Base classes, "module:Class", of a kind and of its parameters, and whether it says its protocols."""

    bases: tuple[str, ...]
    parameters: str = "bocu.core.parameters:Parameters"
    protocols: bool = True


_OBJECTIVE = "bocu.robust.objectives.functions:Objective"
_WANTED = {
    "prior": _Wanted(("builtins:object",), "bocu.problems.priors.statements:PriorParameters", protocols=False),
    "problem": _Wanted(("bocu.problems.base:Problem",), "bocu.problems.base:ProblemParameters"),
    "set": _Wanted(
        ("bocu.robust.ambiguity.base:AmbiguitySet",), "bocu.robust.ambiguity.parameters:SetParameters", protocols=False
    ),
    "law": _Wanted(("bocu.robust.contexts.laws:Law",), protocols=False),
    "shift": _Wanted(("bocu.robust.contexts.shifts:Shift",), protocols=False),
    "objective": _Wanted((_OBJECTIVE,)),
    "algorithm": _Wanted(("bocu.learners.algorithms.base:Algorithm",)),
    "metric": _Wanted(("bocu.sweep.evaluation.metrics:Metric", _OBJECTIVE)),
    "figure": _Wanted(("bocu.pages.figures.base:Figure",), "bocu.pages.figures.base:PictureParameters"),
}
_FUNCTIONS = {
    "constraint": "a function that returns CVXPY constraints",
    "model": "what can be called",
    "acquisition": "what can be called",
}
_PURSUING = "bocu.learners.algorithms.base:AlgorithmParameters"
_SCOPES = ("problem", "experiment")


def refuse_breach(kind: str, found: object, said: str) -> None:
    """Refuse what is no class of a kind.

    Args:
        kind: one of the registry's; of "constraint", "model" and "acquisition" a function is wanted.
        found: what was imported.
        said: what it is called in the error line.

    Raises:
        BocuError: one line with the first breach.
    """
    if kind in _FUNCTIONS:
        if not callable(found) or (kind == "constraint" and isinstance(found, type)):
            raise BocuError(f"{said}: found {shown(found)}; {_FUNCTIONS[kind]} is wanted")
        return
    wanted = _WANTED[kind]
    bases = tuple(map(import_place, wanted.bases))
    if not isinstance(found, type) or not issubclass(found, bases):
        what = "a class" if isinstance(found, type) else f"a {type(found).__name__}"
        raise BocuError(
            f"{said}: found {what} that does not derive from {' or '.join(map(_shown_place, wanted.bases))}"
        )
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise BocuError(f"{said}: it has no {', '.join(missing)}, which every {kind} has")
    about = getattr(found, "about", None)
    if not isinstance(about, About):
        raise BocuError(f"{said}: about: found {shown(about)}; allowed: About(title=..., summary=...)")
    parameters = import_place(_PURSUING if getattr(found, "pursues_objective", False) else wanted.parameters)
    own = getattr(found, "Parameters", None)
    if not isinstance(own, type) or not issubclass(own, parameters):
        place = f"{parameters.__module__}.{parameters.__qualname__}"
        raise BocuError(f"{said}: Parameters: found {shown(own)}; allowed: a class that derives from {place}")
    _refuse_protocols(kind, found, said, wanted.protocols)


def _refuse_protocols(kind: str, found: Any, said: str, wanted: bool) -> None:
    if kind == "figure" and found.scope not in _SCOPES:
        raise BocuError(f"{said}: scope: found {shown(found.scope)}; {nearest(str(found.scope), _SCOPES)}")
    if not wanted or (kind == "figure" and found.scope == "experiment"):
        return
    protocols = inspect.getattr_static(found, "protocols", None)
    if not isinstance(protocols, tuple) or not protocols:
        raise BocuError(f"{said}: protocols: found {shown(protocols)}; allowed: a tuple of {', '.join(EVERY)}")
    for protocol in protocols:
        if protocol not in EVERY:
            raise BocuError(f"{said}: protocols: found {shown(protocol)}; {nearest(str(protocol), EVERY)}")


def refuse_heavy(entry: "RegisteredClass") -> None:
    """Refuse a class, imported here, whose module imports at its top what takes long.

    Raises:
        BocuError: one line with what it imports.
    """
    if not {*HEAVY} & {*sys.modules}:
        return
    if found := _imports_heavy(entry.target.rpartition(":")[0]):
        raise BocuError(
            f"{entry.kind} '{entry.name}' ({entry.origin}): importing it imports {', '.join(found)}; import that "
            "inside the functions that use it: each job of a sweep plans anew, and imports what the experiment names"
        )


@functools.cache
def _imports_heavy(module: str) -> list[str]:
    """Name what of `HEAVY` a module imports, by a process of its own: in this one others may have."""
    command = [sys.executable, "-P", "-c", _IMPORT, f"{module}:__name__", *HEAVY]
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    return sorted(done.stdout.rpartition("\n ")[2].split()) if not done.returncode else []


def _shown_place(place: str) -> str:
    return place.replace(":", ".")
