"""The problem behind a cube, built again as one seed meets it, for pictures of the problem itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.parameters import LARGEST_SEED, Integer
from bocu.core.rounds import BoxDomain, Domain
from bocu.pages.figures.base import DigestedParameters, FigureParameters, Inputs
from bocu.pages.figures.results import Results, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bocu.problems.base import Realisation
    from bocu.sweep.experiment.products import FigurePaths

MOST_TICKS = 18
_PREFIX = "problem_"


class RealisedParameters(DigestedParameters):
    """Parameters of a figure that needs the files of the problem besides the digest."""

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        return {**super().inputs(paths), **_problem_files(paths)}


class OneSeedParameters(RealisedParameters):
    """Parameters of a figure that draws the problem of one seed."""

    seed: Integer | None = Field(
        None, ge=0, le=LARGEST_SEED, description="The seed whose problem is drawn; the first, if left out."
    )


class ProblemFigureParameters(FigureParameters):
    """Parameters of a figure of the problem itself, which needs no run."""

    draws_problem: ClassVar[bool] = True

    def inputs(self, paths: "FigurePaths") -> dict[str, str | list[str]]:
        return _problem_files(paths)


def _problem_files(paths: "FigurePaths") -> dict[str, str | list[str]]:
    return {f"{_PREFIX}{key}": files for key, files in paths.problem_inputs().items()}


def problem_inputs(inputs: Inputs) -> dict[str, Any]:
    """Return the problem's own files back under the problem's own keys."""
    return {key.removeprefix(_PREFIX): files for key, files in inputs.items() if key.startswith(_PREFIX)}


def realise(cube: Results, inputs: Inputs, seed: int) -> "Realisation":
    """Build the problem of a cube as `seed` meets it."""
    from bocu.core.randomness import Streams
    from bocu.sweep.runs.seed_run import build_problem

    return build_problem(cube.problem_specification(), problem_inputs(inputs)).realise(Streams(seed))


def problem_of(inputs: Inputs) -> tuple[Any, str, str]:
    """Return the problem of a figure of the problem itself, its label, and what its data are; empty: measured."""
    from bocu.core.io.provenance import SIMULATED_LABEL
    from bocu.sweep.runs.seed_run import build_problem

    problem = build_problem(inputs["problem"]["specification"], problem_inputs(inputs))
    return problem, inputs["problem"]["label"], SIMULATED_LABEL if problem.simulated else ""


@dataclass(frozen=True)
class ArmAxis:
    """How the decisions of a finite domain are laid out along an axis."""

    positions: np.ndarray  #: a place for each decision, shape (decisions,).
    label: str  #: of the axis, with its unit.
    continuous: bool  #: whether lines between neighbours mean anything.
    names: tuple[str, ...] = ()  #: what to write at each place of an axis that is not continuous.

    def tick(self, axes: "Axes") -> None:
        """Write the names of the decisions along the x axis, as many as fit."""
        if not self.continuous:
            step = -(-len(self.names) // MOST_TICKS)
            places = range(0, len(self.names), step)
            axes.set_xticks(self.positions[::step], [self.names[place] for place in places])
        axes.set_xlabel(self.label)


def arm_axis(domain: Domain) -> ArmAxis:
    """Lay out decisions: along their coordinate where it is one ascending quantity, else one after the other.

    Raises:
        BocuError: the domain is not finite.
    """
    if isinstance(domain, BoxDomain):
        raise BocuError("decisions: the domain is a box; this figure shows a finite set of decisions")
    column = domain.points[:, 0]
    # Whole numbers name things, such as sensors; their order means nothing.
    if domain.dimension == 1 and np.any(column != np.round(column)) and np.all(np.diff(column) > 0):
        return ArmAxis(column, with_unit(domain.names[0], domain.units[0]), continuous=True)
    names = tuple(",".join(f"{value:g}" for value in point) for point in domain.points)
    return ArmAxis(np.arange(domain.size, dtype=float), ", ".join(domain.names), continuous=False, names=names)
