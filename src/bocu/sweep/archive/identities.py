"""What problems and methods are known by across experiments: what they do, and not the code that does it.

An identity is the hash of the canonical specification, every default written out, without labels, metrics and rounds;
of the revision that the class states (`About.revision`); and of a probe: what came of it under the one kernel. A probe
shows sameness on itself alone, hence the revision beside it. Renaming, moving and speeding up change none of them.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import canonical_json, open_netcdf, reading
from bocu.core.io.hashes import sha256
from bocu.core.io.lineage import seal
from bocu.core.loading import load
from bocu.core.numerics import kernel, refuse_other_kernel
from bocu.core.plain import Inputs, Plain, Specification
from bocu.core.rounds import CONTINUOUS
from bocu.learners.algorithms.base import AlgorithmParameters
from bocu.problems.base import ProblemParameters
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.plugins import HASHED
from bocu.sweep.experiment.products import flat
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.seed_run import SeedRun, build_problem

SEEDS = range(3)  #: That a problem is probed on.
ROUNDS = 32  #: Of random decisions that a problem is probed by, at the most, after the initial design.
DECISIONS, DECISIONS_IN_A_BOX = 20, 8
"""That a method is probed by, on either of its games; each that is searched for in a box takes long."""
_GAMES, _GAME_SEEDS, _SEEDS_IN_A_BOX = 2, range(2), range(1)
_GAMES_OF = "bocu.testing.games"  # by name: small problems lie above
_DIGITS = 9  #: Of coordinates in a probe of decisions: torch leaves the last bits to the processor.
_RANDOM: Plain = {"class": "algorithm/random", "parameters": {}}


@dataclass(frozen=True)
class Identity:
    """What one problem, objective, method or metric is known by."""

    stated: Plain  #: what is hashed, plain: specification, revision, hashes of data, probe.

    def __str__(self) -> str:
        return identity_of(self.stated)


def identity_of(stated: Specification) -> str:
    """Return what goes by `stated` is called by: the name of its class, and 12 hexadecimal digits."""
    scored_by = stated.get("parameters", {}).get("objective", stated)  # of a metric that is an objective
    name = str(scored_by["class"]).rpartition("/")[2].rpartition(":")[2].lower()
    return f"{name}-{hashlib.sha256(canonical_json(stated).encode()).hexdigest()[:12]}"


@dataclass
class Identities:
    """The identities of an experiment."""

    stated: dict[str, Plain] = field(default_factory=dict)  #: what each hashes, by identity.
    #: label of a problem -> "problem": its identity, "objectives", "algorithms" and "metrics": those of its branches
    #: and scores, by label.
    problems: dict[str, Plain] = field(default_factory=dict)

    def add(self, found: Identity) -> str:
        """Take in an identity, and return it as text."""
        self.stated[str(found)] = found.stated
        return str(found)


@dataclass(frozen=True)
class Asked:
    """What the identities of a problem and of its branches are asked of, plain."""

    problem: Plain  #: specification.
    inputs: Inputs  #: the files that it is built from.
    objectives: Mapping[str, Plain]  #: specifications by label, likewise `algorithms` and `metrics`.
    algorithms: Mapping[str, Plain]
    metrics: Mapping[str, Plain]
    branches: Sequence[tuple[str, str]] = ()  #: labels of objective and algorithm.
    rounds: int = 0  #: to be played.


def asked_of(plan: Plan) -> dict[str, Asked]:
    """Return what the identities of an experiment are asked of, by problem; no file is opened."""
    return {
        label: Asked(
            problem.specification,
            plan.inputs.problem(label),
            {one.key[1]: one.objective.specification for one in plan.branches_of(label) if one.objective},
            {one.key[2]: one.algorithm.specification for one in plan.branches_of(label)},
            {metric.label: metric.specification for metric in plan.metrics_of(label)},
            [(one.key[1], one.key[2]) for one in plan.branches_of(label)],
            plan.iterations(label),
        )
        for label, problem in plan.problems.items()
    }


def identities_of(asked: Mapping[str, Asked], problems: Collection[str] | None = None) -> Identities:
    """Return the identities of an experiment, by the code of today.

    Args:
        asked: of the experiment; the data and fitted priors of its problems are at hand.
        problems: labels of those that are wanted; all, if left out.

    Raises:
        BocuError: a file that a problem is built from is not there.
    """
    found = Identities()
    for label, one in asked.items():
        if problems is None or label in problems:
            found.problems[label] = {
                "problem": found.add(problem_identity(one.problem, one.inputs)),
                "objectives": {own: found.add(plain_identity(told)) for own, told in one.objectives.items()},
                "algorithms": {own: found.add(algorithm_identity(told)) for own, told in one.algorithms.items()},
                "metrics": {own: found.add(plain_identity(told)) for own, told in one.metrics.items()},
            }
    return found


def plain_identity(specification: Specification) -> Identity:
    """Return the identity of an objective or a metric, which is its specification."""
    return Identity(_without_code(specification))


def problem_identity(specification: Specification, inputs: Inputs) -> Identity:
    """Return the identity of a problem.

    Args:
        specification: its class and parameters.
        inputs: the files that it is built from; of these it is what they hold, as far as the problem reads it.

    Raises:
        BocuError: one is not there.
    """
    kind = load(specification["class"]).Parameters
    parameters = kind.model_validate(specification["parameters"])
    data: dict[str, list[str]] = {}
    for name, paths in sorted(inputs.items()):
        for path in flat({name: paths}):
            if not Path(path).is_file():
                raise BocuError(f"{path}: no such file, which {specification['class']} is built from")
            data.setdefault(name, []).append(_values_sha256(path, parameters))
    probe = _probe(problem_probe, canonical_json(specification), canonical_json(inputs), canonical_json(data))
    counting = {key: value for key, value in specification["parameters"].items() if key != kind.copy_of_data}
    return _known_by({**specification, "parameters": counting}, probe, data)


def _known_by(specification: Specification, probe: str, data: Mapping[str, list[str]]) -> Identity:
    stated = {**_without_code(specification), "revision": load(specification["class"]).about.revision, "probe": probe}
    return Identity({**stated, "data": data} if data else stated)


def _values_sha256(path: str, parameters: ProblemParameters) -> str:
    """Return the hash of what a problem reads of a file but for attributes, which say where it came from."""
    if not path.endswith(".nc"):
        return sha256(path)
    with open_netcdf(path, decode_times=False) as data, reading(path):
        return seal(parameters.read_of(data).drop_attrs(deep=False))


@functools.cache
def _probe(probe: Callable[..., str], specification: str, inputs: str = "", data: str = "") -> str:
    """Return a probe, worked out once; `data` is what stands in the inputs."""
    return probe(*(json.loads(text) for text in (specification, inputs) if text))


def problem_probe(specification: Specification, inputs: Inputs) -> str:
    """Return a digest of what seeds meet in a problem: initial design, references, contexts, payoffs and noise.

    Decisions are drawn at random, for `ROUNDS` rounds of `SEEDS`.
    """
    with _one_thread():
        problem = build_problem(specification, inputs)
        digest = hashlib.sha256()
        rounds = problem.parameters.rounds(ROUNDS)
        for seed in SEEDS:
            run = SeedRun(_run_of(specification, _RANDOM, None, rounds), problem, seed)
            while not run.finished:
                if run.t >= 1:
                    before = run.situation()
                    for array in (before.reference, before.available, before.margin, before.weights):
                        _update(digest, array)
                run.play()
            for name in ("decision", "context", "payoff", "observation"):
                _update(digest, run.record.arrays[name])
    return digest.hexdigest()[:16]


def algorithm_identity(specification: Specification) -> Identity:
    """Return the identity of a method: one whose parameters go with none of the games has an empty probe."""
    return _known_by(specification, _probe(algorithm_probe, canonical_json(specification)), {})


def algorithm_probe(specification: Specification) -> str:
    """Return a digest of the first decisions of a method, on a game of each of the first two protocols it is for.

    It is never told how many rounds there are to be, so that the decisions of a short run are the first of a long one.
    """
    games = load(f"{_GAMES_OF}:game")
    digest, played = hashlib.sha256(), 0
    kind = load(specification["class"])
    for protocol in kind.protocols[:_GAMES]:
        try:
            for run in _runs(specification, games(protocol), protocol):
                while not run.finished:
                    run.play()
                for name in ("decision", "context"):
                    _update(digest, np.round(run.record.arrays[name], _DIGITS) + 0.0)
                played += 1
        except BocuError:  # its parameters are for problems of another kind
            continue
    return digest.hexdigest()[:16] if played else ""


def _runs(specification: Specification, game: Plain, protocol: str) -> Iterator[SeedRun]:
    with _one_thread():
        problem = build_problem(game, {})
        kind = load(specification["class"])
        parameters = kind.Parameters.model_validate(specification["parameters"])
        kind.check(parameters, type(problem).outline(problem.parameters))
        objective = _pursued(parameters) if kind.pursues(protocol) else None
        boxed = protocol in CONTINUOUS
        wanted = _run_of(game, specification, objective, DECISIONS_IN_A_BOX if boxed else DECISIONS)
        for seed in _SEEDS_IN_A_BOX if boxed else _GAME_SEEDS:
            yield SeedRun(wanted, problem, seed)


def _pursued(parameters: AlgorithmParameters) -> Plain:
    """Return the first of the objectives for trials that a method is defined for."""
    for name, given in load(f"{_GAMES_OF}:PURSUED"):
        if not parameters.unfit(name, find("objective", name).load().Parameters.model_validate(given)):
            return load(f"{_GAMES_OF}:stated")("objective", name, given)
    raise BocuError("no objective for trials is one that it pursues")


def _run_of(problem: Specification, algorithm: Specification, objective: Plain | None, rounds: int) -> Plain:
    return load(f"{_GAMES_OF}:run_specification")(problem, algorithm, objective, rounds)


def _one_thread() -> Any:
    from threadpoolctl import threadpool_limits

    refuse_other_kernel(kernel())
    return threadpool_limits(1)


def _update(digest: Any, value: object) -> None:
    array = np.ascontiguousarray(np.empty(0) if value is None else value)
    digest.update(f"{array.dtype.kind}{array.shape}".encode())
    digest.update(array.astype(array.dtype.kind + "8" if array.dtype.kind in "iuf" else array.dtype).tobytes())


def _without_code(specification: object) -> Any:
    """Return a specification without modules, and without the hashes of definitions that classes carry."""
    if isinstance(specification, Mapping):
        return {
            key: value.partition(HASHED)[0].rpartition(":")[2] if key == "class" else _without_code(value)
            for key, value in specification.items()
        }
    return [_without_code(each) for each in specification] if isinstance(specification, list) else specification
