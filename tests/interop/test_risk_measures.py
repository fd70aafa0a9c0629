"""Our sets and objectives as BoTorch's risk measures: what they are worth, and how they take gradients."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from ambiguity.cases import KINDS, make_set, random_instance
from botorch.acquisition import qUpperConfidenceBound
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import LinearMCObjective, ScalarizedPosteriorTransform
from botorch.acquisition.risk_measures import CVaR, Expectation, RiskMeasureMCObjective, WorstCase
from botorch.exceptions.errors import UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import AppendFeatures
from botorch.models.transforms.outcome import Standardize
from botorch.optim import optimize_acqf
from botorch.posteriors import GPyTorchPosterior
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.distributions import MultivariateNormal
from own_divergences import MODIFIED_CHI_SQUARED

from bocu.core.errors import BocuError
from bocu.interop.botorch import RobustMeasure, RobustUpperConfidenceBound, tail_level
from bocu.interop.cvxpy import Intersection
from bocu.robust.ambiguity import (
    AmbiguitySet,
    ConditionalValueAtRisk,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    PhiDivergence,
    TotalVariation,
    squared_exponential_gram,
)
from bocu.robust.objectives import UncertaintyObjective

N_W = 6


def every_set(epsilon: float = 0.15) -> dict[str, AmbiguitySet]:
    contexts, _, _ = random_instance(0, N_W)
    return {kind: make_set(kind, epsilon, contexts) for kind in KINDS} | {
        "own": PhiDivergence(epsilon, *MODIFIED_CHI_SQUARED)
    }


def every_objective() -> dict[str, UncertaintyObjective]:
    objectives = {"so": UncertaintyObjective.so(), "ro": UncertaintyObjective.ro()}
    for kind, ambiguity_set in every_set().items():
        objectives[f"dro-{kind}"] = UncertaintyObjective.dro(ambiguity_set)
    for kind in ("mmd", "cvar"):
        objectives[f"gen-{kind}"] = UncertaintyObjective.gen(every_set()[kind], 0.5, 0.2)
    for kind in ("tv", "kl"):
        objectives[f"rs-{kind}"] = UncertaintyObjective.rs(every_set()[kind], -0.3)
    objectives["mr-wass"] = UncertaintyObjective.mr(every_set()["wass"], 0.3)
    objectives["difference"] = UncertaintyObjective.gen(TotalVariation(0.2), 1.0, 1.0, difference=0.01)
    return objectives


OBJECTIVES = every_objective()


def payoffs_of(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Samples `(..., q n_w, 1)`."""
    return torch.randn(*shape, 1, dtype=dtype, generator=torch.Generator().manual_seed(4))


def a_reference() -> torch.Tensor:
    return torch.tensor(random_instance(1, N_W)[2])


@pytest.mark.parametrize("n_w", [1, 10, 1024])
def test_expectation_and_worst_case_are_those_of_botorch(n_w: int) -> None:
    samples = payoffs_of(5, 3, 2 * n_w)
    for ours, theirs in (
        (UncertaintyObjective.so(), Expectation(n_w=n_w)),
        (UncertaintyObjective.ro(), WorstCase(n_w=n_w)),
        (TotalVariation(0.0), Expectation(n_w=n_w)),
        (TotalVariation(2.0), WorstCase(n_w=n_w)),
    ):
        torch.testing.assert_close(RobustMeasure(ours, n_w=n_w)(samples), theirs(samples), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("n_w", [1, 10, 1024])
@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.9, 1.0])
def test_conditional_value_at_risk_is_that_of_botorch_at_the_level_that_it_averages(n_w: int, alpha: float) -> None:
    samples = payoffs_of(5, 3, 2 * n_w)
    ours = RobustMeasure(ConditionalValueAtRisk(tail_level(alpha, n_w)), n_w=n_w)
    torch.testing.assert_close(ours(samples), CVaR(alpha, n_w=n_w)(samples), rtol=0.0, atol=1e-9)


