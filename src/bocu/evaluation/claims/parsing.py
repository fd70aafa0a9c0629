"""From the text of a check to its expression, by descent; nothing is evaluated.

test        all(test, ...) | any(test, ...) | atleast(2, test, ...) | not(test)
            | for NAME in [LABEL, ...]: test | comparison | rank(RUNS) == 1 among [RUNS, ...]
comparison  sum < sum | sum > sum | ratio(sum, sum) < number; a chain `a < b < c` is all of its pairs
sum         term, term + term - term
term        WORD(RUNS, option=LABEL) | number | number * term | term / number | (sum)
RUNS        LABEL | LABEL/OBJECTIVE
"""

import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from bocu.core.errors import BocuError, shown
from bocu.core.parameters import nearest
from bocu.evaluation.claims.expressions import (
    ANY,
    SCOPES,
    WORDS,
    Inequality,
    Loop,
    Measure,
    Not,
    Options,
    Quantity,
    Quorum,
    Rank,
    Ratio,
    Runs,
    Scaled,
    Sum,
    Test,
    WrittenNumber,
    kind_of,
)

_LABEL = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_VARIABLE = re.compile(r"[A-Z][A-Za-z0-9]*")
_WORD = re.compile(r"[a-z]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_SPACE = re.compile(r"\s*")
_TESTS = ("all", "any", "atleast", "not")
_DEEPEST = 50
Found = TypeVar("Found")


def parse(text: str) -> Test:
    """Read the text of a check.

    Raises:
        BocuError: one line with the column, what was found and what is allowed.
    """
    reader = _Reader(text)
    test = reader.test()
    if not reader.ended:
        reader.refuse("the end")
    return test


def is_variable(name: str) -> bool:
    """Whether a name is that of a variable of a loop, and no label."""
    return _VARIABLE.fullmatch(name) is not None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.bound: list[str] = []
        self._skip()

    # What stands next

    @property
    def ended(self) -> bool:
        return self.at == len(self.text)

    def refuse(self, allowed: str) -> NoReturn:
        rest = re.match(r"\S+", self.text[self.at :])
        found = shown(rest[0]) if rest else "the end"
        raise BocuError(f"column {self.at + 1}: found {found}; allowed: {allowed}")

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _peek(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        return found[0] if found else ""

    def _take(self, pattern: re.Pattern[str], allowed: str) -> str:
        found = self._peek(pattern)
        if not found:
            self.refuse(allowed)
        self.at += len(found)
        self._skip()
        return found

    def _next(self, *signs: str) -> str:
        return next((sign for sign in signs if self.text.startswith(sign, self.at)), "")

    def _sign(self, *signs: str) -> str:
        found = self._next(*signs)
        if not found:
            self.refuse(" ".join(signs))
        self.at += len(found)
        self._skip()
        return found

    def _listed(self, read: Callable[[], Found], end: str) -> tuple[Found, ...]:
        found = [read()]
        while self._sign(",", end) == ",":
            found.append(read())
        return tuple(found)

    # Tests

    def test(self) -> Test:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.refuse(f"up to {_DEEPEST} levels of brackets")
        try:
            word = self._peek(_WORD)
            if word == "for":
                return self._loop()
            if word == "rank":
                return self._rank()
            if word in _TESTS:
                return self._together()
            return self._comparison()
        finally:
            self.depth -= 1

    def _together(self) -> Test:
        word = self._take(_WORD, "a test")
        self._sign("(")
        if word == "not":
            inner = self.test()
            self._sign(")")
            return Not(inner)
        if word != "atleast":
            return Quorum("all" if word == "all" else "any", self._listed(self.test, ")"))
        count = self._whole(1)
        self._sign(",")
        return Quorum(count, self._listed(self.test, ")"))

    def _loop(self) -> Test:
        self._take(_WORD, "for")
        variable = self._peek(_VARIABLE) or self._peek(_WORD)
        if variable in self.bound:
            self.refuse(f"another name: '{variable}' is that of a loop around this one")
        if not is_variable(variable) and variable not in SCOPES:
            self.refuse(f"{', '.join(SCOPES)}, or a variable that begins with a capital letter")
        self._take(_VARIABLE if is_variable(variable) else _WORD, "a name")
        if self._peek(_WORD) != "in":
            self.refuse("in")
        self._take(_WORD, "in")
        self._sign("[")
        values = self._listed(self._runs_or_label, "]")
        self._sign(":")
        self.bound.append(variable)
        test = self.test()
        self.bound.pop()
        return Loop(variable, values, test)

    def _rank(self) -> Test:
        self._take(_WORD, "rank")
        self._sign("(")
        runs = self._runs()
        options = self._options("rank", ())
        self._sign(")")
        relation: Any = self._sign("==", "<=", ">=")
        start = self.at
        place = self._whole(1)
        if self._peek(_WORD) != "among":
            self.refuse("among [RUNS, ...]")
        self._take(_WORD, "among")
        self._sign("[")
        among = self._listed(self._runs, "]")
        if place > len({runs, *among}):
            self.at = start
            self.refuse(f"up to {len({runs, *among})}, the number of those who are ranked")
        return Rank(runs, options, relation, place, among)

    def _comparison(self) -> Test:
        sides: list[Quantity | Ratio] = [self._side()]
        relations: list[Any] = [self._sign("<", ">")]
        places = [self.at]
        sides.append(self._side())
        while self._next("<", ">"):
            relations.append(self._sign("<", ">"))
            places.append(self.at)
            sides.append(self._side())
        pairs = [
            self._compared(left, relation, right, place)
            for left, relation, right, place in zip(sides, relations, sides[1:], places, strict=False)
        ]
        return pairs[0] if len(pairs) == 1 else Quorum("all", tuple(pairs))

    def _compared(self, left: Quantity | Ratio, relation: Any, right: Quantity | Ratio, place: int) -> Inequality:
        if isinstance(right, Ratio) or (isinstance(left, Ratio) and kind_of(right) != ANY):
            self._refuse_at(place, right, "a number, with the ratio on the left")
        if kind_of(left) == kind_of(right) == ANY:
            self._refuse_at(place, right, f"one of {', '.join(WORDS)} on one side")
        self._fits(kind_of(left), right, place)
        return Inequality(left, relation, right)

    def _refuse_at(self, place: int, found: object, allowed: str) -> NoReturn:
        raise BocuError(f"column {place + 1}: found '{found}'; allowed: {allowed}")

    def _fits(self, kind: str, other: Quantity, place: int) -> None:
        if ANY not in (kind, kind_of(other)) and kind != kind_of(other):
            self._refuse_at(place, other, f"what is counted as the other is, in {kind}, not in {kind_of(other)}")

    # Numbers a seed

    def _side(self) -> Quantity | Ratio:
        if self._peek(_WORD) != "ratio":
            return self._sum()
        self._take(_WORD, "ratio")
        self._sign("(")
        numerator = self._named_or_sum()
        self._sign(",")
        start = self.at
        denominator = self._named_or_sum()
        self._fits(kind_of(numerator), denominator, start)
        self._sign(")")
        return Ratio(numerator, denominator)

    def _named_or_sum(self) -> Quantity:
        """Read an argument of a ratio: runs alone are their final regret."""
        label = self._peek(_VARIABLE) or self._peek(_LABEL)
        if label and not _NUMBER.fullmatch(label) and label not in WORDS:
            return Measure("final", self._runs())
        return self._sum()

    def _sum(self) -> Quantity:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.refuse(f"up to {_DEEPEST} levels of brackets")
        terms: list[tuple[Any, Any]] = []
        sign = -1 if self._next("-") and self._sign("-") else 1
        kind = ANY
        while True:
            start = self.at
            found = self._term()
            self._fits(kind, found, start)
            kind = kind if kind != ANY else kind_of(found)
            inner = found.terms if isinstance(found, Sum) else ((1, found),)
            terms += [(sign * own, term) for own, term in inner]
            if not self._next("+", "-"):
                break
            sign = -1 if self._sign("+", "-") == "-" else 1
        self.depth -= 1
        return terms[0][1] if len(terms) == 1 and terms[0][0] == 1 else Sum(tuple(terms))

    def _term(self) -> Quantity:
        found = self._factor()
        while self._next("*", "/"):
            times = self._sign("*", "/") == "*"
            start = self.at
            other = self._factor()
            if times and isinstance(found, WrittenNumber):
                found = _times(found.value, other)
            elif isinstance(other, WrittenNumber) and (times or other.value):
                found = _times(other.value if times else 1 / other.value, found)
            else:
                self._refuse_at(start, other, "a number" if times else "a number but 0; see ratio(A, B)")
        return found

    def _factor(self) -> Quantity:
        if self._next("("):
            self._sign("(")
            found = self._sum()
            self._sign(")")
            return found
        if self._peek(_NUMBER):
            return WrittenNumber(float(self._take(_NUMBER, "a number")))
        start, word = self.at, self._peek(_LABEL) or self._peek(_VARIABLE)
        if word not in WORDS:
            if word and self.text[self.at + len(word) :].lstrip()[:1] == "(":
                raise BocuError(
                    f"column {start + 1}: found '{word}'; {nearest(word, [*WORDS, *_TESTS, 'rank', 'ratio'])}"
                )
            self.refuse(f"a number, or one of {', '.join(WORDS)} with runs in brackets")
        return self._measure(self._take(_WORD, "a word"))

    def _measure(self, word: str) -> Measure:
        known = WORDS[word]
        self._sign("(")
        runs = self._runs()
        round_ = None
        if known.takes_round:
            self._sign(",")
            start = self.at
            round_ = WrittenNumber(float(self._take(_NUMBER, "a round, or a share of all rounds below 1")))
            if round_.value == 0 or (round_.value >= 1 and round_.value != int(round_.value)):
                self._refuse_at(start, round_, "a whole round from 1 on, or a share above 0 and below 1")
        options = self._options(word, known.options)
        for name in known.options:
            if name not in dict(options):
                self.refuse(f"{word} with the option {name}=LABEL")
        self._sign(")")
        return Measure(word, runs, round_, options)

    def _options(self, word: str, own: tuple[str, ...]) -> Options:
        allowed = (*own, *SCOPES[:2])
        found: dict[str, str] = {}
        while self._next(","):
            self._sign(",")
            start, name = self.at, self._take(_WORD, f"an option of {word}: {', '.join(allowed)}")
            if name not in allowed or name in found:
                self._refuse_at(start, name, f"once each of {', '.join(allowed)}")
            self._sign("=")
            found[name] = self._name()
        return tuple(found.items())

    def _name(self) -> str:
        variable = self._peek(_VARIABLE)
        if not variable:
            return self._take(_LABEL, "a label")
        if variable not in self.bound:
            self.refuse(
                f"a label, or a variable of a loop around it{': ' if self.bound else ''}{', '.join(self.bound)}"
            )
        return self._take(_VARIABLE, "a variable")

    def _runs(self) -> Runs:
        algorithm = self._name()
        if not self._next("/"):
            return Runs(algorithm)
        self._sign("/")
        return Runs(algorithm, self._name())

    def _runs_or_label(self) -> str:
        return str(self._runs())

    def _whole(self, least: int) -> int:
        start = self.at
        found = float(self._take(_NUMBER, f"a whole number from {least} on"))
        if found != int(found) or found < least:
            self._refuse_at(start, f"{found:g}", f"a whole number from {least} on")
        return int(found)


def _times(factor: float, quantity: Quantity) -> Quantity:
    if isinstance(quantity, WrittenNumber):
        return WrittenNumber(factor * quantity.value)
    if isinstance(quantity, Scaled):
        return Scaled(WrittenNumber(factor * quantity.factor.value), quantity.quantity)
    return Scaled(WrittenNumber(factor), quantity)
