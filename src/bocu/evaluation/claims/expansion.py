"""A check spelt out: loops run through, ranks as comparisons, what each label means among the runs at hand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.evaluation.claims.expressions import (
    SCOPES,
    Inequality,
    Loop,
    Measure,
    Not,
    Quorum,
    Rank,
    Runs,
    Sum,
    Test,
    measures_in,
)


@dataclass(frozen=True)
class Scope:
    """Where the words of a check look: labels, empty where none is stated."""

    problem: str = ""
    metric: str = ""
    objective: str = ""


@dataclass(frozen=True)
class Leaf:
    """One comparison, and where it looks."""

    comparison: Inequality
    scope: Scope


@dataclass(frozen=True)
class Group:
    """At least `wanted` of the nodes hold."""

    wanted: int
    nodes: tuple["Node", ...]


@dataclass(frozen=True)
class Negated:
    """The node does not hold."""

    node: "Node"


Node = Leaf | Group | Negated


@dataclass(frozen=True)
class Known:
    """What a problem has that a check may name.

    Attributes:
        problem: its label.
        algorithms: label -> objectives pursued.
        metrics: labels of the metrics.
        rounds: the last round.
        priors: labels of candidate priors; None where only the data can tell.
        names: what labels of a check are called here, where they have another name.
    """

    problem: str
    algorithms: Mapping[str, Sequence[str]]
    metrics: Sequence[str]
    rounds: int
    priors: Sequence[str] | None = None
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where the numbers of a measure stand in a cube: labels, and the round that is meant."""

    objective: str
    algorithm: str
    metric: str
    prior: str = ""
    round: int | None = None


def expand(test: Test, scope: Scope) -> Node:
    """Spell a test out.

    Raises:
        BocuError: more tests are wanted than there are, or a test says nothing.
    """
    if isinstance(test, Inequality):
        return Leaf(test, scope)
    if isinstance(test, Not):
        return Negated(expand(test.test, scope))
    if isinstance(test, Rank):
        return _ranked(test, scope)
    nodes = tuple(_each(test, scope)) if isinstance(test, Loop) else tuple(_parts(test, scope))
    wanted = test.wanted if isinstance(test, Quorum) else "all"
    count = len(nodes) if wanted == "all" else 1 if wanted == "any" else wanted
    if count > len(nodes):
        raise BocuError(f"'{test}': found atleast {count} of {len(nodes)} tests; allowed: up to {len(nodes)}")
    return Group(count, nodes)


def leaves(node: Node) -> Iterator[Leaf]:
    """Return the comparisons of a test that is spelt out."""
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Negated):
        yield from leaves(node.node)
    else:
        for inner in node.nodes:
            yield from leaves(inner)


def _parts(test: Quorum, scope: Scope) -> Iterator[Node]:
    for part in test.tests:
        yield from _each(part, scope) if isinstance(part, Loop) else [expand(part, scope)]


def _each(loop: Loop, scope: Scope) -> Iterator[Node]:
    for value in loop.values:
        if loop.variable in SCOPES:
            inner, within = loop.test, replace(scope, **{loop.variable: value})
        else:
            inner, within = _with(loop.test, loop.variable, value), scope
        yield from _each(inner, within) if isinstance(inner, Loop) else [expand(inner, within)]


def _with(expression: Any, variable: str, value: str) -> Any:
    """Return an expression with a variable's value in its place."""
    if isinstance(expression, Runs):
        return _named(expression, variable, value)
    if isinstance(expression, Loop):
        values = tuple(value if own == variable else own for own in expression.values)
        return Loop(expression.variable, values, _with(expression.test, variable, value))
    if isinstance(expression, Sum):
        return Sum(tuple((sign, _with(term, variable, value)) for sign, term in expression.terms))
    changed: dict[str, Any] = {}
    for key in getattr(expression, "__dataclass_fields__", ()):
        part = getattr(expression, key)
        if key == "options":
            changed[key] = tuple((name, value if own == variable else own) for name, own in part)
        elif isinstance(part, tuple):
            changed[key] = tuple(_with(item, variable, value) for item in part)
        elif hasattr(part, "__dataclass_fields__"):
            changed[key] = _with(part, variable, value)
    return replace(expression, **changed) if changed else expression


