"""Claims in a run of the pipeline: judged, shown, and judged again without a run when the file changes."""

import csv
import json

import pytest
from experiments import tiny
from workflow.conftest import Pipeline

pytestmark = [pytest.mark.ci, pytest.mark.workflow]

CLAIMS = """
experiment: tiny
claims:
  - {id: ahead, statement: It is ahead., problem: hills, figure: regret, check: final(pe-gp-ucb) < final(random)}
  - {id: elsewhere, statement: It is not run., experiment: another, problem: hills, check: final(a) < final(b)}
"""


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    made = Pipeline(tmp_path_factory.mktemp("claims"))
    (made.folder / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    seeds = {"first": 0, "count": 10, "per_job": 10}
    made.configuration(tiny(claims=["claims.yaml"], seeds=seeds))
    made.snakemake("--configfile", "experiment.yaml", "--executor", "warm", "--jobs", "2")
    return made


def test_verdicts_are_made_from_cubes_and_shown_in_the_report(pipeline):
    records = json.loads((pipeline.folder / "results/tiny/claims/verdicts.json").read_text())["claims"]
    assert [record["verdict"] for record in records] == ["leans for", "not run"]
    assert records[0]["seeds"] == 10
    with (pipeline.folder / "results/tiny/report/tables/claims.csv").open(encoding="utf-8", newline="") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["leans for", "not run"]
    page = (pipeline.folder / "results/tiny/report/index.html").read_text(encoding="utf-8")
    assert page.count("It is ahead.") == 2  # beside its figure, and in the table


def test_the_command_says_what_the_report_says(pipeline):
    told = pipeline.run("bocu", "claims", "claims.yaml", "--json").stdout
    made = json.loads((pipeline.folder / "results/tiny/claims/verdicts.json").read_text())["claims"]
    assert json.loads(told) == made


def test_a_changed_claims_file_reruns_claims_and_report_alone(pipeline):
    assert pipeline.planned("--configfile", "experiment.yaml") == {}
    file = pipeline.folder / "claims.yaml"
    file.write_text(f"# a comment\n{CLAIMS}", encoding="utf-8")
    assert pipeline.planned("--configfile", "experiment.yaml") == {}
    file.write_text(CLAIMS.replace("< final(random)", "> final(random)"), encoding="utf-8")
    why = pipeline.run("bocu", "why", "results/tiny/claims/verdicts.json").stdout
    assert "final(pe-gp-ucb) > final(random)" in why
    assert set(pipeline.planned("--configfile", "experiment.yaml")) - {"all"} == {"claims", "report"}
