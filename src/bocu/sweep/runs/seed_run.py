"""One seed's run: a problem as the seed meets it, an algorithm, and the loop between them.

Before a row the protocol says what stands (`Situation`), which is announced with the radius of the ambiguity set
(`Round`); then the protocol has the algorithm decide and learn (`Turn`), and the record keeps what happened.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bocu.core.loading import load, made
from bocu.core.parameters import validate
from bocu.core.plain import Inputs, Specification, State
from bocu.core.randomness import Streams
from bocu.core.rounds import FiniteDomain, Round, Situation
from bocu.learners.algorithms.base import Algorithm
from bocu.learners.algorithms.plain_state import needs_telling, when_told
from bocu.problems.base import Problem, Realisation
from bocu.robust.objectives.functions import Objective
from bocu.sweep.runs.protocol import PROTOCOLS, Announcer
from bocu.sweep.runs.records import Record


class SeedRun:
    """One seed's run, advanced row by row: the initial design, then the rounds."""

    def __init__(self, specification: Specification, problem: Problem, seed: int) -> None:
        self.rows: int = problem.initial + specification["iterations"]
        self.initial = problem.initial
        self.streams = Streams(seed)
        self.realisation = problem.realise(self.streams)
        self.algorithm = build_algorithm(specification, self.realisation, self.streams)
        self.protocol = PROTOCOLS[problem.protocol]
        description = self.realisation.description
        objective = build_objective(specification["objective"])
        ambiguity = self.algorithm.ambiguity or (objective.ambiguity if objective else None)
        contexts = description.contexts
        points = contexts.points if isinstance(contexts, FiniteDomain) else None
        self.announcer = Announcer(ambiguity, points)
        self.design = problem.initial_design(self.realisation, self.streams)
        self.record = Record(
            specification["iterations"],
            description.decisions,
            description.contexts,
            self.algorithm.reports,
            len(problem.prior_labels),
            self.initial,
            description.outputs,
            self.protocol.recommends_always,
        )
        self.done = 0

    @property
    def t(self) -> int:
        """The round that comes next; 0 and below in the initial design."""
        return self.done - self.initial + 1

    @property
    def finished(self) -> bool:
        """Whether all rows were played."""
        return self.done == self.rows

    def play(self) -> None:
        """Play the next row: one of the initial design, or a round."""
        if self.t < 1:
            turn = self.protocol.start(self.realisation, self.algorithm, self.streams, self.design[self.done])
        else:
            turn = self.protocol.play(self.realisation, self.algorithm, self.streams, self.announced())
            if self.record.recommends(self.t):
                turn = replace(turn, recommended=self.protocol.recommended(self.algorithm, turn))
        self.record.write(self.done, turn)
        self.done += 1

    def announced(self) -> Round:
        """Return what the algorithm is told before the next round."""
        return self.announcer.announce(self.situation())

    def situation(self) -> Situation:
        """Return what stands before the next row."""
        return self.protocol.situation(self.realisation, self.t, self.record.seen(self.done))

    def replay(self, arrays: Mapping[str, np.ndarray], stream_states: dict[str, Any] | None) -> None:
        """Tell without asking what `arrays` recorded, then put the streams where they stood after it."""
        self.record.copy_rows(arrays)
        self._tell_again(len(arrays["payoff"]))
        if stream_states is not None:
            self.streams.restore(stream_states)

    def _tell_again(self, rows: int) -> None:
        """Tell the algorithm the first rows of the record without asking it."""
        while self.done < rows:
            announced = self.announced() if self.t >= 1 else None
            self.protocol.replay(self.algorithm, self.record.read(self.done), announced)
            self.done += 1

    def state(self) -> State:
        """Return all that the rest of the run depends on."""
        return {
            "done": self.done,
            "record": self.record.arrays,
            "streams": self.streams.state(),
            "algorithm": self.algorithm.state(),
        }

    def restore(self, state: State) -> None:
        """Put back what `state` gave, or the state of the finished run."""
        self.record.copy_rows(state["record"])
        if state["done"] < self.rows:
            known = state["algorithm"]
            if needs_telling(known):
                self._tell_again(state["done"])
                known = when_told(known)
            self.algorithm.restore(known)
        self.done = state["done"]
        self.streams.restore(state["streams"])

    def result(self) -> "FinishedRun":
        """Return what stays when the posterior goes."""
        return FinishedRun(self.record, self.streams.state())


@dataclass(frozen=True)
class FinishedRun:
    """What stays of a seed's run after its last round: what it recorded and where its streams stood, no posterior."""

    record: Record
    streams: dict[str, Any]

    def state(self) -> State:
        """Return what `SeedRun.restore` takes."""
        done = len(self.record.arrays["payoff"])
        return {"done": done, "record": self.record.arrays, "streams": self.streams, "algorithm": {}}


def build_problem(specification: Specification, inputs: Inputs) -> Problem:
    """Build the problem of a run specification from its files."""
    target = load(specification["class"])
    parameters = validate(target.Parameters, specification["parameters"], "specification.problem.parameters.")
    return made(specification["class"], target, parameters, inputs)


def build_algorithm(specification: Specification, realisation: Realisation, streams: Streams) -> Algorithm:
    """Build the algorithm of a run specification for what one seed meets."""
    target = load(specification["algorithm"]["class"])
    where = "specification.algorithm.parameters."
    parameters = validate(target.Parameters, specification["algorithm"]["parameters"], where)
    objective = build_objective(specification["objective"])
    contexts = realisation.description.contexts
    # Over a finite set of contexts the objective is one and the same in all rounds, but for its radius.
    pursued = objective.over(contexts.points) if objective and isinstance(contexts, FiniteDomain) else objective
    called = specification["algorithm"]["class"]
    return made(called, target, realisation.description, pursued, parameters, streams["algorithm"])


def build_objective(specification: Specification | None) -> Objective | None:
    """Build the objective of a run specification; None where none is pursued."""
    if specification is None:
        return None
    called = specification["class"]
    return made(called, load(called).from_specification, specification["parameters"])
