"""How much wind power to commit to the next hour (Kirschner et al. 2020, section 4, figure 3).

The decision x is the power that is promised for the hour, the context c what the wind then brings, both as fractions
of capacity. Each hour is a round of the protocol "rolling-simulator": its reference is the empirical distribution of
the hours before it, its context what was really generated. The paper states no margin; here the hour's is the median
MMD between the empirical distributions of consecutive windows that do not overlap, over the days before it, with the
last window ending at the hour itself.

Hours without a value are not played: the next hour with one is the next round. Windows hold the hours of theirs that
have a value.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from bocu.core.about import About, Size, planning_only
from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.kernels import KERNELS
from bocu.core.parameters import Count, Day, Integer, NotNegative, Parameters, Positive
from bocu.core.randomness import Streams
from bocu.core.rounds import ROLLING, Context, Decision, Description, FiniteDomain, Outline
from bocu.learners.surrogates.grid import GridPrior, check_scales
from bocu.problems.base import Problem, Realisation, Rehearsal
from bocu.problems.candidates import CandidateParameters, prior_named
from bocu.problems.data.catalogue import Source
from bocu.problems.finite import MOST_POINTS
from bocu.problems.prepared_data import settled_source
from bocu.problems.priors.observations import TrainingRows
from bocu.problems.priors.statements import Period, Scenario
from bocu.robust.ambiguity.mmd.gram import JITTER
from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancyParameters
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.contexts.estimates import nearest_points, product_grid

if TYPE_CHECKING:
    from bocu.problems.data.catalogue import Catalogue
    from bocu.sweep.experiment.branches import ProblemPaths

DATASET = "wind"
DAY_HOURS = 24
HOUR = np.timedelta64(1, "h")

RECORDS = {"opsd": date(2014, 1, 1), "levels-2013-2014": date(2014, 1, 1), "opsd-2017-2019": date(2018, 1, 1)}
"""The records, those of the paper's years first, and the day that each is played from if none is given."""
SPANS = {
    "opsd": (date(2005, 12, 31), date(2019, 12, 31)),
    "levels-2013-2014": (date(2013, 1, 1), date(2014, 12, 31)),
    "opsd-2017-2019": (date(2017, 1, 1), date(2019, 12, 31)),
}
"""Days outside of which a record, measured or simulated, holds nothing."""

SURPLUS, PRICE, PENALTY = 0.1, 1.0, 5.0
"""Revenue of power beyond what was committed, of power committed and delivered, and cost of power not delivered."""

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
"""Multiples of it, without their integers, are spread evenly however many there are."""

Points = Annotated[Integer, Field(ge=1, le=MOST_POINTS)]


class MarginParameters(Parameters):
    """How the announced radius follows from the past."""

    days: Count = Field(30, description="days before the hour whose windows are compared")
    lengthscale: Positive = Field(0.1, description="length-scale of the MMD's squared-exponential kernel")
    jitter: NotNegative = Field(JITTER, description="added to the diagonal of the MMD's Gram matrix")

    def ambiguity_set(self) -> SetParameters:
        """Return the set whose distance is meant."""
        return MaximumMeanDiscrepancyParameters(radius="announced", lengthscale=self.lengthscale, jitter=self.jitter)


