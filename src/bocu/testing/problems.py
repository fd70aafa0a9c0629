"""Whether a problem keeps its promises: planned without files, and the same for every algorithm of a seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.core.about import Size
from bocu.core.randomness import STREAMS, Streams
from bocu.core.rounds import SCALARISED, BoxDomain, Domain, FiniteDomain, Outline, Situation
from bocu.problems.base import Problem, ProblemParameters, Realisation
from bocu.sweep.evaluation.metrics import ExpectedPayoff, ExpectedPayoffParameters
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.seed_run import Inputs, SeedRun
from bocu.testing.breaches import Subject, same, subject
from bocu.testing.games import SIMULATOR, run_specification, stated

_OWN = ("problem", "weights")  #: The streams that a problem draws from when a seed meets it.
_TOLERANCE = 1e-8
_TRIED = 12


def check_problem(
    what: str | type[Problem],
    parameters: Mapping[str, object] | None = None,
    inputs: Inputs | None = None,
    *,
    rounds: int = 6,
    seeds: int = 2,
) -> None:
    """Check a problem as seeds meet it.

    Planning learns of it without a file; the same seed meets the same payoffs, contexts and initial design, whoever
    decides; payoffs are numbers, those of a table and those of single decisions agree; distributions are some; regret
    of random decisions is never negative; nothing but its own stream is drawn from.

    Args:
        what: as an experiment file may name it, or the class.
        parameters: those that differ from the defaults.
        inputs: the files that it is built from, by the keys of `Parameters.inputs`.
        rounds: that are looked at.
        seeds: number of them.

    Raises:
        Breach: a promise is not kept.
    """
    __tracebackhide__ = True
    found = subject("problem", what)
    checked: ProblemParameters = found.parameters(parameters)
    with found.calling("outline"):
        outline = found.kind.outline(checked)
    with found.calling("size"):
        size = found.kind.size(checked)
    found.wants(isinstance(size, Size), f"size: found {size!r}; allowed: a Size")
    played = checked.rounds(rounds)
    found.wants(1 <= played <= rounds, f"rounds: found {played} of {rounds} wanted")
    with found.calling("__init__"):
        problem = found.kind(checked, inputs or {})
    found.wants(isinstance(problem.units, str) and problem.units, f"units: found {problem.units!r}; '1' for numbers")
    known = problem.protocol in found.kind.protocols
    found.wants(known, f"protocol: found {problem.protocol}; protocols: {found.kind.protocols}")
    for seed in range(seeds):
        said = Subject(found.entry, found.kind, f"{found.said}: seed {seed}")
        _Meeting(said, problem, outline, played, seed).check()
        _check_run(said, checked, problem, played, seed)


@dataclass(frozen=True)
class _Meeting:
    """What one seed meets."""

    found: Subject
    problem: Problem
    outline: Outline
    rounds: int
    seed: int

    def check(self) -> None:
        one, other = self._realised(), self._realised()
        self._description(one)
        self._initial_design(one)
        for t in range(1, self.rounds + 1):
            self._round(one, other, t)
        self._contexts(one, other)

    def _realised(self) -> Realisation:
        streams = Streams(self.seed)
        before = streams.state()
        with self.found.calling("realise"):
            realisation = self.problem.realise(streams)
        after = streams.state()
        for name in STREAMS:
            drawn = name in _OWN or before[name] == after[name]
            self.found.wants(drawn, f"realise: draws from the stream '{name}'; its own are {' and '.join(_OWN)}")
        return realisation

    def _description(self, realisation: Realisation) -> None:
        told = realisation.description
        protocol = SIMULATOR if realisation.rehearsal is not None else self.problem.protocol
        self.found.wants(told.protocol == protocol, f"description: protocol: found {told.protocol}, not {protocol}")
        noisy = np.isfinite(told.noise) and told.noise >= 0.0
        self.found.wants(noisy, f"description: noise: found {told.noise}; allowed: 0 or more")
        for kind, domain in (("decisions", told.decisions), ("contexts", told.contexts)):
            self._domain(f"description: {kind}", domain)
        planned = self.outline.decisions
        if planned is not None:
            agree = np.array_equal(_corners(planned), _corners(told.decisions))
            self.found.wants(agree, "outline: other decisions than the description has")
        if self.outline.priors is not None:
            labels = tuple(self.outline.priors)
            self.found.wants(labels == tuple(self.problem.prior_labels), "outline: other priors than prior_labels")

    def _domain(self, said: str, domain: Domain) -> None:
        known = isinstance(domain, FiniteDomain | BoxDomain)
        self.found.wants(known, f"{said}: found {domain!r}; allowed: a FiniteDomain or BoxDomain")
        named = len(domain.names) == len(domain.units) == domain.dimension
        self.found.wants(named, f"{said}: found {len(domain.names)} names and {len(domain.units)} units of "
                         f"{domain.dimension} coordinates")  # fmt: skip
        if isinstance(domain, FiniteDomain):
            sound = domain.size > 0 and np.isfinite(domain.points).all()
            self.found.wants(sound, f"{said}: points: a coordinate is not a number")

    def _initial_design(self, realisation: Realisation) -> None:
        streams = Streams(self.seed)
        with self.found.calling("initial_design"):
            design = self.problem.initial_design(realisation, streams)
        wanted = self.problem.initial
        self.found.wants(len(design) == wanted, f"initial_design: found {len(design)} points, not {wanted}")
        told = realisation.description
        for decision, context in design:
            self._member("initial_design: decision", told.decisions, decision)
            if isinstance(told.contexts, FiniteDomain):
                self._member("initial_design: context", told.contexts, context)
            self._payoff(realisation, decision, context, "initial design")

    def _member(self, said: str, domain: Domain, member: object) -> None:
        if isinstance(domain, FiniteDomain):
            inside = isinstance(member, int | np.integer) and 0 <= member < domain.size
            self.found.wants(inside, f"{said}: found {member!r}; allowed: 0 to {domain.size - 1}")
        else:
            member = np.asarray(member)
            inside = member.shape == (domain.dimension,) and bool(
                ((member >= domain.lower) & (member <= domain.upper)).all()
            )
            self.found.wants(inside, f"{said}: found {member}; allowed: {domain.lower} to {domain.upper}")

    def _payoff(self, realisation: Realisation, decision: Any, context: Any, where: str, t: int = 1) -> np.ndarray:
        with self.found.calling(f"{where}: payoff"):
            payoff = np.asarray(realisation.payoff_at(t, decision, context))
        outputs = realisation.description.outputs
        shape = (outputs,) if outputs > 1 else ()
        self.found.wants(payoff.shape == shape, f"{where}: payoff has shape {payoff.shape}; allowed: {shape}")
        self.found.wants(np.isfinite(payoff).all(), f"{where}: payoff of {decision} in {context} is {payoff}")
        return payoff

    def _round(self, one: Realisation, other: Realisation, t: int) -> None:
        said = f"round {t}"
        told = one.description
        with self.found.calling(f"{said}: what is announced"):
            available, margin, weights = one.available(t), one.margin(t), one.weights(t)
        if available is not None:
            self._available(said, told.decisions, available)
        self.found.wants(margin is None or margin >= 0.0, f"{said}: margin: found {margin}; allowed: 0 or more")
        if told.outputs > 1:
            sound = weights is not None and weights.shape == (told.outputs,) and np.isfinite(weights).all()
            self.found.wants(sound, f"{said}: weights: found {weights}; allowed: {told.outputs} numbers")
        if isinstance(told.contexts, FiniteDomain):
            for name in ("reference", "truth"):
                with self.found.calling(f"{said}: {name}"):
                    found = np.asarray(getattr(one, name)(t))
                size = told.contexts.size
                sound = found.shape == (size,) and (found >= 0.0).all() and abs(found.sum() - 1.0) < _TOLERANCE
                self.found.wants(sound, f"{said}: {name}: no distribution over {size} contexts: {found}")
        if isinstance(told.decisions, FiniteDomain) and told.protocol not in SCALARISED:
            self._table(one, other, t)
        elif isinstance(told.contexts, BoxDomain):
            self._expected(one)

    def _available(self, said: str, decisions: Domain, available: np.ndarray) -> None:
        if isinstance(decisions, FiniteDomain):
            sound = len(available) > 0 and (np.diff(available) > 0).all() and available[0] >= 0
            sound = sound and available[-1] < decisions.size
            self.found.wants(sound, f"{said}: available: found {available}; allowed: indices, ascending")
            return
        sound = available.ndim == 3 and len(available) > 0 and available.shape[1:] == (2, decisions.dimension)
        sound = sound and (decisions.lower <= available[:, 0]).all() and (available[:, 1] <= decisions.upper).all()
        sound = sound and (available[:, 0] <= available[:, 1]).all()
        allowed = f"corners of boxes in it, (boxes, 2, {decisions.dimension})"
        self.found.wants(sound, f"{said}: available: found {available}; allowed: {allowed}")

    def _table(self, one: Realisation, other: Realisation, t: int) -> None:
        said, told = f"round {t}", one.description
        assert isinstance(told.decisions, FiniteDomain)
        with self.found.calling(f"{said}: payoffs"):
            table = one.payoffs(t)
        moving = self.problem.protocol == "time-varying"
        shape = (told.decisions.size, 1 if moving else told.contexts.size)  # type: ignore[union-attr]
        self.found.wants(table.shape == shape, f"{said}: payoffs has shape {table.shape}; allowed: {shape}")
        sound = table.dtype == np.float64 and np.isfinite(table).all()
        self.found.wants(sound, f"{said}: payoffs: of {table.dtype}, or not numbers")
        self.found.wants(same(table, other.payoffs(t)), f"{said}: payoffs: other ones when the seed is met again")
        generator = np.random.default_rng(t)
        for _ in range(_TRIED):
            row, column = (int(generator.integers(size)) for size in shape)
            payoff = float(self._payoff(one, row, t if moving else column, said, t))
            near = abs(payoff - table[row, column]) <= _TOLERANCE * max(1.0, abs(payoff))
            self.found.wants(near, f"{said}: payoff({row}, {column}) is {payoff}; payoffs has {table[row, column]}")

    def _expected(self, realisation: Realisation) -> None:
        decisions = self._tried(realisation.description.decisions)
        with self.found.calling("expected_payoffs"):
            values, best = realisation.expected_payoffs(decisions)
        self.found.wants(np.isfinite(values).all(), f"expected_payoffs: found {values}")
        above = (values - best).max()
        self.found.wants(above <= 1e-6 * max(1.0, abs(best)), f"expected_payoffs: {above:.3g} above the best there is")

    @staticmethod
    def _tried(domain: Domain) -> np.ndarray:
        assert isinstance(domain, BoxDomain)
        return np.random.default_rng(0).uniform(domain.lower, domain.upper, (_TRIED, domain.dimension))

    def _contexts(self, one: Realisation, other: Realisation) -> None:
        if self.problem.protocol == "time-varying":
            return
        streams = Streams(self.seed), Streams(self.seed)
        for t in range(1, self.rounds + 1):
            with self.found.calling(f"round {t}: draw_context"):
                drawn, again = (
                    realisation.draw_context(t, stream["contexts"])
                    for realisation, stream in zip((one, other), streams, strict=True)
                )
            self.found.wants(same(drawn, again), f"round {t}: draw_context: another one when the seed is met again")
            if isinstance(one.description.contexts, FiniteDomain):
                self._member(f"round {t}: draw_context", one.description.contexts, drawn)


def _corners(domain: Domain) -> np.ndarray:
    return domain.points if isinstance(domain, FiniteDomain) else np.stack([domain.lower, domain.upper])


def _check_run(found: Subject, parameters: ProblemParameters, problem: Problem, rounds: int, seed: int) -> None:
    """Let random decisions be played and scored."""
    specification = run_specification(found.specification(parameters), stated("algorithm", "random", {}), None, rounds)
    with found.calling("a run of random decisions"):
        run = SeedRun(specification, problem, seed)
        finite = isinstance(run.realisation.description.decisions, FiniteDomain)
        table = run.realisation.payoffs(1).copy() if finite else None
        while not run.finished:
            run.play()
        situations = situations_of(problem, run)
        metric = ExpectedPayoff(ExpectedPayoffParameters())
        variable = "decision_index" if finite else "decision"
        regret, value = metric.score(run.realisation, situations, run.record.arrays[variable])
    sound = np.isfinite(regret).all() and np.isfinite(value).all()
    found.wants(sound, f"regret of random decisions: found {regret}")
    started = regret[run.initial :]
    least = started.min(initial=0.0)
    found.wants(least >= -1e-6 * max(1.0, np.abs(value).max()), f"regret of random decisions is negative: {least:.3g}")
    if table is not None:
        found.wants(same(table, run.realisation.payoffs(1)), "payoffs: the table of round 1 changes while it is played")


def situations_of(problem: Problem, run: SeedRun) -> list[Situation]:
    """Return what stood before every row of a run."""
    protocol = PROTOCOLS[problem.protocol]
    return [protocol.situation(run.realisation, row + 1 - run.initial, run.record.seen(row)) for row in range(run.rows)]
