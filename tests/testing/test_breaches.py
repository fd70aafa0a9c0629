"""Each broken promise is one line that says what and where; what keeps them all passes."""

import pytest

from bocu.testing import (
    Breach,
    check_algorithm,
    check_figure,
    check_law,
    check_metric,
    check_objective,
    check_problem,
    check_set,
    check_shift,
)

GRID = {"decision_points": [5], "context_points": [4]}
ON = r"^algorithm broken\.py:\w+: on kirschner \(general\), seed 0: "
BROKEN = {
    "OutOfBounds": ON + r"round 1: ask: found 99; allowed: 0 to 6$",
    "NoIndex": ON + r"round 1: ask: found 1\.0; allowed: an index, 0 to 6$",
    "GlobalGenerator": ON + r"draws from the global generator of numpy; it is handed one of its own$",
    "ElsewhereEachTime": ON + r"without being asked what it would recommend: decision_index of round 1 is \d, not \d$",
    "RecommendDraws": ON + r"round 1: recommend: draws from the generator, so that later decisions change$",
    "RecommendCounts": ON + r"without being asked what it would recommend: decision_index of round \d is \d, not \d$",
    "Undeclared": ON + r"round 1: report: found extra; declared in reports: none$",
    "TooLarge": ON + r"round 1: report: kept is 1000, which int8 does not hold$",
    "WritesReference": ON + r"round 1: ask: writes into an array that it was handed$",
    "HalfAState": ON + r"restored after row \d: \w+ of round \d is \d, not \d$",
    "LiveState": ON + r"state after row \d: changes while the run goes on; it is to hold copies$",
    "Pickled": ON + r"state after row 3: checkpoint: run\.algorithm\.model: found builtins\.function; .* is pickled$",
    "LearnsWhenAsked": ON
    + r"restored after row 6, attributes that are not plain told again: model \(builtins\.frozenset\): "
    + r"decision_index of round 4 is 1, not 4$",
    "Raises": ON + r"before round 1: tell: raised ZeroDivisionError: division by zero \(broken\.py, line \d+\)$",
}


def one_line(check, what, *arguments, **named):
    with pytest.raises(Breach) as found:
        check(what, *arguments, **named)
    (line,) = str(found.value).splitlines()
    return line


@pytest.mark.parametrize("name", BROKEN)
def test_an_algorithm_that_breaks_a_promise(name):
    import re

    line = one_line(check_algorithm, f"broken.py:{name}")
    assert re.search(BROKEN[name], line), line


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("TooHopeful", "the distribution does not attain the value"),
        ("HalfTheRadius", "a distribution within the radius is worse, by"),
        ("WrongSlope", "the line of the slope lies above the value"),
        ("SupportDenied", "on random instance 1: radius 0.02: the distribution does not attain the value"),
        ("TooSteep", "satisficing: a line 3 % less steep stays"),
    ],
)
def test_a_set_that_breaks_a_promise(name, said):
    assert said in one_line(check_set, f"broken.py:{name}")


@pytest.mark.parametrize(
    ("check", "name", "said", "named"),
    [
        (check_objective, "Denies", "reference_matters is False, but another reference gives other values", {}),
        (check_objective, "InCompany", "a decision alone and among others have different values", {}),
        (check_problem, "DrawsNoise", "realise: draws from the stream 'noise'", {"parameters": GRID}),
        (check_problem, "AnotherEachTime", "payoffs: other ones when the seed is met again", {"parameters": GRID}),
        (check_problem, "NotANumber", "payoff of", {"parameters": GRID}),
        (check_metric, "Turned", "on kirschner (general): score: raised IndexError", {}),
        (check_metric, "Forgets", "score: the same runs have two scores", {}),
        (check_figure, "Wordless", "of kirschner: compose: no alternative", {}),
        (check_figure, "Restless", "of kirschner: drawn twice, the png differs", {}),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_another_that_breaks_a_promise(check, name, said, named):
    assert said in one_line(check, f"broken.py:{name}", **named)


def test_what_keeps_them_all_passes():
    check_algorithm("broken.py:Sound")
    check_set("broken.py:Mixtures")
    check_problem("broken.py:Flat", GRID)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("nowhere.py:Mine", "algorithm nowhere.py:Mine: found 'nowhere.py:Mine'; no file"),
        ("broken.py:Sund", "defines no 'Sund'; did you mean 'Sound'"),
        ("broken.py:Mixtures", "does not derive from bocu.learners.algorithms.base.Algorithm"),
        ("randon", "unknown algorithm 'randon'; did you mean 'random'"),
    ],
)
def test_what_is_no_algorithm_is_one_line(what, said):
    assert said in one_line(check_algorithm, what)


@pytest.mark.parametrize(
    ("check", "name", "said"),
    [
        (check_law, "TwoLaws", "of 1 coordinates: draws and density are of two laws: moment 1 is 0.3 apart"),
        (check_law, "Unpaired", "sample: takes other than 1 numbers a context: later contexts are not paired"),
        (check_shift, "Forgetful", "round 20: announced: another one when asked again"),
        (check_shift, "Early", "round 1: law: another one before round 5, where it begins"),
        (check_shift, "Outside", "shift: in round 4 the law leaves the box: 100 % of it lie above 1"),
    ],
)
def test_a_law_or_a_shift_that_breaks_a_promise(check, name, said):
    assert said in one_line(check, f"broken.py:{name}")
