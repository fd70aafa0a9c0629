"""Payoffs on a grid that change with time: their process, its priors, and Ziomek's rules under robust objectives."""

import cvxpy as cp
import numpy as np
import pytest
from played import finished

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.core.rounds import Description, FiniteDomain, Round
from bocu.problems.drifting import DriftingParameters, DriftingSample
from bocu.robust.ambiguity import TotalVariation
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.evaluation.metrics import ObjectiveMetric
from bocu.sweep.experiment.registry import find, registered
from bocu.sweep.runs.seed_run import SeedRun
from bocu.testing.games import run_specification, stated

SMALL = {"decision_points": [6], "context_points": [4], "noise": 0.1, "lengthscale": 0.3, "initial": 2}
RULES = ["pe-gp-ucb", "mle", "fully-bayesian", "regret-balancing", "oracle"]
DRO = "dro", {"set": {"name": "tv", "radius": 0.5}}


def problem(**parameters):
    return DriftingSample(DriftingParameters(**{**SMALL, **parameters}), {})


def seed_run(algorithm, objective, rounds=6, seed=0, **parameters):
    specified = run_specification({}, stated("algorithm", algorithm, {}), stated("objective", *objective), rounds)
    return SeedRun(specified, problem(**parameters), seed)


def played(*arguments, **keywords):
    return finished(seed_run(*arguments, **keywords))


def test_a_round_keeps_what_is_not_forgotten():
    """Over seeds, pairs of rounds correlate by sqrt(1 - forgetting) a step, and no round varies more than another."""
    family = problem(forgetting=0.19, variance=2.0)
    tables = np.stack([[family.realise(Streams(s)).payoffs(t) for t in (1, 2, 3)] for s in range(400)])
    first, second, third = (tables[:, t].ravel() for t in range(3))
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(0.9, abs=0.03)
    assert np.corrcoef(first, third)[0, 1] == pytest.approx(0.81, abs=0.04)
    assert [each.var() for each in (first, second, third)] == pytest.approx([2.0] * 3, rel=0.1)
    # Within a table the prior's own covariance: of two decisions in one context.
    expected = family.own_model.decision_gram[0, 1]
    assert np.corrcoef(tables[:, 0, 0, 0], tables[:, 0, 1, 0])[0, 1] == pytest.approx(expected, abs=0.1)


def test_where_nothing_is_forgotten_nothing_drifts():
    still = problem(forgetting=0.0).realise(Streams(0))
    np.testing.assert_array_equal(still.payoffs(7), still.payoffs(1))
    assert still.payoff_at(7, 2, 3) == still.payoffs(1)[2, 3]


def test_candidates_are_kernels_times_rates():
    assert problem().prior_labels == ("own-0", "own-0.02", "own-0.2")
    candidates = [
        {"label": name, "kernel": "matern-5/2", "lengthscale": [scale], "variance": 1.5, "mean": 0.3}
        for name, scale in (("short", 0.1), ("long", 0.9))
    ]
    family = problem(candidates=candidates, forgetting_tried=[0.02, 0.5], best="long")
    assert family.prior_labels == ("short-0.02", "short-0.5", "long-0.02", "long-0.5")
    assert [prior.label for prior in family.priors] == list(family.prior_labels)
    assert family.best_prior is family.priors[2]
    grid = np.array([(x, c) for x in family.decisions[:, 0] for c in family.contexts[:, 0]])
    scaled = np.sqrt(5.0) * np.abs(grid[:, None] - grid[None]) / 0.9
    distance = np.sqrt((scaled[..., :1] ** 2).sum(-1)), np.sqrt((scaled[..., 1:] ** 2).sum(-1))
    matern = [(1.0 + each + each**2 / 3.0) * np.exp(-each) for each in distance]
    np.testing.assert_allclose(family.priors[3].covariance, 1.5 * matern[0] * matern[1], atol=1e-12)
    assert DriftingSample.outline(family.parameters).priors == family.prior_labels


def dense(prior, seen, t, noise):
    """Mean and deviation of all pairs at time t, and the log evidence, from the whole kernel matrix."""
    pairs, times, values = (np.array(column) for column in zip(*seen, strict=True))
    fade = (1.0 - prior.forgetting) ** (0.5 * np.abs(times[:, None] - times[None]))
    gram = prior.covariance[np.ix_(pairs, pairs)] * fade + noise**2 * np.eye(len(pairs))
    cross = prior.covariance[:, pairs] * (1.0 - prior.forgetting) ** (0.5 * np.abs(t - times))
    error = values - prior.mean[pairs]
    mean = prior.mean + cross @ np.linalg.solve(gram, error)
    variance = np.diag(prior.covariance) - np.einsum("ij,ji->i", cross, np.linalg.solve(gram, cross.T))
    evidence = -0.5 * error @ np.linalg.solve(gram, error) - 0.5 * np.linalg.slogdet(2.0 * np.pi * gram)[1]
    return mean, np.sqrt(np.maximum(variance, 0.0)), evidence


