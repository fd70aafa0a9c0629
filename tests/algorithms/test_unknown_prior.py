"""`bocu.learners.algorithms.unknown_prior`: confidence constants, and how a choice travels from ask to report."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.core.rounds import BoxDomain, Description, FiniteDomain, Round
from bocu.learners.algorithms.beliefs import SQRT_BETA, ConfidenceParameters, TableRatings, squared_noise_bound
from bocu.learners.algorithms.time_varying import PEGPUCB, MaximumLikelihood
from bocu.learners.surrogates.time_varying import TimeVaryingPrior

ARMS = 4


def description(priors: int = 2, arms: int = ARMS) -> Description:
    candidates = tuple(TimeVaryingPrior(str(k), np.full(ARMS, float(k)), np.eye(ARMS)) for k in range(priors))
    return Description(
        decisions=FiniteDomain(np.arange(arms, dtype=float)[:, None], ("arm",), ("1",)),
        contexts=BoxDomain(np.array([1.0]), np.array([np.inf]), ("time step",), ("1",)),
        noise=0.1,
        protocol="time-varying",
        priors=candidates,
    )


def algorithm(**parameters: object) -> PEGPUCB:
    return PEGPUCB(description(), None, PEGPUCB.Parameters(**parameters), np.random.default_rng(0))


def test_constants_are_those_of_the_vectors(vectors: Path) -> None:
    cases = json.loads(vectors.read_text())["formulas"]["pe_gp_ucb_constants"]
    assert cases
    for case in cases:
        arms, t, delta = case["card_X"], case["t"], case["delta"]
        assert SQRT_BETA["theorem-4.1"](arms, t, delta) == pytest.approx(case["beta_thm41"], rel=1e-12)
        assert SQRT_BETA["theorem-3.1"](arms, t, delta) == pytest.approx(case["beta_from_thm31_dA_third"], rel=1e-12)
        xi = squared_noise_bound(case["R"], case["card_U"], t, delta)
        assert xi == pytest.approx(case["xi"], rel=1e-12)


def test_union_bound_is_the_tightest_rule_and_spends_a_third_of_delta() -> None:
    arms, delta = 54, 0.1
    for t in (1, 10, 1000):
        loose, middle, tight = (
            SQRT_BETA[rule](arms, t, delta) for rule in ("theorem-4.1", "theorem-3.1", "union-bound")
        )
        assert loose > middle > tight
    # Gaussian tails as exp(-b^2 / 2), both sides, all arms, all rounds: their sum is delta / 3.
    spent = sum(arms * math.exp(-(SQRT_BETA["union-bound"](arms, t, delta) ** 2) / 2.0) for t in range(1, 200_000))
    assert spent == pytest.approx(delta / 3.0, rel=1e-4)


def test_a_constant_replaces_the_rule() -> None:
    assert algorithm(sqrt_beta=2.0).sqrt_beta(17) == 2.0
    assert algorithm().sqrt_beta(17) == SQRT_BETA["theorem-4.1"](ARMS, 17, 0.1)
    assert algorithm(confidence="union-bound", delta=0.01).sqrt_beta(3) == SQRT_BETA["union-bound"](ARMS, 3, 0.01)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"delta": 0}, r"x\.delta: found 0;.*greater than 0"),
        ({"delta": 1.0}, r"x\.delta: found 1.0;.*less than 1"),
        ({"sqrt_beta": -1}, r"x\.sqrt_beta: found -1"),
        ({"confidence": "theorem"}, r"x\.confidence: found 'theorem';.*'union-bound'"),
        ({"confidance": "union-bound"}, r"x\.confidance: unknown key; did you mean 'confidence'"),
    ],
)
def test_wrong_parameters_get_one_line(given: dict[str, object], message: str) -> None:
    with pytest.raises(BocuError, match=message):
        validate(ConfidenceParameters, given, "x.")


def test_ties_go_to_the_lowest_prior_and_then_to_the_lowest_arm() -> None:
    ucb = np.array([[9.0, 9.0], [1.0, 2.0], [2.0, 2.0]])
    ratings = TableRatings(None, Round(t=1), None, lambda prior: ucb[prior][:, None])
    assert ratings.first_best([1, 2]) == (1, 1)
    assert ratings.first_best([2]) == (2, 0)
    assert ratings.first_best([0, 1, 2]) == (0, 0)


def test_only_available_arms_are_chosen_and_their_own_indices_are_given() -> None:
    chosen = algorithm()
    assert chosen.ask(Round(t=1, available=np.array([2, 3]))) == 2
    for available in (np.array([], dtype=int), np.array([3, 4]), np.array([-1])):
        with pytest.raises(BocuError, match=r"round 1: available: found .* allowed: some of 0 to 3"):
            chosen.ask(Round(t=1, available=available))


def test_the_report_is_the_prediction_before_the_observation() -> None:
    chosen = algorithm(sqrt_beta=2.0)
    mean, sd = chosen.posteriors(1)
    arm = chosen.ask(Round(t=1))
    chosen.tell(arm, 1, 1.3)
    report = chosen.report()
    assert report["chosen_prior"] == 1
    assert (report["predicted_mean"], report["predicted_sd"]) == (mean[1, arm], sd[1, arm])
    assert report["confidence_width"] == 2.0 * sd[1, arm]
    assert chosen.posteriors(1)[1][1, arm] < sd[1, arm]


@pytest.mark.parametrize("asked", [False, True])
def test_an_observation_from_outside_informs_but_no_prior_answers_for_it(asked: bool) -> None:
    chosen = algorithm()
    if asked:
        assert chosen.ask(Round(t=1)) == 0
    chosen.tell(3, 1, 50.0)
    report = chosen.report()
    assert report["chosen_prior"] == -1
    assert math.isnan(report["predicted_mean"])
    assert math.isnan(report["confidence_width"])
    assert report["rejected_prior"] == -1
    assert report["active_priors"].all()
    assert chosen.posteriors(2)[0][0, 3] > 40.0
    assert chosen.recommend() == 3


def test_one_answer_is_booked_once() -> None:
    chosen = algorithm()
    arm = chosen.ask(Round(t=1))
    chosen.tell(arm, 1, 1.0)
    assert chosen.report()["chosen_prior"] == 1
    chosen.tell(arm, 1, 1.0)
    assert chosen.report()["chosen_prior"] == -1


def test_an_algorithm_without_a_use_for_the_problem_says_so() -> None:
    box = BoxDomain(np.zeros(1), np.ones(1), ("x",), ("1",))
    plain = description()
    generator, parameters = np.random.default_rng(0), ConfidenceParameters()
    with pytest.raises(BocuError, match=r"^the problem offers no candidate priors"):
        MaximumLikelihood(description(priors=0), None, parameters, generator)
    with pytest.raises(BocuError, match=r"^prior '0' has 4 arms, the problem 5"):
        MaximumLikelihood(description(arms=5), None, parameters, generator)
    with pytest.raises(BocuError, match="the decision space is a box"):
        MaximumLikelihood(Description(box, box, 0.1, "general", priors=plain.priors), None, parameters, generator)
    with pytest.raises(BocuError, match=r"^prior '0' is over no coordinates of a box, the problem 1"):
        MaximumLikelihood(Description(box, box, 0.1, "time-varying", priors=plain.priors), None, parameters, generator)
