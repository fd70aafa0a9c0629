"""What an experiment is made of: components with checked parameters, and the branches that combine them."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bocu.core.numerics import kernel
from bocu.core.parameters import Parameters, Reading, validate
from bocu.core.plain import Plain
from bocu.problems.data.catalogue import Catalogue
from bocu.sweep.experiment.fingerprints.fingerprint import run_roots
from bocu.sweep.experiment.registry import RegisteredClass

SPECIFICATION_SCHEMA = 1
NO_OBJECTIVE = "any"
OBJECTIVE_METRIC = "bocu.sweep.evaluation.metrics:ObjectiveMetric"


@dataclass(frozen=True)
class Component:
    """An entry of the experiment with its registered class and checked parameters."""

    label: str
    registered: RegisteredClass
    parameters: Parameters

    #: Of a metric, the law that it scores under, plain; None: the law that was met.
    under: Mapping[str, Any] | None = None

    #: Of a metric, whose recommendation it scores; None: the decisions taken.
    deployed: str | None = None

    #: Of a metric, the label of the entry that states it, with others where it states several.
    entry: str = ""

    #: What the experiment's file wants written for it; empty: what its class tells.
    title: str = ""

    @functools.cached_property
    def kind(self) -> Any:
        """Its class."""
        return self.registered.load()

    def recorded(self, parameters: Mapping[str, object]) -> Parameters:
        """Return parameters as a specification holds them.

        Raises:
            BocuError: the class does not take them.
        """
        return validate(self.kind.Parameters, parameters, "", Reading())

    @property
    def specification(self) -> Plain:
        """Its class and parameters, as plain data."""
        return {"class": self.registered.identity, "parameters": self.parameters.model_dump(mode="json"), **self.scored}

    @property
    def searched(self) -> bool:
        """Whether, as a metric of continuous contexts, its best decision is searched for on their discretisation."""
        return not self.registered.origin and (self.under is not None or self.kind.discretised)

    @property
    def scored(self) -> Plain:
        """What a metric scores other than decisions taken under the law that was met, as a specification has it."""
        stated = {"under": self.under, "deployed": self.deployed}
        return {key: value for key, value in stated.items() if value is not None}


class ScoringObjective(Component):
    """An objective that runs are scored by."""

    @property
    def searched(self) -> bool:
        return True

    @property
    def specification(self) -> Plain:
        # The metric is named beside the objective, so that scores by other metrics do not reach its code.
        objective = {"class": self.registered.identity, "parameters": self.parameters.model_dump(mode="json")}
        return {"class": OBJECTIVE_METRIC, "parameters": {"objective": objective}, **self.scored}


@dataclass(frozen=True)
class ProblemPaths:
    """The files that a problem may ask for."""

    folder: str  #: folder of its fitted priors.
    catalogue: Catalogue  #: the data sets, which name their prepared files.

    def prior(self, label: str) -> str:
        """Return the file of a fitted prior."""
        return f"{self.folder}/{label}.nc"


@dataclass(frozen=True)
class Branch:
    """One problem x objective x algorithm, all seeds."""

    problem: Component
    objective: Component | None  #: what the algorithm pursues; None where it pursues none.
    algorithm: Component
    iterations: int
    threads: int

    @property
    def key(self) -> tuple[str, str, str]:
        """Labels of problem, objective and algorithm."""
        return self.problem.label, self.objective.label if self.objective else NO_OBJECTIVE, self.algorithm.label

    @functools.cached_property
    def specification(self) -> Plain:
        """Everything that its numbers depend on, but for seeds and files, as plain data without labels."""
        return {
            "schema": SPECIFICATION_SCHEMA,
            "problem": self.problem.specification,
            "objective": self.objective.specification if self.objective else None,
            "algorithm": self.algorithm.specification,
            "iterations": self.iterations,
            "threads": self.threads,
            "kernel": kernel(),
        }

    @functools.cached_property
    def roots(self) -> list[str]:
        """The code that a run of this branch starts from."""
        return run_roots(self.specification)
