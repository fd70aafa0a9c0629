"""Sets that CVXPY solves: against our exact ones, against each other, and what is said of those that are none."""

import cvxpy as cp
import numpy as np
import pytest
import yaml
from ambiguity.cases import KINDS, make_set, random_instance
from experiments import run_all
from own_constraints import near_in_each

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.interop.cvxpy import Constraints, ConvexSet, Intersection, Moments, programme_of
from bocu.robust.ambiguity import (
    AmbiguitySet,
    ConditionalValueAtRisk,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    PhiDivergence,
    SetParameters,
    TotalVariation,
    squared_exponential_gram,
    worst_case,
)
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.resources import estimate


def near_by_kernel(q, reference, radius, contexts):
    """MMD, as a user writes it."""
    factor = np.linalg.cholesky(squared_exponential_gram(contexts, 0.3)).T
    return [cp.norm2(factor @ (q - reference)) <= radius]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "zeros"), [(6, False), (30, True)])
def test_equals_the_exact_solver(kind: str, n: int, zeros: bool) -> None:
    contexts, payoffs, reference = random_instance(n, n, 3, zeros=zeros)
    spread = np.ptp(payoffs, axis=1)
    for epsilon in (0.05, 0.4):
        exact = make_set(kind, epsilon, contexts)
        expected = worst_case(payoffs, reference, exact)
        found = worst_case(payoffs, reference, Intersection(1.0, [exact]))
        assert np.abs(found.value - expected.value).max() <= 1e-7 * spread.max()
        assert (found.gap <= 1e-7 * spread).all()
        np.testing.assert_allclose(np.einsum("bn,bn->b", found.distribution, payoffs), found.value, rtol=1e-9)
        # In its own unit the radius of the part is epsilon; that of the intersection multiplies it.
        slope = expected.slope * (epsilon if exact.has_radius else 0.0)
        np.testing.assert_allclose(found.slope, slope, rtol=1e-4, atol=1e-6 * spread.max())


def test_transports_on_a_line_take_no_plan() -> None:
    contexts, payoffs, reference = random_instance(1, 200, 2, zeros=True, dimension=1)
    line = make_set("wass", 0.1, contexts)
    programme = programme_of(line, 200)
    exact = worst_case(payoffs, reference, line)
    for row, value, slope in zip(payoffs, exact.value, exact.slope, strict=True):
        low, spread = row.min(), np.ptp(row)
        found = programme.solve((row - low) / spread, reference, 0.1)
        assert found.value == pytest.approx((value - low) / spread, abs=1e-7)
        assert found.slope == pytest.approx(slope / spread, rel=1e-5)
    contexts, _, _ = random_instance(1, 200)
    with pytest.raises(
        BocuError, match="144 contexts at most by CVXPY, found 200: a transport plan has 40,000 variables"
    ):
        programme_of(make_set("wass", 0.1, contexts), 200)


def test_a_function_of_ones_own_equals_the_exact_solver() -> None:
    contexts, payoffs, reference = random_instance(3, 12, 4)
    own = Constraints(0.2, near_by_kernel, contexts)
    exact = MaximumMeanDiscrepancy(0.2, squared_exponential_gram(contexts, 0.3))
    found, expected = worst_case(payoffs, reference, own), worst_case(payoffs, reference, exact)
    spread = np.ptp(payoffs, axis=1)
    assert np.abs(found.value - expected.value).max() <= 1e-7 * spread.max()
    np.testing.assert_allclose(found.slope, expected.slope, rtol=1e-5)
    q = np.random.default_rng(0).dirichlet(np.ones(12), 3)
    np.testing.assert_allclose(own.distance(q, reference), exact.distance(q, reference), atol=1e-6)
    assert own.distance(reference, reference) == 0.0


