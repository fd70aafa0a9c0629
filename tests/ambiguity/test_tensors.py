"""Tensors in, tensors out, with envelope gradients."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ambiguity.cases import KINDS, make_set, random_instance  # noqa: E402
from bocu.robust.ambiguity import sampled_worst_case, worst_case  # noqa: E402
from bocu.robust.objectives.functions import UncertaintyObjective  # noqa: E402


def numeric_gradient(function, payoffs: np.ndarray, step: float = 1e-6) -> np.ndarray:
    gradient = np.zeros_like(payoffs)
    for index in np.ndindex(payoffs.shape):
        up, down = payoffs.copy(), payoffs.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (function(up).sum() - function(down).sum()) / (2 * step)
    return gradient


@pytest.mark.parametrize("kind", KINDS)
def test_values_agree_with_numpy_for_any_batch_shape(kind: str) -> None:
    contexts, payoffs, reference = random_instance(3, 6, 12, zeros=True)
    ambiguity_set = make_set(kind, 0.2, contexts)
    for shape in ((12,), (3, 4), (2, 3, 2)):
        array = payoffs.reshape(*shape, 6)
        plain, tensor = (
            worst_case(array, reference, ambiguity_set),
            worst_case(torch.tensor(array), reference, ambiguity_set),
        )
        for name in ("value", "distribution", "slope", "gap"):
            found = getattr(tensor, name)
            assert found.dtype == torch.float64
            np.testing.assert_array_equal(found.numpy(), getattr(plain, name))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 5])
def test_gradients_agree_with_differences(kind: str, seed: int) -> None:
    contexts, payoffs, reference = random_instance(seed, 7, 3)
    payoffs = (payoffs - payoffs.mean()) / payoffs.std()
    ambiguity_set = make_set(kind, 0.15, contexts)
    tau = float((payoffs @ reference).min()) - 0.05
    objectives = [
        UncertaintyObjective.so(),
        UncertaintyObjective.ro(),
        UncertaintyObjective.dro(ambiguity_set),
        UncertaintyObjective.gen(ambiguity_set, 0.5, 0.2),
        UncertaintyObjective.gen(ambiguity_set, 1.0, 1.0, difference=0.01),
        UncertaintyObjective.wcs(ambiguity_set),
        UncertaintyObjective.rs(ambiguity_set, tau),
    ]
    for objective in objectives:
        tensor = torch.tensor(payoffs, requires_grad=True)
        value = objective(tensor, reference)
        np.testing.assert_allclose(value.detach().numpy(), objective(payoffs, reference), rtol=1e-12, atol=1e-12)
        if torch.isfinite(value).all():
            value.sum().backward()
            expected = numeric_gradient(lambda f, o=objective: o(f, reference), payoffs)
            np.testing.assert_allclose(tensor.grad.numpy(), expected, rtol=1e-4, atol=2e-5)


def test_single_precision_becomes_double() -> None:
    ambiguity_set = make_set("tv", 0.2, np.zeros((2, 1)))
    answer = worst_case(torch.tensor([0.0, 1.0]), torch.tensor([0.5, 0.5]), ambiguity_set)
    assert answer.value.dtype == torch.float64


def test_sampled_gradient_has_the_term_of_the_infimum() -> None:
    samples = torch.tensor([[0.3, 1.2, -0.4, 0.9]], dtype=torch.float64, requires_grad=True)
    infimum = torch.tensor([-1.0], dtype=torch.float64, requires_grad=True)
    answer = sampled_worst_case(samples, infimum, 0.6)
    answer.value.sum().backward()
    assert infimum.grad.item() == pytest.approx(0.3)
    assert samples.grad.numpy()[0] == pytest.approx([0.25, 0.0, 0.25, 0.2])
    plain = sampled_worst_case(samples.detach().numpy(), infimum.detach().numpy(), 0.6)
    assert answer.value.item() == pytest.approx(plain.value[0], abs=1e-15)


def test_sampled_infimum_above_a_sample_gives_its_gradient_to_the_sample() -> None:
    samples = torch.tensor([0.5, -2.0, 1.0, 0.0], dtype=torch.float64, requires_grad=True)
    answer = sampled_worst_case(samples, 0.0, 0.5)
    answer.value.backward()
    assert samples.grad.numpy() == pytest.approx([0.25, 0.5, 0.0, 0.25])
