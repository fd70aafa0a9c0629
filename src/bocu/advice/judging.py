"""Who judges a replay: rows of the log that did not advise, or a model of the half that did not.

Whoever judges has not advised, so luck that advice was fitted to earns it nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bocu.advice.choices import Decisions, OneOfNames
from bocu.advice.details import NINETY_FIVE
from bocu.advice.logs import Log, weighted
from bocu.advice.model import Learnt
from bocu.advice.outcomes import Outcome
from bocu.advice.replayed import DONE, NEAR, STEADY, SUGGESTED, Gain, Step

#: Whose payoffs are compared.
PAIRS = ((SUGGESTED, DONE), (SUGGESTED, STEADY), (STEADY, DONE))

#: The last rows of a half before a step that advise.
_MOST_ADVISING = 1000

#: Rows of each half that are judged, spread evenly, and as many where each is advised under its own forecast.
MOST_JUDGED, MOST_FORECAST = 500, 60

Advise = Callable[[np.ndarray, int | None], Step]


@dataclass(frozen=True)
class Judgement:
    """What ways to decide earn, of rows in order.

    Attributes:
        rows: positions in the log, (n,).
        payoffs: of each outcome, to be maximised, by who decides, (k, n).
        logged: what was done and earned, by the log, (k, n).
        blocks: the step of each row, (n,).
        halves: of each row, (n,).
        doubts: of each half, the standard deviation that its judge has of a mean difference, a pair over some of the
            half's rows, for each outcome, (k,).
    """

    rows: np.ndarray
    payoffs: dict[str, np.ndarray]
    logged: np.ndarray
    blocks: np.ndarray
    halves: np.ndarray
    doubts: tuple[Callable[[tuple[str, str], np.ndarray], np.ndarray], ...]

    def gain(self, pair: tuple[str, str], weights: np.ndarray, chosen: np.ndarray | None = None) -> Gain | None:
        """Return what the first of a pair earns more than the second; None where rows are of a single step.

        Rows of a block share their advice, so its rows are one observation of Student's interval; to its variance comes
        that of the judges, who are independent of each other.

        Args:
            pair: of who decides.
            weights: of outcomes, (k,).
            chosen: which rows count, (n,); None: all.
        """
        some = np.ones(len(self.rows), dtype=bool) if chosen is None else chosen
        differences = weights @ (self.payoffs[pair[0]] - self.payoffs[pair[1]])[:, some]
        blocks = self.blocks[some]
        count = len(np.unique(blocks))
        if count < 2:
            return None
        mean = float(differences.mean())
        sums = np.bincount(blocks, weights=differences - mean)
        error = float(np.sqrt((sums**2).sum() * count / (count - 1))) / len(differences)
        doubts = []
        for half, doubt in enumerate(self.doubts):
            mine = some[self.halves == half]
            if mine.any():
                share = mine.sum() / len(differences)
                doubts.append(share * float(np.linalg.norm(weights * doubt(pair, mine))))
        from scipy import stats

        reach = float(np.hypot(float(stats.t.ppf(0.975, count - 1)) * error, NINETY_FIVE * np.linalg.norm(doubts)))
        return Gain(mean, (mean - reach, mean + reach))


def joined(halves: Sequence[Judgement]) -> Judgement:
    """Return the verdicts on both halves as one, in the order of the log."""
    order = np.argsort(np.concatenate([one.rows for one in halves]), kind="stable")
    return Judgement(
        rows=np.concatenate([one.rows for one in halves])[order],
        payoffs={
            who: np.concatenate([one.payoffs[who] for one in halves], axis=1)[:, order] for who in halves[0].payoffs
        },
        logged=np.concatenate([one.logged for one in halves], axis=1)[:, order],
        blocks=np.concatenate([one.blocks for one in halves])[order],
        halves=np.repeat([0, 1], [len(one.rows) for one in halves])[order],
        doubts=tuple(one.doubts[0] for one in halves),
    )


class Half:
    """One half of the rows: advice from it, and the judgement of that advice.

    Args:
        half: 0 or 1; rows are dealt out in turn.
        logs: one an outcome, of the same rows.
        outcomes: what is earned or paid.
        decisions: what is decided.
        cuts: positions of the first row of each step, and the number of rows.
        judged: which rows may be judged, (t,).
        code: how names are told apart.
        advise: makes a step of the positions of the rows that advise, and of the row that it is for.
        each: whether each row is advised for itself.

    Attributes:
        rows: positions of the rows that are judged, (n,).
        matched: which of them have rows like all that was advised, (n,).
        steps: advice.
    """

    def __init__(
        self,
        half: int,
        logs: Sequence[Log],
        outcomes: Sequence[Outcome],
        decisions: Decisions,
        cuts: np.ndarray,
        judged: np.ndarray,
        code: str,
        advise: Advise,
        *,
        each: bool,
    ) -> None:
        self.seen, self.decisions, self._logs, self._outcomes, self._code = logs[0], decisions, logs, outcomes, code
        positions = np.arange(len(self.seen.outcome))
        mine = positions % 2 == half
        self._others = positions[~mine]
        after = positions[mine & judged & (positions >= cuts[0])]
        most = MOST_FORECAST if each else MOST_JUDGED
        self.rows = after[np.linspace(0, len(after) - 1, min(len(after), most)).round().astype(int)]
        self._blocks = np.searchsorted(cuts, self.rows, side="right") - 1
        self.steps: list[Step] = []
        advised: dict[str, list[np.ndarray]] = {SUGGESTED: [], STEADY: []}
        times = (
            zip(self._blocks.tolist(), self.rows.tolist(), strict=True) if each else enumerate([None] * cuts[:-1].size)
        )
        for block, row in times:
            step = advise(positions[mine & (positions < cuts[block])][-_MOST_ADVISING:], row)
            self.steps.append(step)
            for who, found in advised.items():
                found.append(_values(decisions, step.decisions[who]))
        at = slice(None) if each else self._blocks
        self._decided = {who: np.reshape(found, (-1, len(decisions.parts)))[at] for who, found in advised.items()}
        self._decided[DONE] = self.seen.decisions[self.rows]
        unseen = ~mine | (positions >= cuts[self._blocks][:, None])
        away = {who: np.where(unseen, self._away(found), np.inf) for who, found in self._decided.items() if who != DONE}
        self.matched = np.all([found.min(axis=1) <= NEAR for found in away.values()], axis=0)
        self._nearest = {who: found.argmin(axis=1) for who, found in away.items()}

    def by_log(self) -> Judgement:
        """Judge by the outcome of the nearest row that did not advise, of rows that have one near enough.

        One outcome each, and no average of several, has as much noise as that of what was done.
        """
        found = self._earned()
        nearest = {DONE: self.rows, **self._nearest}
        payoffs = {who: found[:, at[self.matched]] for who, at in nearest.items()}
        return self._verdict(self.matched, payoffs, lambda pair, some: np.zeros(len(found)))

    def by_model(self) -> Judgement:
        """Judge by a model of the rows of the other half, in the contexts that were met."""
        others, met = self._others, self.seen.contexts[self.rows]
        forecast = weighted(met, np.ones(len(met)))
        models = [
            Learnt(
                self.decisions,
                replace(
                    log,
                    decisions=log.decisions[others],
                    contexts=log.contexts[others],
                    outcome=log.outcome[others],
                    lines=tuple(log.lines[i] for i in others.tolist()),
                ),
                forecast,
                one.sign,
                code=self._code,
            )
            for log, one in zip(self._logs, self._outcomes, strict=True)
        ]
        judges = [_Model(model, {who: self._inputs(model, who) for who in self._decided}) for model in models]
        return self._verdict(
            np.ones(len(self.rows), dtype=bool),
            {who: np.stack([judge.payoffs(who) for judge in judges]) for who in self._decided},
            lambda pair, some: np.array([judge.doubt(pair, some) for judge in judges]),
        )

    def _verdict(
        self,
        kept: np.ndarray,
        payoffs: dict[str, np.ndarray],
        doubt: Callable[[tuple[str, str], np.ndarray], np.ndarray],
    ) -> Judgement:
        rows = self.rows[kept]
        return Judgement(rows, payoffs, self._earned()[:, rows], self._blocks[kept], np.zeros(len(rows)), (doubt,))

    def _earned(self) -> np.ndarray:
        """Return what rows of the log earned of each outcome, to be maximised, (k, t)."""
        return np.stack([one.sign * log.outcome for log, one in zip(self._logs, self._outcomes, strict=True)])

    def _inputs(self, model: Learnt, who: str) -> np.ndarray:
        return np.hstack([self.decisions.encode(self._decided[who]), model.scaled(self.seen.contexts[self.rows])])

    def _away(self, values: np.ndarray) -> np.ndarray:
        """Return how far rows of the log (t,) are from decisions (n, d) in the contexts met, (n, t).

        It is the largest difference of a number, as a share of its range; infinite where a name differs.
        """
        met, far = self.seen.contexts, np.zeros((len(values), len(self.seen.outcome)))
        for i, part in enumerate(self.decisions.parts):
            apart = np.abs(values[:, i, None] - self.seen.decisions[:, i])
            far = np.maximum(
                far, np.where(apart > 0.0, np.inf, 0.0) if isinstance(part, OneOfNames) else apart / part.span
            )
        for column in met.T:
            far = np.maximum(far, np.abs(column[self.rows, None] - column) / (np.ptp(column) or 1.0))
        return far


class _Model:
    """A model that judges decisions, by who made them, at inputs (n, D)."""

    def __init__(self, learnt: Learnt, inputs: dict[str, np.ndarray]) -> None:
        self._learnt, self._inputs = learnt, inputs
        self._cross = {who: learnt.posterior.covariance(points) for who, points in inputs.items()}

    def payoffs(self, who: str) -> np.ndarray:
        """Return what decisions are expected to earn, (n,)."""
        here = self._learnt.posterior
        return np.asarray(here.shift + here.scale * (here.mean + self._cross[who] @ here.weights))

    def doubt(self, pair: tuple[str, str], some: np.ndarray) -> float:
        """Return the standard deviation of the mean difference of a pair over some rows (n,)."""
        here = self._learnt.posterior
        first, second = (self._inputs[who][some] for who in pair)
        cross = (self._cross[pair[0]] - self._cross[pair[1]])[some]

        def mean(one: np.ndarray, other: np.ndarray) -> float:
            found = self._learnt.structure.correlation(here.hyperparameters.lengthscales, one, other)
            return here.hyperparameters.output_scale * float(found.mean())

        prior = mean(first, first) - 2.0 * mean(first, second) + mean(second, second)
        explained = float(here.explained(cross.mean(axis=0)[None])[0])
        return float(here.scale * np.sqrt(max(prior - explained, 0.0)))


def _values(decisions: Decisions, named: dict[str, float | int | str]) -> np.ndarray:
    """Return a decision (d,) of its values by name."""
    return np.array(
        [
            float(part.levels.index(str(named[part.name])) if isinstance(part, OneOfNames) else named[part.name])
            for part in decisions.parts
        ]
    )