def test_botorch_averages_one_sample_more_than_the_tail() -> None:
    samples = torch.arange(1.0, 11.0, dtype=torch.float64)[:, None]
    assert CVaR(0.9, n_w=10)(samples).item() == 1.5
    assert RobustMeasure(ConditionalValueAtRisk(0.1), n_w=10)(samples).item() == pytest.approx(1.0, abs=1e-12)
    assert tail_level(0.9, 10) == pytest.approx(0.2)
    for alpha in (0.0, 1.5):
        with pytest.raises(BocuError, match="alpha is"):
            tail_level(alpha, 10)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_values_are_those_of_the_objective_for_any_batch(name: str) -> None:
    objective, reference = OBJECTIVES[name], a_reference()
    measure = RobustMeasure(objective, reference=reference)
    for shape in ((2 * N_W,), (4, 3 * N_W), (3, 2, N_W), (2, 3, 2, 2 * N_W)):
        samples = payoffs_of(*shape)
        rows = samples.numpy().reshape(*shape[:-1], -1, N_W)
        found = measure(samples)
        assert found.shape == rows.shape[:-1]
        np.testing.assert_allclose(found.numpy(), objective(rows, reference.numpy()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients_to_payoffs_reference_and_radius(name: str) -> None:
    objective = OBJECTIVES[name]
    samples = payoffs_of(2, N_W).requires_grad_()
    logits = a_reference().log().requires_grad_()
    radius = torch.tensor(0.15, dtype=torch.float64, requires_grad=True)

    def value(samples: torch.Tensor, logits: torch.Tensor, *radius: torch.Tensor) -> torch.Tensor:
        return RobustMeasure(objective, reference=logits.softmax(-1), radius=radius[0] if radius else None)(samples)

    with_radius = (radius,) if objective.has_radius else ()
    assert torch.isfinite(value(samples, logits)).all()
    assert torch.autograd.gradcheck(value, (samples, logits, *with_radius), atol=1e-5, rtol=1e-4)


def test_radius_and_reference_are_learnt() -> None:
    measure = RobustMeasure(
        KullbackLeibler(1.0),
        reference=torch.nn.Parameter(a_reference()),
        radius=torch.nn.Parameter(torch.tensor(0.5)),
    )
    assert {name for name, _ in measure.named_parameters()} == {"reference", "radius"}
    samples = payoffs_of(4, N_W)
    measure(samples).sum().backward()
    assert measure.radius.grad < 0.0
    within = measure.reference.grad @ measure.reference.detach()
    torch.testing.assert_close(within, measure(samples).sum().detach())
    fixed = RobustMeasure(KullbackLeibler(0.5), reference=a_reference())
    torch.testing.assert_close(measure(samples).detach(), fixed(samples))
    assert not list(fixed.parameters())


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if "own" not in name])
def test_single_precision_in_single_precision_out(name: str) -> None:
    measure = RobustMeasure(OBJECTIVES[name], reference=a_reference())
    samples = payoffs_of(3, 2 * N_W)
    single = samples.float().requires_grad_()
    found = measure(single)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), measure(single.detach().double()), rtol=1e-6, atol=1e-6)
    found.sum().backward()
    assert single.grad.dtype == torch.float32
    cast = measure.to(torch.float32)  # the sum of a reference in single precision misses 1 by its rounding
    torch.testing.assert_close(cast(single), found, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if "own" not in name])
def test_vmap_over_samples_and_references(name: str) -> None:
    measure = RobustMeasure(OBJECTIVES[name], reference=a_reference())
    samples = payoffs_of(4, 3, 2 * N_W).requires_grad_()
    whole = measure(samples)
    (expected,) = torch.autograd.grad(whole.sum(), samples)
    for dimension in (0, 1):
        mapped = torch.vmap(measure, in_dims=dimension, out_dims=dimension)(samples)
        torch.testing.assert_close(mapped, whole)
        torch.testing.assert_close(torch.autograd.grad(mapped.sum(), samples)[0], expected)
    inside = torch.func.vmap(torch.func.grad(lambda each: measure(each).sum()))(samples.detach())
    torch.testing.assert_close(inside, expected)
    jacobian = torch.func.jacrev(measure)(samples.detach()[0, 0])
    torch.testing.assert_close(jacobian.sum(dim=0), expected[0, 0])

    references = torch.stack([a_reference(), a_reference().flip(0)])
    at_each = torch.vmap(lambda p: torch.func.functional_call(measure, {"reference": p}, (samples.detach(),)))
    for found, reference in zip(at_each(references), references, strict=True):
        alone = RobustMeasure(OBJECTIVES[name], reference=reference)(samples.detach())
        torch.testing.assert_close(found, alone)


