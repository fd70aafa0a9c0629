"""Whether an algorithm keeps its promises: asked and told by the loop that plays the runs of a sweep."""

import copy
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.plain import Specification
from bocu.core.rounds import BoxDomain, Domain, FiniteDomain, Round
from bocu.learners.algorithms.base import Algorithm, AlgorithmParameters
from bocu.learners.algorithms.plain_state import TOLD_AGAIN
from bocu.problems.base import Problem
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.checkpoints import CheckpointStore
from bocu.sweep.runs.seed_run import SeedRun, build_problem
from bocu.testing.breaches import Subject, global_generators, same, subject
from bocu.testing.games import PURSUED, game, run_specification, stated

_MOST_PURSUED = 2
_INTEGERS = ("int8", "int16")
_DTYPES = (*_INTEGERS, "float64")


def check_algorithm(
    what: str | type[Algorithm],
    parameters: Mapping[str, object] | None = None,
    *,
    problems: Sequence[tuple[str, Mapping[str, object]]] | None = None,
    rounds: int = 6,
    seeds: int = 1,
) -> None:
    """Check an algorithm on a small problem of every protocol that it is defined for.

    It decides within the bounds of what is available, and reports what it declares; the same seed gives the same
    decisions, whatever other generators the process has and whether it is asked what it would recommend; it is stopped
    and goes on, from its state and from its record, to the same bits; its state is plain.

    Args:
        what: as an experiment file may name it, or the class.
        parameters: those that differ from the defaults.
        problems: name and parameters of the problems to play, in place of ours.
        rounds: to be played after the initial design.
        seeds: number of them.

    Raises:
        Breach: a promise is not kept.
    """
    __tracebackhide__ = True
    found = subject("algorithm", what)
    checked = found.parameters(parameters)
    if problems is None:
        played = [game(protocol) for protocol in found.kind.protocols]
    else:
        played = [stated("problem", name, given) for name, given in problems]
    for specification in played:
        problem = build_problem(specification, {})
        with found.calling("check"):
            found.kind.check(checked, type(problem).outline(problem.parameters))
        for objective in _objectives(found, checked, problem.protocol):
            wanted = run_specification(specification, found.specification(checked), objective, rounds)
            pursued = f", pursuing {objective['class'].rpartition('/')[2]}" if objective else ""
            said = f"{found.said}: on {specification['class'].rpartition('/')[2]} ({problem.protocol}){pursued}"
            for seed in range(seeds):
                _Trial(Subject(found.entry, found.kind, f"{said}, seed {seed}"), wanted, problem, seed).check()


def _objectives(found: Subject, parameters: object, protocol: str) -> list[dict[str, Any] | None]:
    if not found.kind.pursues(protocol):
        return [None]
    assert isinstance(parameters, AlgorithmParameters)
    fit = []
    for name, given in PURSUED:
        specification = stated("objective", name, given)
        stated_parameters = find("objective", name).load().Parameters.model_validate(given)
        with found.calling("unfit"):
            if not parameters.unfit(name, stated_parameters):
                fit.append(specification)
    names = ", ".join(name for name, _ in PURSUED)
    found.wants(fit, f"unfit: pursues none of the objectives {names}")
    return [*fit[:_MOST_PURSUED]]


