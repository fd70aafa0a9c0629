r"""How often verdicts on equal means are false and intervals hold the mean, by seeds and by the law of a seed's number.

    python tests/benchmarks/verdicts.py
    python tests/benchmarks/verdicts.py --tables 400 --seeds 30
    python tests/benchmarks/verdicts.py --published docs/results/ziomek2025.nc docs/results/huang2024.nc

A cell is, in %: false verdicts by the symmetric bootstrap-t (max-T over the table's pairs) / by Student's interval and
signed ranks after Holm's correction / how often the bootstrap-t interval of a pair holds the mean. Half of a table's
methods have the law, the others a normal one, all of mean 1, and a table is false where any two are told apart.
`--published` takes as laws final regrets of published runs, each branch over its mean, in place of the named ones.
"""

import argparse
import itertools
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import xarray as xr
from scipy import stats

from bocu.sweep.evaluation.paired_means import paired_means

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def normal(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return random.normal(1.0, 0.5, shape)


def lognormal(sigma: float) -> Draw:
    """Return a law of mean 1."""
    return lambda random, shape: random.lognormal(-(sigma**2) / 2, sigma, shape)


def stuck(share: float) -> Draw:
    """Return a law of mean 1: about that, or, in a share of the seeds, about ten times as much."""

    def draw(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        fine, high = random.normal(1.0, 0.3, shape), random.normal(10.0, 1.0, shape)
        return np.where(random.random(shape) < share, high, fine) / (1 + 9 * share)

    return draw


LAWS: Mapping[str, Draw] = {
    "normal": normal,
    "Student's t, 3 degrees": lambda random, shape: 1 + 0.5 * random.standard_t(3, shape),
    "lognormal, sigma 0.5": lognormal(0.5),
    "lognormal, sigma 1": lognormal(1.0),
    "stuck in 20 %": stuck(0.2),
    "stuck in 10 %": stuck(0.1),
    "stuck in 5 %": stuck(0.05),
}
METHODS = (2, 3, 6, 10)


def published(file: Path) -> Draw | None:
    """Return the law of reduced results: final regrets of a branch at random, each over its mean, drawn anew.

    None where no branch has ten seeds.
    """
    with xr.open_dataset(file) as found:
        final = found["number"].values[found["row_word"].values == "final"]
    known = [row[~np.isnan(row)] for row in final]
    branches = [row / row.mean() for row in known if len(row) >= 10 and row.mean() > 0 and np.ptp(row) > 0]

    def draw(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        methods, seeds = shape
        return np.stack([random.choice(branches[random.integers(len(branches))], seeds) for _ in range(methods)])

    return draw if branches else None


def measure(draw: Draw, methods: int, seeds: int, tables: int) -> dict[str, float]:
    """Return shares: of tables with a false verdict by either way, of pairs whose own interval holds 0."""
    random = np.random.default_rng(zlib.crc32(f"{methods} {seeds}".encode()))
    one, other = np.triu_indices(methods, 1)
    counts = np.zeros(3)
    for _ in range(tables):
        numbers = np.concatenate(
            [draw(random, (methods // 2, seeds)), normal(random, (methods - methods // 2, seeds))], axis=0
        )
        gaps = numbers[one] - numbers[other]
        found = paired_means(gaps)
        counts += (
            bool((np.abs(found.mean) > found.half_together).any()),
            bool(student_and_wilcoxon(gaps)),
            float((np.abs(found.mean) <= found.half).mean()),
        )
    return dict(zip(("bootstrap-t", "Student and Wilcoxon", "held"), counts / tables, strict=True))


def student_and_wilcoxon(gaps: np.ndarray) -> bool:
    """Return whether any pair is told apart by Student's interval and by signed ranks after Holm's correction."""
    ranked = stats.wilcoxon(gaps, axis=1).pvalue
    rejected = np.minimum.accumulate(np.sort(ranked) * np.arange(len(gaps), 0, -1) < 0.05)
    return bool((rejected & (stats.ttest_1samp(gaps, 0, axis=1).pvalue < 0.05)[np.argsort(ranked)]).any())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=4000, help="in each cell")
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 20, 30, 50])
    parser.add_argument("--methods", type=int, nargs="+", default=list(METHODS), help="in a table; 2 are a pair")
    parser.add_argument("--published", type=Path, nargs="+", default=[], help="reduced results, in place of named laws")
    chosen = parser.parse_args()
    laws = {f"runs of {file.stem}": draw for file in chosen.published if (draw := published(file))} or LAWS
    print("| law | methods | " + " | ".join(f"{seeds} seeds" for seeds in chosen.seeds) + " |")
    print("|---|---|" + "---|" * len(chosen.seeds))
    for (law, draw), methods in itertools.product(laws.items(), chosen.methods):
        found = [measure(draw, methods, seeds, chosen.tables) for seeds in chosen.seeds]
        told = (" / ".join(f"{100 * share:.1f}" for share in cell.values()) for cell in found)
        print(f"| {law} | {methods} | " + " | ".join(told) + " |", flush=True)


if __name__ == "__main__":
    main()
