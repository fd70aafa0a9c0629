"""Factories of test modules, as the experiment at hand names them."""

from pathlib import Path
from typing import Any

from bocu.core.parameters import READING, Reading
from bocu.learners.algorithms.botorch_model import BotorchModelParameters


def stated(model: Any, folder: Path = Path(__file__).parent) -> dict[str, Any]:
    """Return what a specification holds of a model that a file in a folder states."""
    context = {READING: Reading(folder)}
    return BotorchModelParameters.model_validate(model, context=context).model_dump(mode="json")
