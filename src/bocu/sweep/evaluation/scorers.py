"""A metric with the law that it scores under, as a specification of an experiment states both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocu.core.loading import load, made
from bocu.core.plain import Specification
from bocu.core.rounds import Situation
from bocu.problems.base import Realisation
from bocu.sweep.evaluation.discretised import on_cells
from bocu.sweep.evaluation.metrics import Metric
from bocu.sweep.evaluation.robust_front import RunFront
from bocu.sweep.evaluation.under import PathPoint, read_point


@dataclass(frozen=True)
class Scorer:
    """A metric, and the law that it scores under.

    Attributes:
        metric: what values decisions.
        under: None: the law that was met.
    """

    metric: Metric
    under: PathPoint | None = None

    def met(
        self, realisation: Realisation, situations: Sequence[Situation], refined: bool = False
    ) -> tuple[Realisation, Sequence[Situation]]:
        """Return what the metric is shown of a problem: discretised where a law has to be, and under that law."""
        if self.under is None:
            return realisation, situations
        realisation, situations = on_cells(realisation, situations, refined)
        return realisation, self.under.applied(realisation, situations)

    def score(
        self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Score the decisions of one seed: see `Metric.score`."""
        return self.metric.score(*self.met(realisation, situations), decisions)

    def front(self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray) -> RunFront:
        """Return what the decisions of a run guarantee: see `Metric.front`."""
        return self.metric.front(*self.met(realisation, situations), decisions)


def build_scorer(specification: Specification) -> Scorer:
    """Build the metric of a plain specification: `class`, `parameters`, and where it has one `under`."""
    target = load(specification["class"])
    metric = made(specification["class"], target, target.Parameters.model_validate(specification["parameters"]))
    return Scorer(metric, read_point(specification.get("under")))
