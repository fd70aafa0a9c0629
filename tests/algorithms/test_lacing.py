"""Value at risk, V-UCB and CV-UCB against quantiles, integrals and trials of all contexts."""

import numpy as np
import pytest
from finite_games import CONTEXTS, REFERENCE, announce, posterior_of, start

from bocu.core.errors import BocuError
from bocu.robust.ambiguity import ConditionalValueAtRisk
from bocu.robust.objectives.functions import Quantile, UncertaintyObjective
from bocu.sweep.experiment.registry import find


def var(alpha):
    return UncertaintyObjective.var(alpha)


def test_it_is_the_weighted_quantile():
    generator = np.random.default_rng(0)
    for _ in range(30):
        payoffs, p = generator.normal(size=(4, 6)), generator.dirichlet(np.ones(6))
        p[generator.integers(6)] = 0.0
        p /= p.sum()
        alpha = generator.random()
        expected = [np.quantile(row, alpha, weights=p, method="inverted_cdf") for row in payoffs]
        np.testing.assert_array_equal(var(alpha)(payoffs, p), expected)


def test_a_level_that_is_reached_exactly_is_left_behind():
    """The published code's `>`: the first at which the probability is above alpha, also where tenths do not add up."""
    payoffs, tenths = np.arange(10.0)[None], np.full(10, 0.1)
    for k in range(10):
        assert var(k / 10)(payoffs, tenths) == k
    assert var(0.0)([[3.0, 1.0, 2.0]], [0.5, 0.0, 0.5]) == 2.0
    with pytest.raises(BocuError, match=r"alpha is 1.0: it must lie in \[0, 1\)"):
        var(1.0)


def test_its_mean_over_levels_is_the_conditional_one():
    generator = np.random.default_rng(1)
    payoffs, p = generator.normal(size=(3, 7)), generator.dirichlet(np.ones(7))
    levels = (np.arange(2_000) + 0.5) / 2_000 * 0.37
    mean = np.mean([var(level)(payoffs, p) for level in levels], axis=0)
    np.testing.assert_allclose(mean, ConditionalValueAtRisk(0.37).values(payoffs, p)[0], atol=5e-3)


def test_tensors_have_the_same_values_and_the_gradient_of_one_payoff():
    torch = pytest.importorskip("torch")
    generator = np.random.default_rng(2)
    payoffs, p = generator.normal(size=(2, 3, 5)), generator.dirichlet(np.ones(5))
    tensor = torch.tensor(payoffs, requires_grad=True)
    values = var(0.4)(tensor, p)
    np.testing.assert_array_equal(values.detach().numpy(), var(0.4)(payoffs, p))
    (gradient,) = torch.autograd.grad(values.sum(), tensor)
    assert (gradient.sum(-1) == 1.0).all()
    np.testing.assert_array_equal((gradient.numpy() * payoffs).sum(-1), values.detach().numpy())
    each = torch.vmap(lambda rows: var(0.4).of_tensors(rows, torch.tensor(p)))(tensor)
    np.testing.assert_array_equal(each.detach().numpy(), values.detach().numpy())


def bounds(decision):
    mean, deviation = posterior_of()
    return mean[decision] - 3.0 * deviation[decision], mean[decision] + 3.0 * deviation[decision]


@pytest.mark.parametrize("alpha", [0.05, 0.33, 0.62])
def test_v_ucb_takes_the_best_bound_and_the_lacing_value_of_most_mass(alpha):
    algorithm = start("v-ucb", var(alpha), "simulator")
    mean, deviation = posterior_of()
    upper = [np.quantile(row, alpha, weights=REFERENCE, method="inverted_cdf") for row in mean + 3.0 * deviation]
    assert algorithm.ask(announce()) == int(np.argmax(upper))
    chosen = set()
    for decision in range(len(mean)):
        low, high = bounds(decision)
        risk = [np.quantile(row, alpha, weights=REFERENCE, method="inverted_cdf") for row in (low, high)]
        laced = [c for c in range(len(CONTEXTS)) if low[c] <= risk[0] + 1e-9 and high[c] >= risk[1] - 1e-9]
        chosen.add(algorithm.choose_context(decision, announce()))
        assert algorithm.choose_context(decision, announce()) == max(laced, key=lambda c: REFERENCE[c])
    assert len(chosen) > 1


