"""Parameters of problems on a grid that candidate priors may be stated for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.parameters import Positive, nearest
from bocu.core.plain import Plain
from bocu.learners.surrogates.grid import GridPrior
from bocu.problems.base import ProblemParameters
from bocu.problems.priors.grids import grid_priors, lengthscales
from bocu.problems.priors.statements import Candidate, FittedPrior, Period, Scenario, StatedPrior

if TYPE_CHECKING:
    from bocu.sweep.experiment.branches import ProblemPaths

FIT = "bocu.problems.priors.gaussian_process:fit_prior"  # by name: a run depends on what is fitted, not on how
FIT_KERNEL = "bocu.sweep.runs.kernel_fits:fit_kernel"

FITTED: Literal["fitted"] = "fitted"
OWN_KERNEL = "own_kernel"  # no entry has such a label
Lengthscale = Positive | Literal["fitted"]


class CandidateParameters(ProblemParameters):
    """The candidate priors of a problem, and which of them is believed in."""

    #: What reads the rows that priors are fitted to, as module:function; empty where no data stand behind the problem.
    read_rows: ClassVar[str] = ""
    #: Names of the decision's and of the context's coordinates in those rows.
    decision_inputs: ClassVar[tuple[str, ...]] = ()
    context_inputs: ClassVar[tuple[str, ...]] = ()
    #: Whether each row has its time.
    dated: ClassVar[bool] = False

    candidates: tuple[FittedPrior | StatedPrior, ...] = Field(
        (), description="candidate priors of the payoff; set by the plan from `priors` of the experiment"
    )
    believed: str | None = Field(
        None,
        description="label of the candidate that algorithms with one model believe in; null: the kernel stated here",
    )
    best: str | None = Field(
        None, description="label of the candidate that is the best known, for oracles; null: what is believed in"
    )

    def with_candidates(self, candidates: Sequence[Candidate]) -> Self:
        if self.candidates:
            raise BocuError("candidates: they are stated under `priors` of the experiment; leave this key out")
        labels = [candidate.label for candidate in candidates]
        if double := next((label for place, label in enumerate(labels) if label in labels[:place]), None):
            raise BocuError(f"candidates: two have the name '{double}'; give an entry of `priors` another label")
        for key in ("believed", "best"):
            label = getattr(self, key)
            if label is not None and label not in labels:
                raise BocuError(f"{key}: no candidate prior '{label}'; {nearest(label, labels)}")
        return self.model_copy(update={"candidates": tuple(candidates)})

    def takes(self, candidate: Candidate) -> str:
        rows = getattr(candidate, "rows", None)
        inputs = (*self.decision_inputs, *self.context_inputs)
        if isinstance(candidate, FittedPrior) and not self.read_rows:
            return "no data stand behind it that a prior could be fitted to"
        if isinstance(rows, Period) and not self.dated:
            return f"rows of {rows.period}: its rows have no time; take `scenarios`"
        if isinstance(rows, Scenario) and self.dated:
            return "scenarios: its rows have times; take `months` or `days`"
        if isinstance(rows, Scenario) and rows.input not in inputs:
            return f"scenarios: no input '{rows.input}'; {nearest(rows.input, inputs)}"
        return ""

    def inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        files = [paths.prior(candidate.label) for candidate in self._fitted()]
        return {**super().inputs(paths), **({"candidates": files} if files else {})}

    def priors(self) -> dict[str, Plain]:
        return {
            candidate.label: {
                "fit": FIT,
                "statement": {
                    **candidate.model_dump(mode="json"),
                    "noise": candidate.known_noise(self.noise),  # type: ignore[attr-defined]
                    "read": self.read_rows,
                    "inputs": [*self.decision_inputs, *self.context_inputs],
                },
            }
            for candidate in self._fitted()
        }

    def prior_inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        return {key: files for key, files in self.inputs(paths).items() if key not in ("candidates", "kernel")}

    def check_candidates(self, dimensions: int) -> tuple[str, ...]:
        """Return the labels of the candidates, once they are known to be over so many coordinates.

        Raises:
            BocuError: one is not.
        """
        for candidate in self.candidates:
            if isinstance(candidate, StatedPrior):
                lengthscales(candidate, dimensions)
        return tuple(candidate.label for candidate in self.candidates)

    def laid_out(
        self, inputs: Mapping[str, Any], decisions: np.ndarray, contexts: np.ndarray, noise: float | np.ndarray
    ) -> tuple[GridPrior, ...]:
        """Return the candidates over grid points (decisions, Dx) and (contexts, Dc), see `grid_priors`."""
        files = dict(zip((candidate.label for candidate in self._fitted()), inputs.get("candidates", []), strict=True))
        return grid_priors(self.candidates, files, decisions, contexts, noise)

    def _fitted(self) -> Iterator[FittedPrior]:
        return (candidate for candidate in self.candidates if isinstance(candidate, FittedPrior))


@overload
def prior_named(priors: Sequence[GridPrior], label: str | None, otherwise: GridPrior) -> GridPrior: ...
@overload
def prior_named(priors: Sequence[GridPrior], label: str | None, otherwise: GridPrior | None) -> GridPrior | None: ...
def prior_named(priors: Sequence[GridPrior], label: str | None, otherwise: GridPrior | None) -> GridPrior | None:
    """Return the prior of a label, or another one where none is named."""
    return otherwise if label is None else next(prior for prior in priors if prior.label == label)


def kernel_source(parameters: ProblemParameters) -> str:
    """Say where the kernel comes from that algorithms with one model believe in; empty where there is none.

    Asked of the parameters of any problem, also of those that stand for a class from outside.
    """
    if not (hasattr(parameters, "lengthscale") and hasattr(parameters, "believed")):
        return ""
    if parameters.believed is not None:
        return f"from the prior '{parameters.believed}'"
    return "fitted on a design" if parameters.lengthscale == FITTED else "stated"
