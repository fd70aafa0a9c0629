"""`bocu audit`: worst cases of a sweep solved again, faults that it finds, and what the report shows of it."""

import os
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import yaml
from experiments import run_all, tiny
from typer.testing import CliRunner

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.interop.cvxpy.audit import Witness, audit
from bocu.robust.ambiguity import TotalVariation, worst_case
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.sweep.evaluation.audits import read_audit
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.staleness import Staleness

SMALL = {"decision_points": [3, 3], "context_points": [2, 3], "initial": 2}
EXPERIMENT = {
    "name": "small",
    "seeds": 2,
    "iterations": 3,
    "problems": [
        {"name": "gp-sample", "parameters": SMALL},
        {"name": "gp-sample", "label": "simulated", "parameters": {**SMALL, "protocol": "simulator"}},
    ],
    "objectives": [
        {"name": "dro", "label": "tv", "parameters": {"set": {"name": "tv", "radius": 0.4}}},
        {"name": "gen", "label": "mmd", "parameters": {"set": {"name": "mmd", "radius": 0.2}}},
    ],
    "algorithms": ["random", "ucb-bocu-2", "ts-bocu"],
    "metrics": [
        "so",
        {"name": "dro", "label": "kl", "parameters": {"set": {"name": "kl", "radius": 0.1}}},
        {"name": "gen", "label": "wass", "parameters": {"set": {"name": "wass", "radius": 0.1}}},
    ],
    "figures": ["regret"],
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audited")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "small.yaml").write_text(yaml.safe_dump(EXPERIMENT))
        run_all(make_plan(EXPERIMENT))
    return folder


@pytest.fixture
def plan(finished, monkeypatch):
    monkeypatch.chdir(finished)
    return make_plan(EXPERIMENT)


@pytest.mark.ci
def test_every_set_and_kind_of_row_is_solved_again(plan) -> None:
    found = audit(plan, cases=120)
    assert found.passed
    assert found.cases == 120
    assert found.largest <= 1e-8
    assert found.left_out == {}
    assert 10 < found.stored < 60  # those of DRO metrics alone
    drawn = {(group["problem"], group["kind"], group["set"]) for group in found.groups}
    assert {
        (p, k, s)
        for p in ("gp-sample", "simulated")
        for k in ("scored", "recommended")
        for s in ("Wasserstein", "Kullback-Leibler")
    } <= drawn
    assert {set_ for _, kind, set_ in drawn if kind == "met"} == {"total variation", "MMD"}
    few = audit(plan, cases=12, moments=1)
    assert audit(plan, cases=12, moments=1) == few
    assert audit(plan, cases=12, moments=1, seed=1).groups != few.groups


def test_scalarised_outputs_of_finite_decisions_are_solved_again(elsewhere) -> None:
    two = {"name": "newsvendor-grid", "parameters": {"outputs": 2, "contexts": 5, "decisions": 9, "initial": 2}}
    plan = make_plan({**EXPERIMENT, "problems": [two], "algorithms": ["random", "drmobo"], "figures": []})
    run_all(plan)
    found = audit(plan, cases=20, moments=1)
    assert found.passed
    assert found.stored > 0


def test_a_solver_that_errs_is_found(plan, monkeypatch) -> None:
    right = TotalVariation.solve

    def wrong(self, f, p, wanted):
        rows = right(self, f, p, wanted)
        rows.value = rows.value + 1e-6
        return rows

    monkeypatch.setattr(TotalVariation, "solve", wrong)
    found = audit(plan, cases=40, moments=6)
    assert not found.passed
    assert found.largest == pytest.approx(1e-6, rel=1e-2)
    assert all("met: " in line for line in found.beyond)


def test_a_score_that_was_edited_is_found_and_the_command_fails(plan, finished) -> None:
    file = finished / plan.paths.score_file(plan.branch("gp-sample", "any", "random"))
    whole = file.read_bytes()
    try:
        with netCDF4.Dataset(file, "a") as scores:
            place = list(read_netcdf(file)["metric"].values).index("kl")
            scores["value"][place] = np.asarray(scores["value"][place]) + 0.01
        told = CliRunner().invoke(_app(), ["audit", "small.yaml", "--cases", "60", "--moments", "1"])
        assert told.exit_code == 1
        assert "beyond: scored: gp-sample/any/random, seed" in told.stdout
        assert not read_audit(plan.paths.audit).passed
    finally:
        file.write_bytes(whole)
    told = CliRunner().invoke(_app(), ["audit", "small.yaml", "--cases", "20", "--moments", "1"])
    assert told.exit_code == 0, told.output
    assert "20 worst cases recomputed by an independent solver: largest error" in told.stdout
    assert read_audit(plan.paths.audit).cases == 20
    assert plan.products.audits() == [plan.paths.audit]
    assert plan.products.audits("/partial") == []
    assert not Staleness(plan).explain(plan.paths.audit).reasons
    later = Path(plan.paths.audit).stat().st_mtime + 1
    scored = plan.paths.score_file(plan.branch("gp-sample", "any", "random"))
    os.utime(scored, (later, later))
    assert Staleness(plan).explain(plan.paths.audit).reasons == (f"older than its input {scored}",)


def _app():
    from bocu.commands.main import app

    return app


def test_what_has_no_worst_case_or_no_run(elsewhere) -> None:
    plan = make_plan(tiny(seeds=1, iterations=2))
    with pytest.raises(BocuError, match="results/tiny: no run file exists yet; nothing to audit"):
        audit(plan)
    run_all(plan)
    found = audit(plan)
    assert (found.cases, found.passed) == (0, True)
    assert found.told.startswith("no worst case was solved again")


def test_a_witness_keeps_rows_with_the_same_chance_and_leaves_no_trace() -> None:
    payoffs = np.arange(2000.0).reshape(-1, 2)
    before = AmbiguitySet.solve_rows, AmbiguitySet.solved_at
    kept = []
    for seed in range(40):
        witness = Witness(20, np.random.default_rng(seed))
        with witness.looking():
            worst_case(payoffs[:300], [0.5, 0.5], TotalVariation(0.2))
            TotalVariation(0.1).values_at(payoffs[300:], np.full((700, 2), 0.5), [0.0, 0.3])
            worst_case(payoffs, [0.5, 0.5], TotalVariation(0.0))
        assert len(witness.cases) == 20
        kept += [case.payoffs[0] / 2 for case in witness.cases]
        for case in witness.cases:
            assert case.value == pytest.approx(case.payoffs.mean() - case.ambiguity_set.epsilon / 2)
    assert (AmbiguitySet.solve_rows, AmbiguitySet.solved_at) == before
    assert np.mean(np.array(kept) < 300) == pytest.approx(0.3, abs=0.05)


@pytest.mark.ci
@pytest.mark.workflow
def test_the_report_of_a_sweep_shows_its_audit_and_nothing_runs_again(tmp_path) -> None:
    from workflow.conftest import Pipeline

    pipeline = Pipeline(tmp_path)
    problems = [{"name": "gp-sample", "parameters": SMALL}]
    config = pipeline.configuration({**EXPERIMENT, "problems": problems, "algorithms": ["random", "ucb-bocu-2"]})
    pipeline.snakemake("--configfile", config)
    page = tmp_path / "results/small/report/index.html"
    assert 'id="audit"' not in page.read_text()
    told = pipeline.run("bocu", "audit", config, "--cases", "100").stdout
    assert "100 worst cases recomputed by an independent solver: largest error" in told
    assert pipeline.planned("--configfile", config) == {"report": 1, "all": 1}
    assert "results/small/audit.json: not used before" in pipeline.run("bocu", "why", page.relative_to(tmp_path)).stdout
    pipeline.snakemake("--configfile", config)
    assert "<p>100 worst cases recomputed by an independent solver: largest error" in page.read_text()
    assert pipeline.planned("--configfile", config) == {}
    assert pipeline.run("bocu", "verify", config).stdout.endswith("0 not made yet\n")
    # Another metric changes no run; what was asked for once is brought up to date with what it is made from.
    fewer = {**yaml.safe_load(config.read_text()), "metrics": EXPERIMENT["metrics"][:2]}
    planned = pipeline.planned("--configfile", pipeline.configuration(fewer))
    assert "run" not in planned
    assert planned["audit"] == 1
    pipeline.snakemake("--configfile", config, "--", "audit")
    assert read_audit(tmp_path / "results/small/audit.json").cases == 1000
