"""`bocu.problems.given_design`: read and checked, and runs that start from it."""

import shutil

import numpy as np
import pytest
from played import finished, numbers

from bocu.core.errors import BocuError
from bocu.core.rounds import FiniteDomain, unit_cube
from bocu.problems.given_design import GivenDesign, read_design, write_design
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.record import copy_design
from bocu.sweep.pruning import leftovers
from bocu.sweep.runs.seed_run import SeedRun, build_problem
from bocu.sweep.staleness import Staleness

TEXT = "seed,decision_1,context_1\n3,0.25,0.5\n3,1,0\n4,0.75,0.5\n4,0,1\n"
GRID = FiniteDomain(np.linspace(0.0, 1.0, 5)[:, None], ("x",), ("1",))


def written(folder, text=TEXT, **how):
    path = folder / "design.csv"
    path.write_text(text, **{"encoding": "utf-8", **how})
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_rows_keep_their_order_whatever_that_of_columns_and_seeds(tmp_path, encoding):
    text = "context_1, decision_2,seed,decision_1\n0.5,0.1,4,0.2\n0.6,0.3,3,0.4\n0.7,0.5,4,0.6\n0.8,0.7,3,0.9\n\n"
    design = read_design(written(tmp_path, text, encoding=encoding))
    assert design.points == 2
    for seed, wanted in (
        (4, ([[0.2, 0.1], [0.6, 0.5]], [[0.5], [0.7]])),
        (3, ([[0.4, 0.3], [0.9, 0.7]], [[0.6], [0.8]])),
    ):
        for found, expected in zip(design.of(seed), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_what_is_written_is_read_to_the_last_bit(tmp_path):
    generator = np.random.default_rng(0)
    rows = {seed: (generator.random((5, 3)), generator.standard_cauchy((5, 2))) for seed in (7, 2)}
    write_design(tmp_path / "design.csv", rows)
    design = read_design(tmp_path / "design.csv")
    for seed, both in rows.items():
        for found, expected in zip(design.of(seed), both, strict=True):
            assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "found the columns none; allowed: seed, decision_1"),
        (TEXT.replace(",", ";"), "found the columns seed;decision_1;context_1; allowed"),
        (TEXT.replace("decision_1", "x"), "found the columns seed, x, context_1"),
        (TEXT.replace("decision_1", "decision_2"), "found the columns seed, decision_2, context_1"),
        (TEXT.splitlines()[0], "found no rows"),
        (TEXT.replace("4,0,1\n", ""), "found 1 rows of seed 4; allowed: 2, as of seed 3"),
        (TEXT.replace("4,0,1", "4,0"), "line 5: found 2 cells; allowed: 3"),
        (TEXT.replace("0.75", "nan"), "line 4: decision_1: found 'nan'; allowed: a finite number"),
        (TEXT.replace("3,1", "3.5,1"), "line 3: seed: found '3.5'; allowed: an integer"),
    ],
)
def test_what_is_wrong_with_a_file_is_named_in_one_line(tmp_path, text, line):
    path = written(tmp_path, text)
    with pytest.raises(BocuError) as raised:
        read_design(path)
    assert str(raised.value).startswith(f"{path}: {line}")
    assert "\n" not in str(raised.value)


def test_other_encodings_folders_and_missing_files_are_refused(tmp_path):
    with pytest.raises(BocuError, match="found no text in UTF-8"):
        read_design(written(tmp_path, encoding="utf-16"))
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(BocuError, match=r"could not be read: (Is a directory|No such file)"):
            read_design(path)


def test_points_of_a_grid_are_named_by_coordinates_and_never_moved(tmp_path):
    design = read_design(written(tmp_path, TEXT.replace("0.75", "0.7500004")))
    assert design.members(4, GRID, GRID) == [(3, 2), (0, 4)]
    beside = read_design(written(tmp_path, TEXT.replace("0.75", "0.76")))
    assert beside.members(3, GRID, GRID) == [(1, 2), (4, 0)]
    with pytest.raises(BocuError, match=r"decision 1 of seed 4: found \[0.76\]; no point of the grid, .* \[0.75\]"):
        beside.members(4, GRID, GRID)


def test_points_lie_in_boxes_and_have_their_dimension(tmp_path):
    design = read_design(written(tmp_path, TEXT.replace("4,0,1", "4,0,1.5")))
    box = unit_cube("context", 1)
    with pytest.raises(BocuError, match=r"context 2 of seed 4: found \[1.5\]; allowed: between \[0.0\] and \[1.0\]"):
        design.members(4, box, box)
    assert design.members(4, box, None)[1][1] == [1.5]
    with pytest.raises(BocuError, match=r"decision 1 of seed 3: .*allowed: 2 coordinates, decision_1 to decision_2"):
        design.members(3, unit_cube("decision", 2), box)
    with pytest.raises(BocuError, match="no rows of seed 5; it has 2 seeds, 3 to 4"):
        design.members(5, box, box)


def planned(problem, initial=None, algorithm="random", **more):
    parameters = {**more, **({} if initial is None else {"initial": initial})}
    experiment = {
        "name": "given",
        "seeds": {"first": 3, "count": 2},
        "iterations": 4,
        "problems": [{"name": problem, "parameters": parameters}],
        "objectives": [{"name": "dro", "parameters": {"set": {"name": "tv", "radius": 0.1}}}],
        "algorithms": [algorithm],
        "metrics": ["so"],
        "figures": [],
    }
    return make_plan(experiment)


def played(plan, seed, file=None):
    (branch,) = plan.branches.values()
    inputs = {"initial": str(file)} if file else {}
    return finished(SeedRun(branch.specification, build_problem(branch.specification["problem"], inputs), seed))


