"""`bocu.learners.algorithms.confidence`: decisions by approximations of the worst expectation."""

import numpy as np
import pytest
from finite_games import CONTEXTS, DISTANCES, REFERENCE, UNIFORM, ambiguity_set, announce, posterior_of, start

from bocu.core.errors import BocuError
from bocu.learners.algorithms.confidence import Approximation, ApproximationParameters
from bocu.robust.ambiguity.approximations import linearised, minimax_approximation
from bocu.robust.objectives.functions import DistributionallyRobust, General
from bocu.robust.objectives.functions import UncertaintyObjective as U

APPROXIMATED = ("tv", "mmd", "wass", "chi2", "chi2mod")
NAMES = ("sensitivity-approximation", "minimax-approximation")
SQRT_BETA = 1.3


def upper():
    mean, deviation = posterior_of()
    return mean + SQRT_BETA * deviation


def decide(name, distance, epsilon, reference=REFERENCE, **parameters):
    objective = U.dro(ambiguity_set(distance))
    return start(name, objective, sqrt_beta=SQRT_BETA, **parameters).ask(announce(1, epsilon, reference))


def sensitivity(payoffs, distance):
    """Written out from Tay et al. (2022); every context has mass."""
    low, high = payoffs.min(axis=1), payoffs.max(axis=1)
    mean = payoffs @ REFERENCE
    variance = (payoffs - mean[:, None]) ** 2 @ REFERENCE
    if distance == "tv":
        return (high - low) / 2
    if distance == "wass":
        cost = np.linalg.norm(CONTEXTS[:, None] - CONTEXTS[None], axis=2)
        rises = payoffs[:, :, None] - payoffs[:, None, :]
        return np.divide(rises, cost, out=np.zeros_like(rises), where=cost > 0.0).max(axis=(1, 2))
    if distance == "mmd":
        inverse = np.linalg.inv(ambiguity_set("mmd").gram)
        centre = (payoffs @ inverse).sum(axis=1) / inverse.sum()
        return np.sqrt(np.einsum("bi,ij,bj->b", payoffs, inverse, payoffs - centre[:, None]))
    return np.sqrt(variance if distance == "chi2" else 2 * variance)


@pytest.mark.parametrize("distance", APPROXIMATED)
@pytest.mark.parametrize("epsilon", [0.01, 0.5])
def test_the_linearisation_of_the_upper_bound_decides(distance, epsilon):
    s = np.sqrt(epsilon) if distance.startswith("chi2") else epsilon
    rated = upper() @ REFERENCE - s * sensitivity(upper(), distance)
    assert decide("sensitivity-approximation", distance, epsilon) == rated.argmax()
    np.testing.assert_allclose(
        Approximation(linearised, ambiguity_set(distance, epsilon), False)(upper(), REFERENCE), rated, atol=1e-9
    )


@pytest.mark.parametrize("distance", APPROXIMATED)
@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_the_minimax_approximation_lies_beside_the_exact_value(distance, epsilon):
    exact = U.dro(ambiguity_set(distance, epsilon))(upper(), REFERENCE)
    line = Approximation(linearised, ambiguity_set(distance, epsilon), False)(upper(), REFERENCE)
    approximated = Approximation(minimax_approximation, ambiguity_set(distance, epsilon), False)(upper(), REFERENCE)
    floor = np.maximum(line, upper().min(axis=1))
    assert (floor <= exact + 1e-9).all()
    # It is the middle between the lower line and an upper one, the exact value lies between the two.
    assert (np.abs(approximated - exact) <= approximated - floor + 1e-9).all()
    assert decide("minimax-approximation", distance, epsilon) == approximated.argmax()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("distance", APPROXIMATED)
def test_both_ends_are_exact(name, distance):
    assert decide(name, distance, 0.0) == (upper() @ REFERENCE).argmax()
    assert decide(name, distance, np.inf, UNIFORM) == upper().min(axis=1).argmax()


@pytest.mark.parametrize("name", NAMES)
def test_the_identity_may_stand_in_for_the_gram_matrix(name):
    payoffs = upper()
    steep = np.sqrt(((payoffs - payoffs.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))
    line = payoffs @ REFERENCE - 0.2 * steep
    found = Approximation(linearised, ambiguity_set("mmd", 0.2), True)(payoffs, REFERENCE)
    np.testing.assert_allclose(found, line, atol=1e-9)
    kind = linearised if name == NAMES[0] else minimax_approximation
    rated = Approximation(kind, ambiguity_set("mmd", 0.2), True)(payoffs, REFERENCE)
    assert decide(name, "mmd", 0.2, sensitivity="identity") == rated.argmax()
    assert not np.allclose(rated, Approximation(kind, ambiguity_set("mmd", 0.2), False)(payoffs, REFERENCE))


@pytest.mark.parametrize("distance", DISTANCES)
def test_where_they_are_defined(distance):
    stated = {"set": {"name": distance, **DISTANCES[distance]}}
    pursued = DistributionallyRobust.Parameters.model_validate(stated)
    exact, identity = (ApproximationParameters(sensitivity=kind) for kind in ("exact", "identity"))
    assert bool(exact.unfit("dro", pursued)) == (distance not in APPROXIMATED)
    assert bool(identity.unfit("dro", pursued)) == (distance != "mmd")
    assert exact.unfit("gen", General.Parameters.model_validate({**stated, "slope": "exact"}))


def test_another_objective_is_refused():
    with pytest.raises(BocuError, match="DRO is wanted"):
        start("minimax-approximation", U.gen(ambiguity_set("tv"), 1.0, 1.0))
    with pytest.raises(BocuError, match="DRO is wanted"):
        start("sensitivity-approximation", U.so())