@pytest.mark.parametrize("kinds", [("tv", "mmd"), ("mmd", "cvar"), ("tv", "kl"), ("wass", "chi2")])
def test_an_intersection_lies_between_its_parts_and_the_expectation(kinds: tuple[str, str]) -> None:
    contexts, payoffs, reference = random_instance(5, 15, 4)
    parts = [make_set(kind, 0.3, contexts) for kind in kinds]
    both = Intersection(1.0, parts)
    found = worst_case(payoffs, reference, both)
    alone = np.max([worst_case(payoffs, reference, part).value for part in parts], axis=0)
    spread = np.ptp(payoffs, axis=1)
    assert (found.value >= alone - 1e-8 * spread).all()
    assert (found.value <= payoffs @ reference + 1e-8 * spread).all()
    for part in parts:
        allowed = part.epsilon + 1e-6 if part.has_radius else 1e-6
        if part.has_radius:
            assert (part.distance(found.distribution, reference) <= allowed).all()
    if not isinstance(parts[1], ConditionalValueAtRisk):
        largest = np.max([part.distance(payoffs[:1] * 0 + 1 / 15, reference) / part.epsilon for part in parts], axis=0)
        np.testing.assert_allclose(both.distance(np.full((1, 15), 1 / 15), reference), largest)


def test_total_variation_with_moments_is_tighter_than_either() -> None:
    contexts = np.linspace(0.0, 1.0, 9)[:, None]
    reference = np.full(9, 1 / 9)
    payoffs = np.cos(3.0 * contexts[:, 0])[None]
    wide, near = TotalVariation(0.6), Moments(contexts, mean=0.05, square=0.2)
    both = worst_case(payoffs, reference, Intersection(1.0, [wide, near]))
    assert both.value > worst_case(payoffs, reference, wide).value + 1e-3
    assert both.value > worst_case(payoffs, reference, near).value + 1e-3
    assert abs((both.distribution[0] - reference) @ contexts[:, 0]) == pytest.approx(0.05, abs=1e-7)
    assert (near.distance(both.distribution, reference) == 0.0).all()
    assert (near.distance(np.eye(9)[:1], reference) == np.inf).all()


@pytest.mark.parametrize("made", ["constraints", "intersection", "with-moments"])
def test_slopes_are_those_of_finite_differences(made: str) -> None:
    contexts, payoffs, reference = random_instance(8, 10, 3)
    sets = {
        "constraints": Constraints(0.07, near_in_each),
        "intersection": Intersection(0.7, [KullbackLeibler(0.2), make_set("mmd", 0.3, contexts)]),
        "with-moments": Intersection(0.6, [make_set("tv", 0.4, contexts), Moments(contexts, mean=0.1, square=0.15)]),
    }
    ambiguity_set: AmbiguitySet = sets[made]
    step = 1e-4
    at = [
        worst_case(payoffs, reference, ambiguity_set.with_epsilon(ambiguity_set.epsilon + h)) for h in (-step, 0, step)
    ]
    quotient = (at[2].value - at[0].value) / (2 * step)
    np.testing.assert_allclose(at[1].slope, quotient, rtol=1e-4, atol=1e-6)
    assert (at[1].slope < 0.0).all()
    zero, soon = (worst_case(payoffs, reference, ambiguity_set.with_epsilon(h)) for h in (0.0, step))
    spread = np.ptp(payoffs, axis=1)
    np.testing.assert_allclose(zero.value, payoffs @ reference, atol=1e-8 * spread.max())
    if made != "intersection":  # piecewise linear
        np.testing.assert_allclose(zero.slope, (soon.value - zero.value) / step, rtol=1e-3)


def test_gradients_of_tensors() -> None:
    torch = pytest.importorskip("torch")
    _, payoffs, reference = random_instance(2, 6, 2)
    rows = torch.tensor(payoffs, requires_grad=True)
    w = worst_case(rows, reference, Constraints(0.1, near_in_each))
    w.value.sum().backward()
    np.testing.assert_allclose(rows.grad.numpy(), w.distribution.numpy())


def test_an_answer_depends_on_none_before() -> None:
    _, payoffs, reference = random_instance(4, 8, 5)
    warm, cold = Constraints(0.1, near_in_each), Constraints(0.1, near_in_each)
    worst_case(payoffs[:4], np.full(8, 1 / 8), warm.with_epsilon(0.02))
    first, second = worst_case(payoffs[4], reference, warm), worst_case(payoffs[4], reference, cold)
    assert first.value == second.value
    assert (first.distribution == second.distribution).all()


