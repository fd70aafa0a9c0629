"""Does advice keep its word? Logs whose truth is known, and what `bocu.suggest` says of them.

    python tests/benchmarks/advice.py kept LOGS FIRST_SEED    # guarantees, so many logs of each kind and number of rows
    python tests/benchmarks/advice.py pays LOGS FIRST_SEED    # what decisions by replay lose, by what changes
    python tests/benchmarks/advice.py factor LOGS FIRST_SEED  # what `BOUND` was chosen by: logs of other forms

A guarantee is *kept* where
the worst expectation of the true payoff at the suggested decision, over the same set around the same reference, is no
less. *Short* is how much less than that truth it promises, in shares of the truth. *Kept ahead*: the true mean over
contexts that follow the log is no less.

*Loss* is what the decision that `bocu.suggest` makes by itself brings less, in the truth over the next block, than the
best decision of any radius around all rows, chosen with hindsight for each log, in shares of what that brings; of the
best expectation over all rows (radius 0) and of the radius that covers the next block the same.
"""

import argparse
import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import bocu
from bocu.advice.choices import read_decisions
from bocu.advice.logs import read_log_table, read_logs, weighted
from bocu.advice.model import ONE_HOT, Learnt, believed
from bocu.advice.radius import _decided
from bocu.advice.search import Rule, Search
from bocu.advice.suggesting import BOUND, Judge
from bocu.core.parameters import Reading, validate
from bocu.robust.ambiguity.base import worst_case
from bocu.robust.ambiguity.parameters import SetParameters

