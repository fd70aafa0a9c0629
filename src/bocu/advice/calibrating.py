"""Can a guarantee be trusted? Logs simulated from the model of a log, and how often advice from them keeps its word."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bocu.advice.logs import Log, read_log_table
from bocu.advice.model import Learnt
from bocu.advice.outcomes import Combined
from bocu.advice.search import Search
from bocu.advice.suggesting import Judge, suggest
from bocu.core.errors import BocuError

#: Logs that are simulated, by so many processes; a log of fewer rows does not tell what it is like.
LOGS, _PROCESSES, FEWEST_ROWS = 100, 2, 30

#: Variance that payoffs get so that their covariance can be factorised, as a share of the largest.
_JITTER = 1e-8


@dataclass(frozen=True)
class Calibration:
    """How often guarantees from simulated logs were kept; `print` tells it in words.

    Attributes:
        logs: number of logs that were simulated; 0 of a log that is too short.
        kept: share of them whose guarantee was kept.
        interval: where that share lies with probability 0.95 (Wilson, 1927).
        rows: number of rows of the log.
    """

    logs: int
    kept: float | None
    interval: tuple[float, float] | None
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, as `--json` prints it."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the line that `bocu suggest --calibrate` prints."""
        if self.kept is None or self.interval is None:
            return f"Cannot tell: the log has {self.rows} rows; {FEWEST_ROWS} are wanted"
        low, high = self.interval
        return (
            f"If your log is like the model, the guarantee is kept in {self.kept:.0%} of such logs ({low:.0%} to "
            f"{high:.0%}, {self.logs} simulated); no log is quite like its model, and the share may be ten points less"
        )


def calibrate(log: Any, *, logs: int = LOGS, tell: Callable[[], None] | None = None, **asked: Any) -> Calibration:
    """Simulate logs from the model of a log, ask of each what is asked, and count how often guarantees were kept.

    A payoff function is drawn from the model at hyper-parameters as probable as the log has them, and noise; decisions
    and contexts are those of the log. What is true of a decision is its worst expectation by that function.

    Args:
        log: as `suggest` takes it.
        logs: how many to simulate.
        tell: called after each.
        asked: further arguments of `suggest`.

    Raises:
        BocuError: arguments or files are at fault, or there is no guarantee.
    """
    table = read_log_table(log, "log")
    found = suggest(table, **asked)
    if found.best.guaranteed is None:
        raise BocuError("--calibrate: found no guarantee to check; --radius says what it is to hold for")
    if found.rows < FEWEST_ROWS:
        return Calibration(0, None, None, found.rows)
    kept = 0
    with ProcessPoolExecutor(_PROCESSES, initializer=_prepare, initargs=(table, asked)) as pool:
        for was_kept in pool.map(_is_kept, range(logs)):
            kept += was_kept
            if tell is not None:
                tell()
    from scipy.stats import binomtest

    low, high = binomtest(kept, logs).proportion_ci(method="wilson")
    return Calibration(logs, kept / logs, (float(low), float(high)), found.rows)


#: The search that a process simulates from, with models at other hyper-parameters.
_prepared: list[tuple[Search, list[Combined]]] = []


def _prepare(table: Any, asked: dict[str, Any]) -> None:
    search = suggest(table, **asked).search
    assert search is not None
    _prepared.append((search, search.learnt.draws()))


def _is_kept(seed: int) -> bool:
    """Whether the guarantee from one simulated log is kept."""
    world, (search, draws) = np.random.default_rng(seed), _prepared[-1]
    drawn = draws[seed % len(draws)]
    functions = [_Drawn(model, world) for model in drawn.models]
    again = [model.again(function.log(world)) for model, function in zip(drawn.models, functions, strict=True)]
    learnt = Combined(drawn.outcomes, again)
    other = Search(learnt, search.rule, search.allowed)
    value = other.best(other.values)
    truth = sum(
        one.weight * function.payoffs(value, world) for one, function in zip(learnt.outcomes, functions, strict=True)
    )
    promised = Judge(other, learnt, 1.0).kept_by(value, search.rule)
    return bool(search.rule.lowest(np.asarray(truth)[None])[0] >= promised)


class _Drawn:
    """A payoff function that is drawn from a model, first at the rows of its log."""

    def __init__(self, model: Learnt, world: np.random.Generator) -> None:
        self._model = model
        here = model.posterior
        self._prior = here.covariance(here.inputs)
        left = self._prior - self._prior @ here.solve(self._prior)
        self._rows = here.mean + self._prior @ here.weights + _normal(left, world)

    def log(self, world: np.random.Generator) -> Log:
        """Return the log with what such a function would have brought, to be maximised."""
        model, here = self._model, self._model.posterior
        earned = here.shift + here.scale * self._rows + model.noise * world.normal(size=len(self._rows))
        kept, log = np.flatnonzero(model.kept), model.log
        none = log.gaps.at(np.arange(0))
        return replace(log.at(kept), outcome=earned[: len(kept)], gaps=none, notes=())

    def payoffs(self, value: np.ndarray, world: np.random.Generator) -> np.ndarray:
        """Return what a decision (d,) brings in the contexts of the forecast, (C,)."""
        model, here = self._model, self._model.posterior
        cross, own = model.priors(value)
        prior = self._prior + _JITTER * float(self._prior.max()) * np.eye(len(self._prior))
        solved = np.linalg.solve(prior, np.column_stack([self._rows - here.mean, cross.T]))
        mean = here.mean + cross @ solved[:, 0]
        return np.asarray(here.shift + here.scale * (mean + _normal(own - cross @ solved[:, 1:], world)))


def _normal(covariance: np.ndarray, world: np.random.Generator) -> np.ndarray:
    """Draw from a normal distribution of mean 0."""
    spread, directions = np.linalg.eigh((covariance + covariance.T) / 2.0)
    return np.asarray(directions @ (np.sqrt(np.maximum(spread, 0.0)) * world.normal(size=len(spread))))
