"""Widths of confidence bounds by the papers' theorems, against arithmetic of our own and a Gram matrix built anew."""

import mpmath
import numpy as np
import pytest
from experiments import tiny

from bocu.core.errors import BocuError
from bocu.core.kernels import SquaredExponential
from bocu.core.parameters import validate
from bocu.core.rounds import Description, FiniteDomain, Round
from bocu.learners.algorithms.confidence import UCBSO
from bocu.learners.algorithms.multi_objective import MOBOParameters
from bocu.learners.algorithms.theorems import DrmoboWidth, HuangWidth, Knowledge, TayWidth
from bocu.learners.surrogates.grid import GridPrior
from bocu.sweep.experiment.planning import make_plan

GRID = Knowledge(t=7, coordinates=2, decisions=1024, contexts=64)


def tail(width):
    """Probability that a standard normal variable exceeds a width."""
    return mpmath.erfc(mpmath.mpf(width) / mpmath.sqrt(2)) / 2


def test_tay_2024_leaves_what_its_proof_sums_over():
    # Its proof bounds E[max(f - U, 0)] of a standard normal, exp(-w^2 / 2) / sqrt(2 pi), by 1 / ((t^2 + 1) X C).
    w = TayWidth(theorem="tay-2024").sqrt_beta(GRID)
    assert mpmath.exp(-(mpmath.mpf(w) ** 2) / 2) / mpmath.sqrt(2 * mpmath.pi) == pytest.approx(1 / (50 * 1024 * 64))
    excess = mpmath.quad(lambda z: (z - w) * mpmath.npdf(z), [w, w + 5, w + 20])
    assert excess < 1 / (50 * 1024 * 64)
    first, later = (TayWidth(theorem="tay-2024").sqrt_beta(Knowledge(t, 2, 1024, 64)) for t in (1, 100))
    assert (round(first, 1), round(later, 1)) == (4.7, 6.2)


def test_drmobo_fails_with_less_than_delta_over_all_rounds_points_and_outputs():
    known = Knowledge(t=7, coordinates=1, decisions=30, contexts=10, outputs=2)
    w = DrmoboWidth(theorem="drmobo", delta=0.05).sqrt_beta(known)
    # Two tails of exp(-w^2 / 2) / 2 each bound a failure: 1/8 of delta's share of the round.
    share = 0.05 * 6 / (mpmath.pi**2 * 49) / (30 * 10 * 2)
    assert mpmath.exp(-(mpmath.mpf(w) ** 2) / 2) == pytest.approx(share / 8)
    assert 2 * tail(w) < share


def test_drmobo_counts_a_net_of_continuous_decisions():
    stated = DrmoboWidth(theorem="drmobo", delta=0.1, a=2, b=3)
    known = Knowledge(t=5, coordinates=2, decisions=None, contexts=9, outputs=2)
    net = (2 * 2 * 25 * 3 * np.sqrt(np.log(8 * 2 * 9 * 2 / 0.1))) ** 2
    finite = Knowledge(t=5, coordinates=2, decisions=int(net), contexts=9, outputs=2)
    assert stated.sqrt_beta(known) == pytest.approx(stated.sqrt_beta(finite), rel=1e-4)


def test_huang_2024_is_its_lemma_10():
    # beta = 2 log(t^2 tau^Dx / sqrt(2 pi)) with tau = t^2 Dx a b r sqrt(pi) / 2
    t, d, a, b = 11, 3, 1.5, 2.5
    tau = mpmath.mpf(t**2 * d * a * b) * mpmath.sqrt(mpmath.pi) / 2
    beta = 2 * mpmath.log(t**2 * tau**d / mpmath.sqrt(2 * mpmath.pi))
    found = HuangWidth(theorem="huang-2024", a=a, b=b).sqrt_beta(Knowledge(t, d, None, None))
    assert found == pytest.approx(float(mpmath.sqrt(beta)))
    assert HuangWidth(theorem="huang-2024", a=0.1, b=0.1).sqrt_beta(Knowledge(1, 1, None, None)) == 0.0


@pytest.mark.parametrize(("statement", "parts"), [("lemma-1", 1), ("theorem-2", 2), ("corollary-4", 3)])
def test_kirschner_2020_takes_the_gram_matrix_of_what_was_observed(statement, parts):
    generator = np.random.default_rng(0)
    decisions, contexts = np.linspace(0, 1, 12)[:, None], np.linspace(0, 1, 5)[:, None]
    kernels = SquaredExponential((0.3,)), SquaredExponential((0.4,))
    ridge, noise = 0.5, 0.2  # the ridge differs from the noise's variance
    prior = GridPrior(decisions, contexts, *kernels, noise=np.sqrt(ridge))
    description = Description(
        decisions=FiniteDomain(decisions, ("x",), ("1",)), contexts=FiniteDomain(contexts, ("c",), ("1",)),
        noise=noise, protocol="general", model=prior,
    )  # fmt: skip
    stated = {"theorem": "kirschner-2020", "norm": 2, "delta": 0.1, "statement": statement}
    parameters = validate(UCBSO.Parameters, {"sqrt_beta": stated}, "")
    algorithm = UCBSO(description, None, parameters, generator)
    told = [(int(generator.integers(12)), int(generator.integers(5))) for _ in range(8)]
    for decision, context in told:
        algorithm.tell(decision, context, generator.standard_normal())
    x, c = decisions[[d for d, _ in told]], contexts[[c for _, c in told]]
    gram = np.exp(-0.5 * ((x - x.T) / 0.3) ** 2) * np.exp(-0.5 * ((c - c.T) / 0.4) ** 2)
    # Ridge r: the features scaled by 1 / sqrt(r) have ridge 1, and so has the noise.
    inside = np.linalg.slogdet(np.eye(8) + gram / ridge)[1] + 2 * np.log(parts / 0.1)
    expected = noise / np.sqrt(ridge) * np.sqrt(inside) + 2
    announced = Round(t=9, reference=np.full(5, 0.2))
    assert algorithm.sqrt_beta(announced) == pytest.approx(expected)
    mean, deviation = algorithm.posterior.mean(), algorithm.posterior.deviation()
    assert algorithm.ask(announced) == int((mean + expected * deviation).mean(axis=1).argmax())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sqrt_beta": {"theorem": "tay-2025"}}, "sqrt_beta"),
        ({"sqrt_beta": {"theorem": "kirschner-2020"}}, r"sqrt_beta\.norm: this key is required"),
        ({"sqrt_beta": -1}, "sqrt_beta: found -1"),
    ],
)
def test_wrong_widths_get_one_line(parameters, message):
    with pytest.raises(BocuError, match=message) as caught:
        validate(UCBSO.Parameters, parameters, "")
    assert "\n" not in str(caught.value)


def test_constants_of_continuous_decisions_are_asked_for_while_planning():
    dro = [{"name": "dro", "parameters": {"set": {"name": "tv", "radius": 0.1}}}]
    experiment = tiny(
        problems=[{"name": "newsvendor-grid", "parameters": {"contexts": 10}}],
        objectives=dro,
        algorithms=[{"name": "drmobo", "parameters": {"sqrt_beta": {"theorem": "drmobo"}}}],
        metrics=dro,
    )
    with pytest.raises(BocuError, match=r"algorithms\.0\.parameters: .*the keys 'a' and 'b' are required"):
        make_plan(experiment)
    assert validate(MOBOParameters, {"sqrt_beta": {"theorem": "drmobo", "a": 1, "b": 1}}, "")
    with pytest.raises(BocuError, match="for finitely many contexts"):
        TayWidth(theorem="tay-2024").sqrt_beta(Knowledge(1, 1, 5, None))
