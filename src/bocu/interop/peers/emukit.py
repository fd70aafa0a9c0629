"""Emukit's Bayesian optimisation loop with its defaults, contexts fixed when it is asked."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from bocu.core.about import About, Look
from bocu.core.parameters import NoParameters
from bocu.interop.peers import Peer
from bocu.learners.algorithms.told import ToldTrials


class EmukitPeer(Peer[NoParameters]):
    """The next point of a loop of Emukit at a context drawn from those likely.

    Its own best is that of the best single trial, whose context was the luckiest. What is deployed is the best tried by
    its model, averaged over contexts: that average is ours.
    """

    about = About(
        title="Emukit",
        summary="Emukit's expected improvement with its defaults, contexts fixed",
        paper="Paleyes et al. 2023",
        look=Look("indigo", "dashed", "<"),
    )
    Parameters = NoParameters

    def _asked(self, told: ToldTrials, seed: int) -> Mapping[str, float]:
        with _seeded(seed):
            names = told.names(with_contexts=True)
            (point,) = self._loop(told).get_next_points(context=told.fixed(seed))
        return dict(zip(names, point.tolist(), strict=True))

    def _deployed(self, told: ToldTrials, seed: int) -> np.ndarray:
        with _seeded(seed):
            costs, _ = self._loop(told).model.predict(told.pairs())
        return told.best(told.expected(-costs[:, 0]))

    def _loop(self, told: ToldTrials) -> Any:
        from emukit.core import ContinuousParameter
        from emukit.examples.gp_bayesian_optimization import single_objective_bayesian_optimization as emukit

        space = [ContinuousParameter(name, 0.0, 1.0) for name in told.names(with_contexts=True)]
        inputs = np.hstack([told.decisions, told.contexts])
        return emukit.GPBayesianOptimization(space, inputs, -told.payoffs[:, None])  # it minimises


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Let NumPy's global generator, which GPy and Emukit draw from, start at a seed, and leave it as it was."""
    before = np.random.get_state()  # noqa: NPY002 -- theirs
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
