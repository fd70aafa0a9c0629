"""PE-GP-TS and HP-GP-TS: how often they take which decision against integrals, and the elimination as it reads."""

import numpy as np
import pytest
from finite_games import CONTEXTS, DATA, DECISIONS, NOISE, REFERENCE, announce
from scipy.stats import multivariate_normal
from test_unknown_prior_on_grids import OPINIONS, Reference, build, draw, grid_prior, objective, offering, turns

from bocu.learners.algorithms.prior_confidence import squared_noise_bound
from bocu.learners.surrogates.grid import GridPrior

CLOSE = (OPINIONS[2], grid_prior(0.4, "near", 0.3, 1.5))
"""Two priors of which neither is impossible after some data."""
ROUNDS = 800


def dense(prior: GridPrior, data: list[tuple[int, int, float]]) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean and covariance over the pairs, contexts fastest, and log evidence, by the textbook's formulas."""
    gram = prior.variance * np.kron(prior.decision_gram, prior.context_gram)
    told = [decision * len(CONTEXTS) + context for decision, context, _ in data]
    values = np.array([value for *_, value in data])
    noisy = gram[np.ix_(told, told)] + NOISE**2 * np.eye(len(told))
    gain = np.linalg.solve(noisy, gram[told]).T
    evidence = multivariate_normal(np.full(len(told), prior.mean), noisy).logpdf(values)
    return prior.mean + gain @ (values - prior.mean), gram - gain @ gram[told], float(evidence)


def frequencies(name: str, pursued: str) -> np.ndarray:
    algorithm = build(name, offering(CLOSE), pursued)
    for observation in DATA:
        algorithm.tell(*observation)
    asked = [algorithm.ask(announce(1, 0.3)) for _ in range(ROUNDS)]
    return np.bincount(asked, minlength=len(DECISIONS)) / ROUNDS


def ratings(prior: GridPrior, pursued: str, generator: np.random.Generator) -> np.ndarray:
    mean, covariance, _ = dense(prior, DATA)
    tables = generator.multivariate_normal(mean, covariance, 20_000, method="eigh")
    rule = objective(pursued).exact().with_epsilon(0.3)
    return rule(tables.reshape(-1, len(DECISIONS), len(CONTEXTS)), REFERENCE)


@pytest.mark.parametrize("pursued", ["so", "dro:tv"])
def test_decisions_come_as_often_as_samples_of_the_dense_posteriors_say(pursued: str) -> None:
    generator = np.random.default_rng(3)
    first, second = (ratings(prior, pursued, generator) for prior in CLOSE)
    evidence = np.array([dense(prior, DATA)[2] for prior in CLOSE])
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    assert weights.min() > 0.01
    either = [np.bincount(rated.argmax(axis=1), minlength=len(DECISIONS)) / len(first) for rated in (first, second)]
    both = np.bincount(np.hstack([first, second]).argmax(axis=1) % len(DECISIONS), minlength=len(DECISIONS))
    for name, expected in (("hp-gp-ts", weights @ either), ("pe-gp-ts", both / len(first))):
        spread = np.sqrt(expected * (1.0 - expected) / ROUNDS) + 1e-3
        assert (np.abs(frequencies(name, pursued) - expected) < 5.0 * spread).all(), name


def test_one_candidate_is_thompson_sampling() -> None:
    for name in ("pe-gp-ts", "hp-gp-ts"):
        known = build("ts-bocu", offering(OPINIONS[2:3]), "dro:tv")
        unknown = build(name, offering(OPINIONS[2:3]), "dro:tv")
        known.posterior = unknown.surrogate.posteriors[0]
        known.sampler = unknown.surrogate._samplers[0]
        if name == "hp-gp-ts":
            known.generator.random()  # what drawing one of one prior takes
        assert known.ask(announce(1, 0.3)) == unknown.ask(announce(1, 0.3))


def test_priors_go_by_the_test_of_pe_gp_ucb() -> None:
    """From posteriors made anew: errors and widths of the prior whose sample was best, before each observation."""
    table = draw(OPINIONS[2], 1)
    algorithm = build("pe-gp-ts", offering(OPINIONS), "so")
    told = Reference(offering(OPINIONS), "so", 0.0)
    for t in range(1, 31):
        world = np.random.default_rng(t)
        context = int(world.integers(len(CONTEXTS)))
        told.t, told.decision = t, algorithm.ask(announce(t, 0.3))
        before = [told.posterior(prior) for prior in range(len(OPINIONS))]
        value = float(table[told.decision, context] + NOISE * world.standard_normal())
        algorithm.tell(told.decision, context, value)
        report = algorithm.report()
        told.prior = report["chosen_prior"]
        assert told.prior in told.active
        assert report["predicted_mean"] == pytest.approx(before[told.prior][0][told.decision, context], abs=1e-9)
        told.tell(context, value)
        assert np.flatnonzero(report["active_priors"]).tolist() == told.active
        assert report["error_sum"] == pytest.approx(told.errors[told.prior], abs=1e-9)
        xi = squared_noise_bound(NOISE, len(OPINIONS), t, 0.1)
        limit = np.sqrt(xi * told.plays[told.prior]) + told.widths[told.prior]
        assert report["error_limit"] == pytest.approx(limit, rel=1e-9)
    assert len(told.active) < len(OPINIONS)
    assert 2 in told.active


@pytest.mark.parametrize("name", ["pe-gp-ts", "hp-gp-ts"])
def test_interruption_leaves_no_trace(name: str) -> None:
    table = draw(OPINIONS[1], 2)
    straight = build(name, offering(OPINIONS, "simulator"))
    turns(straight, 6, table)
    resumed = build(name, offering(OPINIONS, "simulator"))
    resumed.restore(straight.state())
    resumed.generator.bit_generator.state = straight.generator.bit_generator.state
    for (*played, _), (*wanted, _) in zip(turns(straight, 6, table, 7), turns(resumed, 6, table, 7), strict=True):
        assert played == wanted
