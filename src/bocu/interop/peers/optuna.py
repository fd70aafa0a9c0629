"""Optuna's samplers, which know decisions and payoffs; the context is noise to them."""

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Parameters
from bocu.interop.peers import Peer, PeerParameters, Told


class OptunaParameters(PeerParameters):
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

    def _proposed(self, told: Told, seed: int) -> np.ndarray:
        import optuna
        from optuna.distributions import FloatDistribution

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        samplers = {"gp": optuna.samplers.GPSampler, "tpe": optuna.samplers.TPESampler}
        study = optuna.create_study(sampler=samplers[self.parameters.sampler](seed=seed), direction="maximize")
        names = told.names(with_contexts=False)
        space = {name: FloatDistribution(0.0, 1.0) for name in names}
        for trial, payoff in zip(told.trials(with_contexts=False), told.payoffs.tolist(), strict=True):
            study.add_trial(optuna.trial.create_trial(params=trial, distributions=space, value=payoff))
        asked = study.ask(space).params
        return np.array([asked[name] for name in names])

    def _best(self, told: Told, seed: int) -> np.ndarray:
        best: np.ndarray = told.decisions[int(np.argmax(told.payoffs))]  # `study.best_params`
        return best
