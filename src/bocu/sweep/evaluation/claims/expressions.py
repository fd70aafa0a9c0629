"""What a check says: numbers a seed, compared, and comparisons put together.

A comparison is written by `str` as `parse` reads it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

PAYOFF, PURE, SECONDS, ANY = "payoff", "pure number", "seconds", "number"
"""What a number a seed is counted in; what is written out as a number goes with each."""
SCOPES = ("problem", "metric", "objective")
"""Names that a loop may have besides variables of one's own, and options of every word."""


@dataclass(frozen=True)
class Word:
    """A word that makes one number a seed."""

    kind: str  #: what it is counted in.
    variable: str  #: of a cube that it is read from.
    meaning: str  #: what it is.
    options: tuple[str, ...] = ()  #: further options that it takes, `name=LABEL`.
    takes_round: bool = False  #: whether a second argument, a round, is wanted.


WORDS: Mapping[str, Word] = {
    "final": Word(PAYOFF, "regret", "regret summed from round 1 to the last"),
    "mean": Word(PAYOFF, "regret", "mean regret of a round"),
    "at": Word(PAYOFF, "regret", "regret summed up to a round; below 1: a share of all rounds", takes_round=True),
    "recommended": Word(PAYOFF, "recommended_regret", "regret of what is recommended after the last round"),
    "hypervolume": Word(
        PURE, "front_guarantee", "share of the best front's hypervolume that the decisions tried guarantee"
    ),
    "payoff": Word(PAYOFF, "payoff", "payoffs summed from round 1 to the last; more is better"),
    "growth": Word(PURE, "regret", "slope of log cumulative regret on log t over the second half of the rounds"),
    "share": Word(PURE, "chosen_prior", "share of the rounds in which a candidate prior was trusted", ("prior",)),
    "sticks": Word(
        PURE, "chosen_prior", "1 for a seed that trusts a prior in 90 % of the second half's rounds, else 0", ("prior",)
    ),
    "rejected": Word(PURE, "active_priors", "1 for a seed in which a candidate prior was rejected, else 0", ("prior",)),
    "seconds": Word(SECONDS, "seconds", "mean time of a round"),
}
BY_ROUND = ("final", "mean", "at", "payoff")
"""Words that are sums over rounds, which can be judged over these in place of seeds."""


@dataclass(frozen=True)
class Measure:
    """A number a seed, of some runs."""

    word: str  #: one of `WORDS`.
    runs: str  #: label of an algorithm, with `/` and an objective's where it pursues several.
    round: float | None = None  #: a round, below 1 a share of all rounds; None: the word takes none.
    options: tuple[tuple[str, str], ...] = ()  #: names and labels.

    def __str__(self) -> str:
        at = "" if self.round is None else f", {_written(self.round)}"
        return f"{self.word}({self.runs}{at}{''.join(f', {name}={label}' for name, label in self.options)})"


@dataclass(frozen=True)
class Sum:
    """Multiples of numbers a seed, and a number, added; without terms it is the number."""

    terms: tuple[tuple[float, Measure], ...] = ()
    number: float = 0.0

    @property
    def kind(self) -> str:
        """What it is counted in."""
        return WORDS[self.terms[0][1].word].kind if self.terms else ANY

    def plus(self, other: "Sum", times: float = 1.0) -> "Sum":
        """Return the sum of this and a multiple of another."""
        terms = tuple((times * factor, measure) for factor, measure in other.terms)
        return Sum(self.terms + terms, self.number + times * other.number)

    def __str__(self) -> str:
        parts = [(factor, str(measure)) for factor, measure in self.terms]
        if self.number or not parts:
            parts.append((self.number, ""))
        text = "".join(f" {'-' if factor < 0 else '+'} {_multiple(abs(factor), term)}" for factor, term in parts)
        return text[3:] if text.startswith(" + ") else f"-{text[3:]}"


@dataclass(frozen=True)
class Ratio:
    """The ratio of two means over the same seeds."""

    numerator: Sum
    denominator: Sum

    def __str__(self) -> str:
        return f"ratio({self.numerator}, {self.denominator})"


@dataclass(frozen=True)
class Inequality:
    """One side is less, or more, than the other; numbers alone stand on the right, beside a ratio always."""

    left: Sum | Ratio
    relation: Literal["<", ">"]
    right: Sum

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    @property
    def measures(self) -> list[Measure]:
        """The numbers a seed of both sides, in their order."""
        sides = (self.left.numerator, self.left.denominator) if isinstance(self.left, Ratio) else (self.left,)
        return [measure for side in (*sides, self.right) for _, measure in side.terms]


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


