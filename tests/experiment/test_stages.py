"""What jobs around the runs ask for, and the benchmarks that it is made from."""

import json
import re

import pytest
from benchmarks import stages as benchmark

from bocu.sweep.experiment.resources import stage_memory, stage_minutes, taken

HEADER = "s\th:m:s\tmax_rss\tmax_vms\n"


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


def write(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(f"{seconds}\t0:00:01\t{peak}\t1\n" for seconds, peak in rows))


def test_the_most_of_each_rule_is_kept_and_what_was_not_measured_stays(tmp_path, monkeypatch):
    results, data = tmp_path / "results/a/benchmarks", tmp_path / "data/simulate/wind/benchmark"
    write(results / "scores/hills/any/random.tsv", (3.0, 100.0))
    write(results / "partial/scores/hills/any/random.tsv", (2.0, 130.0))
    write(results / "cubes/summary.tsv", (0.4, "NA"))
    write(results / "cubes/hills.tsv", (5.0, 90.0))
    write(results / "report.tsv", (7.0, 80.0))
    write(results / "runs/hills/any/random/seeds-0-1.tsv", (9.0, 900.0))
    write(data / "table.csv.tsv", (1.0, 60.0))
    write(data / "opsd.tsv", (8.0, 70.0))
    (data.parent / "opsd.nc").touch()
    stored = tmp_path / "stages.json"
    stored.write_text(json.dumps({"rules": {"figure": {"seconds": 1.0, "memory_mb": 2}}}))
    monkeypatch.setattr(benchmark, "MEASURED", stored)
    monkeypatch.setattr("sys.argv", ["stages.py", str(results), str(data)])
    benchmark.main()
    assert json.loads(stored.read_text())["rules"] == {
        "figure": {"seconds": 1.0, "memory_mb": 2},
        "score": {"seconds": 3.0, "memory_mb": 130},
        "summary": {"seconds": 0.4, "memory_mb": 0},
        "cube": {"seconds": 5.0, "memory_mb": 90},
        "report": {"seconds": 7.0, "memory_mb": 80},
        "simulate": {"seconds": 1.0, "memory_mb": 60},
        "prepare": {"seconds": 8.0, "memory_mb": 70},
    }
    monkeypatch.setattr("sys.argv", ["stages.py", "--usual", str(results), str(data)])
    write(results / "cubes/sensors.tsv", (4.0, 90.0))
    benchmark.main()
    found = json.loads(stored.read_text())
    assert found["rules"]["score"] == {"seconds": 3.0, "memory_mb": 130}
    usual = {"score": 2.5, "cube": 4.5, "summary": 0.4, "report": 7.0, "simulate": 1.0, "prepare": 8.0}
    assert found["usual"]["seconds"] == usual
