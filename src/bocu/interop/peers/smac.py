"""SMAC's Gaussian process for black boxes, which knows decisions and payoffs; the context is noise to it."""

from collections.abc import Mapping
from tempfile import TemporaryDirectory

import numpy as np

from bocu.core.about import About, Look
from bocu.core.parameters import NoParameters
from bocu.interop.peers import Peer
from bocu.learners.algorithms.told import ToldTrials


class SmacPeer(Peer[NoParameters]):
    """The next trial of SMAC's black-box facade; its incumbent is the decision of the best single trial.

    It is told that no decision has to be tried under several seeds: those it would choose, and nobody chooses contexts.
    """

    about = About(
        title="SMAC",
        summary="SMAC's black-box facade with its defaults, of decisions alone",
        paper="Lindauer et al. 2022",
        look=Look("brown", "solid", ">"),
    )
    Parameters = NoParameters

    def _asked(self, told: ToldTrials, seed: int) -> Mapping[str, float]:
        from smac import BlackBoxFacade, Scenario
        from smac.runhistory.dataclasses import TrialInfo, TrialValue

        from ConfigSpace import Configuration, ConfigurationSpace, Float  # isort: skip  # SMAC brings it

        space = ConfigurationSpace(seed=seed)
        space.add(*(Float(name, (0.0, 1.0)) for name in told.names(with_contexts=False)))
        tried = [Configuration(space, values=trial) for trial in told.trials(with_contexts=False)]
        with TemporaryDirectory() as folder:  # it keeps a log
            scenario = Scenario(space, folder, deterministic=True, n_trials=len(tried) + 1, seed=seed)
            design = BlackBoxFacade.get_initial_design(scenario, n_configs=0, additional_configs=tried)
            facade = BlackBoxFacade(scenario, _played_elsewhere, initial_design=design, logging_level=False)
            for trial, payoff in zip(tried, told.payoffs.tolist(), strict=True):
                facade.tell(TrialInfo(trial, seed=0), TrialValue(cost=-payoff), save=False)
            return dict(facade.ask().config)

    def _deployed(self, told: ToldTrials, seed: int) -> np.ndarray:
        return told.best(told.payoffs)


def _played_elsewhere(config: Mapping[str, float], seed: int = 0) -> float:
    """Stand for the payoff, which is told."""
    raise NotImplementedError
