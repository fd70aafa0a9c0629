"""Forgetting: rows count the less the older they are, for the reference and for what is learnt of the payoff.

A row of weight w counts w times in the reference, and as an observation with 1 / w times the noise (the weights of
Deng et al., 2022, as noise variances). Half-lives of both are given, or estimated each on its own: by how well the
weighted past foretold later rows, contexts by their energy distance (Szekely and Rizzo, 2013), payoffs by their
predictive density.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bocu.advice.time import ESTIMATE, LEAST, Clock, read_half_life
from bocu.core.errors import BocuError
from bocu.surrogates.continuous.fitting import LogPosterior, Priors, fit
from bocu.surrogates.continuous.model import Posterior, standardise
from bocu.surrogates.continuous.structure import Structure

#: Half-lives that are tried, as parts of the time that the log spans.
_PARTS = (1.0, 0.5, 0.25, 0.125, 0.0625)

#: Blocks that are foretold from what lay before them, after a third of the log, and the fewest rows of one.
_BLOCKS, _FIRST, _FEWEST_ROWS = 8, 3, 3

#: Rows, spread evenly over a longer log, that half-lives are estimated from.
_ROWS = 300


@dataclass(frozen=True)
class Forgetting:
    """Half-lives of rows; None where none is forgotten.

    Attributes:
        clock: when whole rows were.
        everything: when all rows were, by what they are called.
        contexts: in the reference.
        payoffs: as observations of the payoff.
        estimated: whether they were estimated from the log.
    """

    clock: Clock
    everything: Clock
    contexts: float | None = None
    payoffs: float | None = None
    estimated: bool = False

    def of_contexts(self, rows: int | None = None) -> np.ndarray:
        """Return how much the first so many rows (all of them, if None) count in a reference after the last of them."""
        return self._weights(self.contexts, rows)

    def of_payoffs(self, rows: int | None = None) -> np.ndarray:
        """Return how much the first so many rows count as observations after the last of them."""
        return self._weights(self.payoffs, rows)

    def of_gaps(self, lines: Sequence[str]) -> np.ndarray:
        """Return how much rows that are called so count as observations, those after the last whole row as much."""
        times = self.everything.of(lines).times
        ages = np.maximum(self.clock.times[-1] - times, 0.0)
        return np.ones(len(times)) if self.payoffs is None else np.maximum(np.exp2(-ages / self.payoffs), LEAST)

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


def read_forgetting(forget: str | float | None, clock: Clock, lines: Sequence[str]) -> Forgetting | None:
    """Read a half-life for contexts and payoffs alike; None where it has to be estimated.

    Args:
        forget: "90d" and the like, a number, "estimate", or None: nothing is forgotten.
        clock: when all rows were.
        lines: what the whole rows are called.

    Raises:
        BocuError: it is none.
    """
    if forget == ESTIMATE:
        return None
    half_life = None if forget is None else read_half_life(forget, clock.unit)
    return Forgetting(clock.of(lines), clock, half_life, half_life)


def estimate_forgetting(
    everything: Clock,
    lines: Sequence[str],
    contexts: np.ndarray,
    structure: Structure,
    inputs: np.ndarray,
    outputs: np.ndarray,
) -> Forgetting:
    """Estimate half-lives from a log in the order of time.

    A half-life is taken where it foretells later rows better than to forget nothing, by more than the standard error
    over the blocks that were foretold.

    Args:
        everything: when all rows were.
        lines: what whole rows are called, (t,).
        contexts: in units of the model, shape (t, l).
        structure: of the payoff's covariance.
        inputs: of the model, shape (t, D).
        outputs: shape (t,).

    Raises:
        BocuError: the log is too short, or spans no time.
    """
    clock, count = everything.of(lines), len(outputs)
    rows = np.arange(count) if count <= _ROWS else np.linspace(0, count - 1, _ROWS).round().astype(int)
    count = len(rows)
    fewest = 3 * _BLOCKS * _FEWEST_ROWS // 2
    if count < fewest:
        raise BocuError(f"--forget estimate: the log is too short: it has {count} rows, {fewest} are wanted")
    here = Clock(clock.times[rows], [lines[i] for i in rows.tolist()], clock.unit)
    span = float(np.ptp(here.times))
    if span == 0.0:
        raise BocuError("--forget estimate: all rows of the log are of one time")
    cuts = np.linspace(count // _FIRST, count, _BLOCKS + 1).round().astype(int)
    blocks = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
    return Forgetting(
        clock,
        everything,
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
        if gained.mean() + gained.std(ddof=1) / np.sqrt(len(gained)) < 0.0 and gained.mean() < least:
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
    """Return the losses of a half-life: minus mean log predictive densities of the payoffs of blocks."""
    _, _, standard = standardise(outputs)
    priors = Priors()

    def losses(half_life: float | None) -> np.ndarray:
        inflation = None if half_life is None else 1.0 / clock.recency(half_life)
        found = fit(
            LogPosterior(structure, inputs, standard, priors, inflation), priors.starts(structure.inputs, None, 0)
        )
        scores = []
        for start, end in blocks:
            before = None if half_life is None else 1.0 / clock.recency(half_life, start)
            posterior = Posterior(structure, found, inputs[:start], standard[:start], before)
            means, spreads = posterior.moments(inputs[start:end])
            variances = spreads**2 + found.noise * posterior.scale**2
            scores.append(0.5 * (np.log(variances) + (standard[start:end] - means) ** 2 / variances).mean())
        return np.array(scores)

    return losses
