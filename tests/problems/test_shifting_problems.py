"""Problems whose contexts shift: what is drawn, told and scored, the same without a shift, and one line of errors."""

import numpy as np
import pytest
from experiments import planned, run_all

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.core.rounds import Situation
from bocu.problems.continuous import Ackley, Newsvendor
from bocu.problems.optima import EXPECTATIONS, optima_along, search
from bocu.problems.scalarised import ScalarisedNewsvendor
from bocu.robust.contexts.estimates import draw
from bocu.robust.contexts.laws import LawParameters
from bocu.sweep.evaluation.cubes import open_cube
from bocu.sweep.evaluation.discretised import on_cells
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.records import read_runs
from bocu.testing import check_problem

LOW = {"name": "normal", "parameters": {"mean": 0.3, "std": 0.1}}
HIGH = {"name": "normal", "parameters": {"mean": 0.7, "std": 0.1}}
JUMP = {"name": "jump", "parameters": {"at": 4, "to": HIGH}}
DRIFT = {"name": "drift", "parameters": {"over": 6, "to": HIGH}}
SWING = {"name": "season", "parameters": {"period": 4, "amplitude": {"mean": 0.5}}}
APART = {"name": "train-test", "parameters": {"at": 4, "test": HIGH}}


def built(name, **parameters):
    family = find("problem", name).load()
    return family(family.Parameters.model_validate(parameters), {})


def grid(**parameters):
    return built("kirschner", decision_points=[6], context_points=[9], initial=3, **parameters)


def weights(law, points):
    return LawParameters.model_validate(law).weights_on(points)


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_a_problem_states_the_law_that_it_draws_from(name):
    own = EXPECTATIONS[name]
    assert LawParameters.model_validate(own.stated).over(own.law.dimension) == own.law


def test_contexts_of_a_round_come_from_its_law_and_meet_the_same_numbers():
    shifted, plain = Ackley(Ackley.Parameters(law=LOW, shift=JUMP), {}), Ackley(Ackley.Parameters(law=LOW), {})
    here, there = shifted.realise(Streams(3)), plain.realise(Streams(3))
    one, other = Streams(3)["contexts"], Streams(3)["contexts"]
    for t in range(1, 9):
        context, unshifted = here.draw_context(t, one), there.draw_context(t, other)
        assert context == pytest.approx(np.clip(unshifted + (0.4 if t >= 4 else 0.0), 0, 1))
        assert 0 < context < 1
    design, same = (r.initial_design(np.random.default_rng(0), 6) for r in (here, there))
    np.testing.assert_array_equal([c for _, c in design], [c for _, c in same])


def test_regret_is_against_the_optimum_of_the_round():
    problem = Newsvendor(Newsvendor.Parameters(shift={"name": "jump", "parameters": {"at": 3, "to": HIGH}}), {})
    realisation = problem.realise(Streams(0))
    decisions = np.linspace(0, 1, 6)[:, None]
    values, best = realisation.expected_in_rounds(decisions, np.array([-1, 0, 1, 2, 3, 4]))
    under = {t: realisation.problem.law_in(t) for t in (1, 3)}
    for row, t in enumerate([1, 1, 1, 1, 3, 3]):
        contexts = under[t].points(2**14, np.random.default_rng(0))
        assert values[row] == pytest.approx(problem.payoff(decisions[row], contexts).mean(), abs=1e-3)
    assert best[:4] == pytest.approx(search("newsvendor", "quadrature").value, abs=1e-9)
    assert best[4:] == pytest.approx(search("newsvendor", "quadrature", None, under[3]).value, abs=1e-9)
    assert best[0] != pytest.approx(best[5], abs=0.05)


def test_optima_of_laws_in_small_steps_are_those_of_a_search():
    problem = Ackley(Ackley.Parameters(law=LOW, shift={"name": "drift", "parameters": {"over": 16, "to": HIGH}}), {})
    laws = [problem.law_in(t) for t in range(1, 18)]
    along = optima_along("ackley", laws, "quadrature")
    for place in (2, 7, 13):
        assert along[place].value == pytest.approx(search("ackley", "quadrature", None, laws[place]).value, abs=1e-6)


