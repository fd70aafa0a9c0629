"""Statistics of runs: one number a seed. Each stands here once, and everything that has it takes it from here.

Digests hold what `STATISTICS` work out, and `Results.per_seed` of `bocu.pages.figures.results` reads it; CSV files,
tables and the page show those of `TOLD`. The two are apart: words change no number, and make no digest anew.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.core.written import between, round_time
from bocu.sweep.evaluation.statistics import CONFIDENCE, GROWTH_FROM, growth_slopes, mean_and_error, student_mean


@dataclass(frozen=True)
class Statistic:
    """One number a seed, of a branch and, unless it is one of times, a metric."""

    variable: str  #: its name in a digest.
    #: works it out. Takes the rounds, shape (iterations,), those of the initial design 0 and below, and what it is of,
    #: shape (seeds, iterations), of seeds with a number in every round from 1 on; returns (seeds,), not a number for a
    #: seed that has none.
    per_seed: Callable[[np.ndarray, np.ndarray], np.ndarray]
    long_name: str  #: what a digest says of it.
    of: str = "regret"  #: the variable of the cube that it is of: "regret", "hypervolume_share" or "seconds".
    units: str | None = "1"  #: of the number; None: those of the payoff.


def _growth(iterations: np.ndarray, regret: np.ndarray) -> np.ndarray:
    started = iterations >= 1
    return growth_slopes(iterations[started], regret[:, started].cumsum(axis=1))


TOTAL = Statistic(
    "total_regret",
    lambda iterations, regret: regret[:, iterations >= 1].sum(axis=1),
    "regret summed from round 1 to the last",
    units=None,
)
GROWTH = Statistic("growth_slope", _growth, "exponent by which cumulative regret grows at last")
FRONT_SHARE = Statistic(
    "final_hypervolume_share",
    lambda _, share: share[:, -1],
    "hypervolume of what all decisions guarantee, as a share of the best front's",
    of="hypervolume_share",
)
SECONDS = Statistic(
    "seconds_per_round",
    lambda iterations, seconds: seconds[:, iterations >= 1].mean(axis=1),  # the initial design chooses nothing
    "time of a round",
    of="seconds",
    units="s",
)
#: What digests hold.
STATISTICS = (TOTAL, GROWTH, FRONT_SHARE, SECONDS)


@dataclass(frozen=True)
class Told:
    """How CSV files, tables and the page have a statistic: by default its mean over seeds with Student's interval."""

    statistic: Statistic  #: it.
    name: str  #: of its column, or of its table, within the page.
    file: str  #: its CSV file, without suffix.
    value: str  #: the column of that file that has its mean.
    heading: str  #: of its column in tables.
    digits: int = 2  #: after the point, in tables.
    sentence: str = ""  #: what the page says of the column, above the tables.
    term: tuple[str, str] | None = None  #: its entry in the glossary of the page, and what that says.
    #: of a table of its own, the largest first, in place of a column; it may say `{rounds}` and `{scored}`.
    caption: str = ""
    outputs: int = 1  #: the least number of outputs of problems that have it.

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its CSV file; times have no metric."""
        scored = () if self.statistic.of == "seconds" else ("metric",)
        return ("problem", "objective", *scored, "algorithm", *self.summary(np.empty(0), 0))

    def summary(self, values: np.ndarray, rounds: int) -> dict[str, Any]:
        """Return what a record has of a branch, by column, after those that say which it is.

        Args:
            values: numbers of seeds, shape (seeds,).
            rounds: of a run.
        """
        found = student_mean(values)
        return {"seeds": found.count, self.value: found.value, "low": found.low, "high": found.high}

    def cell(self, record: Mapping[str, Any]) -> str:
        """Write a record: "0.62 [0.55, 0.69]"."""
        return between(record[self.value], record["low"], record["high"], self.digits)


class _ToldShare(Told):
    """The best front is that of a search: a run may find a little more, so that intervals end at 0 and not at 1."""

    def summary(self, values: np.ndarray, rounds: int) -> dict[str, Any]:
        found = super().summary(values, rounds)
        return {"rounds": rounds, **found, "low": max(found["low"], 0.0)}


class _ToldTime(Told):
    def summary(self, values: np.ndarray, rounds: int) -> dict[str, Any]:
        mean, error = mean_and_error(values)
        return {"seeds": len(values), self.value: float(mean), "standard_error": float(error)}

    def cell(self, record: Mapping[str, Any]) -> str:
        return round_time(record[self.value])


TOLD = (
    Told(
        GROWTH,
        "growth",
        "growth",
        "exponent",
        "Growth",
        sentence="Growth: the exponent of cumulative regret over the last\n"
        f"{round(100 * (1 - GROWTH_FROM))} % of rounds; below 1, the regret of a round vanishes.",
        term=(
            "Growth exponent",
            "b, where cumulative regret grows like rounds to the power b: below 1, the regret of a round vanishes.",
        ),
    ),
    _ToldShare(
        FRONT_SHARE,
        "hypervolume",
        "hypervolumes",
        "share",
        "Share of hypervolume",
        digits=3,
        caption="Hypervolume of what the decisions of {rounds} guarantee, as a share of the best front's, {scored}: "
        f"mean over seeds with Student's {CONFIDENCE:.0%} interval; higher is better.",
        outputs=2,
    ),
    _ToldTime(SECONDS, "time", "seconds", "seconds_per_round", "Time per round"),
)
"""What CSV files, tables and the page have, in their order."""
