"""Optuna's samplers, which know decisions and payoffs; the context is noise to them."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Parameters
from bocu.interop.peers import Peer
from bocu.learners.algorithms.told import ToldTrials


class OptunaParameters(Parameters):
    """Which sampler."""

    sampler: Literal["gp", "tpe"] = Field("gp", description="`gp`: its Gaussian process; `tpe`: tree-structured Parzen")


class OptunaPeer(Peer[OptunaParameters]):
    """The next trial of a study of Optuna; its best decision is that of the best single trial."""

    about = About(
        title="Optuna",
        summary="Optuna's Gaussian process or TPE sampler with its defaults, of decisions alone",
        paper="Akiba et al. 2019",
        look=Look("olive", "solid", "P"),
    )
    Parameters: ClassVar[type[Parameters]] = OptunaParameters

    def _asked(self, told: ToldTrials, seed: int) -> Mapping[str, float]:
        import optuna
        from optuna.distributions import FloatDistribution

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        samplers = {"gp": optuna.samplers.GPSampler, "tpe": optuna.samplers.TPESampler}
        study = optuna.create_study(sampler=samplers[self.parameters.sampler](seed=seed), direction="maximize")
        space = {name: FloatDistribution(0.0, 1.0) for name in told.names(with_contexts=False)}
        for trial, payoff in zip(told.trials(with_contexts=False), told.payoffs.tolist(), strict=True):
            study.add_trial(optuna.trial.create_trial(params=trial, distributions=space, value=payoff))
        return study.ask(space).params

    def _deployed(self, told: ToldTrials, seed: int) -> np.ndarray:
        return told.best(told.payoffs)  # `study.best_params`
