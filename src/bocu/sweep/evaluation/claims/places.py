"""Where the numbers that a check asks for stand among the runs at hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.sweep.evaluation.claims.expressions import Measure, Scope


@dataclass(frozen=True)
class Known:
    """What a problem has that a check may name."""

    problem: str  #: its label.
    algorithms: Mapping[str, Sequence[str]]  #: label -> objectives pursued.
    metrics: Sequence[str]  #: labels of the metrics.
    rounds: int  #: the last round.
    priors: Sequence[str] | None = None  #: labels of candidate priors; None where only the data can tell.
    #: what labels of a check are called here, where they have another name.
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where the numbers of a measure stand in a cube: labels, and the round that is meant."""

    objective: str
    algorithm: str
    metric: str
    prior: str = ""
    round: int | None = None


def place_of(measure: Measure, scope: Scope, known: Known) -> Place:
    """Say where the numbers of a measure stand.

    The metric is the one that is stated, else that of the objective's label, else the problem's first. Of several
    objectives that an algorithm pursues, the one that is stated, else that of the metric's label.

    Raises:
        BocuError: the problem has no such runs, metric, prior or round; found and allowed are named.
    """
    options = dict(measure.options)
    runs, _, own = measure.runs.partition("/")
    stated = options.get("metric") or scope.metric
    if stated:
        metric = _among("metric", known.names.get(stated, stated), known.metrics, known)
    else:
        pursued = [known.names.get(one, one) for one in (own, scope.objective) if one]
        metric = next((label for label in pursued if label in known.metrics), known.metrics[0])
    algorithm = _among("algorithm", known.names.get(runs, runs), known.algorithms, known)
    objective = _objective(measure, scope, known, known.algorithms[algorithm], metric)
    prior = options.get("prior", "")
    if prior and known.priors is not None:
        _among("candidate prior", prior, known.priors, known)
    return Place(objective, algorithm, metric, prior, _round(measure, known))


def _objective(measure: Measure, scope: Scope, known: Known, pursued: Sequence[str], metric: str) -> str:
    runs, _, own = measure.runs.partition("/")
    if stated := known.names.get(own, own):
        return _among(f"objective of '{runs}'", stated, pursued, known)
    if len(pursued) == 1:
        return pursued[0]
    for label in (known.names.get(scope.objective, scope.objective), metric):
        if label in pursued:
            return label
    allowed = ", ".join(f"{runs}/{objective}" for objective in pursued)
    raise BocuError(f"found '{measure}', which pursues several objectives on '{known.problem}'; allowed: {allowed}")


def _among(what: str, label: str, known: Sequence[str] | Mapping[str, Any], where: Known) -> str:
    if label not in known:
        raise BocuError(f"no {what} '{label}' on '{where.problem}'; {nearest(label, known)}")
    return label


def _round(measure: Measure, known: Known) -> int | None:
    if measure.round is None:
        return None
    value = measure.round
    if value < 1:
        return max(1, round(value * known.rounds))
    if value > known.rounds:
        raise BocuError(f"found '{measure}' on '{known.problem}'; allowed: rounds up to {known.rounds}")
    return int(value)