@pytest.mark.parametrize("alpha", [0.2, 0.5, 1.0])
def test_cv_ucb_laces_the_widest_value_at_risk_of_all_levels(alpha):
    rule = UncertaintyObjective.dro(ConditionalValueAtRisk(alpha))
    algorithm = start("cv-ucb", rule, "simulator")
    mean, deviation = posterior_of()
    assert algorithm.ask(announce()) == int(np.argmax(rule(mean + 3.0 * deviation, REFERENCE)))
    levels = np.linspace(1e-6, alpha, 4001)[:-1]
    for decision in range(len(mean)):
        low, high = bounds(decision)
        risk = np.array([[Quantile(float(level))(row, REFERENCE) for row in (low, high)] for level in levels[::40]])
        lowest, highest = risk[np.diff(risk, axis=1)[:, 0].argmax()]
        context = algorithm.choose_context(decision, announce())
        laced = (low <= lowest + 1e-9) & (high >= highest - 1e-9)
        assert context == max(np.flatnonzero(laced), key=lambda c: REFERENCE[c])


def test_at_level_0_v_ucb_is_stableopt_over_all_contexts():
    """UCB-RO's decision, and the context of the lowest lower bound."""
    algorithm, robust = start("v-ucb", var(0.0), "simulator"), start("ucb-ro", None, "simulator", sqrt_beta=3.0)
    decision = algorithm.ask(announce())
    assert decision == robust.ask(announce())
    low, _ = bounds(decision)
    assert algorithm.choose_context(decision, announce()) == int(low.argmin())


def test_there_is_a_lacing_value_whatever_the_bounds():
    generator = np.random.default_rng(5)
    for name, rule in (("v-ucb", var(0.25)), ("cv-ucb", UncertaintyObjective.dro(ConditionalValueAtRisk(0.25)))):
        algorithm = start(name, rule, "simulator")
        for _ in range(50):
            p = generator.dirichlet(np.ones(len(CONTEXTS)) * 0.5)
            middle, width = generator.normal(size=len(CONTEXTS)), generator.random(len(CONTEXTS))
            algorithm._moments = lambda decision, given=(middle, width): given
            context = algorithm.choose_context(0, announce(reference=p))
            low, high = middle - 3.0 * width, middle + 3.0 * width
            level = algorithm._level(low, high, p)
            assert p[context] > 0.0
            assert low[context] <= level(low, p) + 1e-8
            assert high[context] >= level(high, p) - 1e-8


def test_rounding_chooses_no_level():
    """All values at risk are as wide where nothing is known: the first level is laced, whatever the means."""
    algorithm = start("cv-ucb", UncertaintyObjective.dro(ConditionalValueAtRisk(1.0)), "simulator")
    generator = np.random.default_rng(6)
    for _ in range(20):
        middle = 100.0 * generator.normal(size=len(CONTEXTS))
        assert algorithm._level(middle - 0.3, middle + 0.3, REFERENCE).alpha == 0.0


def test_recommended_is_the_best_mean_of_those_tried():
    algorithm = start("v-ucb", var(0.33), "simulator")
    algorithm.ask(announce())
    mean, _ = posterior_of()
    tried = [0, 2, 3, 5, 6]
    risk = [np.quantile(mean[x], 0.33, weights=REFERENCE, method="inverted_cdf") for x in tried]
    assert algorithm.recommend() == tried[int(np.argmax(risk))]


def test_they_say_which_objective_they_take():
    kinds = {name: find("algorithm", name).load().Parameters() for name in ("v-ucb", "cv-ucb")}
    dro, risk = find("objective", "dro").load().Parameters, find("objective", "var").load().Parameters()
    cvar = dro.model_validate({"set": {"name": "cvar", "alpha": 0.2}})
    assert kinds["v-ucb"].unfit("var", risk) == kinds["cv-ucb"].unfit("dro", cvar) == ""
    assert "take var" in kinds["v-ucb"].unfit("dro", cvar)
    assert "dro over cvar" in kinds["cv-ucb"].unfit("dro", dro())
    assert all(parameters.sqrt_beta == 3.0 for parameters in kinds.values())
    with pytest.raises(BocuError, match="a value at risk is wanted"):
        start("v-ucb", UncertaintyObjective.so(), "simulator")
