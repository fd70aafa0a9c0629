r"""How often verdicts on equal means are false and intervals hold the mean, by seeds and by the law of a seed's number.

    python tests/benchmarks/verdicts.py
    python tests/benchmarks/verdicts.py --tables 400 --seeds 30
    python tests/benchmarks/verdicts.py --published docs/results/ziomek2025.nc docs/results/huang2024.nc
    python tests/benchmarks/verdicts.py --claims --tables 1000 --seeds 30 50
    python tests/benchmarks/verdicts.py --page docs/statistics.md

A cell is, in %: false verdicts by the symmetric bootstrap-t (max-T over the table's pairs) / by Student's interval and
signed ranks after Holm's correction / how often the bootstrap-t interval of a pair holds the mean. Half of a table's
methods have the law, the others a normal one, all of mean 1, and a table is false where any two are told apart.
Bold: beyond 10 % of pairs, or 8 % of larger tables.
`--published` takes as laws final regrets of published runs, each branch over its mean, in place of the named ones.
`--claims` judges claims of many parts, each by itself, where their truth is at the boundary: one method has the law,
the others a normal one, all of mean 1. A row says how many hold, and fail, in %, with the law with which most do.
"""

import argparse
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from scipy import stats

from bocu.pages.report.claims import write_section
from bocu.sweep.evaluation.claims import FAILS, HOLDS, Claim, verdicts
from bocu.sweep.evaluation.claims.numbers import Numbers
from bocu.sweep.evaluation.claims.places import Known, Place
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
MARKS = tuple((f"<!-- {what}: begin -->", f"<!-- {what}: end -->") for what in ("false verdicts", "false claims"))
PAIRS_BAR, TABLES_BAR = 0.10, 0.08
OTHERS = tuple("bcdef")
PROBLEMS = tuple("stuvwxyz")
_OVER = f"for problem in [{', '.join(PROBLEMS)}]"
CLAIMS: Mapping[str, str] = {
    "first of six on one problem": f"rank(a, among=[{', '.join(OTHERS)}], problem=z) == 1",
    "first of six on eight problems": f"all(rank(a, among=[{', '.join(OTHERS)}]) == 1 {_OVER})",
    "ahead of one on some of eight": f"any(final(a) < final(b) {_OVER})",
    "ahead of one on five of eight": f"atleast(5, [final(a) < final(b) {_OVER}])",
    "behind a tenth less on all but one of eight": f"all(final(a) < final(far) {_OVER})",
}
"""Claims about equals, but for the last: `far` has ten times as much on seven problems, and as much on the eighth."""


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


def measure(draw: Draw, methods: int, seeds: int, tables: int) -> np.ndarray:
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
    return counts / tables


def student_and_wilcoxon(gaps: np.ndarray) -> bool:
    """Return whether any pair is told apart by Student's interval and by signed ranks after Holm's correction."""
    ranked = stats.wilcoxon(gaps, axis=1).pvalue
    rejected = np.minimum.accumulate(np.sort(ranked) * np.arange(len(gaps), 0, -1) < 0.05)
    return bool((rejected & (stats.ttest_1samp(gaps, 0, axis=1).pvalue < 0.05)[np.argsort(ranked)]).any())


class Simulated(Numbers):
    """Numbers of one problem."""

    def __init__(self, problem: str, regrets: Mapping[str, np.ndarray]) -> None:
        self.regrets = regrets
        known = Known(problem, {label: ["o"] for label in regrets}, ["o"], 1)
        super().__init__(known, {"regret"}, {}, len(regrets["a"]))

    def _column(self, word: str, place: Place) -> tuple[np.ndarray, np.ndarray]:
        regrets = self.regrets[place.algorithm]
        return np.arange(len(regrets)), regrets

    def by_round(self, word: str, place: Place) -> np.ndarray:
        return self.regrets[place.algorithm][:, None]


def judge(draw: Draw, seeds: int, times: int) -> np.ndarray:
    """Return how often claims hold, and fail, of equals, shape (claims, 2)."""
    random = np.random.default_rng(seeds)
    stated = [
        Claim(id=f"c{i}", statement=said, experiment="e", family=said, check=check)
        for i, (said, check) in enumerate(CLAIMS.items())
    ]
    counts = np.zeros((len(stated), 2))
    for _ in range(times):
        found = {}
        for problem in PROBLEMS:
            others = dict(zip((*OTHERS, "far"), normal(random, (len(OTHERS) + 1, seeds)), strict=True))
            if problem != PROBLEMS[-1]:
                others["far"] = 10 * others["far"]
            found[problem] = Simulated(problem, {"a": draw(random, (1, seeds))[0], **others})
        outcomes = [one.outcome for one in verdicts(stated, lambda _, problem, found=found: found[problem])]
        counts += [[outcome == HOLDS, outcome == FAILS] for outcome in outcomes]
    return counts / times


def tables(laws: Mapping[str, Draw], chosen: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table of tables, a row a law and number of methods."""
    yield f"| law | methods | {' | '.join(f'{n} seeds' for n in chosen.seeds)} |"
    yield "|---|---|" + "---|" * len(chosen.seeds)
    for law, draw in laws.items():
        for methods in chosen.methods:
            cells = []
            for seeds in chosen.seeds:
                false, *others = measure(draw, methods, seeds, chosen.tables)
                cells.append(
                    " / ".join([bold(false, PAIRS_BAR if methods == 2 else TABLES_BAR), *map(percent, others)])
                )
            yield f"| {law} | {methods} | {' | '.join(cells)} |"


def claims(laws: Mapping[str, Draw], chosen: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table of claims: how many hold, and fail, with the law with which most do."""
    yield "| claim | seeds | holds | most with | fails |"
    yield "|---|---|---|---|---|"
    for seeds in chosen.seeds:
        found = np.stack([judge(draw, seeds, chosen.tables) for draw in laws.values()])
        for claim, (holds, fails) in zip(CLAIMS, found.transpose(1, 2, 0), strict=True):
            most = list(laws)[int(holds.argmax())] if holds.any() else "-"
            yield f"| {claim} | {seeds} | {bold(holds.max(), PAIRS_BAR)} | {most} | {bold(fails.max(), PAIRS_BAR)} |"


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def bold(share: float, bar: float) -> str:
    return f"**{percent(share)}**" if share > bar else percent(share)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=4000, help="in each cell")
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 20, 30, 50])
    parser.add_argument("--methods", type=int, nargs="+", default=list(METHODS), help="in a table; 2 are a pair")
    parser.add_argument("--published", type=Path, nargs="+", default=[], help="reduced results, in place of named laws")
    parser.add_argument("--claims", action="store_true", help="claims of many parts in place of tables")
    parser.add_argument("--page", type=Path, help="page to write the table into, between its marks")
    words = sys.argv[1:] if words is None else words
    chosen = parser.parse_args(words)
    laws = {f"runs of {file.stem}": draw for file in chosen.published if (draw := published(file))} or LAWS
    lines = []
    for line in claims(laws, chosen) if chosen.claims else tables(laws, chosen):
        lines.append(line)
        print(line, flush=True)
    if chosen.page:
        without = [word for word in words if word not in ("--page", str(chosen.page))]
        text = [f"Made by `python tests/benchmarks/verdicts.py {' '.join(without)}`:", "", *lines]
        write_section(chosen.page, "\n".join(text) + "\n", MARKS[chosen.claims])


if __name__ == "__main__":
    main()
