"""Does advice keep its word? Logs whose truth is known, and what `bocu.suggest` says of them.

    python tests/benchmarks/advice.py kept MINUTES FIRST_SEED    # guarantees, by kind of log and its rows

Cells take turns until the time is over, so that they have about the same number of logs. A guarantee is *kept* where
the worst expectation of the true payoff at the suggested decision, over the same set around the same reference, is no
less. *Short* is how much less than that truth it promises, in shares of the truth.
"""

import argparse
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import bocu
from bocu.core.parameters import Reading, validate
from bocu.robust.ambiguity.base import worst_case
from bocu.robust.ambiguity.parameters import SetParameters

SETS, RADII, ROWS = ("tv", "wass", "mmd", "kl"), (0.05, 0.1, 0.2), (30, 60, 120, 300)
Truth = Callable[[float, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Made:
    """A log, and the expected payoff of a decision (its place in `decisions` or its value) in contexts (n, l)."""

    log: pd.DataFrame
    decisions: str
    truth: Truth


def newsvendor(world: np.random.Generator, rows: int, *, seen: bool, drift: float = 0.0) -> Made:
    """Orders sold up to a demand that falls with rain; demand itself is the context, or rain alone is."""
    price, cost = world.uniform(2.0, 4.0), world.uniform(0.6, 1.4)
    high, slope, spread = world.uniform(60.0, 90.0), world.uniform(2.0, 6.0), world.uniform(2.0, 10.0)
    rain = world.gamma(2.0, 2.0, rows).clip(0.0, 12.0) + drift * np.linspace(0.0, 1.0, rows)
    demand = high - slope * rain + spread * world.normal(size=rows)
    order = world.uniform(15.0, 95.0, rows)
    noise = world.uniform(2.0, 8.0) * world.normal(size=rows)
    met = demand if seen else rain
    log = pd.DataFrame({"order": order, "met": met, "profit": price * np.minimum(order, demand) - cost * order + noise})
    nodes = np.sqrt(2.0) * np.polynomial.hermite.hermgauss(32)[0]
    shares = np.polynomial.hermite.hermgauss(32)[1] / np.sqrt(np.pi)

    def truth(x: float, contexts: np.ndarray) -> np.ndarray:
        there = contexts if seen else high - slope * contexts + spread * nodes
        sold = np.minimum(x, there)
        return price * (sold if seen else sold @ shares[:, None]).ravel() - cost * x

    return Made(log, "order:15..95", truth)


def two_names(world: np.random.Generator, rows: int) -> Made:
    """A or B, whose payoffs go with a number, each in its own way, with a bend."""
    level, slope, bend = world.normal(20.0, 2.0, 2), world.normal(0.0, 4.0, 2), world.normal(0.0, 2.0, 2)
    met, name = world.normal(size=rows), world.integers(0, 2, rows)

    def payoff(which: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        return np.asarray(level[which] + slope[which] * contexts + bend[which] * np.tanh(2.0 * contexts))

    outcome = payoff(name, met) + world.uniform(1.0, 5.0) * world.normal(size=rows)
    log = pd.DataFrame({"name": np.array(["A", "B"])[name], "met": met, "profit": outcome})
    return Made(log, "name:{A,B}", lambda x, contexts: payoff(np.full(len(contexts), int(x)), contexts.ravel()))


def smooth(world: np.random.Generator, rows: int) -> Made:
    """Waves over one number and one context."""
    waves, phases, heights = world.normal(0.0, 3.0, (6, 2)), world.uniform(0.0, 6.3, 6), world.normal(0.0, 3.0, 6)

    def payoff(x: np.ndarray, met: np.ndarray) -> np.ndarray:
        return np.asarray(20.0 + np.cos(np.stack([x, met], axis=-1) @ waves.T + phases) @ heights)

    x, met = world.random(rows), world.beta(2.0, 3.0, rows)
    outcome = payoff(x, met) + world.uniform(0.5, 3.0) * world.normal(size=rows)
    log = pd.DataFrame({"x": x, "met": met, "profit": outcome})
    return Made(log, "x:0..1", lambda x, contexts: payoff(np.full(len(contexts), x), contexts.ravel()))


KINDS: dict[str, Callable[[np.random.Generator, int], Made]] = {
    "newsvendor, demand seen": lambda world, rows: newsvendor(world, rows, seen=True),
    "newsvendor, demand not seen": lambda world, rows: newsvendor(world, rows, seen=False),
    "newsvendor, drift": lambda world, rows: newsvendor(world, rows, seen=False, drift=6.0),
    "A/B": two_names,
    "smooth": smooth,
}


def true_worst(made: Made, decision: float, name: str, radius: float) -> float:
    """Return the worst expectation of the true payoff over the set around the log's contexts."""
    points, counts = np.unique(made.log[["met"]].to_numpy(), axis=0, return_counts=True)
    scaled = (points - points.min()) / np.ptp(points)
    stated = validate(SetParameters, {"name": name}, "--", Reading(Path()))
    around = stated.over(scaled).with_epsilon(radius)
    return float(worst_case(made.truth(decision, points), counts / counts.sum(), around).value)


def kept(seed: int, kind: str, rows: int, name: str, radius: float) -> tuple[float, float, float]:
    """Return the guarantee of a log, the truth, and the number of rows that were not believed."""
    made = KINDS[kind](np.random.default_rng([seed, rows, list(KINDS).index(kind)]), rows)
    found = bocu.suggest(
        made.log, decisions=made.decisions, contexts=["met"], outcome="profit", set=name, radius=radius
    )
    (decided,) = found.decision.values()
    value = "AB".index(decided) if isinstance(decided, str) else float(decided)
    return found.best.guaranteed, true_worst(made, value, name, radius), len(found.outliers)


def wilson(hits: int, count: int) -> str:
    """Return a share with its 95 % interval (Wilson, 1927)."""
    share, z2 = hits / count, 1.96**2
    middle = (share + z2 / 2 / count) / (1 + z2 / count)
    half = 1.96 * np.sqrt(share * (1 - share) / count + z2 / 4 / count**2) / (1 + z2 / count)
    return f"{100 * share:.0f} % ({100 * (middle - half):.0f} to {100 * (middle + half):.0f})"


def in_turns(cells: list, minutes: float, first: int, measure: Callable) -> dict:
    """Measure cells in turns until the time is over."""
    end, found = time.monotonic() + 60.0 * minutes, {cell: [] for cell in cells}
    for seed in itertools.count(first):
        for cell in cells:
            if time.monotonic() > end:
                return found
            found[cell].append(measure(seed, cell))
    raise AssertionError


def tell_kept(minutes: float, first: int) -> None:
    def measure(seed: int, cell: tuple[str, int]) -> tuple[float, float, float]:
        name = SETS[seed % len(SETS)]
        return kept(seed, *cell, name, RADII[seed // len(SETS) % len(RADII)])

    found = in_turns(list(itertools.product(KINDS, ROWS)), minutes, first, measure)
    print("| log | rows | logs | kept | short (mean) | rows not believed |\n|---|---|---|---|---|---|")
    hits = count = 0
    for (kind, rows), told in ((cell, told) for cell, told in found.items() if told):
        table = np.array(told)
        held = int((table[:, 1] >= table[:, 0]).sum())
        hits, count = hits + held, count + len(table)
        short = ((table[:, 1] - table[:, 0]) / np.abs(table[:, 1])).clip(-1.0, 1.0).mean()
        print(
            f"| {kind} | {rows} | {len(table)} | {wilson(held, len(table))} | {short:.1%} | {table[:, 2].mean():.2f} |"
        )
    print(f"| all | | {count} | {wilson(hits, count)} | | |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kept"])
    parser.add_argument("minutes", type=float)
    parser.add_argument("first", type=int, help="seed of the first log")
    asked = parser.parse_args()
    tell_kept(asked.minutes, asked.first)