def test_objectives_over_an_intersection_choose_as_over_its_only_part() -> None:
    contexts, payoffs, reference = random_instance(6, 8, 12)
    part = make_set("tv", 0.4, contexts)
    own = Intersection(1.0, [part])
    assert UncertaintyObjective.dro(own).argmax(payoffs, reference).index == (
        UncertaintyObjective.dro(part).argmax(payoffs, reference).index
    )
    tau = float(np.median(payoffs @ reference)) - 0.2 * float(np.ptp(payoffs))
    found = UncertaintyObjective.rs(own, tau)(payoffs, reference)
    expected = UncertaintyObjective.rs(part, tau)(payoffs, reference) * part.epsilon
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.ptp(payoffs))


def test_constraints_that_are_not_convex_in_the_radius_are_compiled_again() -> None:
    def squared(q, reference, radius, contexts):
        return [cp.norm1(q - reference) <= radius**2]  # a variable may not stand squared on that side

    _, payoffs, reference = random_instance(4, 8, 2)
    own = Constraints(0.6, squared)
    found = worst_case(payoffs, reference, own)
    expected = worst_case(payoffs, reference, TotalVariation(0.36))
    np.testing.assert_allclose(found.value, expected.value, atol=1e-7 * np.ptp(payoffs))
    np.testing.assert_allclose(found.slope, expected.slope * 2 * 0.6, rtol=1e-3)
    assert not own.programme(8).radius_varies
    with pytest.raises(BocuError, match="squared: measures no distance"):
        own.distance(reference, reference)


def test_the_largest_set_reaches_the_floor() -> None:
    _, payoffs, reference = random_instance(2, 7, 3)
    found = worst_case(payoffs, reference, Constraints(np.inf, near_in_each))
    np.testing.assert_allclose(found.value, payoffs.min(axis=1), rtol=1e-8)
    assert (found.slope == 0.0).all()
    tv = programme_of(TotalVariation(0.1), 7).solve(np.linspace(0, 1, 7), reference, np.inf)
    assert tv.value == pytest.approx(0.0, abs=1e-8)


def faulty(q, reference, radius, contexts):
    raise ValueError("no\nsuch thing")


def concave(q, reference, radius, contexts):
    return [cp.norm1(q - reference) >= radius]


def empty(q, reference, radius, contexts):
    return [q[0] >= 0.5, q[1] >= 0.6]


def elsewhere(q, reference, radius, contexts):
    return [q[0] >= 0.9]


def nothing(q, reference, radius, contexts):
    return True


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (faulty, "faulty: ValueError: no such thing"),
        (concave, "concave: not convex by the rules of CVXPY"),
        (empty, "empty: the constraints leave out the reference itself at radius 0;"),
    ],
)
def test_a_set_that_is_none_gets_one_line(function, line: str) -> None:
    with pytest.raises(BocuError) as raised:
        worst_case([0.0, 1.0, 2.0], [0.2, 0.3, 0.5], Constraints(0.1, function))
    assert str(raised.value).startswith(line)
    assert "\n" not in str(raised.value)


def test_a_programme_without_a_distribution_says_so() -> None:
    class Empty(ConvexSet):
        def constraints(self, q, reference, radius):
            return [q[0] >= 0.5 + radius, q[1] >= 0.6]

    with pytest.raises(BocuError, match=r"Empty: no distribution is within at radius 0\.1$"):
        worst_case([0.0, 1.0, 2.0], [0.2, 0.3, 0.5], Empty(0.1))


def test_a_class_without_constraints_is_named() -> None:
    phi = PhiDivergence(0.1, lambda t: 0.5 * (t - 1) ** 2, lambda s: np.where(s > -1, s + s**2 / 2, -0.5))
    with pytest.raises(BocuError, match="PhiDivergence has no constraints for CVXPY; give its class a method"):
        programme_of(phi, 3)