def test_on_a_grid_the_truth_shifts_and_a_stated_reference_stays():
    problem = grid(truth={"law": LOW}, reference="uniform", shift=DRIFT)
    realisation = problem.realise(Streams(0))
    np.testing.assert_array_equal(realisation.truth(1), weights(LOW, problem.contexts))
    np.testing.assert_array_equal(realisation.truth(50), weights(HIGH, problem.contexts))
    assert realisation.truth(3) @ problem.contexts[:, 0] == pytest.approx(0.3 + 0.4 * 2 / 6, abs=0.01)
    np.testing.assert_array_equal(realisation.reference(50), np.full(9, 1 / 9))


@pytest.mark.parametrize(("shift", "told"), [(JUMP, HIGH), (APART, LOW)])
def test_an_announced_reference_is_the_truth_of_the_round_unless_the_test_is_apart(shift, told):
    for problem in (
        grid(truth={"law": LOW}, reference="announced", shift=shift),
        built("ackley-grid", contexts=9, truth={"law": LOW}, reference="announced", shift=shift),
    ):
        realisation = problem.realise(Streams(0))
        np.testing.assert_array_equal(realisation.reference(2), weights(LOW, problem.contexts))
        np.testing.assert_array_equal(realisation.reference(9), weights(told, problem.contexts))
        np.testing.assert_array_equal(realisation.truth(9), weights(HIGH, problem.contexts))


@pytest.mark.parametrize("protocol", ["general", "data-driven", "scalarised"])
def test_an_estimated_reference_follows_the_contexts_seen(protocol):
    estimate = {"name": "window", "length": 4}
    if protocol == "scalarised":
        problem = built("ackley-grid", contexts=9, initial=2, truth={"law": LOW}, reference=estimate, shift=JUMP)
    else:
        problem = grid(protocol=protocol, truth={"law": LOW}, reference=estimate, shift=JUMP)
    realisation, seen = problem.realise(Streams(0)), np.array([0, 1, 2, 3, 3, 3])
    situation = PROTOCOLS[protocol].situation(realisation, 5, seen)
    np.testing.assert_array_equal(situation.reference, np.bincount(seen[-4:], minlength=9) / 4)
    assert situation.observed == 4
    np.testing.assert_array_equal(situation.truth, weights(HIGH, problem.contexts))
    np.testing.assert_array_equal(PROTOCOLS[protocol].situation(realisation, -1, seen[:0]).reference, np.full(9, 1 / 9))


def test_without_a_shift_a_scalarised_problem_is_as_it_was():
    problem = ScalarisedNewsvendor(ScalarisedNewsvendor.Parameters(contexts=7), {})
    realisation = problem.realise(Streams(0))
    assert realisation.reference(1) is realisation.truth(9) is problem.reference
    assert realisation.estimate is None
    contexts = [context for _, context in realisation.initial_design(np.random.default_rng(1), 5)]
    generator = np.random.default_rng(1)
    generator.integers(2**32)  # what scrambles the decisions
    np.testing.assert_array_equal(contexts, draw(problem.reference, generator.random(5)))


