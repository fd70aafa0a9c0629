"""`bocu.learners.algorithms.confidence` and what it shares: bounds, rules, contexts chosen, decisions recommended."""

import numpy as np
import pytest
from finite_games import (
    BOUNDED,
    CONTEXTS,
    DATA,
    DECISIONS,
    DISTANCES,
    REFERENCE,
    UNIFORM,
    ambiguity_set,
    announce,
    described,
    play,
    posterior_of,
    start,
)

from bocu.core.errors import BocuError
from bocu.core.rounds import Description
from bocu.learners.algorithms.confidence import UCBSO, UCBBOCU1Parameters, UCBBOCUTrueParameters
from bocu.robust.objectives.functions import (
    DistributionallyRobust,
    General,
    MeanRisk,
    Robust,
    Satisficing,
    Stochastic,
    WorstCaseSensitivity,
)
from bocu.robust.objectives.functions import UncertaintyObjective as U

SQRT_BETA = 1.7


def upper(data=DATA):
    mean, deviation = posterior_of(data)
    return mean + SQRT_BETA * deviation


def lower(data=DATA):
    mean, deviation = posterior_of(data)
    return mean - SQRT_BETA * deviation


def decide(name, objective=None, epsilon=0.3, reference=REFERENCE, **more):
    return start(name, objective, sqrt_beta=SQRT_BETA).ask(announce(1, epsilon, reference, **more))


def test_ucb_so_and_ro_rate_the_upper_bound():
    assert decide("ucb-so") == decide("ucb") == (upper() @ REFERENCE).argmax()
    assert decide("ucb-ro") == upper().min(axis=1).argmax()
    assert decide("ucb-so") != decide("ucb-ro")


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("epsilon", [0.05, 1.5])
def test_ucb_bocu_2_rates_the_upper_bound_by_the_exact_objective(distance, epsilon):
    for alpha, beta in ((1.0, 0.0), (1.0, 1.0), (0.5, 2.0)):
        rated = U.gen(ambiguity_set(distance, epsilon), alpha, beta)(upper(), REFERENCE)
        for difference in (None, 0.3):
            objective = U.gen(ambiguity_set(distance), alpha, beta, difference=difference)
            chosen = decide("ucb-bocu-2", objective, epsilon)
            assert rated[chosen] == pytest.approx(rated.max(), abs=1e-12)
    assert decide("drbo", U.dro(ambiguity_set(distance)), epsilon) == decide(
        "ucb-bocu-2", U.dro(ambiguity_set(distance)), epsilon
    )


@pytest.mark.parametrize("distance", DISTANCES)
def test_ucb_bocu_1_is_ucb_bocu_2_where_the_slope_has_no_weight(distance):
    for objective in (U.dro(ambiguity_set(distance)), U.gen(ambiguity_set(distance), 2.0, 0.0, difference=1e-3)):
        one = play(start("ucb-bocu-1", objective, data=()), 12)
        assert one == play(start("ucb-bocu-2", objective, data=()), 12)
        assert len(set(one)) > 1


@pytest.mark.parametrize("distance", DISTANCES)
def test_ucb_bocu_1_takes_the_slope_between_upper_and_lower_bound(distance):
    h = 0.2
    at = {e: U.dro(ambiguity_set(distance, e)) for e in (0.3, 0.3 + h)}
    now, later = at[0.3](upper(), REFERENCE), at[0.3 + h](upper(), REFERENCE)
    rated = 1.5 * now + 0.7 * (later - at[0.3](lower(), REFERENCE)) / h
    assert decide("ucb-bocu-1", U.gen(ambiguity_set(distance), 1.5, 0.7, difference=h)) == rated.argmax()


@pytest.mark.parametrize("weights", [(0.0, 1.0), (1.5, 0.7), (1.0, 0.0)])
def test_the_true_bound_is_the_worst_case_of_the_upper_and_the_largest_slope_between(weights):
    alpha, beta = weights
    chosen = decide("ucb-bocu-true", U.gen(ambiguity_set("tv"), alpha, beta, difference=1e-3))
    between = lower()[None] + np.random.default_rng(0).random((500, 1, 1)) * (upper() - lower())[None]
    best = np.maximum(lower(), upper().min(axis=1, keepdims=True))
    tv = ambiguity_set("tv", 0.3)
    largest = tv.values(best, REFERENCE)[1]
    assert (largest >= tv.values(between, REFERENCE)[1].max(axis=0) - 1e-12).all()
    rated = alpha * tv.values(upper(), REFERENCE)[0] + beta * largest
    assert rated[chosen] == pytest.approx(rated.max(), abs=1e-12)