@dataclass(frozen=True)
class _Trial:
    """One algorithm, problem, objective and seed."""

    found: Subject
    specification: Specification
    problem: Problem
    seed: int

    def check(self) -> None:
        first, states = self._first()
        self._declared(first.algorithm)
        self._compare(first, self._play(self._start(recommends=False)), "without being asked what it would recommend")
        with global_generators(1_234_567):
            self._compare(first, self._play(self._start()), "played again, the global generators elsewhere")
        with tempfile.TemporaryDirectory() as folder:
            for done, state in states.items():
                how = f"restored after row {done}{_told_again(state['algorithm'])}"
                self._compare(first, self._play(self._restored(folder, state)), how)
        for done, state in states.items():
            again = self._start()
            rows = {name: values[:done] for name, values in first.record.arrays.items()}
            with self.found.calling(f"told again the first {done} rows"):
                again.replay(rows, state["streams"])
            self._compare(first, self._play(again), f"told again the first {done} rows without being asked")

    def _start(self, recommends: bool = True) -> SeedRun:
        with self.found.calling("__init__"):
            run = SeedRun(self.specification, self.problem, self.seed)
        run.algorithm = _Watched(run.algorithm, self.found, self.problem)  # type: ignore[assignment]
        if not recommends:
            run.record.recommends = lambda t: False  # type: ignore[method-assign]
        return run

    def _play(self, run: SeedRun) -> SeedRun:
        while not run.finished:
            run.play()
        return run

    def _first(self) -> tuple[SeedRun, dict[int, dict[str, Any]]]:
        """Play once, and keep some of the states on the way as they came."""
        run, states = self._start(), {}
        taken: list[tuple[int, Any, Any]] = []
        kept = {run.initial, (run.initial + run.rows) // 2}
        with global_generators(0) as drawn:
            while not run.finished:
                run.play()
                if run.done in kept and not run.finished:
                    with self.found.calling(f"state after row {run.done}"):
                        state = run.state()
                    copied = copy.deepcopy(state)
                    states[run.done] = {**copied, "algorithm": state["algorithm"]}
                    taken.append((run.done, state["algorithm"], copied["algorithm"]))
            named = drawn()
        for done, state, copied in taken:
            stays = _alike(state, copied)
            self.found.wants(stays, f"state after row {done}: changes while the run goes on; it is to hold copies")
        self.found.wants(
            not named, f"draws from the global generator of {' and '.join(named)}; it is handed one of its own"
        )
        return run, states

    def _restored(self, folder: str, state: dict[str, Any]) -> SeedRun:
        store = CheckpointStore(folder, "conformance")
        try:
            store.save({"run": state})
        except BocuError as error:
            self.found.broken(f"state after row {state['done']}: {error}")
        kept = CheckpointStore(folder, "conformance").load()
        assert kept is not None
        run = self._start()
        with self.found.calling(f"restore after row {state['done']}"):
            run.restore(kept["run"])
        return run

    def _compare(self, first: SeedRun, other: SeedRun, how: str) -> None:
        recommended = np.isnan(other.record.arrays["recommended"]).all()
        for name, values in first.record.arrays.items():
            if name == "seconds" or (recommended and name.startswith("recommended")):
                continue
            again = other.record.arrays[name]
            for row in range(len(values)):
                self.found.wants(
                    same(values[row], again[row]),
                    f"{how}: {name} of round {row + 1 - first.initial} is {again[row]}, not {values[row]}",
                )
        ends = other.streams.state()
        for name, state in first.streams.state().items():
            self.found.wants(state == ends[name], f"{how}: another number of draws from the stream '{name}'")

    def _declared(self, algorithm: Any) -> None:
        names = [report.name for report in algorithm.reports]
        self.found.wants(len(set(names)) == len(names), f"reports: a name stands twice in {', '.join(names)}")
        for report in algorithm.reports:
            said = f"reports: {report.name}"
            self.found.wants(report.dtype in _DTYPES, f"{said}: dtype {report.dtype}; allowed: {', '.join(_DTYPES)}")
            self.found.wants(report.long_name, f"{said}: no long_name")


class _Watched:
    """An algorithm whose every answer is looked at."""

    def __init__(self, algorithm: Algorithm, found: Subject, problem: Problem) -> None:
        self.__dict__.update(algorithm=algorithm, found=found, problem=problem, at="before round 1")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["algorithm"], name)

    def ask(self, round: Round) -> Any:
        self.at = f"round {round.t}"
        frozen = [array for array in (round.reference, round.available, round.weights) if array is not None]
        before = [array.copy() for array in frozen]
        with self.found.calling(f"{self.at}: ask"):
            decision = self.algorithm.ask(round)
        self._unchanged("ask", frozen, before)
        self._member("ask", self.description.decisions, decision, round.available)
        return decision

    def choose_context(self, decision: object, round: Round) -> Any:
        with self.found.calling(f"{self.at}: choose_context"):
            context = self.algorithm.choose_context(decision, round)
        self._member("choose_context", self.description.contexts, context)
        return context

    def tell(self, decision: Any, context: Any, value: Any) -> None:
        arrays = [each for each in (decision, context, value) if isinstance(each, np.ndarray)]
        before = [array.copy() for array in arrays]
        with self.found.calling(f"{self.at}: tell"):
            self.algorithm.tell(decision, context, value)
        self._unchanged("tell", arrays, before)

    def recommend(self) -> Any:
        before = self.algorithm.generator.bit_generator.state
        with self.found.calling(f"{self.at}: recommend"):
            decision = self.algorithm.recommend()
        self._member("recommend", self.description.decisions, decision)
        if self.algorithm.generator.bit_generator.state != before:
            self.found.broken(f"{self.at}: recommend: draws from the generator, so that later decisions change")
        return decision

    def report(self) -> dict[str, Any]:
        with self.found.calling(f"{self.at}: report"):
            reported = self.algorithm.report()
        declared = {report.name: report for report in self.algorithm.reports}
        self.found.wants(
            reported.keys() == declared.keys(),
            f"{self.at}: report: found {_listed(reported)}; declared in reports: {_listed(declared)}",
        )
        for name, value in reported.items():
            self._reported(name, declared[name], np.asarray(value))
        return reported

    def _reported(self, name: str, report: Any, value: np.ndarray) -> None:
        said = f"{self.at}: report: {name}"
        shape = (len(self.problem.prior_labels),) if report.per_prior else ()
        self.found.wants(value.shape == shape, f"{said} has shape {value.shape}; declared: {shape}")
        if report.dtype in _INTEGERS:
            self.found.wants(
                (value == value.astype(report.dtype)).all(), f"{said} is {value}, which {report.dtype} does not hold"
            )
        else:
            self.found.wants(value.dtype.kind in "fiub" and not np.isinf(value).any(), f"{said} is {value}")

    def _unchanged(self, method: str, arrays: Sequence[np.ndarray], before: Sequence[np.ndarray]) -> None:
        for array, copied in zip(arrays, before, strict=True):
            self.found.wants(same(array, copied), f"{self.at}: {method}: writes into an array that it was handed")

    def _member(self, method: str, domain: Domain, member: Any, available: np.ndarray | None = None) -> None:
        said = f"{self.at}: {method}: found {member!r}"
        if isinstance(domain, FiniteDomain):
            whole = isinstance(member, int | np.integer) and not isinstance(member, bool)
            self.found.wants(whole, f"{said}; allowed: an index, 0 to {domain.size - 1}")
            self.found.wants(0 <= member < domain.size, f"{said}; allowed: 0 to {domain.size - 1}")
            inside = available is None or bool(np.isin(member, available))
            self.found.wants(inside, f"{said}, which is not available in this round")
            return
        assert isinstance(domain, BoxDomain)
        shaped = isinstance(member, np.ndarray) and member.shape == (domain.dimension,)
        self.found.wants(shaped, f"{said}; allowed: an array of shape ({domain.dimension},)")
        self.found.wants(member.dtype == np.float64, f"{said} of {member.dtype}; allowed: float64")
        inside = bool(((member >= domain.lower) & (member <= domain.upper)).all())
        self.found.wants(inside, f"{said}; allowed: {domain.lower} to {domain.upper}")
        if available is not None:
            is_open = ((member >= available[:, 0]) & (member <= available[:, 1])).all(axis=1).any()
            self.found.wants(bool(is_open), f"{said}, which is not available in this round")


def _alike(one: Any, other: Any) -> bool:
    """Say whether two pieces of a state are the same bit for bit."""
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    return same(one, other) if isinstance(one, np.ndarray) else bool(one is other or one == other or one != one)


def _told_again(state: Mapping[str, Any]) -> str:
    left = state.get(TOLD_AGAIN) or {}
    named = ", ".join(f"{name} ({words})" for name, words in sorted(left.items()))
    return f", attributes that are not plain told again: {named}" if named else ""


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(names) or "none"
