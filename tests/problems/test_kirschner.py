"""`bocu.problems.synthetic`: where the optima of the two functions lie, under both readings of the spread."""

import itertools
from typing import Any

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.core.randomness import Streams
from bocu.problems.synthetic import FUNCTIONS, Kirschner, KirschnerParameters, bump_payoffs
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, squared_exponential_gram
from bocu.robust.contexts.estimates import around_mean
from bocu.robust.objectives.functions import UncertaintyObjective

SEPARATION = 0.08  # payoff; function a spans 3.9, the noise is 0.03
SPREADS = ("sd", "variance")


def setting(function: str, spread: str) -> tuple[np.ndarray, Kirschner, MaximumMeanDiscrepancy]:
    """Payoffs, the problem, and the set that reaches from the reference to the truth."""
    problem = Kirschner(KirschnerParameters(function=function, spread=spread), {})
    ambiguity_set = MaximumMeanDiscrepancy(0.0, squared_exponential_gram(problem.contexts, 0.1))
    margin = float(ambiguity_set.distance(problem.truths[0], problem.references[0]))
    return problem.realise(Streams(0)).payoffs(1), problem, ambiguity_set.with_epsilon(margin)


def objectives(problem: Kirschner, payoffs: np.ndarray, ambiguity_set: MaximumMeanDiscrepancy) -> dict[str, np.ndarray]:
    reference = problem.references[0]
    stable = around_mean(problem.contexts, reference, ambiguity_set.epsilon)
    return {
        "so": UncertaintyObjective.so()(payoffs, reference),
        "ro": UncertaintyObjective.ro()(payoffs, reference),
        "dro": UncertaintyObjective.dro(ambiguity_set)(payoffs, reference),
        "stable": payoffs[:, stable].min(axis=1),
    }


@pytest.mark.parametrize(("spread", "margin"), [("sd", 0.364), ("variance", 0.121)])
def test_the_margin_is_the_distance_of_the_truth(spread: str, margin: float) -> None:
    _, problem, ambiguity_set = setting("a", spread)
    assert (len(problem.decisions), len(problem.contexts)) == (100, 100)
    assert ambiguity_set.epsilon == pytest.approx(margin, abs=5e-4)


@pytest.mark.parametrize("spread", SPREADS)
def test_the_optima_of_function_a_all_differ(spread: str) -> None:
    payoffs, problem, ambiguity_set = setting("a", spread)
    values = objectives(problem, payoffs, ambiguity_set)
    best = {name: int(value.argmax()) for name, value in values.items()}
    for name in ("so", "ro", "dro"):
        for other in {"so", "ro", "dro"} - {name}:
            assert values[name].max() - values[name][best[other]] > SEPARATION, (name, other)
            assert abs(best[name] - best[other]) > 30, (name, other)


@pytest.mark.parametrize("spread", SPREADS)
def test_on_function_a_stochastic_and_stable_decisions_have_robust_regret_for_ever(spread: str) -> None:
    payoffs, problem, ambiguity_set = setting("a", spread)
    values = objectives(problem, payoffs, ambiguity_set)
    for name in ("so", "stable"):
        assert values["dro"].max() - values["dro"][values[name].argmax()] > SEPARATION


@pytest.mark.parametrize("spread", SPREADS)
def test_on_function_a_the_robust_decision_is_better_under_the_truth(spread: str) -> None:
    payoffs, problem, ambiguity_set = setting("a", spread)
    values = objectives(problem, payoffs, ambiguity_set)
    under_truth = payoffs @ problem.truths[0]
    assert under_truth[values["dro"].argmax()] - under_truth[values["so"].argmax()] > SEPARATION


@pytest.mark.parametrize("spread", SPREADS)
def test_the_optima_of_function_b_coincide(spread: str) -> None:
    payoffs, problem, ambiguity_set = setting("b", spread)
    values = objectives(problem, payoffs, ambiguity_set)
    best = {int(value.argmax()) for value in values.values()}
    assert len(best) == 1
    beyond = np.abs(np.arange(100) - best.pop()) > 10
    assert all(value.max() - value[beyond].max() > SEPARATION for value in values.values())


