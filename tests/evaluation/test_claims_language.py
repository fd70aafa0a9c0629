"""The language of checks: what is written is what is read, and what cannot be read is named with its place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocu.core.errors import BocuError
from bocu.evaluation.claims.expansion import Group, Leaf, Negated, Scope, expand, leaves
from bocu.evaluation.claims.expressions import (
    ANY,
    WORDS,
    Inequality,
    Loop,
    Measure,
    Not,
    Quorum,
    Rank,
    Ratio,
    Runs,
    Scaled,
    Sum,
    WrittenNumber,
    kind_of,
)
from bocu.evaluation.claims.parsing import parse

LABELS = st.from_regex(r"[a-z0-9]{1,4}(-[a-z0-9]{1,3}){0,2}", fullmatch=True)
NUMBERS = st.builds(WrittenNumber, st.floats(0.0, 1e9))
POSITIVE = st.builds(WrittenNumber, st.floats(1e-6, 1e6))
RUNS = st.builds(Runs, LABELS, st.one_of(st.just(""), LABELS))
ROUNDS = st.builds(WrittenNumber, st.one_of(st.integers(1, 10_000).map(float), st.floats(0.01, 0.99)))


@st.composite
def measures(draw, words=tuple(WORDS)):
    word = draw(st.sampled_from(words))
    own = [(name, draw(LABELS)) for name in WORDS[word].options]
    scopes = draw(st.lists(st.sampled_from(["problem", "metric"]), unique=True, max_size=2))
    options = tuple(own + [(name, draw(LABELS)) for name in scopes])
    return Measure(word, draw(RUNS), draw(ROUNDS) if WORDS[word].takes_round else None, options)


def of_kind(kind):
    return tuple(word for word, known in WORDS.items() if known.kind == kind)


@st.composite
def sums(draw, kind):
    """A quantity of a kind: a measure, a multiple, or a sum of such and numbers."""
    single = measures(of_kind(kind))
    inner = st.one_of(single, st.builds(lambda a, b: Sum(((1, a), (-1, b))), single, single))
    term = st.one_of(single, st.builds(Scaled, POSITIVE, inner))
    if draw(st.booleans()):
        return draw(term)
    others = draw(st.lists(st.tuples(st.sampled_from([1, -1]), st.one_of(term, NUMBERS)), min_size=1, max_size=3))
    return Sum(((draw(st.sampled_from([1, -1])), draw(term)), *others))


@st.composite
def comparisons(draw):
    kind = draw(st.sampled_from(sorted({word.kind for word in WORDS.values()})))
    relation = draw(st.sampled_from("<>"))
    if draw(st.booleans()):
        return Inequality(Ratio(draw(sums(kind)), draw(sums(kind))), relation, draw(NUMBERS))
    return Inequality(draw(sums(kind)), relation, draw(st.one_of(sums(kind), NUMBERS)))


@st.composite
def ranks(draw):
    runs, among = draw(RUNS), tuple(draw(st.lists(RUNS, min_size=1, max_size=4)))
    place = draw(st.integers(1, len({runs, *among})))
    return Rank(runs, (), draw(st.sampled_from(["==", "<=", ">="])), place, among)


def together(inner):
    some = st.lists(inner, min_size=1, max_size=3).map(tuple)
    names = st.sampled_from(["problem", "metric", "objective"])
    return st.one_of(
        st.builds(Not, inner),
        st.builds(Quorum, st.one_of(st.sampled_from(["all", "any"]), st.integers(1, 5)), some),
        # Loops of one name may not stand within each other.
        st.builds(Loop, names, st.lists(LABELS, min_size=1, max_size=3).map(tuple), st.one_of(comparisons(), ranks())),
    )


TESTS = st.recursive(st.one_of(comparisons(), ranks()), together, max_leaves=4)


@settings(max_examples=60, deadline=None)
@given(TESTS)
def test_what_is_written_is_read_again(test):
    assert parse(str(test)) == test


def test_a_chain_is_all_of_its_pairs():
    assert parse("final(a) < final(b) < final(c)") == parse("all(final(a) < final(b), final(b) < final(c))")


def test_labels_in_a_ratio_are_their_final_regret():
    assert parse("ratio(a/dro, b) < 0.9") == parse("ratio(final(a/dro), final(b)) < 0.9")


def test_signs_and_factors_go_through_brackets():
    spelt = parse("final(a) - (final(b) - 2 * final(c)) / 4 < 1")
    assert str(spelt) == "final(a) - 0.25 * (final(b) - 2 * final(c)) < 1"
    assert kind_of(spelt.left) == "payoff"
    assert kind_of(spelt.right) == ANY


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fnal(a) < 1", ["column 1", "'fnal'", "did you mean 'final'"]),
        ("final(a) = 1", ["column 10", "'='", "allowed: < >"]),
        ("final(a) < ", ["column 12", "the end"]),
        ("final(a) < 1 and 2", ["column 14", "'and'"]),
        ("1 < 2", ["column 5", "'2'", "final"]),
        ("final(a) < growth(b)", ["column 12", "'growth(b)'", "payoff"]),
        ("final(a) + share(b, prior=1) < 2", ["column 12", "'share(b, prior=1)'", "pure number"]),
        ("share(a) > 0.5", ["share with the option prior=LABEL"]),
        ("final(a, prior=1) > 0.5", ["column 10", "'prior'", "problem, metric"]),
        ("at(a, 1.5) < 2", ["column 7", "'1.5'", "whole round"]),
        ("final(a) * final(b) < 2", ["column 12", "'final(b)'", "a number"]),
        ("final(a) < ratio(a, b)", ["column 12"]),
        ("ratio(a, b) < final(c)", ["column 15", "a number, with the ratio on the left"]),
        ("rank(a) == 4 among [b, c]", ["column 12", "up to 3"]),
        ("rank(a) == 1", ["column 13", "among"]),
        ("for x in [a]: final(b) < 1", ["column 5", "problem, metric, objective"]),
        ("for A in [a]: for A in [b]: final(A) < 1", ["column 19", "another name"]),
        ("final(A) < 1", ["column 7", "'A)'", "a variable of a loop"]),
        ("__import__(a) < 1", ["column 1", "'__import__(a)'"]),
        ("all(" * 60 + "final(a) < 1" + ")" * 60, ["up to 50 levels"]),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text, told):
    with pytest.raises(BocuError) as caught:
        parse(text)
    assert all(part in str(caught.value) for part in told), str(caught.value)


def spelt_out(text, **scope):
    return expand(parse(text), Scope(**scope))


def test_loops_put_labels_in_the_place_of_variables():
    found = spelt_out("for problem in [p, q]: for A in [a/dro, b]: final(c) < final(A)", metric="so")
    assert isinstance(found, Group)
    assert found.wanted == len(found.nodes) == 4
    told = [(leaf.scope.problem, leaf.scope.metric, str(leaf.comparison)) for leaf in leaves(found)]
    assert told[:3] == [
        ("p", "so", "final(c) < final(a/dro)"),
        ("p", "so", "final(c) < final(b)"),
        ("q", "so", "final(c) < final(a/dro)"),
    ]


def test_each_round_of_a_loop_counts_within_atleast():
    found = spelt_out("atleast(3, for A in [a, b, c, d]: final(A) < 1)")
    assert found.wanted == 3
    assert len(found.nodes) == 4
    with pytest.raises(BocuError, match="found atleast 5 of 4"):
        spelt_out("atleast(5, for A in [a, b, c, d]: final(A) < 1)")


def test_a_rank_is_so_many_comparisons():
    first = spelt_out("rank(a) == 1 among [a, b, c, d]")
    assert first == spelt_out("all(final(a) < final(b), final(a) < final(c), final(a) < final(d))")
    second = spelt_out("rank(a) <= 2 among [b, c, d]")
    assert second.wanted == 2
    assert len(second.nodes) == 3
    last = spelt_out("rank(a) == 4 among [b, c, d]")
    assert last == spelt_out("all(final(b) < final(a), final(c) < final(a), final(d) < final(a))")
    exactly = spelt_out("rank(a) == 2 among [b, c, d]")
    assert [node.wanted for node in exactly.nodes] == [2, 1]
    with pytest.raises(BocuError, match="always holds"):
        spelt_out("rank(a) <= 4 among [b, c, d]")


def test_what_does_not_hold_is_marked():
    found = spelt_out("not(final(a) < final(b))")
    assert isinstance(found, Negated)
    assert isinstance(found.node, Leaf)
