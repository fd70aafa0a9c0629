"""Ax with its defaults, of decisions alone or with contexts as parameters that are fixed when it is asked."""

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Parameters
from bocu.interop.peers import PAYOFF, Peer
from bocu.learners.algorithms.told import ToldTrials

if TYPE_CHECKING:
    from ax.api.client import Client

    Trial = tuple[dict[str, float], float]  # what was tried by name, and its payoff


class AxParameters(Parameters):
    """Whether it knows of contexts."""

    contexts: bool = Field(
        False,
        description="whether contexts are parameters too: fixed at one that is drawn from those likely when it is "
        "asked, and averaged over, by its predictions, when it recommends",
    )


class AxPeer(Peer[AxParameters]):
    """The next trial of a client of Ax, which goes on from what was told without points of its own first.

    A client is asked once. It is a copy of one that was told each trial once, as that takes Ax long.
    """

    about = About(
        title="Ax",
        summary="Ax's Bayesian optimisation with its defaults, of decisions alone or with contexts fixed",
        paper="Olson et al. 2025",
        look=Look("wine", "solid", "^"),
    )
    Parameters: ClassVar[type[Parameters]] = AxParameters
    _informed: "tuple[Client, list[Trial]] | None" = None

    def _asked(self, told: ToldTrials, seed: int) -> Mapping[str, float]:
        from ax.utils.common.random import with_rng_seed

        fixed = told.fixed(seed) if self.parameters.contexts else None
        with with_rng_seed(seed):
            (asked,) = self._client(told).get_next_trials(max_trials=1, fixed_parameters=fixed).values()
        return asked

    def _deployed(self, told: ToldTrials, seed: int) -> np.ndarray:
        from ax.utils.common.random import with_rng_seed

        with with_rng_seed(seed):
            client = self._client(told)
            client.get_next_trials(max_trials=1)  # it fits its model when it is asked
            if not self.parameters.contexts:
                best = client.get_best_parameterization(use_model_predictions=True)[0]
                return np.array([best[name] for name in told.names(with_contexts=False)])
            names = told.names(with_contexts=True)
            found = client.predict([dict(zip(names, pair, strict=True)) for pair in told.pairs().tolist()])
        return told.best(told.expected(np.array([float(one[PAYOFF][0]) for one in found])))

    def _client(self, told: ToldTrials) -> "Client":
        trials = list(zip(told.trials(self.parameters.contexts), told.payoffs.tolist(), strict=True))
        client, known = self._informed or (None, [])
        if client is None or known != trials[: len(known)]:
            client, known = self._new_client(told), []
        for parameters, payoff in trials[len(known) :]:
            client.complete_trial(client.attach_trial(parameters), raw_data={PAYOFF: payoff})
        self._informed = client, trials
        return deepcopy(client)

    def _new_client(self, told: ToldTrials) -> "Client":
        import logging

        from ax.api.client import Client
        from ax.api.configs import RangeParameterConfig
        from ax.utils.common.logger import set_ax_logger_levels

        set_ax_logger_levels(logging.ERROR)
        client = Client()
        names = told.names(self.parameters.contexts)
        space = [RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0)) for name in names]
        client.configure_experiment(parameters=space)
        client.configure_optimization(objective=PAYOFF)
        client.configure_generation_strategy(initialization_budget=0, initialize_with_center=False)
        return client
