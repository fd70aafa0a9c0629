r"""Processor time and memory of suggestions from long logs, and what it changes to fit 2,000 rows in place of all.

    python tests/benchmarks/long_logs.py
    python tests/benchmarks/long_logs.py --rows 500 1000 --compare 2500

A log of orders at prices, met by temperature and rain, is simulated. Each size runs in a process of its own, imports
included. The comparison tells a suggestion whose hyper-parameters were fitted to all rows (exact) from one where 2,000
rows spoke for them, and how well either model foretells 1,000 rows that it has not seen: the root of their mean squared
error, and their mean log density.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np

ASKED = {
    "decisions": "order:int:20..90,price:1..5",
    "contexts": ["temperature", "rain"],
    "outcome": "profit",
    "radius": 0.2,
}
UNSEEN = 1000


def log(rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    world = np.random.default_rng(seed)
    temperature = world.normal(16.0, 5.0, rows).round(1)
    rain = np.where(world.random(rows) < 0.6, 0.0, world.exponential(5.0, rows)).round(1)
    order, price = world.integers(20, 91, rows), world.uniform(1.0, 5.0, rows).round(2)
    demand = 76.0 + 1.5 * temperature - 3.0 * rain - 12.0 * price + world.normal(0.0, 4.0, rows)
    profit = (price * np.minimum(order, np.maximum(demand, 0.0)) - order).round(2)
    return {"order": order, "price": price, "temperature": temperature, "rain": rain, "profit": profit}


def one(rows: int) -> None:
    """Print processor seconds, GB of memory at most and what was suggested."""
    import bocu

    found = bocu.suggest(log(rows), **ASKED)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"| {rows} | {time.process_time():.1f} | {peak:.2f} | {told(found)} |")


def told(found: object) -> str:
    best = found.best
    decision = ", ".join(f"{name} {value:.4g}" for name, value in best.decision.items())
    return f"{decision} | {best.expected:.2f} | {best.guaranteed:.2f}"


def foretold(rows: int) -> str:
    """Return how well the model of a log foretells rows that it has not seen."""
    from bocu.advice.choices import read_decisions
    from bocu.advice.logs import read_log_table, read_logs, weighted
    from bocu.advice.model import Learnt

    decisions, contexts = read_decisions(ASKED["decisions"]), ASKED["contexts"]
    seen, unseen = (
        read_logs(read_log_table(log(count, seed), "log"), decisions, contexts, [ASKED["outcome"]])[0]
        for count, seed in ((rows, 0), (UNSEEN, 1))
    )
    learnt = Learnt(decisions, seen, weighted(unseen.contexts[:8], np.ones(8)), 1.0)
    means, spreads = learnt.pairs(unseen.decisions, unseen.contexts)
    variances, errors = spreads**2 + learnt.noise**2, unseen.outcome - means
    density = -0.5 * (np.log(2.0 * np.pi * variances) + errors**2 / variances)
    return f"{np.sqrt((errors**2).mean()):.3f} | {density.mean():.4f}"


def compare(rows: int) -> None:
    import bocu
    from bocu.advice import model

    print(f"\n| {rows} rows | decision | expected | guaranteed | error | log density | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name, most in (("2,000 of them fitted", model.MOST_ROWS_OF_A_FIT), ("all of them fitted", rows)):
        model.MOST_ROWS_OF_A_FIT = most
        start = time.process_time()
        found = told(bocu.suggest(log(rows), **ASKED))
        seconds = time.process_time() - start
        print(f"| {name} | {found} | {foretold(rows)} | {seconds:.1f} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 1000, 2000, 3000, 10000])
    parser.add_argument("--compare", type=int, default=3000, help="rows of the comparison with the exact fit; 0: none")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.one:
        one(chosen.one)
        return
    print("| rows | processor seconds | GB | decision | expected | guaranteed |")
    print("|---|---|---|---|---|---|", flush=True)
    for rows in chosen.rows:
        subprocess.run([sys.executable, __file__, "--one", str(rows)], check=True, env=os.environ)
    if chosen.compare:
        compare(chosen.compare)


if __name__ == "__main__":
    main()