def entry(name="newsvendor", label=None, **parameters):
    return {"name": name, "label": label or name, "parameters": parameters}


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (entry(shift={"name": "jmp"}), r"0\.parameters\.shift: found .*unknown shift 'jmp'; did you mean 'jump'"),
        (entry(shift={"name": "jump", "parameters": {"at": 3}}), r"parameters\.to: this key is required"),
        (
            entry(shift={"name": "jump", "parameters": {"at": 11, "to": HIGH}}),
            r"problems\.0\.parameters\.shift: 'jump': it begins in round 11; there are 10 rounds",
        ),
        (
            entry("ackley-grid", truth={"law": LOW}, shift=SWING),
            r"problems\.0\.parameters\.shift: in round 4 the law leaves the box: 98 % of it lie below 0",
        ),
        (entry(shift=JUMP, optimum="published"), r"parameters\.optimum: found 'published'"),
        (
            entry("hartmann-3", truth={"weights": [1, 2]}, shift=JUMP),
            r"parameters\.shift: weights that are written out do not shift",
        ),
        (
            entry("hartmann-3", truth=["uniform", "uniform"], shift=JUMP),
            r"parameters\.shift: the truth is a list of 2 distributions",
        ),
        (entry("hartmann-3", reference={"name": "window"}), r"the reference 'window' needs the key 'length'"),
        (entry("hartmann-3", reference={"weights": [1, 2]}), r"parameters\.weights: found 2 that sum to 3"),
        (
            entry("hartmann-3", protocol="simulator", reference={"name": "empirical"}),
            "an estimate says nothing of the truth",
        ),
        (entry("hartmann-3", shift="own.py:Median"), "does not derive from bocu.robust.contexts.shifts.Shift"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_is_one_line(folder, problem, line):
    with pytest.raises(BocuError, match=line) as caught:
        planned(folder, problem)
    assert "\n" not in str(caught.value)


def test_a_shift_of_ones_own_takes_part_and_its_code_counts(folder):
    wet = {"name": "own.py:Alternating", "parameters": {"storm": HIGH}}
    plan = planned(
        folder,
        entry(label="plain", law=LOW),
        entry(label="mine", law=LOW, shift=wet),
        entry("kirschner", label="grid", decision_points=[5], context_points=[6], truth={"law": LOW}, shift=wet),
        metrics=[{"name": "so", "parameters": {"under": "truth"}}],
    )  # fmt: skip
    mine = next(branch for branch in plan.branches.values() if branch.problem.label == "mine")
    assert any(root.endswith("own.py:Alternating") for root in mine.roots)
    assert "bocu.robust.contexts.laws:NormalLaw" in mine.roots
    assert any((entry.kind, name) == ("shift", "Alternating") for name, entry in plan.outside())
    run_all(plan)
    files = {branch.problem.label: plan.products.runs(branch)[0] for branch in plan.branches.values()}
    calm, stormy = (read_runs(files[label])["context"].values.ravel() for label in ("plain", "mine"))
    # Even rounds are stormy; the others, and the initial design, are as without the shift.
    np.testing.assert_array_equal(calm[-2::-2], stormy[-2::-2])
    np.testing.assert_allclose(np.clip(calm[-1:-11:-2] + 0.4, 0, 1), stormy[-1:-11:-2])
    regret = open_cube("results/own", "mine").load()["regret"]
    assert regret.min() >= 0.0


@pytest.mark.parametrize("truth", ["uniform", {"normal": {"mean": 0.4, "variance": 0.09}}, {"law": LOW}])
def test_a_truth_that_is_stated_in_any_form_shifts(truth):
    late = {"name": "jump", "parameters": {"at": 9, "to": HIGH}}
    stands, shifts = grid(truth=truth), grid(truth=truth, shift=late)
    np.testing.assert_allclose(shifts.truth_in(8), stands.truth_in(8), atol=1e-14)
    np.testing.assert_array_equal(shifts.truth_in(9), weights(HIGH, shifts.contexts))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("newsvendor", {"shift": JUMP, "contexts_told": "as-drawn", "initial": 3}),
        ("ackley-grid", {"contexts": 5, "truth": {"law": LOW}, "shift": JUMP, "reference": {"name": "kde"}}),
        ("kirschner", {"decision_points": [5], "context_points": [6], "shift": DRIFT, "reference": "announced"}),
    ],
)
def test_a_problem_that_shifts_keeps_its_promises(name, parameters):
    if name == "kirschner":
        parameters = {**parameters, "truth": {"law": LOW}}
    check_problem(name, parameters, rounds=6, seeds=1)


def test_robust_metrics_see_the_law_of_the_round():
    realisation = Newsvendor(Newsvendor.Parameters(shift=JUMP), {}).realise(Streams(0))
    bare = [Situation(t, np.empty(0), np.empty(0), 0) for t in (-2, 1, 3, 4, 9)]
    discretised, situations = on_cells(realisation, bare)
    early, late = situations[0].reference, situations[3].reference
    assert situations[1].reference is situations[2].reference is early
    assert situations[4].truth is late
    np.testing.assert_array_equal(late, discretised.cells.masses(LawParameters.model_validate(HIGH).over(1)))
    assert np.abs(early - late).sum() > 0.5
    at_once = Newsvendor(Newsvendor.Parameters(shift={"name": "jump", "parameters": {"at": 2, "to": HIGH}}), {})
    laws = [each.truth for each in on_cells(at_once.realise(Streams(0)), bare)[1]]
    np.testing.assert_array_equal(laws[:3], [early, early, late])