def _named(runs: Runs, variable: str, value: str) -> Runs:
    algorithm, _, objective = (value if runs.algorithm == variable else runs.algorithm).partition("/")
    if runs.objective:
        objective = value if runs.objective == variable else runs.objective
    return Runs(algorithm, objective)


def _ranked(test: Rank, scope: Scope) -> Node:
    others = [runs for runs in dict.fromkeys(test.among) if runs != test.runs]
    own = Measure("final", test.runs, None, test.options)
    theirs = [Measure("final", runs, None, test.options) for runs in others]
    ahead = tuple(Leaf(Inequality(own, "<", other), scope) for other in theirs)
    behind = tuple(Leaf(Inequality(other, "<", own), scope) for other in theirs)
    parts = []
    if test.relation in ("==", "<=") and test.place <= len(others):
        parts.append(Group(len(others) - test.place + 1, ahead))
    if test.relation in ("==", ">=") and test.place > 1:
        parts.append(Group(test.place - 1, behind))
    if not parts:
        raise BocuError(f"'{test}' always holds; allowed: a rank that can be missed")
    return parts[0] if len(parts) == 1 else Group(2, tuple(parts))


def quantities(comparison: Inequality) -> list[Measure]:
    """Return the measures of both sides."""
    return [*measures_in(comparison.left), *measures_in(comparison.right)]


def problem_of_measure(measure: Measure, scope: Scope) -> str:
    """Return the label of the problem that a measure is about; empty where none is stated."""
    return dict(measure.options).get("problem", scope.problem)


def problems_of(node: Node) -> list[str]:
    """Return the labels of the problems that a test is about."""
    found = [
        problem_of_measure(measure, leaf.scope) for leaf in leaves(node) for measure in quantities(leaf.comparison)
    ]
    return list(dict.fromkeys(found))


def place_of(measure: Measure, scope: Scope, known: Known) -> Place:
    """Say where the numbers of a measure stand.

    The metric is the one that is stated, else that of the objective's label, else the problem's first. Of several
    objectives that an algorithm pursues, the one that is stated, else that of the metric's label.

    Raises:
        BocuError: the problem has no such runs, metric, prior or round; found and allowed are named.
    """
    options = dict(measure.options)
    stated = options.get("metric") or scope.metric
    if stated:
        metric = _among("metric", known.names.get(stated, stated), known.metrics, known)
    else:
        pursued = [known.names.get(one, one) for one in (measure.runs.objective, scope.objective) if one]
        metric = next((label for label in pursued if label in known.metrics), known.metrics[0])
    wanted = known.names.get(measure.runs.algorithm, measure.runs.algorithm)
    algorithm = _among("algorithm", wanted, known.algorithms, known)
    objective = _objective(measure, scope, known, known.algorithms[algorithm], metric)
    prior = options.get("prior", "")
    if prior and known.priors is not None:
        _among("candidate prior", prior, known.priors, known)
    return Place(objective, algorithm, metric, prior, _round(measure, known))


def _objective(measure: Measure, scope: Scope, known: Known, pursued: Sequence[str], metric: str) -> str:
    stated = known.names.get(measure.runs.objective, measure.runs.objective)
    if stated:
        return _among(f"objective of '{measure.runs.algorithm}'", stated, pursued, known)
    if len(pursued) == 1:
        return pursued[0]
    for label in (known.names.get(scope.objective, scope.objective), metric):
        if label in pursued:
            return label
    allowed = ", ".join(f"{measure.runs.algorithm}/{objective}" for objective in pursued)
    raise BocuError(f"found '{measure}', which pursues several objectives on '{known.problem}'; allowed: {allowed}")


def _among(what: str, label: str, known: Sequence[str] | Mapping[str, Any], where: Known) -> str:
    if label not in known:
        raise BocuError(f"no {what} '{label}' on '{where.problem}'; {nearest(label, known)}")
    return label


def _round(measure: Measure, known: Known) -> int | None:
    if measure.round is None:
        return None
    value = measure.round.value
    if value < 1:
        return max(1, round(value * known.rounds))
    if value > known.rounds:
        raise BocuError(f"found '{measure}' on '{known.problem}'; allowed: rounds up to {known.rounds}")
    return int(value)
