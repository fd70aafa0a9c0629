"""Thompson sampling with an unknown prior: PE-GP-TS and HP-GP-TS, after the abstracts of Sandberg and Chehreghani.

Source: "Adaptive prior selection in Gaussian process bandits with Thompson sampling" (2025, arXiv 2502.01226). Read
were its abstracts alone: PE-GP-TS "disqualifies priors with poor predictive performance", HP-GP-TS is "a bi-level
Thompson sampling scheme". What stands here is PE-GP-UCB (Ziomek et al. 2025) with a sample in place of the bound, whose
test of predictions holds however decisions were chosen, and a sample under a prior that is sampled from its posterior.
Everything else, contexts among it, is as `bocu.learners.algorithms.unknown_prior` says.
"""

import numpy as np

from bocu.core.about import About, Look
from bocu.core.rounds import Decision, Round
from bocu.learners.algorithms.beliefs import Offers
from bocu.learners.algorithms.time_varying import PEGPUCB, FullyBayesian


class PEGPTS(PEGPUCB):
    """The best payoff of one sample under each candidate; candidates go by the test of PE-GP-UCB.

    `sqrt_beta` only widens that test, and what is recommended on a grid of contexts.
    """

    about = About(
        title="PE-GP-TS (after its abstract)",
        summary="Thompson sampling with prior elimination",
        paper="after the abstract of Sandberg and Chehreghani 2025",
        look=Look("vermillion", "dotted", "o"),
    )
    boxes = False

    def _offers(self, round: Round, available: np.ndarray, sqrt_beta: np.ndarray) -> Offers:
        return self.surrogate.samples(round, available, self.generator)


class HPGPTS(FullyBayesian):
    """A prior is drawn by the posterior weights, then the payoff from its posterior: the sample's best decision.

    `chosen_prior` is the prior that was drawn. `sqrt_beta` does not enter decisions.
    """

    about = About(
        title="HP-GP-TS (after its abstract)",
        summary="Thompson sampling of the prior, then of the payoff",
        paper="after the abstract of Sandberg and Chehreghani 2025",
        look=Look("green", "dotted", "D"),
    )
    boxes = False

    def _offers(self, round: Round, available: np.ndarray, sqrt_beta: np.ndarray) -> Offers:
        return self.surrogate.samples(round, available, self.generator)

    def _choose(self, offers: Offers) -> tuple[int, Decision]:
        weights = self._weights()
        return offers.first_best([int(self.generator.choice(len(weights), p=weights))])