class WindCommitmentParameters(CandidateParameters):
    """Parameters of wind power commitment."""

    read_rows: ClassVar[str] = "bocu.problems.wind_commitment:logged_hours"
    decision_inputs: ClassVar[tuple[str, ...]] = ("committed",)
    context_inputs: ClassVar[tuple[str, ...]] = ("generated",)
    dated: ClassVar[bool] = True
    copy_of_data: ClassVar[str | None] = "source"

    record: Literal["auto", "opsd", "levels-2013-2014", "opsd-2017-2019"] = Field(
        "auto", description="hourly wind power; auto: the first of these that the source brings"
    )
    source: Source | None = Field(None, description="where the data come from; set by the plan from data.source")
    start: Day | None = Field(
        None, description="day of the first round; null: 1 January 2014, 2018 of the record opsd-2017-2019"
    )
    hours: Count = Field(8736, description="hours that are played, one round each: at most so many rounds; 52 weeks")
    every: Count = Field(
        1, description="play one hour in so many; 25 samples a year over all hours of the day, where 24 would not"
    )
    window: Count = Field(48, description="hours whose empirical distribution is the reference of the next hour")
    margin: MarginParameters = Field(
        MarginParameters(), description="the radius that is announced: the median MMD of consecutive windows"
    )
    steps: Points = Field(100, description="decisions and contexts that are tried on the simulator before each hour")
    initial: Annotated[Integer, Field(ge=0, le=MOST_POINTS)] = Field(
        10, description="points of the initial design of each hour, drawn uniformly from decisions and contexts"
    )
    decision_points: Points = Field(50, description="powers that can be committed, evenly spaced over [0, 1]")
    context_points: Points = Field(
        50, description="levels that the power generated is rounded to, evenly spaced over [0, 1]"
    )
    kernel: Literal["squared-exponential", "matern-5/2"] = Field(
        "squared-exponential", description="kernel of the Gaussian process that algorithms believe in, not refitted"
    )
    lengthscale: Positive = Field(0.1, description="length-scale of that kernel in decision and context")
    variance: Positive = Field(1.0, description="variance of that kernel, in squared units of the payoff")
    noise: Positive = Field(
        math.sqrt(0.001), description="standard deviation of the simulator's noise, which algorithms know"
    )

    @model_validator(mode="after")
    def _windows_to_compare(self) -> Self:
        if self.windows < 2:
            raise ValueError(
                f"margin.days: {self.margin.days} days hold {self.windows} windows of {self.window} hours; 2 wanted"
            )
        return self

    @property
    def windows(self) -> int:
        """Number of windows in the days of the margin."""
        return self.margin.days * DAY_HOURS // self.window

    def resolve(self, catalogue: "Catalogue", source: str, mirror: str | None) -> Self:
        """Settle the record, its source and the first day.

        Raises:
            BocuError: the source does not bring the record, or `source` is set to another one.
        """
        source = settled_source(self.source, DATASET, catalogue, source, mirror)
        record: str = self.record
        if record == "auto":
            offered = catalogue.available_records(DATASET, source, mirror)
            record = next((name for name in RECORDS if name in offered), next(iter(RECORDS)))
        catalogue.check(DATASET, record, source, mirror)
        start = RECORDS[record] if self.start is None else self.start
        first, last = SPANS[record]
        if not first + timedelta(days=self.margin.days) <= start <= last:
            raise BocuError(
                f"start: found {start}; the record '{record}' runs from {first} to {last}, and the margin takes "
                f"{self.margin.days} days before the first round"
            )
        there = ((last - start).days + 1) * DAY_HOURS
        if self.hours > there:
            raise BocuError(f"hours: found {self.hours}; the record '{record}' has up to {there} from {start} on")
        return self.model_copy(update={"record": record, "source": source, "start": start})

    announces_radius: ClassVar[bool] = True

    def horizon(self) -> int:
        return self.hours

    def inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        if self.source is None or self.record == "auto":
            raise BocuError(f"record, source: found '{self.record}', {self.source}; both are to be settled")
        return {**super().inputs(paths), "data": paths.catalogue.prepared_path(DATASET, self.record, self.source)}


@dataclass(frozen=True)
class Hours:
    """The hours that are played, and what stands before each."""

    begin: np.ndarray  #: begin of the hour, shape (hours,), dtype datetime64.
    generated: np.ndarray  #: index of the level that was generated, shape (hours,).
    references: np.ndarray  #: empirical distribution of the window before, shape (hours, contexts), read-only.
    margins: np.ndarray  #: announced radius, shape (hours,).


