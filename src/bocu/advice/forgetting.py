"""Forgetting: rows count the less the older they are, for the reference and for what is learnt of the payoff.

A row of weight w counts w times in the reference, and as an observation with 1 / w times the noise (the weights of
Deng et al., 2022, as noise variances). Half-lives of both are given, or estimated each on its own: by how well the
weighted past foretold later rows, contexts by their energy distance (Szekely and Rizzo, 2013), payoffs by squared
errors.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bocu.advice.time import ESTIMATE, Clock, read_half_life
from bocu.core.errors import BocuError
from bocu.learners.surrogates.continuous.fitting import LogPosterior, Priors, best_hyperparameters
from bocu.learners.surrogates.continuous.model import Posterior, standardise
from bocu.learners.surrogates.continuous.structure import Structure

#: Half-lives that are tried, as parts of the time that the log spans.
_PARTS = (1.0, 0.5, 0.25, 0.125, 0.0625)

#: Blocks that are foretold from what lay before them, after a third of the log, and the fewest rows of one.
_BLOCKS, _FIRST, _FEWEST_ROWS = 8, 3, 3

#: Standard errors that make a difference clear.
_CLEAR = 2.0

#: Rows, spread evenly over a longer log, that half-lives are estimated from.
_ROWS = 300


@dataclass(frozen=True)
class Forgetting:
    """Half-lives of rows; None where none is forgotten.

    Attributes:
        clock: when rows were.
        contexts: in the reference.
        payoffs: as observations of the payoff.
        estimated: whether they were estimated from the log.
    """

    clock: Clock
    contexts: float | None = None
    payoffs: float | None = None
    estimated: bool = False

    def of_contexts(self, rows: int | None = None) -> np.ndarray:
        """Return how much the first so many rows (all of them, if None) count in a reference after the last of them."""
        return self._weights(self.contexts, rows)

    def of_payoffs_at(self, clock: Clock) -> np.ndarray | None:
        """Return how much rows of a clock, in any order, count as observations; None where all count alike."""
        if self.payoffs is None:
            return None
        # What is counted from is the last time of this one, which stands last.
        times = np.minimum(clock.times, self.clock.times[-1])
        return Clock(np.append(times, self.clock.times[-1]), clock.unit).recency(self.payoffs)[:-1]

    @property
    def notes(self) -> list[str]:
        """Return what is forgotten, a line each."""
        if self.contexts is None and self.payoffs is None:
            return ["nothing is forgotten: later rows were foretold as well without"] if self.estimated else []
        found = "estimated from the log" if self.estimated else "as asked for"
        told = [
            f"{what} {half:.3g} {self.clock.unit}".rstrip() if half is not None else f"{what} never"
            for what, half in (("contexts after", self.contexts), ("payoffs after", self.payoffs))
        ]
        told = [text.replace("after never", "never") for text in told]
        return [f"older rows count less, {found}; they count half as {' and as '.join(told)}"]

    def _weights(self, half_life: float | None, rows: int | None) -> np.ndarray:
        if half_life is None:
            return np.ones(len(self.clock.times[:rows]))
        return self.clock.recency(half_life, rows)


def read_forgetting(forget: str | float | None, clock: Clock) -> Forgetting | None:
    """Read a half-life for contexts and payoffs alike; None where it has to be estimated.

    Raises:
        BocuError: it is none.
    """
    if forget is None:
        return Forgetting(clock)
    if forget == ESTIMATE:
        return None
    half_life = read_half_life(forget, clock.unit)
    return Forgetting(clock, half_life, half_life)


def estimate_forgetting(
    clock: Clock, contexts: np.ndarray, structure: Structure, inputs: np.ndarray, outputs: np.ndarray
) -> Forgetting:
    """Estimate half-lives from a log in the order of time.

    A half-life is taken where it foretells later rows better than to forget nothing, by more than two standard errors
    over the blocks that were foretold.

    Args:
        clock: when rows were.
        contexts: in units of the model, shape (t, l).
        structure: of the payoff's covariance.
        inputs: of the model, shape (t, D).
        outputs: shape (t,).

    Raises:
        BocuError: the log is too short, or spans no time.
    """
    count = len(outputs)
    rows = np.arange(count) if count <= _ROWS else np.linspace(0, count - 1, _ROWS).round().astype(int)
    count = len(rows)
    fewest = 3 * _BLOCKS * _FEWEST_ROWS // 2
    if count < fewest:
        raise BocuError(f"--forget estimate: the log is too short: it has {count} rows, {fewest} are wanted")
    here = Clock(clock.times[rows], clock.unit)
    span = float(np.ptp(here.times))
    if span == 0.0:
        raise BocuError("--forget estimate: all rows of the log are of one time")
    cuts = np.linspace(count // _FIRST, count, _BLOCKS + 1).round().astype(int)
    blocks = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
    return Forgetting(
        clock,
        _chosen(span, _of_contexts(here, contexts[rows], blocks)),
        _chosen(span, _of_payoffs(here, structure, inputs[rows], outputs[rows], blocks)),
        estimated=True,
    )


def _chosen(span: float, losses: Callable[[float | None], np.ndarray]) -> float | None:
    """Return the half-life of least mean loss, losses (blocks,) by half-life; None where none is clearly better."""
    never = losses(None)
    best, least = None, 0.0
    for part in _PARTS:
        gained = losses(part * span) - never
        if gained.mean() + _CLEAR * gained.std(ddof=1) / np.sqrt(len(gained)) < 0.0 and gained.mean() < least:
            best, least = part * span, float(gained.mean())
    return best


def _of_contexts(
    clock: Clock, contexts: np.ndarray, blocks: list[tuple[int, int]]
) -> Callable[[float | None], np.ndarray]:
    """Return losses of a half-life: energy distances of weighted earlier contexts to blocks, less what is constant."""
    apart = np.sqrt(((contexts[:, None, :] - contexts[None, :, :]) ** 2).sum(axis=-1))

    def losses(half_life: float | None) -> np.ndarray:
        found = []
        for start, end in blocks:
            weights = np.ones(start) if half_life is None else clock.recency(half_life, start)
            weights = weights / weights.sum()
            across = weights @ apart[:start, start:end].mean(axis=1)
            found.append(2.0 * across - weights @ apart[:start, :start] @ weights)
        return np.array(found)

    return losses


def _of_payoffs(
    clock: Clock, structure: Structure, inputs: np.ndarray, outputs: np.ndarray, blocks: list[tuple[int, int]]
) -> Callable[[float | None], np.ndarray]:
    """Return the losses of a half-life: mean squared errors of what is foretold of the payoffs of blocks.

    At hyper-parameters of all rows alike: those of weighted rows foretold worse, since few rows are left to tell noise
    from restlessness.
    """
    _, _, standard = standardise(outputs)
    priors = Priors()
    found = best_hyperparameters(
        LogPosterior(structure, inputs, standard, priors), priors.starts(structure.inputs, None, 0)
    )

    def losses(half_life: float | None) -> np.ndarray:
        scores = []
        for start, end in blocks:
            inflation = None if half_life is None else 1.0 / clock.recency(half_life, start)
            posterior = Posterior(structure, found, inputs[:start], standard[:start], inflation)
            scores.append(float(((standard[start:end] - posterior.moments(inputs[start:end])[0]) ** 2).mean()))
        return np.array(scores)

    return losses
