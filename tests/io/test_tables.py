import pytest

from bocu.core.written import duration, size, table


def test_words_stand_left_and_numbers_right():
    assert list(table(("name", "n", "unit"), [("a", 5, "3 s"), ("longer", 100, "-")])) == [
        "name      n  unit",
        "a         5   3 s",
        "longer  100     -",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.25, "0.25 s"), (99, "99 s"), (600, "10 min"), (36_000, "10 h"), (3.6e6, "1e+03 h")]
)
def test_durations_get_the_unit_that_suits(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(5, "5 B"), (68_967, "69 kB"), (2.5e6, "2.5 MB"), (1.2e13, "1.2e+04 GB")])
def test_sizes_get_the_unit_that_suits(count, text):
    assert size(count) == text
