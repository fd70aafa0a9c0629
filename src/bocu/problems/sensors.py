"""Which sensor of the Intel lab is the warmest now (Ziomek et al. 2025, section 7).

One arm a sensor; the payoff is its temperature at each step of the target day; every earlier day gives a candidate
prior. The best prior known, for the oracle, is fitted to the target day itself, with hindsight. Temperatures are not
transformed: the centring is the priors' mean.
"""

import warnings
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from bocu.core.about import About, Size, planning_only
from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.parameters import Day, Integer, Number, Parameters
from bocu.core.plain import Plain
from bocu.core.randomness import Streams
from bocu.core.rounds import TIME_VARYING, Context, Decision, Description, FiniteDomain, Outline, time_steps
from bocu.learners.surrogates.time_varying import TimeVaryingPrior
from bocu.problems.base import Problem, ProblemParameters, Realisation
from bocu.problems.data.catalogue import Source
from bocu.problems.prepared_data import UNSETTLED, settled_source
from bocu.problems.priors.fit import Centre, PriorSpecification, differing_in_scale_only, read_prior
from bocu.problems.priors.statements import Candidate, FittedPrior, Period

if TYPE_CHECKING:
    from bocu.problems.data.catalogue import Catalogue
    from bocu.sweep.experiment.branches import ProblemPaths

DATASET = "intel"
EMPIRICAL = "bocu.problems.priors.fit:fit_prior"  # by name: a run depends on what is fitted, not on how
PROCESS = "bocu.problems.priors.sensor_process:fit_prior"
DAY_MINUTES = 24 * 60

Minutes = Annotated[Integer, Field(gt=0)]
MOTES = 54
FIRST_DAY, LAST_DAY = date(2004, 2, 28), date(2004, 4, 5)  #: Sensors and days of the lab's log, as its page says.
Drawn = Annotated[Integer, Field(ge=1, le=MOTES)] | None


class LogSettings(Parameters):
    """Which days of the raw log, and how finely."""

    interval: Minutes = Field(default=10, description="minutes of a time step")
    target: Day = Field(default=date(2004, 3, 14), description="the day to be played")
    priors_from: Day = Field(
        default=date(2004, 3, 1), description="first of the days that give priors, up to the target's eve"
    )
    sensors_per_seed: Drawn = Field(default=None, description="sensors that each seed draws as its arms; null: all")

    @model_validator(mode="after")
    def _priors_before_target(self) -> Self:
        for key, day in (("target", self.target), ("priors_from", self.priors_from)):
            if not FIRST_DAY <= day <= LAST_DAY:
                raise ValueError(f"{key} {day} is not in the log, which runs from {FIRST_DAY} to {LAST_DAY}")
        if self.priors_from >= self.target:
            raise ValueError(f"priors_from {self.priors_from} is not before the target {self.target}")
        return self

    @property
    def target_day(self) -> str:
        """The day that is played."""
        return self.target.isoformat()

    @property
    def prior_days(self) -> tuple[str, ...]:
        """The days that candidate priors are fitted to."""
        count = (self.target - self.priors_from).days
        return tuple((self.priors_from + timedelta(days=k)).isoformat() for k in range(count))


class MatricesSettings(Parameters):
    """Which days of the carried matrices, which know days by number only."""

    interval: Minutes = Field(default=30, description="minutes of a time step")
    target: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")] = Field(default="5", description="the day to be played")
    priors: tuple[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")], ...] = Field(
        default=("1", "2", "3", "4"), min_length=1, description="the days that give priors"
    )
    sensors_per_seed: Drawn = Field(
        default=40,
        description="sensors that each seed draws as its arms, lest all seeds be nearly the same; null: all",
    )

    @model_validator(mode="after")
    def _distinct_days(self) -> Self:
        if len({*self.priors, self.target}) <= len(self.priors):
            raise ValueError(f"days repeat: priors {', '.join(self.priors)}, target {self.target}")
        return self

    @property
    def target_day(self) -> str:
        """The day that is played."""
        return self.target

    @property
    def prior_days(self) -> tuple[str, ...]:
        """The days that candidate priors are fitted to."""
        return self.priors


