"""The acquisition of our own: a risk measure of upper confidence bounds."""

import pytest
import torch
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.acquisition.risk_measures import CVaR, RiskMeasureMCObjective
from botorch.exceptions.errors import UnsupportedError
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import AppendFeatures
from botorch.models.transforms.outcome import Standardize
from botorch.optim import optimize_acqf

from bocu.core.errors import BocuError
from bocu.interop.botorch import RobustMeasure, RobustUpperConfidenceBound
from bocu.robust.ambiguity import KullbackLeibler, MaximumMeanDiscrepancy, TotalVariation, squared_exponential_gram
from bocu.robust.objectives import UncertaintyObjective

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
def test_it_is_the_measure_of_mean_plus_deviations(name: str, sqrt_beta: float) -> None:
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
def test_gradients_to_decisions(name: str) -> None:
    acquisition = RobustUpperConfidenceBound(model(), MEASURES[name], 1.5)
    decisions = torch.tensor([[[0.21]], [[0.73]]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(acquisition, (decisions,), atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("name", MEASURES)
def test_it_is_maximised_by_botorch(name: str) -> None:
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


def test_several_outputs_are_made_one_first() -> None:
    measure: RiskMeasureMCObjective = MEASURES["tv"]
    with pytest.raises(UnsupportedError):
        RobustUpperConfidenceBound(model(outputs=2), measure, 1.5)
    first = ScalarizedPosteriorTransform(torch.tensor([1.0, 0.0], dtype=torch.float64))
    decisions = torch.rand(3, 1, 1, dtype=torch.float64)
    two = RobustUpperConfidenceBound(model(outputs=2), measure, 1.5, posterior_transform=first)(decisions)
    torch.testing.assert_close(two, RobustUpperConfidenceBound(model(), measure, 1.5)(decisions), rtol=1e-4, atol=1e-4)
