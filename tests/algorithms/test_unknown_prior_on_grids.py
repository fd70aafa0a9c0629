"""Algorithms with an unknown prior on grids of decisions and contexts, under any objective."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from finite_games import (
    CONTEXTS,
    DATA,
    DECISIONS,
    NOISE,
    REFERENCE,
    announce,
    described,
    stated,
)

from bocu.core.errors import BocuError
from bocu.core.kernels import SquaredExponential
from bocu.core.loading import load
from bocu.core.rounds import Description
from bocu.learners.algorithms.base import Algorithm
from bocu.learners.algorithms.beliefs import SQRT_BETA, squared_noise_bound
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.sweep.experiment.registry import find

WIDTH = 1.7
PROTOCOLS = ("general", "simulator")
NAMES = ("pe-gp-ucb", "mle", "fully-bayesian", "regret-balancing", "oracle")
OBJECTIVES = ["so", "ro", *(f"{kind}:{ball}" for kind in ("dro", "gen", "rs") for ball in ("tv", "mmd", "kl", "cvar"))]
OBJECTIVES += ["wcs:tv", "mr:mmd"]


def grid_prior(lengthscale: float, label: str, mean: float = 0.0, variance: float = 1.0) -> GridPrior:
    kernels = SquaredExponential((lengthscale,)), SquaredExponential((lengthscale,) * 2)
    return GridPrior(DECISIONS, CONTEXTS, *kernels, variance, NOISE, mean, label)


def offering(priors: tuple[GridPrior, ...], protocol: str = "general") -> Description:
    return replace(described(protocol), priors=priors, best_prior=priors[0])


def alone(protocol: str = "general") -> Description:
    described_ = described(protocol)
    return replace(described_, priors=(described_.model,), best_prior=described_.model)


def objective(name: str):
    given = stated(name)
    return load(given["class"]).from_specification(given["parameters"]).over(CONTEXTS)


def build(name: str, description: Description, pursued: str = "dro:tv", **parameters: object) -> Algorithm:
    kind = find("algorithm", name).load()
    return kind(description, objective(pursued), kind.Parameters(**parameters), np.random.default_rng(0))


def turns(algorithm: Algorithm, rounds: int, table: np.ndarray, first: int = 1, seed: int = 5) -> list[tuple]:
    """Play on a table; contexts and noise of a round depend on the round alone."""
    found = []
    for t in range(first, first + rounds):
        world = np.random.default_rng([seed, t])
        context, noise = int(world.integers(len(CONTEXTS))), NOISE * world.standard_normal()
        round_ = announce(t, 0.3)
        decision = int(algorithm.ask(round_))
        if algorithm.description.protocol == "simulator":
            context = int(algorithm.choose_context(decision, round_))
        algorithm.tell(decision, context, float(table[decision, context] + noise))
        found.append((decision, context, algorithm.recommend(), algorithm.report()))
    return found


def draw(prior: GridPrior, seed: int) -> np.ndarray:
    """Draw a table of payoffs from a prior."""
    gram = prior.variance * np.kron(prior.decision_gram, prior.context_gram)
    root = np.linalg.cholesky(gram + 1e-9 * np.eye(len(gram)))
    normal = np.random.default_rng([77, seed]).standard_normal(len(gram))
    return prior.mean + (root @ normal).reshape(prior.shape)


@pytest.mark.parametrize(
    ("name", "pursued"),
    [*(("pe-gp-ucb", each) for each in OBJECTIVES), *itertools.product(NAMES[1:], ("so", "gen:mmd", "rs:tv"))],
)
def test_one_candidate_is_the_algorithm_that_knows_the_prior(name: str, pursued: str) -> None:
    table = draw(described().model, 3)
    for protocol in PROTOCOLS:
        slope = {"slope": "as-pursued"}
        known = build("ucb-bocu-2", described(protocol), pursued, sqrt_beta=WIDTH, **slope)
        unknown = build(name, alone(protocol), pursued, sqrt_beta=WIDTH, **slope)
        for algorithm in (known, unknown):
            for decision, context, value in DATA:
                algorithm.tell(decision, context, value)
        one, other = (turns(algorithm, 12, table) for algorithm in (known, unknown))
        assert [turn[:3] for turn in one] == [turn[:3] for turn in other]
        for (*_, report), (*_, more) in zip(one, other, strict=True):
            assert report.items() <= more.items()


class Reference:
    """PE-GP-UCB on a grid as the paper's algorithm 1 reads, from posteriors made anew in every round."""

    def __init__(self, description: Description, pursued: str, width: float) -> None:
        self.description, self.rule, self.width = description, objective(pursued).exact(), width
        self.data: list[tuple[int, int, float]] = []
        self.active = list(range(len(description.priors)))
        self.errors = np.zeros(len(description.priors))
        self.widths = np.zeros(len(description.priors))
        self.plays = np.zeros(len(description.priors), dtype=int)

    def posterior(self, prior: int) -> tuple[np.ndarray, np.ndarray]:
        posterior = GridPosterior(self.description.priors[prior])
        for observation in self.data:
            posterior.add(*observation)
        return posterior.mean(), posterior.deviation()

    def ask(self, t: int, available: np.ndarray) -> int:
        self.t, best = t, (-np.inf, -1, -1)
        for prior in self.active:
            mean, sd = self.posterior(prior)
            values = self.rule.with_epsilon(0.3)(mean + self.width * sd, REFERENCE)[available]
            if values.max() > best[0]:
                best = float(values.max()), prior, int(available[values.argmax()])
        self.prior, self.decision = best[1:]
        return self.decision

    def tell(self, context: int, value: float) -> None:
        mean, sd = (table[self.decision, context] for table in self.posterior(self.prior))
        points, delta, count = len(DECISIONS) * len(CONTEXTS), 0.1, len(self.description.priors)
        self.plays[self.prior] += 1
        self.errors[self.prior] += value - mean
        self.widths[self.prior] += SQRT_BETA["theorem-4.1"](points, self.t, delta) * sd
        xi = squared_noise_bound(NOISE, count, self.t, delta)
        if abs(self.errors[self.prior]) > np.sqrt(xi * self.plays[self.prior]) + self.widths[self.prior]:
            self.active.remove(self.prior)
        self.data.append((self.decision, context, value))