class SensorsParameters(ProblemParameters):
    """Parameters of the sensors. Temperatures are in degrees Celsius."""

    copy_of_data: ClassVar[str | None] = "source"

    record: Literal["auto", "log", "matrices"] = Field(
        "auto", description="raw form of the data; auto: the first one that the source brings"
    )
    source: Source | None = Field(None, description="where the data come from; set by the plan from data.source")
    log: LogSettings | None = Field(LogSettings(), description="days and interval under record: log")
    matrices: MatricesSettings | None = Field(
        MatricesSettings(), description="days and interval under record: matrices"
    )
    noise: Annotated[Number, Field(gt=0.0)] = Field(
        0.1, description="standard deviation of the observation noise, also when fitting priors, degrees Celsius"
    )
    centre: Centre = Field(
        "prior-days",
        description="prior mean: grand mean of the prior days, of the prior's own day, or of each sensor on that day; "
        "`own-day-course`: that of all sensors at each step of the prior's own day, which changes with time",
    )
    candidates: tuple[FittedPrior, ...] = Field(
        (), description="candidate priors in place of those of the prior days; set by the plan from `priors`"
    )

    def resolve(self, catalogue: "Catalogue", source: str, mirror: str | None) -> Self:
        """Settle the record; the settings of the other one are dropped.

        Raises:
            BocuError: the source does not bring the record, or not at the interval, or `source` is set to another one.
        """
        source = settled_source(self.source, DATASET, catalogue, source, mirror)
        record: str = self.record
        if record == "auto":
            offered = catalogue.available_records(DATASET, source, mirror)
            record = offered[0] if offered else next(iter(catalogue.dataset(DATASET).records))
        catalogue.check(DATASET, record, source, mirror)
        other = "matrices" if record == "log" else "log"
        resolved = self.model_copy(update={"record": record, "source": source, other: None})
        resolved._prepared(catalogue)
        return resolved

    def takes(self, candidate: Candidate) -> str:
        rows = getattr(candidate, "rows", None)
        if not isinstance(rows, Period):
            return "its priors are fitted to days; take `fitted` with `days`"
        if self.record != "log":
            return f"record '{self.record}': positions of the sensors are not known; allowed: log"
        days = self.settings.prior_days
        return "" if rows.period in days else f"days: {rows.period} is no prior day; allowed: {days[0]} to {days[-1]}"

    def with_candidates(self, candidates: Sequence[Candidate]) -> Self:
        labels = [candidate.label for candidate in candidates]
        if self.candidates or len({*labels}) < len(labels):
            raise BocuError("candidates: they are stated under `priors` of the experiment, each with its own label")
        return self.model_copy(update={"candidates": tuple(candidates)})

    @property
    def prior_labels(self) -> tuple[str, ...]:
        """Names of the candidate priors: those that are stated, or else one for each prior day."""
        return tuple(candidate.label for candidate in self.candidates) or self.settings.prior_days

    def horizon(self) -> int:
        return DAY_MINUTES // self.settings.interval

    def inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        settings = self.settings
        return {
            "data": self._prepared(paths.catalogue),
            "priors": [paths.prior(label) for label in self.prior_labels],
            "oracle": paths.prior(_oracle_label(settings.target_day)),
        }

    def priors(self) -> dict[str, Plain]:
        """Return one prior a prior day, and the oracle's: the target day's own, known with hindsight only.

        Where candidates are stated, they take the place of those of the prior days.
        """
        settings = self.settings
        earlier = () if self.candidates else settings.prior_days
        days = {day: day for day in earlier} | {_oracle_label(settings.target_day): settings.target_day}
        return {candidate.label: self._fit_of(candidate) for candidate in self.candidates} | {
            label: {
                "fit": EMPIRICAL,
                "statement": PriorSpecification(
                    label=label,
                    day=day,
                    prior_days=settings.prior_days,
                    target=settings.target_day,
                    centre=self.centre,
                    noise=self.noise,
                ).model_dump(mode="json"),
            }
            for label, day in days.items()
        }

    def _fit_of(self, candidate: FittedPrior) -> Plain:
        settings = self.settings
        assert isinstance(candidate.rows, Period)
        told = candidate.model_dump(mode="json", include={"label", "kernel", "ard", "points", "starts"})
        told |= {"day": candidate.rows.period, "days": [*settings.prior_days, settings.target_day]}
        return {"fit": PROCESS, "statement": {**told, "noise": candidate.known_noise(self.noise)}}

    def prior_inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        return {"data": self._prepared(paths.catalogue)}

    @property
    def settings(self) -> LogSettings | MatricesSettings:
        """The settings of the record.

        Raises:
            BocuError: the record is not settled, or its settings are null.
        """
        chosen = {"log": self.log, "matrices": self.matrices}.get(self.record)
        if chosen is None:
            raise BocuError(f"record: found '{self.record}' without settings; allowed: log or matrices with theirs")
        return chosen

    def _prepared(self, catalogue: "Catalogue") -> str:
        if self.source is None:
            raise BocuError(UNSETTLED)
        return catalogue.prepared_path(DATASET, self.record, self.source, self.settings.interval)


