"""Rules say in plain strings what they make: these are the places that `plan.paths` gives to what a plan makes."""

import re
from pathlib import Path

import pytest
from experiments import tiny

from bocu.sweep.experiment.paths import PARTIAL
from bocu.sweep.experiment.planning import make_plan

ROOT = Path(__file__).parents[2]


def patterns(section: str) -> list[str]:
    """What rules say under the results, of their outputs, logs or benchmarks."""
    texts = [file.read_text() for file in sorted((ROOT / "workflow/rules").glob("*.smk"))]
    sections = re.findall(rf"^    {section}:\n((?: {{8}}.*\n)+)", "".join(texts), re.MULTILINE)
    return [found for text in sections for found in re.findall(r'f"\{plan\.results\}(\S+?)"', text)]


def matching(pattern: str) -> re.Pattern[str]:
    wildcards = {
        "part": f"(?:{PARTIAL})?",
        "block": r"[\w-]+/[\w-]+/[\w-]+/seeds-\d+-\d+",
        "problem": r"(?!summary)[\w-]+",  # no label: cubes/summary.nc is that of all problems
    }
    pieces = re.split(r"\{\{?(\w+)\}?\}", pattern)
    return re.compile(
        "".join(re.escape(p) if i % 2 == 0 else wildcards.get(p, r"[\w-]+") for i, p in enumerate(pieces))
    )


@pytest.mark.parametrize("part", ["", PARTIAL])
def test_every_file_of_a_plan_is_the_output_of_one_rule_and_every_output_is_a_file_of_the_plan(part, monkeypatch):
    monkeypatch.chdir(ROOT)
    plan = make_plan(tiny(figures=["regret", "summary"]))
    paths, (branch, *_) = plan.paths, plan.branches.values()
    figure = [paths.figure("regret", "hills", suffix, part) for suffix in ("csv", "png", "svg", "pdf", "json")]
    whole = [*plan.products.every(), paths.audit, paths.optima("hills", "so"), paths.design("0" * 64), paths.claims()]
    whole.append(f"{paths.priors('hills')}/fitted.nc")
    partial = [paths.cube("hills", part), paths.digest("hills", part), paths.summary(part), paths.claims(part), *figure]
    partial += [paths.score_file(branch, part), paths.report(part), paths.report_tables(part)]
    made = [file.removeprefix(plan.results) for file in (partial if part else whole)]
    rules = [matching(pattern) for pattern in patterns("output")]
    for file in made:
        assert sum(bool(rule.fullmatch(file)) for rule in rules) == 1, file
    if not part:
        for rule in rules:
            assert any(rule.fullmatch(file) for file in made), rule.pattern


def test_logs_and_benchmarks_lie_where_outputs_do():
    stems = {re.sub(r"\.\w+$", "", output) for output in patterns("output")}
    for section, suffix in (("log", "log"), ("benchmark", "tsv")):
        for file in patterns(section):
            assert file.endswith(f".{suffix}")
            stem = re.sub(rf"^/{section}s|\.{suffix}$", "", file)
            assert stem in stems or stem in ("/audit", "{{part}}/report"), file
