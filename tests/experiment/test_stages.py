"""What jobs around the runs ask for, and the benchmarks that it is made from."""

import re

import pytest

from bocu.sweep.experiment.resources import stage_memory, stage_minutes, taken


@pytest.mark.parametrize("rule", sorted(taken()))
def test_a_job_asks_for_more_than_any_took_and_twice_as_much_the_next_time(rule):
    assert stage_memory(rule, 1) > 2 * taken()[rule].memory_mb
    assert stage_minutes(rule, 1) * 60 > 10 * taken()[rule].seconds
    assert stage_memory(rule, 2) == 2 * stage_memory(rule, 1)
    assert stage_minutes(rule, 2) == 2 * stage_minutes(rule, 1)


def test_every_rule_that_computes_is_benchmarked_and_asks_by_its_own_name(root):
    rules = {}
    for file in (root / "workflow/rules").glob("*.smk"):
        for name, body in re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", file.read_text(), re.MULTILINE):
            rules[name] = body
    computing = {name for name, body in rules.items() if "script:" in body} - {"download", "mirror"}
    assert computing == {*taken(), "run"}
    for name in computing:
        assert "    benchmark:\n" in rules[name], name
        if name != "run":
            assert f'stage_memory("{name}", attempt)' in rules[name]
            assert f'stage_minutes("{name}", attempt)' in rules[name]