def test_an_experiment_states_them() -> None:
    points = np.linspace(0, 1, 4)[:, None]
    stated = {
        "own": {"name": "constraints", "of": "own_constraints:near_in_each", "radius": 0.1},
        "both": {
            "name": "intersection",
            "of": [{"name": "tv", "radius": 0.2}, {"name": "moments", "mean": 0.1}, {"name": "cvar", "alpha": 0.5}],
        },
    }
    built = {key: SetParameters.model_validate(keys) for key, keys in stated.items()}
    assert built["both"].radius == 1.0
    worst = {
        key: worst_case([0, 1, 2, 3], [0.25] * 4, one.over(points).with_epsilon(one.radius))
        for key, one in built.items()
    }
    assert worst["own"].value == pytest.approx(1.5 - 0.1 * (3 - 0) - 0.1 * (2 - 1), abs=1e-7)
    assert 1.5 - 0.1 * 3 - 1e-7 <= worst["both"].value < 1.5
    assert built["both"].model_dump(mode="json")["of"][0] == {"name": "tv", "radius": 0.2}
    again = SetParameters.model_validate(built["both"].model_dump(mode="json"))
    assert again == built["both"]


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"name": "intersection", "of": [{"name": "tv"}]}, "has the radius 'margin'; a number above 0 is wanted"),
        ({"name": "intersection", "of": [{"name": "mdd", "radius": 1}]}, "unknown set 'mdd'"),
        ({"name": "moments"}, "a set of moments has a bound 'mean', 'square' or both"),
    ],
)
def test_what_an_experiment_states_wrongly(keys, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        SetParameters.model_validate(keys)


OWN_FILE = """
import cvxpy as cp


def near_mean(q, reference, radius, contexts):
    return [cp.abs(contexts.T @ (q - reference)) <= RADII * radius]


RADII = 1.0


def unused():
    return 1
"""

OWN_EXPERIMENT = {
    "name": "own",
    "seeds": 1,
    "iterations": 2,
    "problems": [
        {"name": "gp-sample", "parameters": {"decision_points": [3, 3], "context_points": [2, 2], "initial": 2}}
    ],
    "objectives": [
        {"name": "dro", "label": "own", "parameters": {"set": {"name": "constraints", "of": "own.py:near_mean"}}},
        {
            "name": "dro",
            "label": "both",
            "parameters": {
                "set": {
                    "name": "intersection",
                    "of": [
                        {"name": "tv", "radius": 0.3},
                        {"name": "constraints", "of": "own.py:near_mean", "radius": 0.1},
                    ],
                }
            },
        },
        {"name": "dro", "label": "known", "parameters": {"set": {"name": "tv", "radius": 0.3}}},
    ],
    "algorithms": ["ucb-bocu-2"],
    "metrics": [{"name": "dro", "parameters": {"set": {"name": "moments", "mean": 0.1}}}],
    "figures": ["regret"],
}


def test_a_file_beside_the_experiment_states_a_set(elsewhere, monkeypatch) -> None:
    monkeypatch.setenv("BOCU_PLUGINS", "{}")
    (elsewhere / "files").mkdir()
    own = elsewhere / "files/own.py"
    own.write_text(OWN_FILE)
    file = elsewhere / "files/own.yaml"
    file.write_text(yaml.safe_dump(OWN_EXPERIMENT))

    def planned():
        plan = make_plan(read_experiment_file(file), [file])
        return plan, {key[1]: plan.parameters.run(branch, 0, 0)["fingerprint"] for key, branch in plan.branches.items()}

    plan, before = planned()
    run_all(plan)
    cube = read_netcdf(plan.paths.cube("gp-sample"))
    assert np.isfinite(cube["regret"].sel(objective=["own", "both"]).values).all()
    own.write_text(OWN_FILE.replace("return 1", "return 2"))
    assert planned()[1] == before
    own.write_text(OWN_FILE.replace("RADII = 1.0", "RADII = 2.0"))
    changed = planned()[1]
    assert {label for label in before if before[label] != changed[label]} == {"own", "both"}
    own.write_text(OWN_FILE.replace("def near_mean", "def nearmean"))
    with pytest.raises(
        BocuError, match=r"objectives\.0\.parameters\.set\.of: found 'own.py:near_mean'; .*did you mean"
    ):
        planned()


def test_planning_reckons_with_their_cost() -> None:
    experiment = {
        **OWN_EXPERIMENT,
        "problems": [{"name": "gp-sample"}],
        "iterations": 100,
        "objectives": [
            {"name": "dro", "label": "exact", "parameters": {"set": {"name": "tv", "radius": 0.3}}},
            {"name": "dro", "label": "convex", "parameters": {"set": {"name": "moments", "mean": 0.1}}},
        ],
    }
    plan = make_plan(experiment)
    seconds = {key[1]: estimate(branch, 1).seconds for key, branch in plan.branches.items()}
    decisions = plan.problems["gp-sample"].kind.size(plan.problem_parameters("gp-sample")).arms
    # A table in each round, a millisecond and more for each of its decisions.
    assert seconds["convex"] - seconds["exact"] > 100 * decisions * 1e-3