class WindCommitment(Problem[WindCommitmentParameters]):
    """The hours from the first day on, the same for all seeds; seeds differ in noise and initial designs.

    Attributes:
        decisions, contexts: levels of power, shapes (decisions, 1) and (contexts, 1).
        table: revenue, shape (decisions, contexts), read-only.
        hours: the rounds.
        model: the Gaussian process that algorithms believe in.

    Raises:
        BocuError: the prepared file is unusable, or does not hold the hours asked for with the days before them.
    """

    about = About(
        title="Wind power commitment",
        summary="how much wind power to commit to the next hour, anew each hour",
        paper="Kirschner et al. 2020",
    )
    protocols = ROLLING
    Parameters = WindCommitmentParameters
    units = "1"

    def __init__(self, parameters: WindCommitmentParameters, inputs: Mapping[str, Any]) -> None:
        super().__init__(parameters, inputs)
        settings = self.parameters
        self.decisions = product_grid(np.zeros(1), np.ones(1), settings.decision_points)
        self.contexts = product_grid(np.zeros(1), np.ones(1), settings.context_points)
        self.table = revenue(self.decisions, self.contexts.T)
        self.table.setflags(write=False)
        kernel = KERNELS[settings.kernel]((settings.lengthscale,))
        own = GridPrior(self.decisions, self.contexts, kernel, kernel, settings.variance, settings.noise)
        self.priors = settings.laid_out(inputs, self.decisions, self.contexts, settings.noise)
        self.prior_labels = tuple(prior.label for prior in self.priors)
        self.model = prior_named(self.priors, settings.believed, own)
        self.best_prior = prior_named(self.priors, settings.best, self.model) if self.priors else None
        prepared = read_netcdf(inputs["data"])
        self._cite(prepared.attrs)
        times, factors = prepared["time"].values.astype("datetime64[h]"), prepared["capacity_factor"].values
        self.hours = self._hours(inputs["data"], times, factors)

    @classmethod
    def outline(cls, parameters: WindCommitmentParameters) -> Outline:
        check_scales(parameters.variance, parameters.noise)
        points = product_grid(np.zeros(1), np.ones(1), parameters.decision_points)
        return Outline(_powers(points), priors=parameters.check_candidates(2))

    @classmethod
    @planning_only
    def size(cls, parameters: WindCommitmentParameters) -> Size:
        hour = parameters.initial + parameters.steps
        priors = max(len(parameters.candidates), 1)
        points = parameters.decision_points, parameters.context_points
        return Size(*points, priors=priors, kernels=priors, rehearsal=hour)

    def realise(self, streams: Streams) -> "WindRealisation":
        return WindRealisation(self)

    def _hours(self, path: str, times: np.ndarray, factors: np.ndarray) -> Hours:
        """Choose the hours of the rounds and work out what stands before each.

        Args:
            path: of the data, for errors.
            times: begin of each hour, without holes, shape (T,).
            factors: power generated as a fraction of capacity, not a number where it is not known, shape (T,).
        """
        settings = self.parameters
        assert settings.start is not None
        before = settings.windows * settings.window
        begin = int((np.datetime64(settings.start, "h") - times[0]) / HOUR)
        if begin < before or begin >= len(times):
            raise BocuError(
                f"{path}: start: found {settings.start}; with {before} hours before it, the data from {times[0]} to "
                f"{times[-1]} allow {np.datetime_as_string(times[0] + (before + DAY_HOURS - 1) * HOUR, 'D')} and later"
            )
        known = np.isfinite(factors)
        played = begin + np.flatnonzero(known[begin:])[:: settings.every][: settings.hours]
        if len(played) < settings.hours:
            raise BocuError(f"{path}: hours: found {settings.hours}; from {settings.start} on it has {len(played)}")
        first, last = begin - before, int(played[-1])
        levels = np.full(last + 1 - first, -1)
        present = known[first : last + 1]
        levels[present] = nearest_points(factors[first : last + 1][present], self.contexts)
        rounds = played - first
        references = empirical_windows(levels, settings.window, len(self.contexts))
        empty = np.isnan(references[rounds, 0])
        if empty.any():
            raise BocuError(f"{path}: no value in the {settings.window} hours before {times[played[empty.argmax()]]}")
        margins = self._margins(references, rounds)
        if np.isnan(margins).any():
            where = times[played[np.isnan(margins).argmax()]]
            raise BocuError(f"{path}: no two consecutive windows with values in the days before {where}")
        chosen = references[rounds]
        chosen.setflags(write=False)
        return Hours(times[played], levels[rounds], chosen, margins)

    def _margins(self, references: np.ndarray, rounds: np.ndarray) -> np.ndarray:
        """Return the median distance of consecutive windows before each round, shape (rounds,).

        Args:
            references: distribution of the window that ends before each hour, shape (hours + 1, contexts).
            rounds: indices of the hours that are played, shape (rounds,).
        """
        settings = self.parameters
        ambiguity_set = settings.margin.ambiguity_set().over(self.contexts)
        exists = ~np.isnan(references[:, 0])
        ends = settings.window + np.flatnonzero(exists[settings.window :] & exists[: -settings.window])
        apart = np.full(len(references), np.nan)
        apart[ends] = ambiguity_set.distance(references[ends], references[ends - settings.window])
        pairs = apart[rounds[:, None] - settings.window * np.arange(settings.windows - 1)]
        # Windows without a value have no distance; hours for which none is left stay NaN.
        some = ~np.isnan(pairs).all(axis=1)
        margins = np.full(len(rounds), np.nan)
        margins[some] = np.nanmedian(pairs[some], axis=1)
        return margins