def design_of(runs):
    rows = {}
    for seed, run in runs.items():
        arrays = run.record.arrays
        rows[seed] = arrays["decision"][: run.initial], arrays["context"][: run.initial]
    return rows


PROBLEMS = [
    ("ackley", {}, "gp-ucb"),
    ("complicated-hartmann", {"contexts_told": "as-drawn"}, "random"),
    ("hartmann-3", {}, "ucb-so"),
    ("hartmann-3", {"protocol": "data-driven"}, "ucb-so"),
    ("hartmann-3", {"protocol": "simulator"}, "ucb-so"),
    ("newsvendor-grid", {"outputs": 2}, "random"),
]
SMALL_GRID = {"decision_points": [4, 5], "context_points": [6], "noise": 0.3}


@pytest.mark.parametrize(("problem", "more", "algorithm"), PROBLEMS)
def test_a_run_that_is_given_what_it_would_have_drawn_is_the_same_bit_for_bit(tmp_path, problem, more, algorithm):
    more = {**SMALL_GRID, **more} if problem == "hartmann-3" else {"noise": 0.3, **more}
    drawn = {seed: played(planned(problem, 3, algorithm, **more), seed) for seed in (3, 4)}
    file = tmp_path / "design.csv"
    write_design(file, design_of(drawn))
    plan = planned(problem, {"file": str(file)}, algorithm, **more)
    assert plan.problem_parameters(problem).initial_points() == 3
    for seed, run in drawn.items():
        given = played(plan, seed, file)
        assert numbers(given) == numbers(run)
        before, after = (each.streams.state() for each in (run, given))
        for states in (before, after):
            del states["initial-design"]
        assert before == after


def test_what_a_file_holds_counts_and_not_where_it_lies(tmp_path):
    def parameters(file):
        plan = planned("ackley", {"file": str(file)})
        (branch,) = plan.branches.values()
        return plan, plan.parameters.run(branch, 3, 4)

    text = "seed,decision_1,decision_2,context_1\n4,0.9,0.1,0.3\n3,0.2,0.4,0.6\n"
    file = written(tmp_path, text)
    plan, before = parameters(file)
    moved = shutil.move(file, tmp_path / "moved.csv")
    again, after = parameters(moved)
    assert after == before
    assert again.inputs.problem("ackley") == plan.inputs.problem("ackley")
    assert str(file) not in str(before)
    assert parameters(written(tmp_path, text.replace("0.9", "0.8")))[1] != before


def test_plan_status_and_why_know_the_copy_of_a_design(elsewhere):
    file = written(elsewhere, "seed,decision_1,decision_2,context_1\n4,0.9,0.1,0.3\n3,0.2,0.4,0.6\n")
    plan = planned("ackley", {"file": str(file)})
    (copy,) = plan.products.by_stage()["designs"]
    (branch,) = plan.branches.values()
    assert Staleness(plan).explain(copy).is_stale
    assert Staleness(plan).identity(branch, 3, 4) is None
    copy_design(plan, plan.problem_parameters("ackley").given_design.sha256, copy)
    assert not Staleness(plan).explain(copy).is_stale
    assert Staleness(plan).identity(branch, 3, 4) is not None
    assert [left for left in leftovers(plan) if "designs" in str(left.path)] == []
    (elsewhere / copy).with_name("0.csv").touch()
    assert [left.path.name for left in leftovers(plan)] == ["0.csv"]


def test_a_file_that_changes_after_planning_is_refused(tmp_path):
    file = written(tmp_path, "seed,decision_1,decision_2,context_1\n4,0.9,0.1,0.3\n3,0.2,0.4,0.6\n")
    plan = planned("ackley", {"file": str(file)})
    ((sha256, source),) = plan.designs().items()
    copy_design(plan, sha256, tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == file.read_bytes()
    assert source == str(file)
    assert (
        plan.products.by_stage()["designs"] == [plan.paths.design(sha256)] == [plan.inputs.problem("ackley")["initial"]]
    )
    written(tmp_path, file.read_text().replace("0.9", "0.8"))
    with pytest.raises(BocuError, match="another file than the experiment was planned with"):
        played(plan, 3, file)
    with pytest.raises(BocuError, match="changed since the experiment was planned"):
        copy_design(plan, sha256, tmp_path / "copy.csv")


def test_faults_are_found_while_planning(tmp_path):
    file = written(tmp_path)
    where = r"problems\.0\.parameters\.initial: "
    few = written(tmp_path, TEXT.replace("4,", "5,"))
    with pytest.raises(BocuError, match=where + r".*design\.csv: no rows of seed 4; it has 2 seeds, 3 to 5"):
        planned("ackley", {"file": str(few)})
    with pytest.raises(BocuError, match=where + r".*none\.csv: an initial design could not be read"):
        planned("ackley", {"file": str(tmp_path / "none.csv")})
    file = written(tmp_path)
    for key, stated in (("sha256", "0" * 64), ("points", 7)):
        with pytest.raises(BocuError, match=rf"{key}: found .*, stated is {stated}"):
            planned("ackley", {"file": str(file), key: stated})
    assert GivenDesign(file=str(file)).settled([3, 4]).points == 2


def test_problems_without_an_initial_design_refuse_one(tmp_path):
    file = str(written(tmp_path))
    with pytest.raises(BocuError, match=r"initial: unknown key"):
        planned("hills", {"file": file})
    with pytest.raises(BocuError, match=r"initial: found \{'file'"):
        planned("wind-commitment", {"file": file}, "ucb-so")
