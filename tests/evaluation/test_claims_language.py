"""The language of checks: what is written is what is read, and what cannot be read is named with its place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bocu.core.errors import BocuError
from bocu.sweep.evaluation.claims.expressions import (
    WORDS,
    Group,
    Inequality,
    Leaf,
    Measure,
    Negated,
    Ratio,
    Scope,
    Sum,
    implies,
    leaves,
)
from bocu.sweep.evaluation.claims.parsing import parse

LABELS = st.from_regex(r"[a-z0-9]{1,4}(-[a-z0-9]{1,3}){0,2}", fullmatch=True)
NUMBERS = st.floats(-1e9, 1e9)
FACTORS = st.floats(-1e9, 1e9).filter(bool)
RUNS = st.one_of(LABELS, st.builds("{}/{}".format, LABELS, LABELS))
ROUNDS = st.one_of(st.integers(1, 10_000_000).map(float), st.floats(0.01, 0.99))


@st.composite
def measures(draw, words=tuple(WORDS)):
    word = draw(st.sampled_from(words))
    own = [(name, draw(LABELS)) for name in WORDS[word].options]
    scopes = draw(st.lists(st.sampled_from(["problem", "metric"]), unique=True, max_size=2))
    options = tuple(own + [(name, draw(LABELS)) for name in scopes])
    return Measure(word, draw(RUNS), draw(ROUNDS) if WORDS[word].takes_round else None, options)


def sums(kind):
    words = tuple(word for word, known in WORDS.items() if known.kind == kind)
    terms = st.lists(st.tuples(st.one_of(st.just(1.0), FACTORS), measures(words)), min_size=1, max_size=3)
    return st.builds(Sum, terms.map(tuple), st.one_of(st.just(0.0), NUMBERS))


@st.composite
def comparisons(draw):
    kind = draw(st.sampled_from(sorted({word.kind for word in WORDS.values()})))
    relation, number = draw(st.sampled_from("<>")), st.builds(Sum, st.just(()), NUMBERS)
    if draw(st.booleans()):
        return Inequality(Ratio(draw(sums(kind)), draw(sums(kind))), relation, draw(number))
    return Inequality(draw(sums(kind)), relation, draw(st.one_of(sums(kind), number)))


@settings(max_examples=50)
@given(comparisons())
def test_what_is_written_is_read_again(comparison):
    assert read(str(comparison)) == Leaf(comparison, Scope())


def read(text, **scope):
    return parse(text, Scope(**scope))


def test_a_number_with_an_exponent_is_read_before_a_word():
    found = read("ratio(1e+06 * final(a), final(b)) < 1e-3").comparison
    assert found.left.numerator == Sum(((1e6, Measure("final", "a")),))
    assert str(found) == "ratio(1e+06 * final(a), final(b)) < 0.001"


def test_a_chain_is_all_of_its_pairs():
    assert read("final(a) < final(b) < final(c)") == read("all(final(a) < final(b), final(b) < final(c))")


def test_labels_in_a_ratio_are_their_final_regret():
    assert read("ratio(a/dro, 3-b) < 0.9") == read("ratio(final(a/dro), final(3-b)) < 0.9")


def test_labels_may_be_dates_numbers_and_words_of_python():
    found = read("share(from-10, prior=2004-03-05) + share(lambda, prior=07) > share(in-2, prior=1e-3)").comparison
    assert [(one.runs, one.options) for one in found.measures] == [
        ("from-10", (("prior", "2004-03-05"),)),
        ("lambda", (("prior", "07"),)),
        ("in-2", (("prior", "1e-3"),)),
    ]


def test_signs_and_factors_go_through_brackets():
    spelt = read("final(a) - (final(b) - 2 * final(c)) / 4 < 1\n").comparison
    assert str(spelt) == "final(a) - 0.25 * final(b) + 0.5 * final(c) < 1"
    assert spelt.left.kind == "payoff"


def test_numbers_stand_on_the_right():
    assert read("0.9 > ratio(a, b)") == read("ratio(a, b) < 0.9")
    assert read("1 + 2 < final(a)") == read("final(a) > 3")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fnal(a) < 1", ["column 1", "'fnal'", "did you mean 'final'"]),
        ("final(a) == 1", ["column 13", "'1'", "< or > before it"]),
        ("", ["column 1", "the end"]),
        ("final(a) < 1 and 2", ["column 14", "'and'"]),
        ("final('a') < 1", ["column 7", "labels, numbers"]),
        ("final(a) ** 2 < 1", ["column 1", "'final(a) ** 2'"]),
        ("final(*a) < 1", ["column 7", "'*a'", "a label"]),
        ("final(a) < 1e308 * 1e308", ["column 12", "'1e308 * 1e308'"]),
        ("1 < 2", ["column 5", "'2'", "final"]),
        ("share(a) > 0.5", ["share with the option prior=LABEL"]),
        ("at(a, 1.5) < 2", ["column 7", "'1.5'", "whole round"]),
        ("final(a) * final(b) < 2", ["column 12", "'final(b)'", "a number"]),
        ("final(a) < ratio(a, b)", ["column 12"]),
        ("rank(a, among=[b, c]) == 4", ["column 26", "up to 3"]),
        ("rank(a, among=[b, c]) < 3", ["column 25", "== <= >="]),
        ("rank(a) == 1", ["column 1", "among"]),
        ("[final(A) < 1 for A in [a]]", ["column 1", "a comparison"]),
        ("all(final(A) < 1 for A in a)", ["column 27", "[LABEL, ...]"]),
        ("all(final(A) < 1 for A in [a] for A in [b])", ["column 35", "another name"]),
        ("all(final(A) < 1 for A in [a] if A)", ["column 31", "'if'"]),
        ("atleast(5, [final(A) < 1 for A in [a, b, c, d]])", ["column 1", "atleast 5 of 4", "up to 4"]),
        ("all()", ["column 1", "all(TEST, ...)"]),
        ("atleast()", ["column 1", "atleast(2, TEST, ...)"]),
        ("final(a)" + " + final(a)" * 10_000 + " < 1", ["too many"]),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text, told):
    with pytest.raises(BocuError) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    assert all(part in str(caught.value) for part in told), str(caught.value)


def test_loops_put_labels_in_the_place_of_variables():
    found = read("all(final(c) < final(A) for problem in [p, q] for A in [a/dro, b])", metric="so")
    assert isinstance(found, Group)
    assert found.wanted == len(found.nodes) == 4
    told = [(leaf.scope.problem, leaf.scope.metric, str(leaf.comparison)) for leaf in leaves(found)]
    assert told[:3] == [
        ("p", "so", "final(c) < final(a/dro)"),
        ("p", "so", "final(c) < final(b)"),
        ("q", "so", "final(c) < final(a/dro)"),
    ]


def test_an_objective_goes_before_that_of_a_variable():
    found = read("all(final(A/O) < final(A) for A in [a/dro, b] for O in [so])")
    assert [str(leaf.comparison) for leaf in leaves(found)] == ["final(a/so) < final(a/dro)", "final(b/so) < final(b)"]


def test_each_turn_of_a_loop_counts_within_atleast():
    for loop in ("[final(A) < 1 for A in [a, b, c, d]]", "(final(A) < 1 for A in [a, b, c, d])"):
        found = read(f"atleast(3, {loop})")
        assert found.wanted == 3
        assert len(found.nodes) == 4


def test_a_rank_is_so_many_comparisons():
    first = read("rank(a, among=[a, b, c, d]) == 1")
    assert first == read("all(final(a) < final(b), final(a) < final(c), final(a) < final(d))")
    second = read("rank(a, among=[b, c, d]) <= 2")
    assert second.wanted == 2
    assert len(second.nodes) == 3
    last = read("rank(a, among=[b, c, d], metric=so) == 4")
    assert [str(leaf.comparison) for leaf in leaves(last)] == [
        f"final({other}, metric=so) < final(a, metric=so)" for other in "bcd"
    ]
    exactly = read("rank(a, among=[b, c, d]) == 2")
    assert [node.wanted for node in exactly.nodes] == [2, 1]


def test_what_does_not_hold_is_marked():
    for text in ("not(final(a) < final(b))", "not final(a) < final(b)"):
        found = read(text)
        assert isinstance(found, Negated)
        assert isinstance(found.node, Leaf)


@pytest.mark.parametrize(
    ("strong", "weak"),
    [
        ("rank(a, among=[b, c, d]) == 1", "final(a) < final(c)"),
        ("rank(a, among=[b, c, d]) == 1", "rank(a, among=[c, d]) <= 2"),
        ("all(final(A) < 1 for A in [a, b, c])", "atleast(2, [final(A) < 1 for A in [a, b, c]])"),
        ("atleast(3, [final(A) < 1 for A in [a, b, c, d]])", "atleast(2, [final(A) < 1 for A in [a, b, c]])"),
        ("ratio(a, b) < 0.5", "any(ratio(a, b) < 0.9, ratio(a, c) < 0.9)"),
        ("final(a) > 2", "final(a) > 1"),
        ("not final(a) < 2", "not final(a) < 1"),
        ("any(ratio(a, b) < 0.5, ratio(a, b) < 0.6)", "ratio(a, b) < 0.9"),
    ],
)
def test_what_follows_from_a_test_is_read_from_its_structure(strong, weak):
    assert implies(read(strong), read(weak))
    assert not implies(read(weak), read(strong))


def test_what_is_said_of_another_problem_does_not_follow():
    assert not implies(read("final(a) < 1", problem="p"), read("final(a) < 1", problem="q"))
    assert not implies(read("atleast(2, [final(A) < 1 for A in [a, b, c]])"), read("final(a) < 1"))