def test_few_draws_differ_and_those_that_are_kept_do() -> None:
    """docs/kirschner2020.md tells the share."""
    problem = Kirschner(KirschnerParameters(function="differing-draw"), {})
    draws = itertools.islice(problem.draws(np.random.default_rng(0)), 200)
    assert 2 <= sum(problem.differ(table) for table in draws) <= 20
    _, _, ambiguity_set = setting("a", "sd")
    for seed in (0, 1):
        payoffs = problem.realise(Streams(seed)).payoffs(1)
        values = objectives(problem, payoffs, ambiguity_set)
        best = [problem.decisions[values[name].argmax(), 0] for name in ("so", "ro", "dro")]
        assert np.diff(sorted(best)).min() > 0.1
        np.testing.assert_array_equal(payoffs, problem.realise(Streams(seed)).payoffs(1))


def test_draws_have_the_covariance_of_the_model() -> None:
    problem = Kirschner(KirschnerParameters(function="draw", decision_points=[4], context_points=[3]), {})
    draws = np.array(list(itertools.islice(problem.draws(np.random.default_rng(1)), 20_000)))
    model = problem.own_model
    stated = np.kron(
        model.decision_kernel(problem.decisions, problem.decisions),
        model.context_kernel(problem.contexts, problem.contexts),
    )
    np.testing.assert_allclose(np.cov(draws.reshape(len(draws), -1), rowvar=False), stated, atol=0.05)


def test_where_no_optima_can_differ_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bocu.problems.synthetic.MOST_DRAWS", 20)
    same = KirschnerParameters(function="differing-draw", context_points=[1])
    with pytest.raises(BocuError, match="function: of 20 draws none has optima that differ"):
        Kirschner(same, {}).realise(Streams(0))


@pytest.mark.parametrize("points", [33, 50, 100, 200])
def test_function_b_has_one_best_decision_whatever_the_context(points: int) -> None:
    axis = np.linspace(0.0, 1.0, points)
    assert len(set(bump_payoffs(FUNCTIONS["b"], axis, axis).argmax(axis=0))) == 1


@pytest.mark.parametrize("function", ["a", "b"])
def test_functions_are_sums_of_bumps_that_the_kernel_can_make(function: str) -> None:
    bumps = FUNCTIONS[function]
    assert min(width for bump in bumps for width in (bump.decision_width, bump.context_width)) >= 0.1
    at = np.array([0.0, 0.37, 0.9])
    by_hand = [
        sum(
            b.height * np.exp(-((x - b.decision) ** 2) / (2 * b.decision_width**2))
            * np.exp(-((c - b.context) ** 2) / (2 * b.context_width**2))
            for b in bumps
        )
        for x in at
        for c in at
    ]  # fmt: skip
    np.testing.assert_allclose(bump_payoffs(bumps, at, at).ravel(), by_hand, rtol=1e-12)


def test_the_spread_is_read_as_asked_and_gives_way_to_what_is_written_out() -> None:
    variance = Kirschner(KirschnerParameters(spread="variance"), {}).references[0]
    written = {"normal": {"mean": 0.5, "sd": 0.05**0.5}}
    np.testing.assert_allclose(variance, Kirschner(KirschnerParameters(reference=written), {}).references[0])
    mixed = KirschnerParameters(spread="variance", truth="uniform")
    assert (mixed.truth, mixed.reference) == ("uniform", KirschnerParameters(spread="variance").reference)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"function": "c"}, r"function: found 'c'; .*'a', 'b', 'draw' or 'differing-draw'"),
        ({"spread": "std"}, "spread: found 'std'"),
        ({"spred": "sd"}, "spred: unknown key; did you mean 'spread'"),
    ],
)
def test_wrong_parameters_of_the_functions_get_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BocuError, match=message):
        validate(KirschnerParameters, given, "")
