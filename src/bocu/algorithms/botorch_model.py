"""A model of the user's choice in the place of our own: what an experiment file says of it.

A factory is called with the inputs (t, D), decisions and contexts side by side in the unit cube, and the payoffs
(t, outputs), both as float64 tensors, and returns a BoTorch model. One that it leaves in training mode, as BoTorch's
are made, is fitted by `fit_gpytorch_mll`; one in evaluation mode is taken as it is. Nothing here imports BoTorch.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import pydantic
from pydantic import Field

from bocu.core.costs import planning_only
from bocu.core.loading import load
from bocu.core.parameters import Parameters

FACTORIES: Mapping[str, str] = {"botorch-default": "bocu.interop.botorch.models:single_task_gp"}
"""Models by name: what each leads to."""

BRIDGE = "bocu.interop.botorch.models:FactoryModel"
"""What plays such a model; with the factory it is all that a run of one reaches beyond the algorithm."""

FACTORY = r"^(\.{0,2}/)?[\w./-]+:[A-Za-z_]\w*$"


def names_factory(data: object) -> bool:
    """Whether what a file says of a model is a factory, or the name of one."""
    return data in FACTORIES if isinstance(data, str) else isinstance(data, Mapping) and "botorch" in data


class BotorchModelParameters(Parameters):
    """Any BoTorch model, fitted to all observations before every decision."""

    contextual: ClassVar[bool] = True  # whether contexts are among its inputs

    botorch: Annotated[str, Field(pattern=FACTORY)] = Field(
        description="what makes the model of inputs (t, D) and payoffs (t, outputs): `module:factory`, such as "
        "`botorch.models:SingleTaskGP`; `model: botorch-default` alone is that with its defaults"
    )
    parameters: dict[str, Any] = Field(default_factory=dict, description="keyword arguments of the factory")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _by_name(cls, data: object) -> object:
        if isinstance(data, str) and data in FACTORIES:
            return {"botorch": FACTORIES[data]}
        if isinstance(data, Mapping) and data.get("botorch") in FACTORIES:
            return {**data, "botorch": FACTORIES[data["botorch"]]}
        return data

    @planning_only
    def expense(self, context_coordinates: int) -> tuple[float, float]:
        """Return how much more a round, and its work with the observations, take than with our model."""
        return 60.0, 60.0  # tests/benchmarks/botorch_costs.py

    def built(self, decisions: int, contexts: int) -> Any:
        """Return the model before any observation, over so many coordinates of decisions and contexts.

        It plays the part of a `bocu.surrogates.continuous.model.ContinuousGP`.
        """
        return load(BRIDGE)(self, decisions, contexts if self.contextual else 0)


class BotorchDecisionModelParameters(BotorchModelParameters):
    """Any BoTorch model over decisions alone."""

    contextual: ClassVar[bool] = False
