"""Curves over the rounds: regret and payoffs as they are drawn, mean and standard error over seeds."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["cumulative", "average", "instantaneous", "simple", "recommended", "payoff"]
POINTS = 500  #: Rounds of a curve that are kept for drawing: in a panel they lie closer than lines are wide.
TRACED = 200  #: At most so many rounds are kept of the curve of a single seed.
TRACES: tuple[Kind, ...] = ("cumulative", "simple")  #: What is kept seed by seed; averages are totals by rounds.


@dataclass(frozen=True)
class Traces:
    """The curves of one branch seed by seed."""

    rounds: np.ndarray  #: shape (points,).
    values: np.ndarray  #: single precision, shape (seeds, points).
    seeds: np.ndarray  #: shape (seeds,).


@dataclass(frozen=True)
class MeanCurve:
    """One branch's curve."""

    # rounds, mean, error: of shape (points,); the error is one standard error of the mean.
    rounds: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    seeds: int  #: seeds behind it.


def accumulate(
    iterations: np.ndarray, regret: np.ndarray, kind: Kind, from_initial: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Turn instantaneous regret, or payoffs, into what is drawn.

    Args:
        iterations: rounds, shape (iterations,); those below 1 belong to the initial design and are left out.
        regret: instantaneous or recommended regret, or payoffs, shape (seeds, iterations).
        kind: what to make of it.
        from_initial: keep the initial design and count evaluations, the first of which is its first point.

    Returns:
        Rounds, or evaluations, (points,) and values (seeds, points).
    """
    if from_initial:
        rounds = iterations - iterations[0] + 1
    else:
        rounds, regret = iterations[iterations >= 1], regret[:, iterations >= 1]
    if kind in ("instantaneous", "recommended"):
        return rounds, regret
    if kind == "simple":
        return rounds, np.minimum.accumulate(regret, axis=1)
    total = regret.cumsum(axis=1)
    return rounds, total / np.arange(1, len(rounds) + 1) if kind == "average" else total


def kept_rounds(iterations: np.ndarray) -> np.ndarray:
    """Return the places of the rounds that are kept of curves: all of them, or some `POINTS` that draw the same.

    They are spread evenly for axes of rounds, and lie closer at the beginning for logarithmic ones, of rounds and of
    evaluations.
    """
    count, initial = len(iterations), int((iterations < 1).sum())
    if count <= POINTS:
        return np.arange(count)
    early = [start - 1 + np.geomspace(1, count - start, POINTS // 4) for start in (0, initial)]
    return np.unique(np.concatenate([np.linspace(0, count - 1, POINTS), *early]).round().astype(int))


def traced_rounds(iterations: np.ndarray) -> np.ndarray:
    """Return the places of the rounds that are kept of the curve of each seed, all from round 1 on: `TRACED`, or all.

    Evenly spread, with a few more at the beginning for logarithmic axes.
    """
    initial = int((iterations < 1).sum())
    count = len(iterations) - initial
    if count <= TRACED:
        return initial + np.arange(count)
    early = np.geomspace(1, count, TRACED // 5) - 1
    evenly = np.linspace(0, count - 1, TRACED - len(early))
    return initial + np.unique(np.concatenate([evenly, early]).round().astype(int))


def scored_throughout(iterations: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Say of which seeds every round from 1 on has a number, shape (seeds,), of values (seeds, iterations)."""
    return ~np.isnan(values[:, iterations >= 1]).any(axis=1)


def medians(iterations: np.ndarray, seconds: np.ndarray, group: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the last round and the median of every group of rounds, shapes (groups,) and (seeds, groups).

    Args:
        iterations: rounds, shape (iterations,); those below 1 are left out.
        seconds: shape (seeds, iterations).
        group: rounds in a group; the last may have fewer.
    """
    played = iterations >= 1
    parts = [slice(start, start + group) for start in range(0, int(played.sum()), group)]
    rounds = np.array([iterations[played][part][-1] for part in parts])
    return rounds, np.stack([np.median(seconds[:, played][:, part], axis=1) for part in parts], axis=1)
