import json
from pathlib import Path

import pytest
from experiments import ALGORITHMS, tiny

from bocu.core.errors import BocuError
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.paths import PARTIAL
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.record import refuse_to_shrink, write_record


@pytest.fixture(autouse=True)
def _in_the_clone(root, monkeypatch):
    monkeypatch.chdir(root)


def test_an_algorithm_that_pursues_nothing_runs_once_under_any():
    plan = make_plan(tiny(algorithms=ALGORITHMS))
    assert list(plan.branches) == [("hills", "any", name) for name in ALGORITHMS]


def test_a_problem_that_ends_sooner_has_fewer_iterations():
    plan = make_plan(tiny(iterations=500, problems=["hills", "sensors"], data="simulate"))
    assert (plan.iterations("hills"), plan.iterations("sensors")) == (500, 144)
    assert plan.branch("sensors", "any", "random").specification["iterations"] == 144


def test_labels_are_in_paths_and_never_in_specifications():
    plan = make_plan(tiny(algorithms=[{"name": "mle", "label": "my-label"}]))
    branch = plan.branch("hills", "any", "my-label")
    assert plan.products.runs(branch) == [f"results/tiny/runs/hills/any/my-label/seeds-{b}.nc" for b in ("0-1", "2-3")]
    assert "my-label" not in json.dumps(branch.specification)


def test_a_block_is_found_by_the_name_of_its_files():
    plan = make_plan(tiny(algorithms=["random", {"name": "mle", "label": "my-label-7"}]))
    for branch in plan.branches.values():
        for first, last in plan.blocks_of(branch):
            name = plan.paths.run_file(branch, first, last).removeprefix("results/tiny/runs/").removesuffix(".nc")
            assert plan.paths.log(branch, first, last) == f"results/tiny/logs/runs/{name}.log"
            assert plan.block(name) == (branch, first, last)
    with pytest.raises(BocuError, match="no branch 'hills/any/my-label'; did you mean 'hills/any/my-label-7'"):
        plan.block("hills/any/my-label/seeds-0-1")


def test_specification_is_plain_and_canonical():
    plan = make_plan(tiny())
    parameters = plan.parameters.run(plan.branch("hills", "any", "random"), 0, 1)
    specification = json.loads(parameters["specification"])
    assert specification["seeds"] == [0, 1]
    assert specification["problem"]["parameters"]["grid"] == 60
    assert json.dumps(specification, sort_keys=True, separators=(",", ":")) == parameters["specification"]


def test_an_alias_is_the_same_branch():
    problems = ["kirschner"]
    one, other = (make_plan(tiny(problems=problems, algorithms=[name])) for name in ("ucb-so", "ucb"))
    branches = one.branch("kirschner", "any", "ucb-so"), other.branch("kirschner", "any", "ucb")
    assert branches[0].specification == branches[1].specification


def test_defaults_written_out_change_no_specification():
    plain, explicit = (
        make_plan(tiny()),
        make_plan(tiny(problems=[{"name": "hills", "parameters": {"grid": "60", "noise": 0.05}}])),
    )
    assert (
        plain.branch("hills", "any", "random").specification == explicit.branch("hills", "any", "random").specification
    )


def test_simulated_and_real_data_never_share_a_path(tmp_path):
    (tmp_path / "intel").mkdir()
    for name in ("intelTemperatureTrain.csv", "intelTemperatureTest.csv", "mote_locs.txt"):
        (tmp_path / "intel" / name).touch()
    plans = [make_plan(tiny(problems=["sensors"], data=source)) for source in ("simulate", "download")]
    plans.append(make_plan(tiny(problems=["sensors"], mirror=str(tmp_path))))
    files = [plan.inputs.problem("sensors")["data"] for plan in plans]
    assert [file.split("/")[1] for file in files] == ["simulate", "download", "mirror"]
    specifications = {json.dumps(plan.branch("sensors", "any", "random").specification) for plan in plans}
    assert len(specifications) == 3


def test_a_metric_is_not_part_of_a_run():
    one, two = make_plan(tiny()), make_plan(tiny(metrics=["so", "best-fixed-decision"]))
    branch = ("hills", "any", "random")
    assert one.parameters.run(one.branch(*branch), 0, 1) == two.parameters.run(two.branch(*branch), 0, 1)
    assert one.parameters.score(one.branch(*branch)) != two.parameters.score(two.branch(*branch))


