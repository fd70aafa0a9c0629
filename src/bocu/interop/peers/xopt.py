"""Xopt's expected improvement with a contextual variable, which it holds at the value met last."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocu.core.about import About, Look
from bocu.core.parameters import NoParameters
from bocu.interop.botorch.models import seeded
from bocu.interop.peers import PAYOFF, Peer
from bocu.learners.algorithms.told import ToldTrials


class XoptPeer(Peer[NoParameters]):
    """The next decision of a generator of Xopt; what it deploys is the best tried by its model, averaged over contexts.

    Xopt itself recommends nothing where a variable is contextual: that average is ours.
    """

    about = About(
        title="Xopt",
        summary="Xopt's expected improvement with its defaults, contexts as contextual variables",
        paper="Roussel et al. 2023",
        look=Look("indigo", "solid", "v"),
    )
    Parameters = NoParameters

    def _asked(self, told: ToldTrials, seed: int) -> Mapping[str, float]:
        with seeded(seed):
            asked: Mapping[str, float] = self._generator(told).generate(1)[0]
        return asked

    def _deployed(self, told: ToldTrials, seed: int) -> np.ndarray:
        import torch

        with seeded(seed):
            model = self._generator(told).train_model()
            with torch.no_grad():
                mean = model.posterior(torch.tensor(told.pairs())).mean[..., 0]
        return told.best(told.expected(mean.numpy()))

    def _generator(self, told: ToldTrials) -> Any:
        import pandas as pd
        from xopt import VOCS
        from xopt.generators.bayesian import ExpectedImprovementGenerator
        from xopt.vocs import ContextualVariable

        variables: dict[str, Any] = {name: [0.0, 1.0] for name in told.names(with_contexts=False)}
        for name in told.names(with_contexts=True)[len(variables) :]:
            variables[name] = ContextualVariable(domain=[0.0, 1.0])
        generator = ExpectedImprovementGenerator(vocs=VOCS(variables=variables, objectives={PAYOFF: "MAXIMIZE"}))
        generator.add_data(pd.DataFrame(told.trials(with_contexts=True)).assign(**{PAYOFF: told.payoffs}))
        return generator