def test_the_true_bound_needs_a_set_with_a_largest_slope():
    unfit = UCBBOCUTrueParameters().unfit
    for kind, given in (
        (DistributionallyRobust, {"set": "mmd"}),
        (General, {"set": "tv"}),
        (MeanRisk, {"set": "tv"}),
        (WorstCaseSensitivity, {"set": "tv"}),
    ):
        assert unfit("", kind.Parameters.model_validate(given)) == ""
    assert "take tv" in unfit("", General.Parameters.model_validate({"set": "mmd"}))
    assert "no slope" in unfit("", Satisficing.Parameters.model_validate({"set": "tv", "tau": 0.1}))
    with pytest.raises(BocuError, match="no largest slope between bounds"):
        decide("ucb-bocu-true", U.gen(ambiguity_set("mmd"), 1.0, 1.0))


@pytest.mark.parametrize("distance", BOUNDED)
def test_identities_between_objectives_are_identities_between_algorithms(distance):
    for difference in (None, 1e-3):
        for name in ("ucb-bocu-1", "ucb-bocu-2") if difference else ("ucb-bocu-2",):
            wcs = U.wcs(ambiguity_set(distance), difference=difference)
            gen = U.gen(ambiguity_set(distance), 0.0, 1.0, difference=difference)
            assert decide(name, wcs) == decide(name, gen, 0.0)
            mr = U.mr(ambiguity_set(distance), 0.6, difference=difference)
            assert decide(name, mr) == decide(
                name, U.gen(ambiguity_set(distance), 1.0, 0.6, difference=difference), 0.0
            )
            assert decide(name, U.mr(ambiguity_set(distance), 0.0, difference=difference)) == decide("ucb-so")
    assert decide("ucb-bocu-2", U.dro(ambiguity_set(distance)), 0.0) == decide("ucb-so")


@pytest.mark.parametrize("distance", [d for d in DISTANCES if d != "cvar"])
def test_while_nothing_was_seen_the_worst_context_counts(distance):
    for objective in (U.dro(ambiguity_set(distance)), U.gen(ambiguity_set(distance), 1.0, 1.0, difference=1e-3)):
        assert decide("ucb-bocu-2", objective, np.inf, UNIFORM) == decide("ucb-ro")
    assert decide("ucb-bocu-1", U.dro(ambiguity_set(distance)), np.inf, UNIFORM) == decide("ucb-ro")


@pytest.mark.parametrize(("name", "objective"), [("ucb-so", None), ("ucb-bocu-1", U.dro(ambiguity_set("mmd")))])
def test_only_what_is_available_is_chosen(name, objective):
    algorithm = start(name, objective)
    best = algorithm.ask(announce())
    others = np.delete(np.arange(len(DECISIONS)), best)
    second = algorithm.ask(announce(available=others))
    assert second in others
    assert algorithm.ask(announce(available=np.array(sorted([best, second])))) == best
    assert algorithm.ask(announce(available=np.array([4]))) == 4
    for wrong in (np.array([], dtype=int), np.array([0, 7])):
        with pytest.raises(BocuError, match="allowed: some of 0 to 6"):
            algorithm.ask(announce(available=wrong))


def test_ties_go_to_the_lowest_index():
    for name in ("ucb-so", "ucb-ro", "stableopt-finite"):
        algorithm = start(name, data=())
        assert algorithm.ask(announce()) == 0
        assert algorithm.ask(announce(available=np.array([3, 5]))) == 3


def test_the_radius_stays_where_none_is_announced():
    objective = U.dro(ambiguity_set("tv", 1.9))
    assert decide("ucb-bocu-2", objective, None) == decide("ucb-bocu-2", objective, 1.9)
    assert decide("ucb-bocu-2", objective, 0.0) != decide("ucb-bocu-2", objective, None)