def test_radii_are_not_mapped() -> None:
    samples = payoffs_of(N_W)
    measure = RobustMeasure(TotalVariation(0.3), n_w=N_W, radius=torch.tensor(0.3))
    with pytest.raises(BocuError, match=r"torch\.vmap over radii: a set has one radius"):
        torch.vmap(lambda r: torch.func.functional_call(measure, {"radius": r}, (samples,)))(torch.rand(3))


def test_gradients_of_gradients_are_refused() -> None:
    samples = payoffs_of(N_W).requires_grad_()
    value = RobustMeasure(KullbackLeibler(0.3), n_w=N_W)(samples)
    (gradient,) = torch.autograd.grad(value.square().sum(), samples, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.square().sum().backward()


def test_many_rows_are_solved_as_one_by_one() -> None:
    samples = payoffs_of(300, 2 * 512).requires_grad_()
    measure = RobustMeasure(KullbackLeibler(0.3), n_w=512)
    whole = measure(samples)
    whole.sum().backward()
    for row in (0, 150, 299):
        alone = samples.detach()[row].requires_grad_()
        measure(alone).sum().backward()
        torch.testing.assert_close(measure(alone), whole[row], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(alone.grad, samples.grad[row], rtol=1e-10, atol=1e-14)


def test_several_outputs_are_made_one_first() -> None:
    samples = torch.randn(4, 2 * N_W, 2, dtype=torch.float64)
    weights = torch.tensor([0.3, 0.7], dtype=torch.float64)
    measure = RobustMeasure(TotalVariation(0.3), n_w=N_W, preprocessing_function=LinearMCObjective(weights))
    expected = RobustMeasure(TotalVariation(0.3), n_w=N_W)((samples @ weights)[..., None])
    torch.testing.assert_close(measure(samples), expected)
    with pytest.raises(RuntimeError, match="scalarized"):
        RobustMeasure(TotalVariation(0.3), n_w=N_W)(samples)


def test_the_expectation_is_a_posterior_transform() -> None:
    reference = a_reference()
    root = torch.randn(2 * N_W, 2 * N_W, dtype=torch.float64)
    mean, covariance = torch.randn(2 * N_W, dtype=torch.float64), root @ root.T + torch.eye(2 * N_W)
    posterior = GPyTorchPosterior(MultivariateNormal(mean, covariance))
    transformed = RobustMeasure(UncertaintyObjective.so(), reference=reference).posterior_transform()(posterior)
    weights = torch.block_diag(reference, reference)
    torch.testing.assert_close(transformed.mean.squeeze(-1), weights @ mean, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(transformed.covariance_matrix, weights @ covariance @ weights.T)
    with pytest.raises(BocuError, match="not linear in the payoffs: only SO"):
        RobustMeasure(TotalVariation(0.3), n_w=N_W).posterior_transform()


def test_samples_on_which_nothing_can_be_solved_are_refused() -> None:
    with pytest.raises(BocuError, match="must be finite"):
        RobustMeasure(TotalVariation(0.3), n_w=2)(torch.tensor([[0.0], [float("nan")]]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "n_w is None: give a number of contexts"),
        ({"n_w": 0}, "n_w is 0"),
        ({"n_w": 2, "reference": torch.tensor([0.5, 0.5])}, "and n_w left out"),
        ({"reference": [0.5, 0.5]}, "it must be a tensor"),
        ({"reference": torch.tensor([[0.5, 0.5]])}, "it must be a tensor"),
        ({"reference": torch.tensor([0.5, 0.6])}, "sums to 1.1"),
        ({"reference": torch.tensor([1.5, -0.5])}, r"reference\[1\] is -0.5"),
    ],
)
def test_references_that_are_none_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(BocuError, match=message):
        RobustMeasure(TotalVariation(0.3), **arguments)


def test_a_radius_is_refused_where_none_matters() -> None:
    for objective in (UncertaintyObjective.so(), UncertaintyObjective.wcs(TotalVariation(0.3))):
        with pytest.raises(BocuError, match=r"radius is 0\.2: the values of .* depend on none"):
            RobustMeasure(objective, n_w=3, radius=0.2)
    with pytest.raises(BocuError, match="payoffs has 4 contexts"):
        RobustMeasure(every_set()["mmd"], n_w=4)


@pytest.mark.parametrize("acquisition", [qUpperConfidenceBound, qLogNoisyExpectedImprovement])
@pytest.mark.parametrize("kind", ["tv", "mmd", "kl"])
def test_acquisitions_are_optimised_over_every_set(acquisition: type, kind: str) -> None:
    contexts, _, _ = random_instance(0, N_W)
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(12, 3, dtype=torch.float64, generator=generator)
    payoffs = -((inputs[:, :1] - 0.3) ** 2) - 0.5 * inputs[:, :1] * inputs[:, 1:2]
    spread = AppendFeatures(feature_set=torch.tensor(contexts))
    model = SingleTaskGP(inputs, payoffs, input_transform=spread).eval()
    measure = RobustMeasure(every_set()[kind], reference=a_reference())
    sampler = SobolQMCNormalSampler(torch.Size([16]), seed=0)
    given = {"beta": 4.0} if acquisition is qUpperConfidenceBound else {"X_baseline": inputs[:4, :1]}
    built = acquisition(model, sampler=sampler, objective=measure, **given)
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    torch.manual_seed(0)
    options = {"maxiter": 20}
    decision, best = optimize_acqf(built, bounds, q=1, num_restarts=2, raw_samples=8, options=options)
    around = torch.linspace(0.0, 1.0, 33, dtype=torch.float64)[:, None, None]
    with torch.no_grad():
        assert best >= built(around).max() - 1e-3
    assert 0.0 <= decision.item() <= 1.0


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, bocu, bocu.interop.botorch as bridge\n"
        "import bocu.sweep.experiment.planning, bocu.commands.main\n"
        "assert 'RobustMeasure' in dir(bridge)\n"
        "assert not {'botorch', 'gpytorch', 'torch'} & set(sys.modules)\n"
        "bridge.RobustMeasure\n"
        "assert 'botorch' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)


def test_sets_by_cvxpy_take_part_with_gradients_to_samples() -> None:
    samples = payoffs_of(2, N_W).requires_grad_()
    exact = TotalVariation(0.3)
    by_cvxpy = RobustMeasure(Intersection(1.0, [exact]), n_w=N_W)
    found, expected = by_cvxpy(samples), RobustMeasure(exact, n_w=N_W)(samples)
    torch.testing.assert_close(found, expected, rtol=0.0, atol=1e-7)
    one, other = (torch.autograd.grad(value.sum(), samples)[0] for value in (found, expected))
    torch.testing.assert_close(one, other, rtol=0.0, atol=1e-5)
    with pytest.raises(BocuError, match="Intersection has no gradient in the reference"):
        RobustMeasure(Intersection(1.0, [exact]), reference=a_reference().requires_grad_())


CONTEXTS = torch.linspace(0.0, 1.0, 9, dtype=torch.float64)[:, None]
BOUNDS = torch.tensor([[0.0], [1.0]], dtype=torch.float64)


def model(outputs: int = 1) -> SingleTaskGP:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(24, 2, dtype=torch.float64, generator=generator)
    risky = torch.sin(5.0 * inputs[:, :1]) - 3.0 * inputs[:, :1] * (inputs[:, 1:] > 0.8)
    payoffs = torch.cat([risky * (1 + each) for each in range(outputs)], dim=1)
    spread = AppendFeatures(feature_set=CONTEXTS)
    return SingleTaskGP(inputs, payoffs, input_transform=spread, outcome_transform=Standardize(m=outputs)).eval()


MEASURES = {
    "tv": RobustMeasure(TotalVariation(0.4), n_w=9),
    "kl": RobustMeasure(KullbackLeibler(0.2), n_w=9),
    "mmd": RobustMeasure(MaximumMeanDiscrepancy(0.2, squared_exponential_gram(CONTEXTS.numpy(), 0.2)), n_w=9),
    "gen": RobustMeasure(UncertaintyObjective.gen(KullbackLeibler(0.2), 1.0, 0.3), n_w=9),
    "so": RobustMeasure(UncertaintyObjective.so(), n_w=9),
    "cvar-of-botorch": CVaR(0.7, n_w=9),
}


@pytest.mark.parametrize("sqrt_beta", [0.0, 1.5, -1.0])
@pytest.mark.parametrize("name", MEASURES)
def test_upper_bounds_are_the_measure_of_mean_plus_deviations(name: str, sqrt_beta: float) -> None:
    gp, measure = model(), MEASURES[name]
    decisions = torch.rand(2, 3, 1, 1, dtype=torch.float64)
    found = RobustUpperConfidenceBound(gp, measure, sqrt_beta)(decisions)
    assert found.shape == (2, 3)
    for index in torch.cartesian_prod(torch.arange(2), torch.arange(3)):
        decision = decisions[tuple(index)]
        posterior = gp.posterior(decision)  # spread over contexts by the model
        bounds = posterior.mean + sqrt_beta * posterior.variance.sqrt()
        torch.testing.assert_close(found[tuple(index)], measure(bounds)[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_gradients_of_upper_bounds_to_decisions(name: str) -> None:
    acquisition = RobustUpperConfidenceBound(model(), MEASURES[name], 1.5)
    decisions = torch.tensor([[[0.21]], [[0.73]]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(acquisition, (decisions,), atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("name", MEASURES)
def test_upper_bounds_are_maximised_by_botorch(name: str) -> None:
    acquisition = RobustUpperConfidenceBound(model(), MEASURES[name], 1.5)
    torch.manual_seed(0)
    decision, best = optimize_acqf(acquisition, BOUNDS, q=1, num_restarts=4, raw_samples=16)
    with torch.no_grad():
        values = acquisition(torch.linspace(0.0, 1.0, 401, dtype=torch.float64)[:, None, None])
    assert best >= values.max() - 1e-4
    assert (acquisition(decision) - best).abs() < 1e-9


def test_the_robust_decision_is_another_and_safer() -> None:
    chosen = {}
    for name in ("so", "cvar-of-botorch", "tv"):
        acquisition = RobustUpperConfidenceBound(model(), MEASURES[name], 0.0)
        torch.manual_seed(0)
        chosen[name], _ = optimize_acqf(acquisition, BOUNDS, q=1, num_restarts=4, raw_samples=16)
    worst = {name: model().posterior(decision).mean.min().item() for name, decision in chosen.items()}
    assert worst["tv"] > worst["so"]


def test_models_over_other_contexts_are_refused() -> None:
    acquisition = RobustUpperConfidenceBound(model(), RobustMeasure(TotalVariation(0.4), n_w=5), 1.5)
    with pytest.raises(BocuError, match="has 9 points, the measure 5 contexts: give the model the input transform"):
        acquisition(torch.rand(2, 1, 1, dtype=torch.float64))


def test_several_outputs_of_a_model_are_made_one_first() -> None:
    measure: RiskMeasureMCObjective = MEASURES["tv"]
    with pytest.raises(UnsupportedError):
        RobustUpperConfidenceBound(model(outputs=2), measure, 1.5)
    first = ScalarizedPosteriorTransform(torch.tensor([1.0, 0.0], dtype=torch.float64))
    decisions = torch.rand(3, 1, 1, dtype=torch.float64)
    two = RobustUpperConfidenceBound(model(outputs=2), measure, 1.5, posterior_transform=first)(decisions)
    torch.testing.assert_close(two, RobustUpperConfidenceBound(model(), measure, 1.5)(decisions), rtol=1e-4, atol=1e-4)
