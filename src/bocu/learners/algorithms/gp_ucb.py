"""GP-UCB on decisions alone: the context is noise to it (baseline of Huang et al., 2024)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.rounds import CONTINUOUS, Round
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.functionals import ExpectedValue
from bocu.learners.algorithms.botorch_model import BotorchDecisionModelParameters
from bocu.learners.algorithms.continuous_base import (
    ContinuousAlgorithm,
    ContinuousAlgorithmParameters,
    DecisionModelParameters,
)
from bocu.learners.algorithms.search_parameters import FEW_ASCENTS, SearchParameters

if TYPE_CHECKING:
    from bocu.learners.surrogates.continuous.model import Posterior


class GPUCBParameters(ContinuousAlgorithmParameters):
    """Confidence bound, search, and a model of decisions."""

    search: SearchParameters = Field(FEW_ASCENTS, description="how the acquisition function is maximised")
    model: DecisionModelParameters | BotorchDecisionModelParameters = Field(
        DecisionModelParameters(),
        description="the Gaussian process of payoffs over decisions; or a BoTorch model, such as `botorch-default`",
    )


class GPUCB(ContinuousAlgorithm[GPUCBParameters]):
    """The largest upper confidence bound of a model that does not know of contexts."""

    about = About(
        title="GP-UCB",
        summary="GP-UCB on decisions alone (baseline of Huang et al. 2024)",
        look=Look("sky", "dashed", "^"),
    )
    protocols = CONTINUOUS
    Parameters = GPUCBParameters

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        return np.empty((1, 0)), ExpectedValue()