def test_under_the_simulator_contexts_are_chosen_and_the_pessimistic_rule_recommends():
    objective = U.dro(ambiguity_set("tv"))
    world = np.random.default_rng(2)
    positions = set()
    for name, rate in (
        ("ucb-bocu-2", lambda low, epsilon: objective.with_epsilon(epsilon)(low, REFERENCE)),
        ("ucb-so", lambda low, epsilon: low @ REFERENCE),
        ("ts-bocu", lambda low, epsilon: objective.with_epsilon(epsilon)(low, REFERENCE)),
    ):
        algorithm = start(name, objective, "simulator", sqrt_beta=SQRT_BETA)
        data, iterates, values = list(DATA), [], []
        for t in range(1, 11):
            epsilon = 1.0 / t
            decision = algorithm.ask(announce(t, epsilon))
            iterates.append(decision)
            values.append(rate(lower(data)[decision], epsilon))
            context = algorithm.choose_context(decision, announce(t, epsilon))
            deviation = posterior_of(data)[1][decision]
            assert deviation[context] == pytest.approx(deviation.max())
            data.append((decision, context, float(world.normal())))
            algorithm.tell(*data[-1])
            report = algorithm.report()
            assert report["pessimistic_value"] == pytest.approx(values[-1], abs=1e-9)
            assert algorithm.recommend() == iterates[int(np.argmax(values))]
            positions.add(int(np.argmax(values)))
    assert len(positions) > 2


def test_under_the_simulator_only_what_was_asked_for_is_recommended():
    algorithm = start("ucb-so", protocol="simulator")
    assert algorithm.recommend() == 0
    asked = algorithm.ask(announce())
    algorithm.tell((asked + 1) % len(DECISIONS), 0, 5.0)
    assert algorithm.recommend() == 0
    assert np.isnan(algorithm.report()["pessimistic_value"])


def test_elsewhere_nothing_is_reported_and_the_best_lower_bound_recommended():
    objective = U.dro(ambiguity_set("mmd"))
    for name in ("ucb-bocu-1", "ts-bocu"):
        algorithm = start(name, objective, sqrt_beta=SQRT_BETA)
        assert algorithm.recommend() == 0
        decision = algorithm.ask(announce())
        algorithm.tell(decision, 1, 0.2)
        assert algorithm.report() == {}
        assert algorithm.reports == ()
        rated = objective.with_epsilon(0.3)(lower([*DATA, (decision, 1, 0.2)]), REFERENCE)
        assert algorithm.recommend() == rated.argmax()


@pytest.mark.parametrize("distance", DISTANCES)
def test_where_ucb_bocu_1_is_defined(distance):
    unfit = UCBBOCU1Parameters().unfit
    stated = {"set": {"name": distance, **DISTANCES[distance]}}
    difference = {"slope": {"difference": 1e-3}}
    fit = [(DistributionallyRobust, stated), (General, {**stated, "beta": 0.0}), (General, {**stated, **difference})]
    refused = [(Stochastic, {}), (Robust, {}), (Satisficing, {**stated, "tau": 0.0}), (General, stated)]
    if distance in BOUNDED:
        fit += [(kind, {**stated, **difference}) for kind in (MeanRisk, WorstCaseSensitivity)]
        fit += [(MeanRisk, {**stated, "beta": 0.0})]
        refused += [(MeanRisk, stated), (WorstCaseSensitivity, stated)]
    for kind, given in fit:
        assert unfit("", kind.Parameters.model_validate(given)) == ""
        objective = kind.from_specification(given).over(CONTEXTS)
        assert 0 <= start("ucb-bocu-1", objective).ask(announce()) < len(DECISIONS)
    for kind, given in refused:
        assert unfit("", kind.Parameters.model_validate(given))
        with pytest.raises(BocuError, match=r"^found"):
            start("ucb-bocu-1", kind.from_specification(given).over(CONTEXTS))


def test_misuse_is_one_line():
    without = described()
    with pytest.raises(BocuError, match=r"^finite decisions and contexts"):
        UCBSO(
            Description(without.decisions, without.contexts, 0.1, "general"),
            None,
            UCBSO.Parameters(),
            np.random.default_rng(0),
        )
    with pytest.raises(BocuError, match="an UncertaintyObjective is wanted"):
        start("ucb-bocu-2", None)
    with pytest.raises(BocuError, match="round 3: reference: none is announced"):
        start("ucb-so").ask(announce(3, reference=None))
