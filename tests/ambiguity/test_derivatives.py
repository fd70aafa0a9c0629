"""Derivatives of worst cases, slopes and robust satisficing in reference and radius, against differences."""

from collections.abc import Callable

import numpy as np
import pytest
from own_divergences import MODIFIED_CHI_SQUARED

from ambiguity.cases import KINDS, make_set, random_instance
from bocu.core.errors import BocuError
from bocu.robust.ambiguity import AmbiguitySet, PhiDivergence, TotalVariation
from bocu.robust.ambiguity.derivatives import EVERYTHING, Differential, In, satisficing, value_and_slope
from bocu.robust.objectives.functions import UncertaintyObjective

STEP = 1e-6
EVERY_KIND = (*KINDS, "own")
WITH_RADIUS = tuple(kind for kind in EVERY_KIND if kind != "cvar")


def built(kind: str, epsilon: float, contexts: np.ndarray) -> AmbiguitySet:
    return PhiDivergence(epsilon, *MODIFIED_CHI_SQUARED) if kind == "own" else make_set(kind, epsilon, contexts)


def instance(seed: int, *, zeros: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    contexts, payoffs, reference = random_instance(seed, 6, 3, zeros=zeros)
    return contexts, (payoffs - payoffs.mean()) / payoffs.std(), reference


def along_the_simplex(values: Callable[[np.ndarray], np.ndarray], reference: np.ndarray) -> np.ndarray:
    """Differences `(..., n)` of values as mass of context i grows at the cost of all others, weighed by them."""
    columns = []
    for i in range(len(reference)):
        step = STEP * (np.eye(len(reference))[i] - reference)
        columns.append((values(reference + step) - values(reference - step)) / (2 * STEP))
    return np.stack(columns, axis=-1)


def assert_derivatives(
    found: Differential, values: Callable[[np.ndarray, float], np.ndarray], reference: np.ndarray, epsilon: float
) -> None:
    assert found.reference is not None
    assert found.radius is not None
    scale = max(1.0, float(np.abs(found.reference).max()))
    # Of the gradients that differ by a constant, the one whose mean is the value.
    np.testing.assert_allclose(found.reference @ reference, found.value, rtol=1e-9, atol=1e-9 * scale)
    expected = along_the_simplex(lambda p: values(p, epsilon), reference)
    own = found.reference - found.value[..., None]
    np.testing.assert_allclose(own, expected, rtol=1e-4, atol=2e-5 * scale)
    ahead, behind = values(reference, epsilon + STEP), values(reference, epsilon - STEP)
    np.testing.assert_allclose(found.radius, (ahead - behind) / (2 * STEP), rtol=1e-4, atol=2e-5 * scale)


@pytest.mark.parametrize("kind", WITH_RADIUS)
@pytest.mark.parametrize("epsilon", [0.03, 0.2, 0.7])
def test_value_and_slope_follow_reference_and_radius(kind: str, epsilon: float) -> None:
    contexts, payoffs, reference = instance(2)
    found = value_and_slope(built(kind, epsilon, contexts), payoffs, reference, EVERYTHING, with_slope=True)
    for index, differential in enumerate(found):
        assert differential is not None
        assert_derivatives(
            differential, lambda p, e, i=index: built(kind, e, contexts).values(payoffs, p)[i], reference, epsilon
        )


def test_conditional_value_at_risk_follows_the_reference() -> None:
    contexts, payoffs, reference = instance(2)
    ambiguity_set = built("cvar", 0.7, contexts)
    value, slope = value_and_slope(ambiguity_set, payoffs, reference, EVERYTHING, with_slope=True)
    assert_derivatives(value, lambda p, _: ambiguity_set.values(payoffs, p)[0], reference, 0.7)
    assert slope is not None
    assert not any(part.any() for part in (slope.value, slope.payoffs, slope.reference, slope.radius))


@pytest.mark.parametrize("kind", WITH_RADIUS)
def test_robust_satisficing_follows_the_reference(kind: str) -> None:
    contexts, payoffs, reference = instance(4)
    ambiguity_set = built(kind, 0.2, contexts)
    tau = 0.5 * (payoffs.min(axis=1) + payoffs @ reference)
    found = satisficing(ambiguity_set, payoffs, reference, tau, EVERYTHING)
    assert (found.value < 0.0).all()
    assert_derivatives(found, lambda p, e: ambiguity_set.satisficing(payoffs, p, tau), reference, 0.2)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_at_radius_zero_the_gradient_is_that_of_the_expectation(kind: str) -> None:
    contexts, payoffs, reference = instance(1)
    ambiguity_set = built(kind, 0.0, contexts)
    value, _ = value_and_slope(ambiguity_set, payoffs, reference, In(radius=False), with_slope=False)
    np.testing.assert_allclose(value.reference, payoffs, atol=1e-12)


@pytest.mark.parametrize("kind", WITH_RADIUS)
def test_at_the_floor_no_reference_nor_radius_matters(kind: str) -> None:
    contexts, payoffs, reference = instance(1)
    value, slope = value_and_slope(built(kind, 1e9, contexts), payoffs, reference, EVERYTHING, with_slope=True)
    assert slope is not None
    np.testing.assert_allclose(value.value, payoffs.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(value.reference, np.broadcast_to(value.value[:, None], payoffs.shape), atol=1e-9)
    assert not np.any(slope.radius)
    assert not np.any(slope.reference)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_contexts_without_mass_have_finite_gradients(kind: str) -> None:
    contexts, payoffs, reference = instance(3, zeros=True)
    assert (reference == 0.0).any()
    for epsilon in (0.0, 0.2):
        ambiguity_set = built(kind, epsilon, contexts)
        value, slope = value_and_slope(ambiguity_set, payoffs, reference, In(radius=False), with_slope=True)
        assert np.isfinite(value.reference).all()
        assert slope is not None
        assert np.isfinite(slope.reference).all()
        if not ambiguity_set.leaves_support:  # nothing depends on them
            alone = np.broadcast_to(value.value[:, None], payoffs.shape)[:, reference == 0.0]
            np.testing.assert_array_equal(value.reference[:, reference == 0.0], alone)


def test_a_transport_set_follows_mass_that_may_move_free_of_charge() -> None:
    contexts = np.array([[0.0], [0.0], [1.0]])
    ambiguity_set = make_set("wass", 0.0, contexts)
    value, _ = value_and_slope(ambiguity_set, [2.0, 1.0, 5.0], [0.4, 0.2, 0.4], In(), with_slope=False)
    assert value.value == pytest.approx(0.6 * 1.0 + 0.4 * 5.0)
    np.testing.assert_allclose(value.reference, [1.0, 1.0, 5.0])


def test_references_of_their_own_give_each_row_its_gradient() -> None:
    contexts, payoffs, reference = instance(5)
    others = np.stack([reference, np.roll(reference, 1), np.full(6, 1 / 6)])
    for kind in KINDS:
        ambiguity_set = built(kind, 0.2, contexts)
        together, _ = value_and_slope(ambiguity_set, payoffs, others, EVERYTHING, with_slope=False)
        for row, p in enumerate(others):
            alone, _ = value_and_slope(ambiguity_set, payoffs[row], p, EVERYTHING, with_slope=False)
            np.testing.assert_allclose(together.reference[row], alone.reference, rtol=1e-9, atol=1e-12)


class Blind(TotalVariation):
    """A set that says nothing of how it depends on the reference."""

    linear_in_pieces = False
    _in_reference = AmbiguitySet._in_reference


def test_a_set_that_does_not_know_a_derivative_says_so() -> None:
    blind = Blind(0.2)
    value, _ = value_and_slope(blind, [0.0, 1.0], [0.5, 0.5], In(reference=False), with_slope=False)
    np.testing.assert_allclose(value.payoffs, [0.6, 0.4])
    with pytest.raises(BocuError, match="Blind has no gradient in the reference"):
        value_and_slope(blind, [0.0, 1.0], [0.5, 0.5], In(), with_slope=False)
    with pytest.raises(BocuError, match="the slope of Blind has no gradient in the reference and the radius"):
        UncertaintyObjective.gen(blind, 1.0, 1.0).differential([0.0, 1.0], [0.5, 0.5], In(reference=False))


@pytest.mark.parametrize("kind", ["tv", "mmd", "kl"])
def test_only_what_is_wanted_is_there(kind: str) -> None:
    contexts, payoffs, reference = instance(6)
    objective = UncertaintyObjective.gen(built(kind, 0.2, contexts), 1.0, 0.5)
    whole = objective.differential(payoffs, reference)
    for wanted in (In(True, False, False), In(False, True, False), In(False, False, True), In(False, False, False)):
        part = objective.differential(payoffs, reference, wanted)
        np.testing.assert_array_equal(part.value, whole.value)
        for name, is_wanted in wanted._asdict().items():
            if is_wanted:
                np.testing.assert_array_equal(getattr(part, name), getattr(whole, name))
            else:
                assert getattr(part, name) is None
