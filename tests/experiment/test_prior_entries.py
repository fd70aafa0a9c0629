"""The key `priors` of an experiment: what is planned of it, without data, and what is refused."""

import json
from typing import Any

import pytest
from experiments import tiny

from bocu.core.errors import BocuError
from bocu.sweep.experiment.branches import ProblemPaths
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.resources import estimate

pytestmark = pytest.mark.usefixtures("elsewhere")  # where no data are

SAMPLE = {"name": "gp-sample", "parameters": {"decision_points": [3, 3], "context_points": [2, 2]}}
SHORT = {"name": "stated", "label": "short", "parameters": {"lengthscale": 0.1}}
LONG = {"name": "stated", "label": "long", "parameters": {"lengthscale": [0.5, 0.5, 1, 1], "mean": 1, "variance": 2}}
UNKNOWING = ["regret-balancing", "fully-bayesian", "mle", "pe-gp-ucb", "oracle"]


def plan_of(problems: list[Any], priors: list[Any], **changes: Any) -> Plan:
    more = {"data": "simulate", "algorithms": ["random", "mle"], "objectives": ["so"], **changes}
    return make_plan(tiny(problems=problems, priors=priors, **more))


def labels(plan: Plan, problem: str) -> tuple[str, ...]:
    return plan.problems[problem].kind.outline(plan.problems[problem].parameters).priors


def test_number_and_names_follow_from_the_file_alone():
    fits = {
        "name": "fitted",
        "label": "runs",
        "parameters": {"kernel": ["squared-exponential", "matern-5/2"], "scenarios": {"input": "nh3", "count": 2}},
    }
    plan = plan_of(["plant"], [fits, SHORT])
    wanted = [f"runs-{kernel}-{part}" for kernel in ("squared-exponential", "matern-52") for part in (1, 2)]
    assert labels(plan, "plant") == (*wanted, "short")
    assert plan.products.priors() == [f"results/tiny/priors/plant/{label}.nc" for label in wanted]
    assert plan.inputs.problem("plant")["candidates"] == plan.products.priors()
    assert plan.inputs.prior("plant") == {"data": "data/simulate/plant/svgp.nc"}
    size = plan.problems["plant"].kind.size(plan.problem_parameters("plant"))
    assert (size.priors, size.kernels) == (5, 5)


def test_months_and_days_are_named_after_themselves():
    months = {"name": "fitted", "label": "wind", "parameters": {"months": ["2013-11", "2013-12"]}}
    days = {"name": "fitted", "label": "day", "parameters": {"days": ["2013-12-24"], "ard": False}}
    plan = plan_of(["wind-commitment"], [months, days])
    assert labels(plan, "wind-commitment") == ("wind-2013-11", "wind-2013-12", "day-2013-12-24")
    statement = plan.priors("wind-commitment")["day-2013-12-24"]["statement"]
    assert (statement["rows"], statement["ard"], statement["noise"]) == ({"period": "2013-12-24"}, False, None)


def test_priors_are_of_all_problems_that_can_have_them_or_of_those_named():
    other = {**SAMPLE, "label": "other", "parameters": {**SAMPLE["parameters"], "lengthscale": 0.2}}
    fits = {"name": "fitted", "label": "fits"}
    plan = plan_of(
        ["hills", SAMPLE, other, "plant"],
        [{**SHORT, "problems": ["gp-sample"]}, LONG | {"parameters": {"lengthscale": 1}}, fits],
    )
    assert [labels(plan, label) for label in ("gp-sample", "other", "plant")] == [
        ("short", "long"),
        ("long",),
        ("long", "fits"),
    ]


def test_algorithms_run_where_there_are_candidates_and_pursue_objectives_there():
    bare = {**SAMPLE, "label": "bare", "parameters": {**SAMPLE["parameters"], "noise": 0.2}}
    plan = plan_of(
        ["hills", SAMPLE, bare],
        [{**SHORT, "problems": ["gp-sample"]}, {**LONG, "problems": ["gp-sample"]}],
        algorithms=["random", *UNKNOWING],
        objectives=["so", {"name": "dro", "parameters": {"set": {"name": "kl", "radius": 0.1}}}],
    )
    pursued = {key[:2] for key in plan.branches if key[2] in UNKNOWING}
    assert pursued == {("hills", "any"), ("gp-sample", "so"), ("gp-sample", "dro")}
    assert len(plan.branches) == 3 + 5 * len(pursued)
    assert [plan.inputs.prior(label) for label in ("hills", "gp-sample")] == [{}, {}]


def test_what_is_believed_in_is_the_model_of_those_who_know_one():
    believing = {**SAMPLE, "parameters": {**SAMPLE["parameters"], "believed": "long", "best": "short", "ridge": 0.04}}
    plan = plan_of([believing], [SHORT, LONG])
    problem = plan.problems["gp-sample"].kind(plan.problem_parameters("gp-sample"), {})
    assert problem.prior_labels == ("short", "long")
    assert (problem.model.label, problem.best_prior.label) == ("long", "short")
    assert (problem.model.mean, problem.model.variance, problem.model.noise) == (1.0, 2.0, pytest.approx(0.2))
    assert problem.model.decision_kernel.lengthscale == (0.5, 0.5)
    assert problem.model.context_kernel.lengthscale == (1.0, 1.0)
    assert problem.own_model.variance == 1.0


def test_a_changed_statement_fits_that_prior_anew_and_no_other():
    def plan(**parameters: Any) -> Plan:
        fits = [{"name": "fitted", "label": "a", "parameters": parameters}, {"name": "fitted", "label": "b"}]
        return plan_of([{"name": "plant", "parameters": {"noise": 0.1}}], fits)

    before, after = plan(), plan(ard=False)
    assert before.parameters.prior("plant", "a") != after.parameters.prior("plant", "a")
    assert before.parameters.prior("plant", "b") == after.parameters.prior("plant", "b")
    known = plan(noise="known").priors("plant")
    assert (known["a"]["statement"]["noise"], known["b"]["statement"]["noise"]) == (0.1, None)


def test_a_run_does_not_depend_on_how_priors_are_fitted_but_on_the_file():
    plan = plan_of(["plant"], [{"name": "fitted", "label": "a"}])
    branch = next(iter(plan.branches.values()))
    assert "gaussian_process" not in json.dumps(branch.specification)
    assert (
        ProblemPaths(plan.paths.priors("plant"), plan.catalogue).prior("a")
        in plan.inputs.problem("plant")["candidates"]
    )


def test_an_algorithm_that_finds_no_candidates_says_where():
    with pytest.raises(BocuError, match=r"'mle' runs on no problem .*; without candidate priors: gp-sample$"):
        plan_of([SAMPLE], [])


def test_what_it_costs_to_know_of_several_priors_is_known_and_grows_with_them():
    problem = {**SAMPLE, "parameters": {"decision_points": [32, 32], "context_points": [8, 8]}}
    one, two = (
        plan_of([problem], priors, algorithms=UNKNOWING, iterations=200).branches for priors in ([SHORT], [SHORT, LONG])
    )
    for key, branch in two.items():
        told = estimate(branch, 1)
        assert told.unknown == ()
        assert told.seconds > estimate(one[key], 1).seconds or key[2] == "oracle"
