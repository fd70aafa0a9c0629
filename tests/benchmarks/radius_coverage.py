r"""How often the contexts that follow a log lie within the radius that was estimated from it.

    python tests/benchmarks/radius_coverage.py
    python tests/benchmarks/radius_coverage.py --replays 50 --rows 60 --sets tv wass
    python tests/benchmarks/radius_coverage.py --half-life 30

Logs of three kinds of contexts are simulated, each followed by as many rows as a block has, under three fates: nothing
changes; the contexts drift by a standard deviation while the log is written and go on so; they jump by as much just
when it ends, which no log can tell. A cell holds the share of replays within the radius, and in brackets the median
radius over the least radius that would have covered 90 % of them (that which an oracle would have chosen).
"""

import argparse
from collections.abc import Callable

import numpy as np

from bocu.advice.radius import DistanceAhead, estimate_radius
from bocu.robust.ambiguity.parameters import SetParameters

Draw = Callable[[np.random.Generator, np.ndarray], np.ndarray]


def weather(random: np.random.Generator, shift: np.ndarray) -> np.ndarray:
    """Temperature, correlated from day to day, and rain, which falls on some days."""
    warmth = np.zeros(len(shift))
    for i in range(1, len(shift)):
        warmth[i] = 0.6 * warmth[i - 1] + 0.8 * random.normal()
    wet = random.random(len(shift)) < 0.4 + 0.2 * shift
    return np.column_stack([16.0 + 5.0 * (warmth + shift), wet * random.exponential(5.0, len(shift))])


def demand(random: np.random.Generator, shift: np.ndarray) -> np.ndarray:
    """Log-normal numbers, independent of each other."""
    return np.exp(3.0 + 0.5 * (random.normal(size=len(shift)) + shift))[:, None]


def regimes(random: np.random.Generator, shift: np.ndarray) -> np.ndarray:
    """One of four states, kept half of the time."""
    early, late = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])
    states = np.zeros((len(shift), 1))
    for i, late_share in enumerate(0.5 * shift):
        kept = i > 0 and random.random() < 0.5
        states[i] = states[i - 1] if kept else random.choice(4, p=(1.0 - late_share) * early + late_share * late)
    return states


PROBLEMS: dict[str, Draw] = {"weather": weather, "demand": demand, "regimes": regimes}
FATES: dict[str, Callable[[int, int], np.ndarray]] = {
    "steady": lambda rows, ahead: np.zeros(rows + ahead),
    "drift": lambda rows, ahead: np.arange(rows + ahead) / rows,
    "jump": lambda rows, ahead: np.repeat([0.0, 1.0], [rows, ahead]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replays", type=int, default=200)
    parser.add_argument("--rows", type=int, default=120, help="of a log")
    parser.add_argument("--horizon", type=int, help="rows of a block")
    parser.add_argument("--half-life", type=float, help="of rows in the reference; left out, all count alike")
    parser.add_argument("--sets", nargs="+", default=["tv", "kl", "chi2", "mmd", "wass"])
    chosen = parser.parse_args()

    def recency(rows: int) -> np.ndarray:
        return np.ones(rows) if chosen.half_life is None else np.exp2(np.arange(1 - rows, 1) / chosen.half_life)

    print("| contexts | | " + " | ".join(chosen.sets) + " |")
    print("|---|---|" + "---|" * len(chosen.sets))
    for problem, draw in PROBLEMS.items():
        for fate, shifts in FATES.items():
            cells = []
            for name in chosen.sets:
                stated = SetParameters.model_validate({"name": name})
                radii, distances = [], []
                for replay in range(chosen.replays):
                    random = np.random.default_rng([replay, list(PROBLEMS).index(problem)])
                    contexts = draw(random, shifts(chosen.rows, chosen.rows))
                    log = contexts[: chosen.rows]
                    low, span = log.min(axis=0), np.ptp(log, axis=0)
                    log, future = (log - low) / span, (contexts[chosen.rows :] - low) / span
                    found = estimate_radius(log, stated, recency, chosen.horizon)
                    radii.append(found.radius)
                    weights = recency(chosen.rows)
                    distances.append(DistanceAhead(stated, found.horizon)(log, weights, future[: found.horizon]))
                within = np.mean(np.array(distances) <= np.array(radii) + 1e-12)
                wide = np.median(radii) / np.quantile(distances, 0.9)
                cells.append(f"{100 * within:.1f} % ({wide:.2f})")
            print(f"| {problem} | {fate} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