def test_a_name_or_checkpoint_interval_is_not_part_of_a_run():
    one, two = make_plan(tiny()), make_plan(tiny(name="other", checkpoint_seconds=0, title="T"))
    branch = ("hills", "any", "random")
    assert one.parameters.run(one.branch(*branch), 0, 1) == two.parameters.run(two.branch(*branch), 0, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"iterations": 5}, r"iterations: 5 on 'hills' are fewer than the 12 that results/tiny holds"),
        ({"seeds": 2}, r"seeds: 0 to 1 are fewer than the 0 to 3 that results/tiny holds"),
        ({"seeds": {"first": 1, "count": 9}}, r"seeds: 1 to 9 are fewer than the 0 to 3"),
    ],
)
def test_results_that_exist_are_not_shrunk_unasked(elsewhere, change, message):
    write_record(make_plan(tiny()))
    with pytest.raises(BocuError, match=message):
        refuse_to_shrink(make_plan(tiny(**change)))
    refuse_to_shrink(make_plan(tiny(**change, overwrite=True)))
    refuse_to_shrink(make_plan(tiny(**change, name="other")))
    refuse_to_shrink(make_plan(tiny(iterations=20, seeds=9)))


def test_a_partial_report_waits_for_the_algorithm_that_a_figure_compares_with(elsewhere):
    others = {"name": "hills", "label": "others", "parameters": {"grid": 40}}
    plan = make_plan(
        tiny(
            problems=[{"name": "hills", "parameters": {"grid": 60}}, others],
            algorithms=["mle", {"name": "random", "problems": ["others"]}],
            figures=["summary", {"name": "scoreboard", "parameters": {"reference": "mle"}}, "regret"],
            reference="random",
        )
    )

    def drawn(problem):
        branch = plan.branch(problem, "any", "mle")
        file = Path(plan.products.runs(branch)[0])
        file.parent.mkdir(parents=True)
        file.touch()
        return {Path(file).stem for file in plan.products.figures("png", PARTIAL)}

    with pytest.raises(BocuError, match="no run file exists yet; nothing to aggregate"):
        plan.products.part_that_exists()
    assert drawn("hills") == {"scoreboard", "regret"}  # random belongs to a problem without a run
    assert plan.products.part_that_exists() == PARTIAL
    assert drawn("others") == {"scoreboard", "regret", "summary"}
    assert {Path(file).stem for file in plan.products.figures("png")} == {"scoreboard", "regret", "summary"}


def test_only_problems_whose_optima_are_searched_have_a_stage_of_them():
    file = Path(__file__).parents[2] / "config/experiments/drmobo.yaml"
    drmobo = make_plan(read_experiment_file(file), [file])
    found = drmobo.products.by_stage()["optima"]
    assert {Path(each).parent.name for each in found} == {
        name for name in drmobo.problems if "-two" in name or "portfolio" in name
    }
    assert "optima" not in make_plan(tiny()).products.by_stage()


HILLS = ["hills", {"name": "hills", "label": "coarse", "parameters": {"grid": 61}}]
METRICS = ["so", {"name": "best-fixed-decision", "problems": ["coarse"]}]


def test_a_metric_metrics_the_problems_that_it_names():
    plan = make_plan(tiny(problems=HILLS, metrics=METRICS))
    assert [metric.label for metric in plan.metrics_of("hills")] == ["so"]
    assert [metric.label for metric in plan.metrics_of("coarse")] == ["so", "best-fixed-decision"]
    for problem, metrics in (("hills", ["so"]), ("coarse", ["so", "best-fixed-decision"])):
        scored = json.loads(plan.parameters.score(plan.branch(problem, "any", "random"))["metrics"])
        cube = json.loads(plan.parameters.cube(problem)["description"])
        assert [metric["label"] for metric in scored] == cube["metrics"] == metrics


def test_a_metric_elsewhere_changes_no_score():
    branch = ("hills", "any", "random")
    one, two = make_plan(tiny(problems=HILLS)), make_plan(tiny(problems=HILLS, metrics=METRICS))
    assert one.parameters.score(one.branch(*branch)) == two.parameters.score(two.branch(*branch))


def contextual(**changes):
    """Two problems of different protocols with an objective each."""
    return tiny(
        problems=[
            {"name": "kirschner", "label": "general"},
            {"name": "kirschner", "label": "data-driven", "parameters": {"protocol": "data-driven"}},
        ],
        objectives=[
            {"name": "dro", "problems": ["general"]},
            {"name": "dro", "label": "dro-shrinking", "parameters": {"set": {"radius": {"delta": 0.1}}}},
        ],
        **{"algorithms": ["random", "ucb-bocu-2"], "figures": [], **changes},
    )


def test_an_objective_is_pursued_on_the_problems_that_it_names():
    pairs = [key[:2] for key in make_plan(contextual()).branches if key[2] == "ucb-bocu-2"]
    assert pairs == [("general", "dro"), ("general", "dro-shrinking"), ("data-driven", "dro-shrinking")]


def test_the_objectives_of_an_algorithm_narrow_it_further():
    plan = make_plan(contextual(algorithms=["random", {"name": "ucb-bocu-2", "objectives": ["dro"]}]))
    assert [key[:2] for key in plan.branches if key[2] == "ucb-bocu-2"] == [("general", "dro")]