def test_the_decision_is_the_best_worst_case_of_upper_bounds_now():
    """MLE, written out: the prior of highest evidence, its bounds at this time, the set by a linear program."""
    run = seed_run("mle", DRO, rounds=8, forgetting=0.3)
    seen = []
    while not run.finished:
        if run.t >= 2:
            round, family = run.announced(), run.realisation
            believed = [dense(prior, seen, round.t, 0.1) for prior in family.description.priors]
            best = int(np.argmax([evidence for *_, evidence in believed]))
            mean, deviation, _ = believed[best]
            upper = (mean + run.algorithm.sqrt_beta(round.t) * deviation).reshape(6, 4)
            q = cp.Variable(4, nonneg=True)
            near = [cp.sum(q) == 1, cp.norm1(q - round.reference) <= 0.5]
            worst = [cp.Problem(cp.Minimize(row @ q), near).solve(solver=cp.CLARABEL) for row in upper]
            row = run.done
        run.play()
        record = run.record.arrays
        pair = int(record["decision_index"][run.done - 1]) * 4 + int(record["context_index"][run.done - 1])
        if run.t >= 3:
            assert record["decision_index"][row] == np.argmax(worst)
            assert record["chosen_prior"][row] == best
            assert record["predicted_mean"][row] == pytest.approx(mean[pair], abs=1e-9)
            assert record["predicted_sd"][row] == pytest.approx(deviation[pair], abs=1e-7)
        seen.append((pair, max(run.t - 1, 1), record["observation"][run.done - 1]))


@pytest.mark.parametrize("algorithm", RULES)
def test_priors_that_forget_nothing_decide_as_those_of_a_grid(algorithm):
    """The same kernel over pairs, or over decisions and contexts that stand still: the same decisions."""
    family = problem(forgetting=0.0, forgetting_tried=[0.0])
    grid = FiniteDomain(family.decisions, ("x",), ("1",)), FiniteDomain(family.contexts, ("c",), ("1",))
    objective = UncertaintyObjective.gen(TotalVariation(0.0), 1.0, 0.5)
    kind = find("algorithm", algorithm).load()
    asked = []
    for priors in (family.priors, (family.own_model,)):
        described = Description(*grid, 0.1, "general", priors=priors, best_prior=priors[0])
        learner = kind(described, objective, kind.Parameters(), np.random.default_rng(0))
        generator = np.random.default_rng(4)
        table = generator.standard_normal((6, 4))
        decisions = []
        for t in range(1, 12):
            reference = generator.dirichlet(np.ones(4))
            decisions.append(learner.ask(Round(t=t, reference=reference, epsilon=0.3)))
            context = int(generator.integers(4))
            learner.tell(decisions[-1], context, table[decisions[-1], context] + 0.1 * generator.standard_normal())
        asked.append([*decisions, learner.recommend()])
    assert asked[0] == asked[1]


def test_every_round_is_scored_by_its_own_payoffs():
    """Regret of DRO in a round: the best worst case of this round's table, less that of the decision."""
    run = played("pe-gp-ucb", DRO, forgetting=0.4)
    metric = ObjectiveMetric(ObjectiveMetric.Parameters(objective=stated("objective", *DRO)))
    situations = [run.protocol.situation(run.realisation, t, np.empty(0)) for t in range(-1, 7)]
    chosen = run.record.arrays["decision_index"]
    regret, value = metric.score(run.realisation, situations, chosen)
    rule = UncertaintyObjective.dro(TotalVariation(0.5))
    for row, situation in enumerate(situations):
        t = max(situation.t, 1)
        worst = rule(run.realisation.payoffs(t), situation.reference)
        assert value[row] == pytest.approx(worst[chosen[row]])
        assert regret[row] == pytest.approx(worst.max() - worst[chosen[row]])
        context = run.record.arrays["context_index"][row]
        assert run.record.arrays["payoff"][row] == run.realisation.payoffs(t)[chosen[row], context]


def test_all_that_a_grid_has_runs_there():
    """Algorithms with one model believe that the payoff stands still; those with candidates know better."""
    outline = DriftingSample.outline(DriftingParameters(**SMALL))
    able = {entry.name for entry in registered("algorithm") if entry.load().plays("general", outline)}
    assert {*RULES, "ucb-bocu-2", "ts-bocu", "random"} <= able
    run = played("ucb-bocu-2", DRO, rounds=3)
    assert run.finished


def test_too_many_pairs_are_refused_in_a_line():
    with pytest.raises(BocuError, match=r"^decision_points, context_points: found 4000 pairs; allowed: up to 2000"):
        DriftingSample.outline(DriftingParameters(**{**SMALL, "decision_points": [1000]}))