def leaves(node: Node) -> Iterator[Leaf]:
    """Return the comparisons of a test."""
    if isinstance(node, Leaf):
        yield node
    else:
        for inner in node.nodes if isinstance(node, Group) else (node.node,):
            yield from leaves(inner)


def beside_one(node: Node) -> list[str]:
    """Return whose number stands above in each comparison, where all are ratios to the same number of one algorithm.

    Returns:
        Runs, as `Measure` names them; none where a comparison is something else.
    """
    ratios = [leaf.comparison.left for leaf in leaves(node)]
    if not all(isinstance(ratio, Ratio) and len(ratio.numerator.terms) == 1 for ratio in ratios):
        return []
    alike = len({str(ratio.denominator) for ratio in ratios if isinstance(ratio, Ratio)}) == 1
    return [ratio.numerator.terms[0][1].runs for ratio in ratios if isinstance(ratio, Ratio)] if alike else []


def thresholds(node: Node) -> list[tuple[str, float]]:
    """Return the relations and numbers by which a test says how much is meant.

    They are those beside ratios and pure numbers, and the factor of all that stands on the right.
    """
    found = ((leaf.comparison.relation, _threshold(leaf.comparison)) for leaf in leaves(node))
    return list(dict.fromkeys((relation, number) for relation, number in found if number is not None))


def stricter(node: Node, times: float) -> Node:
    """Return a test that asks for so many times as much by each of its thresholds."""
    if isinstance(node, Group):
        return Group(node.wanted, tuple(stricter(part, times) for part in node.nodes))
    if isinstance(node, Negated):
        return Negated(stricter(node.node, times))
    own = node.comparison
    if _threshold(own) is None:
        return node
    return Leaf(replace(own, right=Sum().plus(own.right, moved(own.relation, 1.0, times))), node.scope)


def moved(relation: str, number: float, times: float) -> float:
    """Return a threshold by which so many times as much is asked for."""
    return number * times if relation == ">" else number / times


def _threshold(comparison: Inequality) -> float | None:
    left, right = comparison.left, comparison.right
    if not right.terms:
        pure = isinstance(left, Ratio) or left.kind == PURE
        return right.number if pure and right.number > 0 and right.number != 1 else None
    factors = {abs(factor) for factor, _ in right.terms}
    regrets = all(measure.word != "payoff" for measure in comparison.measures)
    scaled = len(factors) == 1 and factors != {1.0} and not right.number
    return factors.pop() if scaled and regrets and isinstance(left, Sum) and not left.number else None


def implies(one: Node, other: Node) -> bool:
    """Say whether a test cannot hold without another, as far as the structure of both tells."""
    if one == other:
        return True
    if isinstance(other, Group) and other.wanted == len(other.nodes):
        return all(implies(one, part) for part in other.nodes)
    if isinstance(one, Group):
        if sum(not implies(part, other) for part in one.nodes) < one.wanted:
            return True
        if isinstance(other, Group):
            left = list(other.nodes)
            for part in one.nodes:  # parts of their own for as many of the other's
                matched = next((place for place, node in enumerate(left) if implies(part, node)), None)
                if matched is not None:
                    del left[matched]
            return one.wanted - len(one.nodes) + len(other.nodes) - len(left) >= other.wanted
    if isinstance(other, Group):
        return other.wanted == 1 and any(implies(one, part) for part in other.nodes)
    if isinstance(one, Negated) and isinstance(other, Negated):
        return implies(other.node, one.node)
    if not (isinstance(one, Leaf) and isinstance(other, Leaf)):
        return False
    own, weaker = one.comparison, other.comparison
    beyond = own.right.number - weaker.right.number
    return (one.scope, own.left, own.relation, own.right.terms) == (
        other.scope,
        weaker.left,
        weaker.relation,
        weaker.right.terms,
    ) and (beyond <= 0 if own.relation == "<" else beyond >= 0)


def problem_of_measure(measure: Measure, scope: Scope) -> str:
    """Return the label of the problem that a measure is about; empty where none is stated."""
    return dict(measure.options).get("problem", scope.problem)


def problems_of(node: Node) -> list[str]:
    """Return the labels of the problems that a test is about."""
    found = [problem_of_measure(measure, leaf.scope) for leaf in leaves(node) for measure in leaf.comparison.measures]
    return list(dict.fromkeys(found))


def _written(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _multiple(factor: float, term: str) -> str:
    return f"{_written(factor)} * {term}" if term and factor != 1 else term or _written(factor)