OPINIONS = (
    grid_prior(0.15, "high", 2.5, 0.05),
    grid_prior(1.5, "smooth"),
    grid_prior(0.3, "right"),
    grid_prior(0.3, "low", -2.5, 0.05),
)


@pytest.mark.parametrize("pursued", ["so", "dro:tv", "gen:mmd", "rs:kl", "wcs:tv"])
def test_pe_gp_ucb_follows_algorithm_1_at_the_context_that_was_met(pursued: str) -> None:
    table = draw(OPINIONS[2], 1)
    algorithm = build("pe-gp-ucb", offering(OPINIONS), pursued, sqrt_beta=WIDTH, test="rule")
    reference = Reference(offering(OPINIONS), pursued, WIDTH)
    for t in range(1, 26):
        world = np.random.default_rng(t)
        available = np.sort(world.choice(len(DECISIONS), 5, replace=False))
        context = int(world.integers(len(CONTEXTS)))
        decision = algorithm.ask(announce(t, 0.3, available=available))
        assert decision == reference.ask(t, available)
        value = float(table[decision, context] + NOISE * world.standard_normal())
        algorithm.tell(decision, context, value)
        reference.tell(context, value)
        report = algorithm.report()
        assert np.flatnonzero(report["active_priors"]).tolist() == reference.active
        assert report["error_sum"] == pytest.approx(reference.errors[reference.prior], abs=1e-9)
    assert len(reference.active) < len(OPINIONS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_wrong_priors_are_eliminated_and_the_true_one_is_not(protocol: str) -> None:
    """Over 20 draws: a mean that is off by ten deviations goes when it is trusted, and the right one never does."""
    rejected = np.zeros(len(OPINIONS), dtype=int)
    for seed in range(20):
        algorithm = build("pe-gp-ucb", offering(OPINIONS, protocol), sqrt_beta=WIDTH, test="rule")
        *_, (*_, report) = turns(algorithm, 30, draw(OPINIONS[2], seed), seed=seed)
        rejected += report["active_priors"] == 0
    assert rejected[0] == 20
    assert rejected[2] == 0


def test_without_a_valid_width_the_true_prior_would_go() -> None:
    """The test of the constant bound alone, `as-chosen`, is what the key `test` is there for."""
    kept = {}
    for test in ("rule", "as-chosen"):
        kept[test] = 0
        for seed in range(20):
            algorithm = build("pe-gp-ucb", offering(OPINIONS), "so", sqrt_beta=0.3, test=test)
            reports = [turn[-1] for turn in turns(algorithm, 30, draw(OPINIONS[2], seed), seed=seed)]
            kept[test] += all(report["rejected_prior"] != 2 for report in reports)
    assert kept["rule"] == 20
    assert kept["as-chosen"] < 20


def test_the_evidence_is_the_density_of_what_was_observed() -> None:
    from scipy.stats import multivariate_normal

    algorithm = build("mle", offering(OPINIONS))
    for observation in DATA:
        algorithm.tell(*observation)
    decisions, contexts, values = (np.array(column) for column in zip(*DATA, strict=True))
    for prior, evidence in zip(OPINIONS, algorithm.surrogate.log_evidence, strict=True):
        gram = prior.variance * prior.decision_gram[np.ix_(decisions, decisions)]
        gram = gram * prior.context_gram[np.ix_(contexts, contexts)] + NOISE**2 * np.eye(len(DATA))
        density = multivariate_normal(np.full(len(DATA), prior.mean), gram).logpdf(values)
        assert evidence == pytest.approx(density, abs=1e-9)


def test_mle_ends_with_the_prior_that_the_payoff_was_drawn_from() -> None:
    found = []
    for seed in range(5):
        algorithm = build("mle", offering(OPINIONS))
        *_, (*_, report) = turns(algorithm, 40, draw(OPINIONS[2], seed), seed=seed)
        found.append(report["chosen_prior"])
    assert found == [2] * 5


@pytest.mark.parametrize("pursued", ["so", "rs:tv"])
def test_fully_bayesian_averages_the_ratings_of_all_priors(pursued: str) -> None:
    """Also where a rating is -inf, as that of an aspiration out of reach, and a weight has underflown to 0.

    Where all are, expectations count.
    """
    algorithm = build("fully-bayesian", offering(OPINIONS), pursued, sqrt_beta=WIDTH)
    reference = Reference(offering(OPINIONS), pursued, WIDTH)
    for t, (decision, context, value) in enumerate([*DATA[:2], (1, 1, 40.0)], start=1):
        weights = np.exp(algorithm.surrogate.log_evidence - algorithm.surrogate.log_evidence.max())
        weights /= weights.sum()
        ratings, expected = 0.0, 0.0
        for prior in np.flatnonzero(weights):
            mean, sd = reference.posterior(int(prior))
            rating = reference.rule.with_epsilon(0.3)(mean + WIDTH * sd, REFERENCE)
            ratings = ratings + weights[prior] * rating
            expected = expected + weights[prior] * (mean + WIDTH * sd) @ REFERENCE
        if np.isneginf(ratings).all():
            ratings = expected
        assert algorithm.ask(announce(t, 0.3)) == int(np.argmax(ratings))
        algorithm.tell(decision, context, value)
        reference.data.append((decision, context, value))


def test_a_rejected_prior_recommends_nothing_under_the_simulator() -> None:
    algorithm = build("pe-gp-ucb", offering(OPINIONS, "simulator"), sqrt_beta=WIDTH, test="rule")
    found = turns(algorithm, 30, draw(OPINIONS[2], 4))
    report = found[-1][-1]
    trusted = [turn for turn in found if report["active_priors"][turn[-1]["chosen_prior"]]]
    assert not report["active_priors"][0]
    assert found[-1][2] in {turn[0] for turn in trusted}


def test_what_does_not_fit_gets_one_line() -> None:
    kind = find("algorithm", "mle").load()
    parameters, generator = kind.Parameters(), np.random.default_rng(0)
    with pytest.raises(BocuError, match="found objective None; an UncertaintyObjective is wanted"):
        kind(offering(OPINIONS), None, parameters, generator)
    with pytest.raises(BocuError, match="the problem offers no candidate priors"):
        kind(described(), objective("so"), parameters, generator)
    kernels = SquaredExponential((0.3,)), SquaredExponential((0.3, 0.3))
    other = GridPrior(DECISIONS[:4], CONTEXTS, *kernels, noise=NOISE, label="four")
    with pytest.raises(BocuError, match=r"prior 'four' is over a grid of \(4, 5\), the problem \(7, 5\)"):
        kind(offering((other,)), objective("so"), parameters, generator)