#: Sets take turns, of logs of 300 rows all but `mmd`, which takes seconds there.
SETS, RADII, ROWS = ("tv", "wass", "kl", "mmd"), (0.05, 0.1, 0.2), (30, 60, 120, 300)
_AHEAD = 500
Truth = Callable[[float, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Made:
    """A log whose truth is known.

    Attributes:
        truth: expected payoff of a decision (its place in `decisions` or its value) in contexts (n, l), (n,).
        ahead: contexts that come after the log, (n, l).
    """

    log: pd.DataFrame
    decisions: str
    truth: Truth
    ahead: np.ndarray


def newsvendor(world: np.random.Generator, rows: int, *, seen: bool, drift: float = 0.0) -> Made:
    """Orders sold up to a demand that falls with rain; demand itself is the context, or rain alone is."""
    price, cost = world.uniform(2.0, 4.0), world.uniform(0.6, 1.4)
    high, slope, spread = world.uniform(60.0, 90.0), world.uniform(2.0, 6.0), world.uniform(2.0, 10.0)
    moved = drift * np.append(np.linspace(0.0, 1.0, rows), np.ones(_AHEAD))
    rain = world.gamma(2.0, 2.0, rows + _AHEAD).clip(0.0, 12.0) + moved
    demand = high - slope * rain + spread * world.normal(size=len(rain))
    order = world.uniform(15.0, 95.0, rows)
    noise = world.uniform(2.0, 8.0) * world.normal(size=rows)
    ahead = (demand if seen else rain)[rows:, None]
    rain, demand = rain[:rows], demand[:rows]
    met = demand if seen else rain
    log = pd.DataFrame({"order": order, "met": met, "profit": price * np.minimum(order, demand) - cost * order + noise})
    nodes = np.sqrt(2.0) * np.polynomial.hermite.hermgauss(32)[0]
    shares = np.polynomial.hermite.hermgauss(32)[1] / np.sqrt(np.pi)

    def truth(x: float, contexts: np.ndarray) -> np.ndarray:
        there = contexts if seen else high - slope * contexts + spread * nodes
        sold = np.minimum(x, there)
        return price * (sold if seen else sold @ shares[:, None]).ravel() - cost * x

    return Made(log, "order:15..95", truth, ahead)


def two_names(world: np.random.Generator, rows: int) -> Made:
    """A or B, whose payoffs go with a number, each in its own way, with a bend."""
    level, slope, bend = world.normal(20.0, 2.0, 2), world.normal(0.0, 4.0, 2), world.normal(0.0, 2.0, 2)
    (met, ahead), name = np.split(world.normal(size=rows + _AHEAD), [rows]), world.integers(0, 2, rows)

    def payoff(which: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        return np.asarray(level[which] + slope[which] * contexts + bend[which] * np.tanh(2.0 * contexts))

    outcome = payoff(name, met) + world.uniform(1.0, 5.0) * world.normal(size=rows)
    log = pd.DataFrame({"name": np.array(["A", "B"])[name], "met": met, "profit": outcome})
    return Made(
        log, "name:{A,B}", lambda x, contexts: payoff(np.full(len(contexts), int(x)), contexts.ravel()), ahead[:, None]
    )


def smooth(world: np.random.Generator, rows: int) -> Made:
    """Waves over one number and one context."""
    waves, phases, heights = world.normal(0.0, 3.0, (6, 2)), world.uniform(0.0, 6.3, 6), world.normal(0.0, 3.0, 6)
    x, met = world.random(rows), world.beta(2.0, 3.0, rows + _AHEAD)
    return _of_numbers(world, x, met, _waves(20.0, waves, phases, heights), world.uniform(0.5, 3.0), "x:0..1")


def _waves(level: float, waves: np.ndarray, phases: np.ndarray, heights: np.ndarray) -> Callable[..., np.ndarray]:
    def payoff(x: np.ndarray | float, met: np.ndarray) -> np.ndarray:
        both = np.stack([np.broadcast_to(x, met.shape), met], axis=-1)
        return np.asarray(level + np.cos(both @ waves.T + phases) @ heights)

    return payoff


def staffing(world: np.random.Generator, rows: int) -> Made:
    """Idle and late hours each at a price, work that comes log-normally."""
    idle, late, most = world.uniform(1.0, 3.0), world.uniform(3.0, 8.0), world.uniform(150.0, 300.0)
    met = np.exp(world.uniform(2.5, 3.2) + world.uniform(0.15, 0.4) * world.normal(size=rows + _AHEAD))

    def payoff(x: np.ndarray | float, met: np.ndarray) -> np.ndarray:
        return np.asarray(most - idle * np.maximum(x - met, 0.0) - late * np.maximum(met - x, 0.0))

    return _of_numbers(world, world.uniform(5.0, 50.0, rows), met, payoff, world.uniform(3.0, 12.0), "x:5..50")


def pricing(world: np.random.Generator, rows: int) -> Made:
    """Revenue of a price under a logistic demand that goes with the context."""
    size, steep, middle = world.uniform(50.0, 150.0), world.uniform(0.5, 1.5), world.uniform(4.0, 7.0)
    moves, count = world.uniform(0.3, 1.2), rows + _AHEAD
    met = world.uniform(-2.0, 2.0, count) + 0.3 * world.standard_t(6, count)

    def payoff(x: np.ndarray | float, met: np.ndarray) -> np.ndarray:
        return np.asarray(x * size / (1.0 + np.exp(steep * (x - middle - moves * met))))

    noise = size * world.uniform(0.05, 0.2)
    return _of_numbers(world, world.uniform(1.0, 10.0, rows), met, payoff, noise, "x:1..10")


def dose(world: np.random.Generator, rows: int) -> Made:
    """A bump whose top follows the context, over sloping ground."""
    top, width, moves = world.uniform(5.0, 15.0), world.uniform(0.15, 0.4), world.uniform(-0.5, 0.5)
    ground, met = world.normal(0.0, 4.0), world.beta(*world.uniform(1.0, 4.0, 2), rows + _AHEAD)

    def payoff(x: np.ndarray | float, met: np.ndarray) -> np.ndarray:
        return np.asarray(15.0 + top * np.exp(-0.5 * ((x - 0.5 - moves * (met - 0.5)) / width) ** 2) + ground * met)

    return _of_numbers(world, world.random(rows), met, payoff, world.uniform(0.5, 3.0), "x:0..1")


def drawn(world: np.random.Generator, rows: int) -> Made:
    """A draw of a Gaussian process, by 200 features of its squared exponential kernel; contexts of two groups."""
    waves, phases = world.normal(size=(200, 2)) / world.uniform(0.25, 0.6), world.uniform(0.0, 6.3, 200)
    heights, count = world.normal(0.0, 0.4, 200), rows + _AHEAD
    met = np.where(world.random(count) < 0.3, world.normal(0.2, 0.08, count), world.normal(0.65, 0.12, count))
    x, payoff = world.random(rows), _waves(25.0, waves, phases, heights)
    return _of_numbers(world, x, met, payoff, world.uniform(0.5, 3.0), "x:0..1")


def _of_numbers(
    world: np.random.Generator, x: np.ndarray, met: np.ndarray, payoff: Callable[..., np.ndarray], noise: float, of: str
) -> Made:
    rows = len(x)
    profit = payoff(x, met[:rows]) + noise * world.normal(size=rows)
    log = pd.DataFrame({"x": x, "met": met[:rows], "profit": profit})
    return Made(log, of, lambda x, contexts: payoff(x, contexts.ravel()), met[rows:, None])


def three_names(world: np.random.Generator, rows: int) -> Made:
    """A, B or C, each a parabola of the context; noise grows with the payoff."""
    level, slope, bend = world.normal(30.0, 3.0, 3), world.normal(0.0, 3.0, 3), world.normal(-1.0, 1.0, 3)
    (met, ahead), name = np.split(world.normal(size=rows + _AHEAD), [rows]), world.integers(0, 3, rows)

    def payoff(which: int | np.ndarray, contexts: np.ndarray) -> np.ndarray:
        return np.asarray(level[which] + slope[which] * contexts + bend[which] * contexts**2)

    mean = payoff(name, met)
    outcome = mean + np.maximum(np.abs(mean), 5.0) * world.uniform(0.05, 0.2) * world.normal(size=rows)
    log = pd.DataFrame({"name": np.array(list("ABC"))[name], "met": met, "profit": outcome})
    return Made(log, "name:{A,B,C}", lambda x, contexts: payoff(int(x), contexts.ravel()), ahead[:, None])


KINDS: dict[str, Callable[[np.random.Generator, int], Made]] = {
    "newsvendor, demand seen": lambda world, rows: newsvendor(world, rows, seen=True),
    "newsvendor, demand not seen": lambda world, rows: newsvendor(world, rows, seen=False),
    "newsvendor, drift": lambda world, rows: newsvendor(world, rows, seen=False, drift=6.0),
    "A/B": two_names,
    "smooth": smooth,
}
OTHERS: dict[str, Callable[[np.random.Generator, int], Made]] = {
    "staffing": staffing,
    "pricing": pricing,
    "dose": dose,
    "drawn": drawn,
    "three names": three_names,
}


def true_worst(made: Made, decision: float, name: str, radius: float) -> float:
    """Return the worst expectation of the true payoff over the set around the log's contexts."""
    points, counts = np.unique(made.log[["met"]].to_numpy(), axis=0, return_counts=True)
    scaled = (points - points.min()) / np.ptp(points)
    stated = validate(SetParameters, {"name": name}, "--", Reading(Path()))
    around = stated.over(scaled).with_epsilon(radius)
    return float(worst_case(made.truth(decision, points), counts / counts.sum(), around).value)


def kept(seed: int, kind: str, rows: int, name: str, radius: float) -> tuple[float, ...]:
    """Return the guarantee of a log, the truth, what is realised ahead, rows not believed, and the model's worst."""
    kinds = KINDS if kind in KINDS else OTHERS
    made = kinds[kind](np.random.default_rng([seed, rows, list(kinds).index(kind)]), rows)
    decisions = read_decisions(made.decisions)
    log = read_logs(read_log_table(made.log, "log"), decisions, ["met"], ["profit"])[0]
    given = weighted(log.contexts, np.ones(rows))
    learnt = believed(log, functools.partial(Learnt, decisions, log, given, 1.0, None, ONE_HOT))
    stated = validate(SetParameters, {"name": name}, "--", Reading(Path()))
    rule = Rule("dro", stated.over(learnt.scaled(given.contexts)).with_epsilon(radius), given.weights)
    search = Search(learnt, rule)
    best = search.best(search.values)
    (value,) = best.tolist()
    realised = float(made.truth(value, made.ahead).mean())
    promised = Judge(search, 1.0).kept_by(best, rule)
    worst = float(rule.lowest(learnt.means(best[None]))[0])
    return promised, true_worst(made, value, name, radius), realised, int((~learnt.kept).sum()), worst


#: Rows of a log that changes in time, those of the next block, and how often that block is simulated.
_ROWS, _NEXT, _WORLDS = 160, 5, 64


def changing(kind: str, world: np.random.Generator) -> Made:
    """Contexts whose level changes in time, and a newsvendor or a parabola that follows them."""
    at = np.arange(_ROWS + _NEXT) / _ROWS
    phase, up = world.uniform(0.0, 2.0 * np.pi), world.choice([-1.0, 1.0])
    seasons = {"season": world.uniform(2.0, 4.0), "one season": 1.0}
    level = np.zeros((_WORLDS, len(at)))
    if kind == "drift":
        level += up * world.uniform(1.0, 3.0) * (at - 0.5)
    elif kind in seasons:
        level += world.uniform(0.8, 1.6) * np.sin(2.0 * np.pi * seasons[kind] * at + phase)
    elif kind == "jump":
        level += up * world.uniform(1.0, 2.5) * (at > world.uniform(0.5, 0.9))
    elif kind == "regimes":
        states, state = world.uniform(1.0, 2.5) * np.array([-0.5, 0.0, 0.5]), np.full(_WORLDS, world.integers(3))
        for i in range(len(at)):
            moves = world.random(_WORLDS if i >= _ROWS else 1) < 0.05
            state = np.where(moves, world.integers(0, 3, _WORLDS if i >= _ROWS else 1), state)
            level[:, i] = states[state]
    met = 50.0 + 12.0 * (level + world.normal(size=level.shape))
    ahead, met = met[:, _ROWS:].reshape(-1, 1), met[0, :_ROWS]
    price, cost, width = world.uniform(2.0, 4.0), world.uniform(0.6, 1.4), world.uniform(15.0, 40.0)
    flat = world.random() < 0.5

    def payoff(x: np.ndarray | float, contexts: np.ndarray) -> np.ndarray:
        if flat:
            return np.asarray(100.0 - 30.0 * ((x - contexts) / width) ** 2)
        return np.asarray(price * np.minimum(x, contexts) - cost * x)

    order = world.uniform(10.0, 100.0, _ROWS)
    profit = payoff(order, met) + world.uniform(2.0, 8.0) * world.normal(size=_ROWS)
    log = pd.DataFrame({"order": order, "met": met, "profit": profit})
    return Made(log, "order:10..100", lambda x, contexts: payoff(x, contexts.ravel()), ahead)


CHANGES = ("steady", "drift", "season", "one season", "jump", "regimes")


def lost(seed: int, kind: str, name: str) -> tuple[float, ...]:
    """Return what is earned ahead: the best with hindsight, by replay, at radius 0, and insured."""
    made = changing(kind, np.random.default_rng([seed, CHANGES.index(kind)]))
    found = bocu.suggest(made.log, decisions=made.decisions, contexts=["met"], outcome="profit", set=name)
    search, stated = found.search, validate(SetParameters, {"name": name}, "--", Reading(Path()))
    learnt = search.learnt.asked_of(search.learnt.log.contexts)
    points, alike = learnt.scaled(learnt.log.contexts), np.ones(_ROWS)
    estimate = found.estimate
    radii = [0.0, *np.linspace(0.1, 1.5, 12) * estimate.radius]
    by_radius = search.pool[_decided(learnt.means(search.pool), points, alike, stated, radii, estimate.cells)]
    earned = [float(made.truth(x, made.ahead).mean()) for x in by_radius.ravel()]
    by_replay, insured = (
        float(made.truth(decision["order"], made.ahead).mean()) for decision in (found.decision, found.insured.decision)
    )
    return max(earned), by_replay, earned[0], insured


def wilson(hits: int, count: int) -> str:
    """Return a share with its 95 % interval (Wilson, 1927)."""
    low, high = binomtest(hits, count).proportion_ci(method="wilson")
    return f"{100 * hits / count:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def measured(logs: int, first: int, kind: str, rows: int) -> np.ndarray:
    """Return what `kept` does, a row a log, sets and radii in turns."""
    sets = SETS if rows < ROWS[-1] else SETS[:-1]
    return np.array(
        [
            kept(seed, kind, rows, sets[seed % len(sets)], RADII[seed // len(sets) % len(RADII)])
            for seed in range(first, first + logs)
        ]
    )


def tell_kept(logs: int, first: int) -> None:
    print("| log | rows | logs | kept | short (mean) | kept ahead | rows not believed |\n|---|---|---|---|---|---|---|")
    hits = count = 0
    for kind, rows in itertools.product(KINDS, ROWS):
        table = measured(logs, first, kind, rows)
        held = int((table[:, 1] >= table[:, 0]).sum())
        hits, count = hits + held, count + len(table)
        short = ((table[:, 1] - table[:, 0]) / np.abs(table[:, 1])).clip(-1.0, 1.0).mean()
        print(
            f"| {kind} | {rows} | {len(table)} | {wilson(held, len(table))} | {short:.1%} | "
            f"{(table[:, 2] >= table[:, 0]).mean():.0%} | {table[:, 3].mean():.2f} |",
            flush=True,
        )
    print(f"| all | | {count} | {wilson(hits, count)} | | | |")


def tell_factor(logs: int, first: int) -> None:
    tables = [measured(logs, first, kind, rows) for kind, rows in itertools.product(OTHERS, ROWS[:-1])]
    print("| standard deviations | kept | least of a kind and length | short (mean) |\n|---|---|---|---|")
    for factor in np.arange(1.2, 2.05, 0.1):
        found = []
        for promised, true, _, _, worst in (table.T for table in tables):
            bound = worst - factor * (worst - promised) / BOUND
            found.append([(true >= bound).mean(), ((true - bound) / np.abs(true)).clip(-1.0, 1.0).mean()])
        shares, short = np.transpose(found)
        print(f"| {factor:.1f} | {shares.mean():.0%} | {shares.min():.0%} | {short.mean():.1%} |")


def tell_lost(logs: int, first: int) -> None:
    print("| contexts | logs | loss | radius 0 | insured |\n|---|---|---|---|---|")
    for kind in CHANGES:
        table = np.array([lost(first + i, kind, ("tv", "wass", "kl")[i % 3]) for i in range(logs)])
        behind = (table[:, :1] - table[:, 1:]) / np.abs(table[:, 0].mean())
        error = 1.96 * behind[:, 0].std(ddof=1) / np.sqrt(len(table))
        by_replay, plain, insured = behind.mean(axis=0)
        print(f"| {kind} | {len(table)} | {by_replay:.1%} (± {error:.1%}) | {plain:.1%} | {insured:.1%} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kept", "pays", "factor"])
    parser.add_argument("logs", type=int, help="of each kind")
    parser.add_argument("first", type=int, help="seed of the first log")
    asked = parser.parse_args()
    {"kept": tell_kept, "pays": tell_lost, "factor": tell_factor}[asked.what](asked.logs, asked.first)
