"""From the text of a check to what it says, by Python's grammar; nothing is evaluated.

TEST        COMPARISON | all(TEST, ...) | any(TEST, ...) | atleast(2, TEST, ...) | not TEST
            | rank(RUNS, among=[RUNS, ...]) == 1; several at once: [TEST for NAME in [LABEL, ...]]
COMPARISON  SUM < SUM | SUM > SUM | ratio(SUM, SUM) < number; a chain `a < b < c` is all of its pairs
SUM         WORD(RUNS, option=LABEL) | number | SUM + SUM | SUM - SUM | number * SUM | SUM / number
RUNS        LABEL | LABEL/OBJECTIVE

A label may have hyphens and begin with a digit, which no name of Python's may: a name of the same length stands for it,
and it is read from the text again.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, NoReturn

from bocu.core.errors import BocuError, shown
from bocu.core.parameters import nearest
from bocu.sweep.evaluation.claims.expressions import (
    ANY,
    SCOPES,
    WORDS,
    Group,
    Inequality,
    Leaf,
    Measure,
    Negated,
    Node,
    Ratio,
    Scope,
    Sum,
)

_LABEL = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_VARIABLE = re.compile(r"[A-Z][A-Za-z0-9]*")
_TOKEN = re.compile(
    r"(?P<number>(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]|-\w))|(?P<name>\w+(?:-\w+)*)"
    r"|(?P<sign>[-+*/<>=()\[\],])|(?P<space>\s)|.",
    re.ASCII,
)
Options = tuple[tuple[str, str], ...]
_TESTS = ("all", "any", "atleast")
_OTHERS = (*_TESTS, "rank", "ratio")
_RELATIONS: Mapping[type[ast.cmpop], Any] = {ast.Lt: "<", ast.Gt: ">", ast.Eq: "==", ast.LtE: "<=", ast.GtE: ">="}


def parse(text: str, scope: Scope) -> Node:
    """Read the text of a check: loops run through, ranks as comparisons.

    Args:
        text: the check.
        scope: where its words look as far as it does not say.

    Raises:
        BocuError: one line with the column, what was found and what is allowed.
    """
    text = text.strip()
    reader = _Reader(text, scope)
    try:
        return reader.test(ast.parse(_TOKEN.sub(reader.in_python, text), mode="eval").body)
    except SyntaxError as error:
        end = len(text) + 1  # where the offset is 0
        reader.refuse((error.offset or end) - 1, f"what docs/claims.md shows ({error.msg})")
    except (RecursionError, MemoryError):
        raise BocuError("found too many brackets within each other; allowed: some fifty") from None


@dataclass(frozen=True)
class _Reader:
    text: str
    scope: Scope
    bound: Mapping[str, str] = field(default_factory=dict)

    def in_python(self, token: re.Match[str]) -> str:
        """Return what stands for a token in Python, of the same length."""
        if token["name"]:
            return token[0] if token[0] in ("for", "in", "not") else "_" + token[0][1:].replace("-", "_")
        if not (token["number"] or token["sign"] or token["space"]):
            signs = "labels, numbers, < > = + - * / ( ) [ ] and commas"
            self.refuse(token.start(), f"{signs}; a loop is all(TEST for NAME in [LABEL, ...])")
        return " " if token["space"] else token[0]

    def refuse(self, place: int | ast.expr | ast.keyword, allowed: str, found: str = "") -> NoReturn:
        """Raise an error about a node, or about what stands at a place."""
        if isinstance(place, int):
            column, rest = place, re.match(r"\S+", self.text[place:])
            found = shown(rest[0]) if rest else "the end"
        else:
            column, found = place.col_offset, found or f"'{self.source(place)}'"
        raise BocuError(f"column {column + 1}: found {found}; allowed: {allowed}") from None

    def source(self, node: ast.expr | ast.keyword) -> str:
        return self.text[node.col_offset : node.end_col_offset]

    def called(self, node: ast.expr, *names: str) -> str:
        """Return which of the names is called; empty: none."""
        name = self.source(node.func) if isinstance(node, ast.Call) else ""
        return name if name in names else ""

    # Tests

    def test(self, node: ast.expr) -> Node:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Negated(self.test(node.operand))
        if isinstance(node, ast.Compare):
            return self._rank(node) if self.called(node.left, "rank") else self._compared(node)
        if isinstance(node, ast.Call) and (word := self.called(node, *_TESTS)):
            return self._together(node, word)
        if isinstance(node, ast.Call) and not self.called(node, *WORDS, *_OTHERS):
            self._unknown(node)
        self.refuse(node, f"a comparison, rank(RUNS, among=[RUNS, ...]) == 1, not, {', '.join(_TESTS)}")

    def _unknown(self, node: ast.Call) -> NoReturn:
        word = self.source(node.func)
        raise BocuError(f"column {node.col_offset + 1}: found '{word}'; {nearest(word, [*WORDS, *_OTHERS])}")

    def _together(self, node: ast.Call, word: str) -> Group:
        if node.keywords or not node.args:
            self.refuse(node, "atleast(2, TEST, ...)" if word == "atleast" else f"{word}(TEST, ...)")
        wanted = self._whole(node.args[0]) if word == "atleast" else 1
        nodes = tuple(found for part in node.args[word == "atleast" :] for found in self._parts(part))
        if wanted > len(nodes):
            self.refuse(node, f"up to {len(nodes)}", f"atleast {wanted} of {len(nodes)} tests")
        return Group(len(nodes) if word == "all" else wanted, nodes)

    def _parts(self, node: ast.expr) -> Iterator[Node]:
        """Return a test, or that of each turn of its loops."""
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            yield from self._turns(node.elt, node.generators)
        else:
            yield self.test(node)

    def _turns(self, test: ast.expr, loops: Sequence[ast.comprehension]) -> Iterator[Node]:
        if not loops:
            yield from self._parts(test)
            return
        loop, *inner = loops
        name = self.source(loop.target)
        if name in self.bound:
            self.refuse(loop.target, f"another name: '{name}' is that of a loop around this one")
        if name not in SCOPES and not _VARIABLE.fullmatch(name):
            self.refuse(loop.target, f"{', '.join(SCOPES)}, or a variable that begins with a capital letter")
        for label in self._list(loop.iter):
            scope = replace(self.scope, **{name: label}) if name in SCOPES else self.scope
            yield from replace(self, scope=scope, bound={**self.bound, name: label})._turns(test, inner)

    def _list(self, node: ast.expr) -> list[str]:
        if not isinstance(node, ast.List) or not node.elts:
            self.refuse(node, "[LABEL, ...]")
        return [self._runs(one) for one in node.elts]

    def _rank(self, node: ast.Compare) -> Node:
        """Read a rank, which is so many comparisons of final regret."""
        call, place = node.left, node.comparators[0]
        assert isinstance(call, ast.Call)
        relation = _RELATIONS.get(type(node.ops[0]), "")
        if relation not in ("==", "<=", ">=") or len(node.ops) > 1:
            self.refuse(place, "one of == <= >= before the place")
        among = [keyword.value for keyword in call.keywords if self._name(keyword) == "among"]
        if len(call.args) != 1 or len(among) != 1:
            self.refuse(call, "rank(RUNS, among=[RUNS, ...])")
        options = self._options("rank", [one for one in call.keywords if self._name(one) != "among"], ())
        runs, wanted = self._runs(call.args[0]), self._whole(place)
        own, *theirs = (_final(each, options) for each in dict.fromkeys([runs, *self._list(among[0])]))
        if wanted > len(theirs) + 1:
            self.refuse(place, f"up to {len(theirs) + 1}, the number of those who are ranked")
        ahead = tuple(Leaf(Inequality(own, "<", other), self.scope) for other in theirs)
        behind = tuple(Leaf(Inequality(other, "<", own), self.scope) for other in theirs)
        parts = []
        if relation != ">=" and wanted <= len(theirs):
            parts.append(Group(len(theirs) - wanted + 1, ahead))
        if relation != "<=" and wanted > 1:
            parts.append(Group(wanted - 1, behind))
        if not parts:
            self.refuse(node, "a rank that can be missed", f"'{self.source(node)}', which always holds")
        return parts[0] if len(parts) == 1 else Group(2, tuple(parts))

    def _compared(self, node: ast.Compare) -> Node:
        nodes = (node.left, *node.comparators)
        sides = [self._side(one) for one in nodes]
        found = []
        for place, operator in enumerate(node.ops):
            (left, right), at = sides[place : place + 2], nodes[place + 1]
            relation = _RELATIONS.get(type(operator), "")
            if relation not in ("<", ">"):
                self.refuse(at, "< or > before it")
            if isinstance(left, Sum) and not left.terms:  # numbers stand on the right
                left, relation, right = right, "<>"[relation == "<"], left
            if isinstance(left, Sum) and not left.terms:
                self.refuse(at, f"one of {', '.join(WORDS)} on one side")
            if isinstance(right, Ratio) or (isinstance(left, Ratio) and right.terms):
                self.refuse(at, "a number beside a ratio")
            if isinstance(left, Sum):
                self._same_kind(left, right, at)
            found.append(Leaf(Inequality(left, relation, right), self.scope))
        return found[0] if len(found) == 1 else Group(len(found), tuple(found))

    def _same_kind(self, one: Sum, other: Sum, at: ast.expr) -> None:
        if ANY not in (one.kind, other.kind) and one.kind != other.kind:
            self.refuse(at, f"what is counted as the other is, in {one.kind}, not in {other.kind}")

    # Numbers a seed

    def _side(self, node: ast.expr) -> Sum | Ratio:
        if not isinstance(node, ast.Call) or not self.called(node, "ratio"):
            return self._sum(node)
        if len(node.args) != 2 or node.keywords:
            self.refuse(node, "ratio(A, B)")
        above, below = (self._named_or_sum(one) for one in node.args)
        self._same_kind(above, below, node.args[1])
        return Ratio(above, below)

    def _named_or_sum(self, node: ast.expr) -> Sum:
        """Read an argument of a ratio: runs alone are their final regret."""
        named = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else node
        return _final(self._runs(node)) if isinstance(named, ast.Name) else self._sum(node)

    def _sum(self, node: ast.expr) -> Sum:
        found = self._added(node)
        if not all(map(isfinite, (found.number, *(factor for factor, _ in found.terms)))):
            self.refuse(node, "numbers up to 1.8e308")
        return found

    def _added(self, node: ast.expr) -> Sum:
        match node:
            case ast.Constant():
                return Sum(number=float(self.source(node)))
            case ast.UnaryOp(op=ast.USub()):
                return Sum().plus(self._sum(node.operand), -1.0)
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                left, right = self._sum(node.left), self._sum(node.right)
                self._same_kind(left, right, node.right)
                return left.plus(right, 1.0 if isinstance(node.op, ast.Add) else -1.0)
            case ast.BinOp(op=ast.Mult() | ast.Div()):
                left, right, times = self._sum(node.left), self._sum(node.right), isinstance(node.op, ast.Mult)
                if times and not left.terms:
                    return Sum().plus(right, left.number)
                if right.terms or not (times or right.number):
                    self.refuse(node.right, "a number" if times else "a number but 0; see ratio(A, B)")
                return Sum().plus(left, right.number if times else 1 / right.number)
            case ast.Call() if self.called(node, *WORDS):
                return Sum(((1.0, self._measure(node)),))
            case ast.Call() if not self.called(node, *_OTHERS):
                self._unknown(node)
        self.refuse(node, f"a number, or one of {', '.join(WORDS)} with runs in brackets")

    def _measure(self, node: ast.Call) -> Measure:
        word = self.source(node.func)
        known = WORDS[word]
        if len(node.args) != 1 + known.takes_round:
            self.refuse(node, f"{word}(RUNS{', ROUND' if known.takes_round else ''})")
        runs = self._runs(node.args[0])
        round_ = self._round(node.args[1]) if known.takes_round else None
        options = self._options(word, node.keywords, known.options)
        for name in known.options:
            if name not in dict(options):
                self.refuse(node, f"{word} with the option {name}=LABEL")
        return Measure(word, runs, round_, options)

    def _round(self, node: ast.expr) -> float:
        found = self._sum(node)
        if found.terms or not found.number > 0 or (found.number >= 1 and found.number != int(found.number)):
            self.refuse(node, "a whole round from 1 on, or a share above 0 and below 1")
        return found.number

    def _whole(self, node: ast.expr) -> int:
        found = self._sum(node)
        if found.terms or found.number < 1 or found.number != int(found.number):
            self.refuse(node, "a whole number from 1 on")
        return int(found.number)

    def _options(self, word: str, keywords: Sequence[ast.keyword], own: tuple[str, ...]) -> Options:
        allowed = (*own, *SCOPES[:2])
        found: dict[str, str] = {}
        for keyword in keywords:
            name = self._name(keyword)
            if name not in allowed or name in found:
                self.refuse(keyword, f"options of {word}, once each: {', '.join(allowed)}", f"'{name}'")
            found[name] = self._label(keyword.value)
        return tuple(found.items())

    def _name(self, keyword: ast.keyword) -> str:
        return self.source(keyword).partition("=")[0].strip()

    def _runs(self, node: ast.expr) -> str:
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
            return self._label(node)
        return f"{self._label(node.left).partition('/')[0]}/{self._label(node.right)}"

    def _label(self, node: ast.expr) -> str:
        """Return a label, or what a variable stands for."""
        name = self.source(node)
        if not isinstance(node, ast.Name | ast.Constant) or not (_LABEL.fullmatch(name) or name in self.bound):
            names = [bound for bound in self.bound if bound not in SCOPES]
            self.refuse(node, f"a label, or a variable of a loop around it{': ' if names else ''}{', '.join(names)}")
        return name if _LABEL.fullmatch(name) else self.bound[name]


def _final(runs: str, options: Options = ()) -> Sum:
    return Sum(((1.0, Measure("final", runs, None, options)),))