def _powers(points: np.ndarray) -> FiniteDomain:
    return FiniteDomain(points, ("power committed",), ("1",))


class WindRealisation(Realisation):
    """The hours of one problem; whatever the seed, they are the same.

    Attributes:
        hours: the rounds, round 1 first.
    """

    def __init__(self, problem: WindCommitment) -> None:
        self.hours = problem.hours
        self.rehearsal = Rehearsal(problem.parameters.initial, problem.parameters.steps)
        self._table = problem.table
        self._indicators = np.eye(len(problem.contexts))
        # Before each hour the learner plays the simulator, and this is all that it knows of.
        self.description = Description(
            decisions=_powers(problem.decisions),
            contexts=FiniteDomain(problem.contexts, ("power generated",), ("1",)),
            noise=problem.parameters.noise,
            protocol="simulator",
            model=problem.model,
            priors=problem.priors,
            best_prior=problem.best_prior,
        )

    def payoff(self, decision: Decision, context: Context) -> float:
        return float(self._table[decision, context])

    def payoffs(self, t: int) -> np.ndarray:
        return self._table

    def reference(self, t: int) -> np.ndarray:
        return self.hours.references[t - 1]

    def truth(self, t: int) -> np.ndarray:
        """Return the level that was generated all the mass."""
        return self._indicators[self.hours.generated[t - 1]]

    def margin(self, t: int) -> float:
        return float(self.hours.margins[t - 1])


def revenue(committed: np.ndarray, generated: np.ndarray) -> np.ndarray:
    """Return the revenue of an hour, for powers as fractions of capacity that broadcast against each other.

    In units of the price of the capacity's power over an hour.
    """
    surplus, shortfall = np.maximum(generated - committed, 0.0), np.maximum(committed - generated, 0.0)
    return SURPLUS * surplus + PRICE * np.minimum(committed, generated) - PENALTY * shortfall


def logged_hours(path: str, inputs: Sequence[str], period: Period | Scenario | None) -> TrainingRows:
    """Return what a log of past hours would hold: revenues of commitments that cover [0, 1] evenly.

    Args:
        path: prepared wind power.
        inputs: names of the coordinates: the power committed, then the power generated.
        period: the month or day; None: all hours.

    Raises:
        BocuError: no hour of the period has a value.
    """
    prepared = read_netcdf(path)
    times, generated = prepared["time"].values.astype("datetime64[h]"), prepared["capacity_factor"].values
    kept = np.isfinite(generated)
    if isinstance(period, Period):
        kept &= np.char.startswith(np.datetime_as_string(times, "D"), period.period)
        if not kept.any():
            raise BocuError(f"{path}: no hour of {period.period} has a value; it runs from {times[0]} to {times[-1]}")
    committed = (0.5 + GOLDEN * np.arange(kept.sum())) % 1.0
    return TrainingRows(np.column_stack([committed, generated[kept]]), revenue(committed, generated[kept]))


def empirical_windows(levels: np.ndarray, window: int, size: int) -> np.ndarray:
    """Return the empirical distribution of the window before each hour.

    Args:
        levels: index of the level of each hour, -1 where it is not known, shape (hours,).
        window: hours in a window; those not known do not count.
        size: number of levels.

    Returns:
        Row s: the distribution over the levels of hours s - window to s - 1, shape (hours + 1, size); not a number
        where there is no such window, or no value in it.
    """
    counts = np.zeros((len(levels) + 1, size), dtype=np.int64)
    here = np.flatnonzero(levels >= 0)
    counts[here + 1, levels[here]] = 1
    counts.cumsum(axis=0, out=counts)
    within = np.full(counts.shape, np.nan)
    within[window:] = counts[window:] - counts[:-window]
    totals = within.sum(axis=1, keepdims=True)
    return np.divide(within, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
