"""Claims of an experiment: what it does not have is refused while planning, and a claim is part of no run."""

import json

import pytest
from experiments import tiny

from bocu.core.errors import BocuError
from bocu.sweep.experiment.planning import make_plan

CLAIMS = """
experiment: tiny
claims:
  - id: first
    statement: PE-GP-UCB has less regret than random decisions.
    problem: hills
    figure: regret
    check: final(pe-gp-ucb) < final(random)
  - id: elsewhere
    statement: What another experiment is about is not looked up in this one.
    experiment: another
    problem: valleys
    check: final(nobody) < 1
"""


def planned(tmp_path, old="", new="", **changes):
    (tmp_path / "claims.yaml").write_text(CLAIMS.replace(old, new) if old else CLAIMS, encoding="utf-8")
    return make_plan(tiny(claims=[str(tmp_path / "claims.yaml")], **changes))


def test_claims_become_a_file_and_no_run_knows_of_them(tmp_path):
    plan, bare = planned(tmp_path), make_plan(tiny())
    assert plan.products.by_stage()["claims"] == ["results/tiny/claims/verdicts.json"]
    assert plan.inputs.claims() == ["results/tiny/cubes/hills.nc"]
    assert "claims" not in bare.products.by_stage()
    key = ("hills", "any", "random")
    assert plan.parameters.run(plan.branches[key], 0, 1) == bare.parameters.run(bare.branches[key], 0, 1)
    assert plan.parameters.cube("hills") == bare.parameters.cube("hills")


def test_claims_follow_an_experiment_of_another_name_as_far_as_it_has_what_they_name(tmp_path):
    lacking = "final(pe-gp-ucb) < final(oracle)"
    both = f"  - {{id: second, statement: s, problem: hills, check: {lacking}}}\n  - id: elsewhere"
    plan = planned(tmp_path, "  - id: elsewhere", both, name="trial", figures=["run-times"])
    told = {one["id"]: one for one in json.loads(plan.parameters.claims()["claims"])}
    assert {label: one["experiment"] for label, one in told.items()} == {
        "first": "trial", "second": "tiny", "elsewhere": "another"
    }  # fmt: skip
    assert told["first"]["figure"] is None
    assert plan.inputs.claims() == ["results/trial/cubes/hills.nc"]


def test_a_trial_is_followed_by_what_is_said_of_its_experiment_and_not_of_the_file_s_own(tmp_path):
    """As a file about a paper's experiment and its wind data, of which the latter is tried."""
    (tmp_path / "tiny.yaml").write_text("name: tiny", encoding="utf-8")
    (tmp_path / "claims.yaml").write_text(CLAIMS.replace("experiment: tiny", "experiment: paper"), encoding="utf-8")
    text = (tmp_path / "claims.yaml").read_text(encoding="utf-8").replace("experiment: another", "experiment: tiny")
    text = text.replace("valleys", "hills").replace("final(nobody)", "final(random)")
    (tmp_path / "claims.yaml").write_text(text, encoding="utf-8")
    config = tiny(claims=[str(tmp_path / "claims.yaml")], name="trial")
    plan = make_plan(config, [tmp_path / "tiny.yaml"], {"name": "trial", "claims": config["claims"]})
    told = {one["id"]: one["experiment"] for one in json.loads(plan.parameters.claims()["claims"])}
    assert told == {"first": "paper", "elsewhere": "trial"}


def test_a_comment_changes_nothing_and_a_check_does(tmp_path):
    before = planned(tmp_path).parameters.claims()
    assert planned(tmp_path, "claims:\n", "# of mine\nclaims:\n").parameters.claims() == before
    changed = planned(tmp_path, "< final(random)", "> final(random)").parameters.claims()
    assert json.loads(changed["claims"])[0]["check"] == "final(pe-gp-ucb) > final(random)"
    assert changed != before


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("problem: hills", "problem: hils", "claims.0.problem (first): no problem 'hils'; did you mean 'hills'?"),
        ("figure: regret", "figure: regrets", "claims.0.figure (first): no figure 'regrets'; did you mean 'regret'?"),
        ("final(random)", "final(rondom)", "claims.0.check (first): no algorithm 'rondom' on 'hills'; did you mean"),
        ("final(random)", "final(random/dro)", "claims.0.check (first): no objective of 'random' 'dro' on 'hills'"),
        ("final(random)", "final(random, metric=ro)", "claims.0.check (first): no metric 'ro' on 'hills'; allowed: so"),
        ("final(random)", "final(random, problem=x)", "claims.0.check (first): no problem 'x'; allowed: hills"),
        (
            "final(random)",
            "at(random, 13)",
            "claims.0.check (first): found 'at(random, 13)' on 'hills'; allowed: rounds",
        ),
        (
            "final(pe-gp-ucb) < final(random)",
            "share(pe-gp-ucb, prior=11) > 0.5",
            "claims.0.check (first): no candidate prior '11' on 'hills'; did you mean '1",
        ),
    ],
)
def test_what_the_experiment_does_not_have_is_refused_while_planning(tmp_path, old, new, told):
    with pytest.raises(BocuError) as caught:
        planned(tmp_path, old, new)
    assert str(caught.value).startswith(f"{tmp_path / 'claims.yaml'}: {told}"), str(caught.value)


def test_every_shipped_claim_fits_its_experiment(root, shipped_plans):
    """Each claims file is named by the experiments that its claims are about."""
    from bocu.sweep.evaluation.claims import read_claims

    named = {plan.experiment.name: {one.plain()["file"] for one in plan.claims} for plan in shipped_plans}
    files = sorted((root / "config/claims").glob("*.yaml"))
    assert len(files) >= 5
    for file in files:
        for claim in read_claims(file).claims:
            assert file.name in named[claim.experiment], f"{file}: {claim.id}"


@pytest.fixture(scope="module")
def shipped_plans(root):
    from bocu.sweep.opening import open_plan

    files = [root / "config/config.yaml", *(root / "config/experiments").glob("*.yaml")]
    files = [file for file in files if "\nclaims:" in file.read_text(encoding="utf-8")]
    return [open_plan(file) for file in files]


def test_committed_schema_of_claims_is_the_generated_one(root):
    from bocu.commands.schema import claims_schema

    committed = json.loads((root / "workflow/schemas/claims.schema.json").read_text())
    assert committed == claims_schema(), "run `make schema`"
