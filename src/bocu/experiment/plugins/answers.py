"""The process that imports classes from outside and says what planning asks of them: one JSON line for one.

Every public function here answers a question of `memo.ask` in plain data; the first argument is the class.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import TypeAdapter

from bocu.core.about import About
from bocu.core.costs import Size
from bocu.core.domains import BoxDomain, Domain, FiniteDomain
from bocu.core.errors import BocuError
from bocu.core.parameters import READING, Parameters, Reading, sections
from bocu.core.places import places, remember_all
from bocu.core.plain import Plain
from bocu.core.protocols import EVERY
from bocu.core.rounds import Outline
from bocu.experiment.entry_parameters import read_parameters
from bocu.experiment.plugins.lookup import HASHED
from bocu.experiment.registry import RegisteredClass


def family(found: Any, entry: RegisteredClass) -> Plain:
    """Say what a class is, whatever its parameters."""
    from bocu.objectives.stated import Objective

    told: Plain = {
        "about": plain_about(found.about),
        "protocols": list(getattr(found, "protocols", ())),
        "is_objective": issubclass(found, Objective),
        "bases": [f"{base.__module__}:{base.__qualname__}" for base in found.__mro__],
        "keys": list(found.Parameters.model_fields),
        "says": sorted(name for name in _ASKED if _says(found, name)),
    }
    of_kind: Mapping[str, Callable[[Any], Plain]] = {
        "problem": lambda found: {"announces_radius": found.Parameters.announces_radius},
        "algorithm": lambda found: {"pursues": [name for name in EVERY if found.pursues(name)]},
        "set": _of_set,
        "figure": lambda found: {
            "scope": found.scope,
            "digested": found.digested,
            "of_priors": found.of_priors,
            "finite_decisions": found.finite_decisions,
            "draws_problem": getattr(found.Parameters, "draws_problem", False),
        },
    }
    return {**told, **of_kind.get(entry.kind, lambda found: {})(found)}


def _of_set(found: Any) -> Plain:
    named = ("leaves_support", "costly", "compiled", "has_radius", "finite_slope_at_zero", "sensitivity_power")
    told = {name: getattr(found, name) for name in named if hasattr(found, name)}
    concentrates = found.concentrates()
    return {
        **told,
        "concentration": concentrates,
        "why_no_concentration": "" if concentrates else found.no_concentration(),
        "cost": asdict(found.solve_cost()),
    }


#: Methods that classes need not have; where one has none of its own, planning asks the base class in its own process.
_ASKED = {
    "check": "Algorithm",
    "check_rounds": "Problem",
    "plays": "Algorithm",
    "refuses": "Algorithm",  # by `plays`
    "work": "Algorithm",
    "resolve": "ProblemParameters",
    "takes": "ProblemParameters",
    "with_candidates": "ProblemParameters",
    "mentioned": "PictureParameters",
}


def _says(found: Any, name: str) -> bool:
    """Say whether a class, or its parameters, have a method that is not that of the base class."""
    for owner in (found, found.Parameters):
        for one in owner.__mro__:
            if name in vars(one):
                return one.__name__ != _ASKED[name]
    return False


def plain_about(about: About) -> Plain:
    """Write what is told of a class as plain data."""
    return {**asdict(about), "aliases": dict(about.aliases), "look": str(about.look) if about.look else None}


def parameters(found: object, entry: RegisteredClass, data: Plain, folder: str | None) -> Plain:
    """Check what an experiment file states, and write it out with all defaults."""
    reading = Reading(Path(folder) if folder is not None else None, imports=True)
    return _written(read_parameters(found, data, "", reading))


def _written(made: Parameters) -> Plain:
    from bocu.ambiguity.parameters import SetParameters

    given = getattr(made, "given_design", None)
    return {
        "values": made.model_dump(mode="json"),
        "sets": [path.rstrip(".") for path, part in sections(made) if path and isinstance(part, SetParameters)],
        "design": given.file if given is not None else None,
    }


def _made(found: Any, values: Plain) -> Any:
    return found.Parameters.model_validate(values, context={READING: Reading(imports=True)})


def problem(found: Any, entry: RegisteredClass, values: Plain) -> Plain:
    """Say what planning asks of the parameters of a problem."""
    made = _made(found, values)
    return {
        "horizon": made.horizon(),
        "initial_points": made.initial_points(),
        "protocol": made.protocol_among(found.protocols),
        "size": asdict(found.size(made)),
        "priors": made.priors(),
    }


def outline(found: Any, entry: RegisteredClass, values: Plain) -> Plain:
    """Say what is known of a problem before its data are read."""
    return plain_outline(found.outline(_made(found, values)))


def check_rounds(found: Any, entry: RegisteredClass, values: Plain, iterations: int) -> None:
    """Refuse parameters of a problem that do not go with so many rounds."""
    found.check_rounds(_made(found, values), iterations)


def resolve(
    found: object, entry: RegisteredClass, values: Plain, sources: str, source: str, mirror: str | None
) -> Plain:
    """Settle what depends on where data come from."""
    from bocu.data.catalogue import load_catalogue

    return _written(_made(found, values).resolve(load_catalogue(sources), source, mirror))


def files(found: object, entry: RegisteredClass, values: Plain, key: str, sources: str, folder: str) -> Plain:
    """Name the files that a problem is built from ("inputs"), or that its priors are fitted to ("prior_inputs")."""
    from bocu.data.catalogue import load_catalogue
    from bocu.experiment.branches import ProblemPaths

    named: Plain = getattr(_made(found, values), key)(ProblemPaths(folder, load_catalogue(sources)))
    return named


def plays(found: Any, entry: RegisteredClass, protocol: str, about: Plain) -> bool:
    """Say whether an algorithm is defined for a problem."""
    told: bool = found.plays(protocol, read_outline(about))
    return told


def takes(found: object, entry: RegisteredClass, values: Plain, candidate: Plain) -> str:
    """Say why a candidate prior cannot be one of a problem."""
    reason: str = _made(found, values).takes(_candidate(candidate))
    return reason


def with_candidates(found: object, entry: RegisteredClass, values: Plain, candidates: list[Plain]) -> Plain:
    """Hand a problem its candidate priors."""
    return _written(_made(found, values).with_candidates([_candidate(one) for one in candidates]))


def _candidate(plain: Plain) -> Any:
    from bocu.priors.statements import Candidate

    made: Any = TypeAdapter(Candidate).validate_python(plain)
    return made


def candidates(found: object, entry: RegisteredClass, values: Plain, label: str) -> list[Plain]:
    """Say what an entry of candidate priors comes to."""
    return [one.model_dump(mode="json") for one in _made(found, values).candidates(label)]


def check(found: Any, entry: RegisteredClass, values: Plain, about: Plain) -> None:
    """Refuse parameters that do not go with the outline of a problem."""
    found.check(_made(found, values), read_outline(about))


def work(found: Any, entry: RegisteredClass, values: Plain, size: Plain, rounds: int) -> Plain:
    """Count what a seed takes."""
    return asdict(found.work(_made(found, values), Size(**size), rounds))


def unfit(found: object, entry: RegisteredClass, values: Plain, objective: Plain, stated: Plain) -> str:
    """Say why an algorithm is not defined for an objective."""
    pursued = RegisteredClass(**objective)
    made: str = _made(found, values).unfit(pursued.name, _made(pursued.load(), stated))
    return made


def figure_files(found: object, entry: RegisteredClass, values: Plain, paths: Plain) -> Plain:
    """Name the files that a figure is drawn from."""
    inputs: Plain = _made(found, values).inputs(
        SimpleNamespace(
            problem=paths["problem"],
            part=paths["part"],
            cube=paths["cube"],
            digest=paths["digest"],
            problem_inputs=lambda: paths["problem_inputs"],
            run_files=lambda name: paths["run_files"].get(name, []),
        )
    )
    return inputs


def mentioned(found: object, entry: RegisteredClass, values: Plain) -> list[Plain]:
    """Say what other things of the experiment a figure mentions."""
    return [asdict(mention) for mention in _made(found, values).mentioned()]


def plain_outline(outline: Outline) -> Plain:
    """Write an outline as plain data."""
    always = outline.always_open
    return {
        "decisions": None if outline.decisions is None else _plain_domain(outline.decisions),
        "always_open": None if always is None else always.tolist(),
        "priors": outline.priors,
        "drifting": outline.drifting,
    }


def _plain_domain(domain: Domain) -> Plain:
    named = {"names": list(domain.names), "units": list(domain.units)}
    if isinstance(domain, FiniteDomain):
        return {"points": domain.points.tolist(), **named}
    return {"lower": domain.lower.tolist(), "upper": domain.upper.tolist(), **named}


def read_outline(plain: Plain) -> Outline:
    """Read what `plain_outline` wrote."""
    import numpy as np

    always, priors, domain = plain["always_open"], plain["priors"], plain["decisions"]
    decisions: Domain | None = None
    if domain is not None:
        names, units = tuple(domain["names"]), tuple(domain["units"])
        if "points" in domain:
            decisions = FiniteDomain(np.array(domain["points"]), names, units)
        else:
            decisions = BoxDomain(np.array(domain["lower"]), np.array(domain["upper"]), names, units)
    opened, labels = None if always is None else np.array(always), None if priors is None else tuple(priors)
    return Outline(decisions, opened, labels, plain["drifting"])


_QUESTIONS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(family, parameters, problem, outline, resolve, files, takes, with_candidates, candidates),
        *(check, check_rounds, work, unfit, figure_files, mentioned),
    )
}


def _reply(told: Plain) -> Plain:
    sys.path[:] = told["path"]
    remember_all(told["places"])
    entry = RegisteredClass(**told["entry"])
    try:
        answer = _QUESTIONS[told["question"]](entry.load(), entry, **told["arguments"])
        text = json.dumps(answer)
    except BocuError as error:
        return {"fault": str(error)}
    except Exception as error:  # of the user's code
        said = f"{entry.kind} '{entry.name}' ({entry.origin})"
        return {"fault": f"{said}: asked for {told['question']}: {type(error).__name__}: {error}"}
    return {
        "answer": answer,
        "places": {called: place for called, place in places().items() if HASHED in called and called in text},
    }


def main() -> None:
    """Answer the questions of standard input, a line each, until it ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the user's code prints is no answer
    for line in sys.stdin:
        answers.write(f"{json.dumps(_reply(json.loads(line)))}\n")
        answers.flush()


if __name__ == "__main__":
    main()
