"""How a function over a box of decisions is maximised, as an experiment file states it."""

from typing import Annotated, Self

import pydantic
from pydantic import Field

from bocu.core.parameters import Integer, Parameters


class SearchParameters(Parameters):
    """How the acquisition function is maximised."""

    raw: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="scrambled Sobol points that starts are drawn from"
    )
    restarts: Annotated[Integer, Field(ge=1)] = Field(50, description="starts that climb")

    merge: bool = Field(
        False, description="whether of starts that meet while they climb only one goes on; never where BoTorch climbs"
    )

    @pydantic.model_validator(mode="after")
    def _starts_are_drawn_from_raw(self) -> Self:
        if self.restarts > self.raw:
            raise ValueError(f"restarts: allowed up to the {self.raw} raw points that they are drawn from")
        return self


#: For acquisition functions whose decisions more ascents leave as they are: `tests/benchmarks/one_step_ahead.py`.
FEW_ASCENTS = SearchParameters(raw=256, restarts=12)
