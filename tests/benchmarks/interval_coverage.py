r"""How often 95 % intervals hold the mean, by the number of seeds and the law of what is measured in each.

    python tests/benchmarks/interval_coverage.py
    python tests/benchmarks/interval_coverage.py --samples 20000 --seeds 3 10
    python tests/benchmarks/interval_coverage.py --skewness docs/results/*.nc   # how skewed published regrets are

`student` is what means and bands have, `bootstrap-t` what paired differences and claims have, by itself; `percentile`
is scipy's percentile bootstrap of the mean. The latter two have fewer samples, since they resample each. Below them, on
paired regrets of two algorithms (lognormal, sigma 0.5, times what the seed shares, lognormal as well): `fieller`, the
ratio of their means; `middle` and `improvement`, what figures over eight problems show, by a bootstrap stratified by
problem.
"""

import argparse
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import xarray as xr
from scipy import stats

from bocu.sweep.evaluation.across_problems import interquartile_mean, probability_of_improvement
from bocu.sweep.evaluation.paired_means import paired_means
from bocu.sweep.evaluation.statistics import CONFIDENCE, Interval, student_intervals, student_ratio

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
LAWS: Mapping[str, Draw] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "lognormal, sigma 0.75": lambda random, shape: random.lognormal(0.0, 0.75, shape) - np.exp(0.75**2 / 2),
    "Student's t, 3 degrees": lambda random, shape: random.standard_t(3, shape),
}
"""Laws of mean zero: none, moderate and no skew; the last with heavy tails."""
AT_ONCE = 2_000_000
RESAMPLES = 500


def student(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Student's intervals of rows."""
    _, low, high = student_intervals(values)
    return low, high


def bootstrap_t(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the symmetric bootstrap-t's intervals of rows."""
    parts = [paired_means(part) for part in np.array_split(values, len(values) // 50 + 1) if len(part)]
    mean, half = (np.concatenate([getattr(part, name) for part in parts]) for name in ("mean", "half"))
    return mean - half, mean + half


def percentile(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the percentile bootstrap's intervals of rows."""
    found = stats.bootstrap(
        (values,), np.mean, axis=-1, confidence_level=CONFIDENCE, n_resamples=999, method="percentile", rng=1, batch=50
    ).confidence_interval
    return found.low, found.high


def coverage(draw: Draw, ends: Callable[..., tuple[np.ndarray, np.ndarray]], count: int, samples: int) -> float:
    """Return the share of samples of `count` numbers whose interval holds 0, the mean."""
    random, held, step = np.random.default_rng(count), 0, max(1, AT_ONCE // count)
    for start in range(0, samples, step):
        low, high = ends(draw(random, (min(step, samples - start), count)))
        held += int(((low <= 0) & (high >= 0)).sum())
    return held / samples


def pair(random: np.random.Generator, count: int) -> np.ndarray:
    """Return regrets of two algorithms on paired seeds, shape (2, count); one is as good as the other."""
    return random.lognormal(0.0, 0.5, count) * random.lognormal(0.0, 0.5, (2, count))


def fieller(random: np.random.Generator, count: int) -> Interval:
    """Return the ratio of two means, which is 1."""
    return student_ratio(*pair(random, count))


def middle(random: np.random.Generator, count: int) -> Interval:
    """Return the interquartile mean over eight problems relative to a reference, both of symmetric numbers: 1."""
    own, base = random.normal(1.0, 0.5, (2, 8, count))
    return interquartile_mean([*own], [*base], resamples=RESAMPLES)


def improvement(random: np.random.Generator, count: int) -> Interval:
    """Return the probability of improvement over eight problems, which is a half, less a half, plus 1."""
    own, other = zip(*(pair(random, count) for _ in range(8)), strict=True)
    found = probability_of_improvement(own, other, resamples=RESAMPLES)
    return Interval(found.value + 0.5, found.low + 0.5, found.high + 0.5, found.count)


def coverage_of_pairs(measured: Callable[[np.random.Generator, int], Interval], count: int, samples: int) -> float:
    """Return the share of samples of `count` seeds whose interval holds 1, the truth."""
    random = np.random.default_rng(count)
    found = [measured(random, count) for _ in range(samples)]
    return float(np.mean([one.low <= 1.0 <= one.high for one in found]))


def skewness(file: Path) -> str:
    """Return how skewed final regrets of reduced results are over seeds, and their paired differences."""
    with xr.open_dataset(file) as found:
        about = [found[f"row_{key}"].values for key in ("word", "problem", "metric")]
        final = found["number"].values[about[0] == "final"]
        scored = list(zip(*(each[about[0] == "final"] for each in about[1:]), strict=True))
    pairs = [(a, b) for a, b in itertools.combinations(range(len(final)), 2) if scored[a] == scored[b]]
    told = []
    for samples in (final, np.array([final[a] - final[b] for a, b in pairs])):
        known = [row[~np.isnan(row)] for row in samples]
        found_skew = [abs(stats.skew(row, bias=False)) for row in known if len(row) > 2 and np.ptp(row) > 0.0]
        told.append(f"median {np.median(found_skew):.2f}, nine tenths below {np.quantile(found_skew, 0.9):.2f}")
    return f"{file.name}: final regrets {told[0]}; paired differences {told[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000, help="samples for Student's; a fiftieth for the others")
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 5, 6, 10, 30, 100])
    parser.add_argument("--skewness", type=Path, nargs="+", help="reduced results to look at instead")
    chosen = parser.parse_args()
    if chosen.skewness:
        print("\n".join(skewness(file) for file in chosen.skewness))
        return
    print("| law | interval | " + " | ".join(f"{count} seeds" for count in chosen.seeds) + " |")
    print("|---|---|" + "---|" * len(chosen.seeds))
    for law, draw in LAWS.items():
        for name, ends, fewer in (
            ("student", student, 1),
            ("bootstrap-t", bootstrap_t, 50),
            ("percentile", percentile, 50),
        ):
            shares = [coverage(draw, ends, count, chosen.samples // fewer) for count in chosen.seeds]
            print(f"| {law} | {name} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |", flush=True)
    for measured, fewer in ((fieller, 10), (middle, 100), (improvement, 100)):
        shares = [coverage_of_pairs(measured, count, chosen.samples // fewer) for count in chosen.seeds]
        told = " | ".join(f"{100 * share:.1f} %" for share in shares)
        print(f"| pairs | {measured.__name__} | {told} |", flush=True)


if __name__ == "__main__":
    main()