def _oracle_label(target: str) -> str:
    return f"oracle-{target}"


class Sensors(Problem[SensorsParameters]):
    """The target day, with the priors of earlier days.

    Attributes:
        temperatures: of the target day, degrees Celsius, shape (sensors, steps).
        sensors: their numbers, shape (sensors,).
        priors: the candidates, over all sensors.
        best_prior: the target day's own.
        indistinguishable: pairs of labels of candidates that differ in output scale only.

    Raises:
        BocuError: a file is unusable, a day lacks data, or there are fewer sensors than a seed is to draw.
    """

    about = About(
        title="Intel lab temperatures",
        summary="the warmest of the Intel lab's sensors, priors from earlier days",
        paper="Ziomek et al. 2025",
    )
    protocols = TIME_VARYING
    Parameters = SensorsParameters
    units = "degree_Celsius"
    best_prior: TimeVaryingPrior

    def __init__(self, parameters: SensorsParameters, inputs: Mapping[str, Any]) -> None:
        from bocu.problems.data.intel import load_days

        super().__init__(parameters, inputs)
        settings = self.parameters.settings
        loaded = load_days(inputs["data"], [*settings.prior_days, settings.target_day])
        self.temperatures, self.sensors = loaded.temperatures[-1], loaded.sensors
        self.prior_labels = self.parameters.prior_labels
        self.priors = tuple(read_prior(path, self.sensors) for path in inputs["priors"])
        self.best_prior = read_prior(inputs["oracle"], self.sensors)
        self._cite(read_netcdf(inputs["data"]).attrs)
        drawn = settings.sensors_per_seed
        if drawn is not None and drawn > len(self.sensors):
            found = f"{len(self.sensors)} sensors are complete on all days"
            raise BocuError(f"{inputs['data']}: {found}, sensors_per_seed asks for {drawn}")
        self.indistinguishable = differing_in_scale_only(self.priors)
        if self.indistinguishable:
            pairs = "; ".join(f"{one} and {other}" for one, other in self.indistinguishable)
            warnings.warn(f"priors that differ in output scale only cannot be told apart: {pairs}", stacklevel=2)

    @classmethod
    def outline(cls, parameters: SensorsParameters) -> Outline:
        return Outline(priors=parameters.prior_labels)

    @classmethod
    @planning_only
    def size(cls, parameters: SensorsParameters) -> Size:
        priors = len(parameters.prior_labels)
        return Size(arms=parameters.settings.sensors_per_seed or MOTES, priors=priors, kernels=priors)

    def realise(self, streams: Streams) -> "SensorsRealisation":
        """Draw the sensors of one seed with the stream "problem"; without `sensors_per_seed` all play."""
        count = self.parameters.settings.sensors_per_seed
        everyone = np.arange(len(self.sensors))
        arms = everyone if count is None else np.sort(streams["problem"].choice(everyone, count, replace=False))
        return SensorsRealisation(self, arms)


class SensorsRealisation(Realisation):
    """The target day for some of the sensors.

    Args:
        problem: the day.
        arms: rows of the sensors that play, ascending, shape (arms,).
    """

    def __init__(self, problem: Sensors, arms: np.ndarray) -> None:
        self._temperatures = problem.temperatures[arms]
        self._reference = np.ones(1)
        self.description = Description(
            decisions=FiniteDomain(problem.sensors[arms, None].astype(float), ("sensor",), ("1",)),
            contexts=time_steps(self._temperatures.shape[1]),
            noise=problem.parameters.noise,
            protocol=problem.protocol,
            priors=tuple(_restricted(prior, arms) for prior in problem.priors),
            best_prior=_restricted(problem.best_prior, arms),
        )

    def payoff(self, decision: Decision, context: Context) -> float:
        return float(self._temperatures[decision, int(context) - 1])

    def payoffs(self, t: int) -> np.ndarray:
        return self._temperatures[:, t - 1, None]

    def reference(self, t: int) -> np.ndarray:
        return self._reference


def _restricted(prior: TimeVaryingPrior, arms: np.ndarray) -> TimeVaryingPrior:
    covariance = prior.covariance[np.ix_(arms, arms)]
    return TimeVaryingPrior(prior.label, prior.mean[arms], covariance, prior.forgetting, prior.course)
