r"""Kirschner et al. (2020) by simulation: how often Lemma 1's bounds hold, and Corollary 6's simple regret.

    python tests/benchmarks/simulator_bounds.py
    python tests/benchmarks/simulator_bounds.py --runs 20 --rounds 80

Payoffs of norm 2 in the kernel's space on 20 decisions and 10 contexts, noise of 0.2, ridge 1, delta 0.1, an MMD set of
radius 0.3 about the uniform distribution; Algorithm 2 of the simulator setting decides. First line: share of runs in
which the bounds of Lemma 1 hold everywhere in all rounds, and the largest error in units of its width. Then a line a
round: simple regret of the best iterate by its lower bounds (mean and largest), and over the bound of Corollary 6 with
the log determinant of what was observed for the maximal information gain, which makes the bound smaller.
"""

import argparse

import numpy as np

from bocu.core.kernels import SquaredExponential
from bocu.learners.algorithms.theorems import KirschnerWidth, Knowledge
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, squared_exponential_gram

NORM, NOISE, RADIUS = 2.0, 0.2, 0.3
DECISIONS, CONTEXTS = np.linspace(0, 1, 20)[:, None], np.linspace(0, 1, 10)[:, None]
WIDTH = KirschnerWidth(theorem="kirschner-2020", norm=NORM, delta=0.1, statement="lemma-1")


def run(seed: int, rounds: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the largest error in widths, and by round simple regret and its bound, both of shape (rounds,)."""
    random = np.random.default_rng(seed)
    prior = GridPrior(DECISIONS, CONTEXTS, SquaredExponential((0.2,)), SquaredExponential((0.2,)), noise=1.0)
    weights = random.standard_normal(prior.shape)
    payoff = prior.decision_gram @ weights @ prior.context_gram
    payoff *= NORM / np.sqrt((weights * payoff).sum())
    ball = MaximumMeanDiscrepancy(RADIUS, squared_exponential_gram(CONTEXTS, 0.2))
    reference = np.full(len(CONTEXTS), 1 / len(CONTEXTS))
    worth, _ = ball.values(payoff, reference)
    posterior, farthest, best, deployed = GridPosterior(prior), 0.0, -np.inf, 0
    regret, bound = np.empty(rounds), np.empty(rounds)
    for t in range(1, rounds + 1):
        known = Knowledge(t, 1, *prior.shape, noise=NOISE, log_determinant=posterior.log_determinant())
        beta, mean, deviation = WIDTH.sqrt_beta(known), posterior.mean(), posterior.deviation()
        farthest = max(farthest, float((np.abs(mean - payoff) / deviation).max() / beta))
        decision = int(ball.values(mean + beta * deviation, reference)[0].argmax())
        low = float(ball.values((mean - beta * deviation)[decision], reference)[0])
        if low > best:
            best, deployed = low, decision
        regret[t - 1] = worth.max() - worth[deployed]
        context = int(deviation[decision].argmax())
        posterior.add(decision, context, payoff[decision, context] + NOISE * random.standard_normal())
        bound[t - 1] = 2 * beta * np.sqrt(posterior.log_determinant() / t)
    return farthest, regret, bound


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=160)
    chosen = parser.parse_args()
    found = [run(seed, chosen.rounds) for seed in range(chosen.runs)]
    errors = np.array([farthest for farthest, _, _ in found])
    print(f"Lemma 1: {100 * (errors <= 1).mean():.0f} % of {chosen.runs} runs; error at most {errors.max():.2f} widths")
    regrets, bounds = (np.stack([one[place] for one in found]) for place in (1, 2))
    for t in [t for t in (10, 20, 40, 80, 160, 320) if t <= chosen.rounds]:
        own = regrets[:, t - 1]
        share = (own / bounds[:, t - 1]).max()
        print(f"round {t}: simple regret {own.mean():.4f}, at most {own.max():.3f}; over the bound at most {share:.3f}")


if __name__ == "__main__":
    main()
