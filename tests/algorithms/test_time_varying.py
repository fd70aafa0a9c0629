"""`algorithms.time_varying`: each algorithm against a plain retelling of its rule, and exact interruption."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.rounds import Round
from bocu.learners.algorithms.base import Algorithm
from bocu.learners.algorithms.time_varying import PEGPUCB, FullyBayesian, MaximumLikelihood, Oracle, RegretBalancing

DELTA = 0.1
Play = Callable[[Any, Algorithm], Any]


class Retold:
    """The rules of specification and paper, told plainly: a dense solve every round, lists, loops."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.priors = game.description.priors
        self.noise = game.description.noise
        self.arms: list[int] = []
        self.times: list[int] = []
        self.values: list[float] = []

    def tell(self, arm: int, t: int) -> float:
        self.arms.append(arm)
        self.times.append(t)
        self.values.append(self.game.observe(arm, t))
        return self.values[-1]

    def predict(self, prior: Any, t: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Mean, sd, log evidence."""
        if not self.arms:
            return prior.mean, np.sqrt(np.diag(prior.covariance)), 0.0
        arms, times = np.array(self.arms), np.array(self.times)
        rho = math.sqrt(1.0 - prior.forgetting)
        gram = prior.covariance[np.ix_(arms, arms)] * rho ** np.abs(np.subtract.outer(times, times))
        gram += self.noise**2 * np.eye(len(arms))
        cross = prior.covariance[arms] * (rho ** (t - times))[:, None]
        error = np.array(self.values) - prior.mean[arms]
        mean = prior.mean + cross.T @ np.linalg.solve(gram, error)
        variance = np.diag(prior.covariance - cross.T @ np.linalg.solve(gram, cross))
        _, determinant = np.linalg.slogdet(2.0 * np.pi * gram)
        return mean, np.sqrt(variance), float(-0.5 * (error @ np.linalg.solve(gram, error) + determinant))

    def sqrt_beta(self, t: int) -> float:
        return math.sqrt(2.0 * math.log(2.0 * len(self.game.payoffs) * math.pi**2 * t**2 / DELTA))

    def xi(self, t: int) -> float:
        return 2.0 * self.noise**2 * math.log(len(self.priors) * math.pi**2 * t**2 / DELTA)

    def ucb(self, prior: Any, t: int) -> np.ndarray:
        """Upper confidence bounds; minus infinity where an arm is not available."""
        mean, sd, _ = self.predict(prior, t)
        bound = np.full(mean.size, -np.inf)
        available = self.game.round(t).available
        bound[available] = (mean + self.sqrt_beta(t) * sd)[available]
        return bound

    def evidence(self, t: int) -> np.ndarray:
        return np.array([self.predict(prior, t)[2] for prior in self.priors])

    def elimination(self) -> tuple[list[int], list[int], list[list[int]]]:
        active = list(range(len(self.priors)))
        errors: list[list[float]] = [[] for _ in self.priors]
        widths: list[list[float]] = [[] for _ in self.priors]
        chosen, kept = [], []
        for t in range(1, self.game.rounds + 1):
            bounds = {p: self.ucb(self.priors[p], t) for p in active}
            p = max(active, key=lambda p: bounds[p].max())
            arm = int(np.argmax(bounds[p]))
            mean, sd, _ = self.predict(self.priors[p], t)
            errors[p].append(self.tell(arm, t) - mean[arm])
            widths[p].append(self.sqrt_beta(t) * sd[arm])
            if abs(sum(errors[p])) > math.sqrt(self.xi(t) * len(errors[p])) + sum(widths[p]):
                active.remove(p)
            if not active:
                active = list(range(len(self.priors)))
                errors, widths = [[] for _ in self.priors], [[] for _ in self.priors]
            chosen.append(p)
            kept.append(list(active))
        return self.arms, chosen, kept

    def likelihood(self) -> tuple[list[int], list[int]]:
        chosen = []
        for t in range(1, self.game.rounds + 1):
            chosen.append(int(np.argmax(self.evidence(t))))
            self.tell(int(np.argmax(self.ucb(self.priors[chosen[-1]], t))), t)
        return self.arms, chosen

    def averaging(self, hyperprior: np.ndarray) -> tuple[list[int], list[np.ndarray]]:
        weights = []
        for t in range(1, self.game.rounds + 1):
            unnormalised = hyperprior * np.exp(self.evidence(t))
            weights.append(unnormalised / unnormalised.sum())
            bounds = [self.ucb(prior, t) for prior in self.priors]
            self.tell(int(np.argmax(sum(w * bound for w, bound in zip(weights[-1], bounds, strict=True)))), t)
        return self.arms, weights

    def balancing(self, mode: str) -> tuple[list[int], list[int], list[list[int]]]:
        active = list(range(len(self.priors)))
        gains: list[list[float]] = [[] for _ in self.priors]
        widths: list[list[float]] = [[] for _ in self.priors]
        chosen, kept = [], []
        for t in range(1, self.game.rounds + 1):
            p = min(active, key=lambda p: len(gains[p]))
            arm = int(np.argmax(self.ucb(self.priors[p], t)))
            widths[p].append(self.sqrt_beta(t) * self.predict(self.priors[p], t)[1][arm])
            gains[p].append(self.tell(arm, t))
            if all(gains[q] for q in active):
                noise = {q: math.sqrt(self.xi(t) / len(gains[q])) for q in active}
                lower = {q: np.mean(gains[q]) - noise[q] for q in active}
                sign, factor = (-1, 1) if mode == "paper" else (1, 2)
                upper = {q: np.mean(gains[q]) + sign * noise[q] + factor * np.mean(widths[q]) for q in active}
                active = [q for q in active if upper[q] >= max(lower.values())]
            chosen.append(p)
            kept.append(list(active))
        return self.arms, chosen, kept


def chosen_priors(record: Any) -> list[int]:
    return [report["chosen_prior"] for report in record.reports]


def active_priors(record: Any) -> list[list[int]]:
    return [np.flatnonzero(report["active_priors"]).tolist() for report in record.reports]


def test_pe_gp_ucb_follows_its_rule(game: Any, surprising_games: list[Any], play: Play) -> None:
    rejections = resets = 0
    for each in (game, *surprising_games):
        record = play(each, each.start(PEGPUCB, delta=DELTA))
        arms, chosen, kept = Retold(each).elimination()
        assert record.arms == arms
        assert chosen_priors(record) == chosen
        assert active_priors(record) == kept
        rejections += sum(report["rejected_prior"] >= 0 for report in record.reports)
        resets += sum(report["all_rejected"] for report in record.reports)
    assert rejections > 10
    assert resets > 1


def test_mle_follows_its_rule(game: Any, play: Play) -> None:
    record = play(game, game.start(MaximumLikelihood))
    assert (record.arms, chosen_priors(record)) == Retold(game).likelihood()
    assert chosen_priors(record)[0] == 0
    for report in record.reports:
        assert report["prior_weight"].argmax() == report["chosen_prior"]


@pytest.mark.parametrize("hyperprior", [None, (1.0, 50.0, 2.0)])
def test_fully_bayesian_follows_its_rule(game: Any, play: Play, hyperprior: tuple[float, ...] | None) -> None:
    record = play(game, game.start(FullyBayesian, hyperprior=hyperprior))
    arms, weights = Retold(game).averaging(np.array(hyperprior or (1.0, 1.0, 1.0)))
    assert record.arms == arms
    for report, expected in zip(record.reports, weights, strict=True):
        np.testing.assert_allclose(report["prior_weight"], expected, atol=1e-9)
        assert report["chosen_prior"] == expected.argmax()


@pytest.mark.parametrize("mode", ["paper", "valid"])
def test_regret_balancing_follows_its_rule(game: Any, surprising_games: list[Any], play: Play, mode: str) -> None:
    dropped = 0
    for each in (game, *surprising_games):
        record = play(each, each.start(RegretBalancing, mode=mode))
        arms, chosen, kept = Retold(each).balancing(mode)
        assert record.arms == arms
        assert chosen_priors(record) == chosen
        assert active_priors(record) == kept
        assert chosen[:3] == [0, 1, 2]
        dropped += 3 - len(kept[-1])
    assert dropped > 3


def test_oracle_is_any_rule_that_knows_only_the_best_prior(game: Any, play: Play) -> None:
    record = play(game, game.start(Oracle))
    retold = Retold(game)
    retold.priors = (game.description.best_prior,)
    assert record.arms == retold.likelihood()[0]
    assert set(chosen_priors(record)) == {1}


# That it goes on to the same bits: tests/testing/test_our_own.py.
@pytest.mark.parametrize("kind", [PEGPUCB, MaximumLikelihood, FullyBayesian, RegretBalancing, Oracle])
def test_what_is_restored_recommends_the_same_at_once(game: Any, kind: type[Algorithm]) -> None:
    algorithm = game.start(kind)
    for t in range(1, game.rounds + 1):
        arm = algorithm.ask(game.round(t))
        algorithm.tell(arm, t, game.observe(arm, t))
        other = game.start(kind)
        other.restore(algorithm.state())
        assert other.recommend() == algorithm.recommend()


def all_wrong(game: Any, **parameters: Any) -> tuple[PEGPUCB, list[dict[str, Any]]]:
    """Payoffs that no prior can explain, until the last prior falls."""
    algorithm = game.start(PEGPUCB, **parameters)
    reports = []
    for t in range(1, 30):
        algorithm.tell(algorithm.ask(game.round(t)), t, 1e3 * t)
        reports.append(algorithm.report())
        if reports[-1]["all_rejected"]:
            break
    return algorithm, reports


def test_when_all_priors_are_rejected_all_come_back_and_the_round_is_flagged(game: Any) -> None:
    algorithm, reports = all_wrong(game)
    assert [report["all_rejected"] for report in reports] == [0, 0, 1]
    assert sorted(report["rejected_prior"] for report in reports) == [0, 1, 2]
    assert reports[-1]["active_priors"].tolist() == [1, 1, 1]
    assert abs(reports[-1]["error_sum"]) > reports[-1]["error_limit"]
    # The accounts are empty again: the next round is scored by itself.
    t = len(reports) + 1
    arm = algorithm.ask(game.round(t))
    mean, _ = algorithm.posteriors(t)
    algorithm.tell(arm, t, 5.0)
    report = algorithm.report()
    assert report["error_sum"] == 5.0 - mean[report["chosen_prior"], arm]


def test_when_all_priors_are_rejected_the_run_may_stop_with_one_line(game: Any) -> None:
    with pytest.raises(BocuError, match=r"^all 3 priors are rejected in round 3 and on_no_prior is 'stop'"):
        all_wrong(game, on_no_prior="stop")


def test_printed_regret_balancing_drops_a_true_prior_that_the_valid_form_keeps(game: Any) -> None:
    # Noise-free bounds, prior 0 true and always at the lower end of its interval, prior 1 on the optimum: mean payoffs
    # of 0 and 2 with half-widths of 1. The truth, 0 + 2 widths, reaches 2; the printed test stops at 1.
    for mode, kept in (("paper", [0, 1]), ("valid", [1, 1])):
        algorithm = game.start(RegretBalancing, mode=mode)
        for t, (prior, value) in enumerate([(0, 0.0), (1, 2.0), (2, -50.0)] * 3, start=1):
            report = {"chosen_prior": prior, "predicted_mean": 0.0, "predicted_sd": 1.0, "confidence_width": 1.0}
            algorithm.reinstate(report, Round(t=t))
            algorithm.tell(0, t, value)
        assert algorithm.report()["active_priors"].tolist()[:2] == kept
        assert algorithm.report()["active_priors"][2] == 0


def test_regret_balancing_keeps_the_best_even_where_intervals_have_no_width(game: Any) -> None:
    algorithm = game.start(RegretBalancing, sqrt_beta=0.0)
    for t in range(1, 10):
        report = {"chosen_prior": (t - 1) % 3, "predicted_mean": 0.0, "predicted_sd": 0.0, "confidence_width": 0.0}
        algorithm.reinstate(report, Round(t=t))
        algorithm.tell(0, t, 1.0)
        assert algorithm.report()["active_priors"].any()


def test_a_rejected_prior_recommends_nothing_however_often_it_played(game: Any) -> None:
    algorithm = game.start(PEGPUCB)

    def played(prior: int, t: int, error: float) -> None:
        report = {"chosen_prior": prior, "predicted_mean": -error, "predicted_sd": 0.1, "confidence_width": 0.5}
        algorithm.reinstate(report, Round(t=t))
        algorithm.tell(0, t, 0.0)

    for t in range(1, 6):
        played(0, t, 0.0)
    played(2, 6, 0.0)
    before = [int(arm) for arm in algorithm.posteriors(6)[0].argmax(axis=1)]
    assert algorithm.recommend() == before[0]
    played(0, 7, 100.0)
    assert algorithm.report()["rejected_prior"] == 0
    after = [int(arm) for arm in algorithm.posteriors(7)[0].argmax(axis=1)]
    assert algorithm.recommend() == after[2]
    assert after[2] != after[0]


def test_hyperprior_needs_one_positive_weight_for_each_prior(game: Any) -> None:
    with pytest.raises(BocuError, match="hyperprior: found 2 weights; allowed: 3"):
        game.start(FullyBayesian, hyperprior=(0.5, 0.5))
    with pytest.raises(ValueError, match="greater than 0"):
        FullyBayesian.Parameters(hyperprior=(1.0, 0.0, 1.0))


def test_hopeless_evidence_does_not_overflow(game: Any) -> None:
    algorithm = game.start(FullyBayesian)
    for t in range(1, 6):
        algorithm.tell(0, t, 1e6)
        weights = algorithm.report()["prior_weight"]
        assert np.isfinite(weights).all()
        assert weights.sum() == pytest.approx(1.0)


def test_oracle_without_a_known_prior_says_so(game: Any) -> None:
    object.__setattr__(game.description, "best_prior", None)
    with pytest.raises(BocuError, match=r"^the problem knows no best prior"):
        game.start(Oracle)


@pytest.mark.parametrize("kind", [PEGPUCB, MaximumLikelihood, FullyBayesian, RegretBalancing, Oracle])
def test_recommendation_is_the_arm_of_highest_mean_under_the_trusted_prior(
    game: Any, play: Play, kind: type[Algorithm]
) -> None:
    algorithm = game.start(kind)
    record = play(game, algorithm)
    mean, _ = algorithm.posteriors(game.rounds)  # type: ignore[attr-defined]
    evidence = algorithm.surrogate.log_evidence  # type: ignore[attr-defined]
    report = record.reports[-1]
    if kind is PEGPUCB:
        since = max([t for t, r in enumerate(record.reports, 1) if r["all_rejected"]], default=0)
        plays = np.bincount(chosen_priors(record)[since:], minlength=3) + report["active_priors"].astype(int) * 100
        expected = mean[plays.argmax()]
    elif kind is RegretBalancing:
        expected = mean[np.nanargmax(np.where(report["active_priors"] == 1, report["lower_bound"], np.nan))]
    elif kind is FullyBayesian:
        weights = np.exp(evidence - evidence.max())
        expected = weights / weights.sum() @ mean
    else:
        expected = mean[evidence.argmax()]
    assert algorithm.recommend() == expected.argmax()
