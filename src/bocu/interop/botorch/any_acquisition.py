"""`botorch-acquisition`: any BoTorch acquisition function as an algorithm of a sweep.

One of BoTorch's is named by its class. A factory of the user's, `module:factory`, is called with keyword arguments: of
those listed at `OFFERED` the ones that it has parameters for, and the options of the experiment file. It returns an
acquisition function of decisions in the unit cube, which is maximised.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import pydantic
from pydantic import Field

from bocu.core.about import About, Look, planning_only
from bocu.core.errors import BocuError, faults_at
from bocu.core.parameters import nearest
from bocu.core.plain import Plain
from bocu.core.rounds import CONTINUOUS, SCALARISED
from bocu.interop.botorch.asking import AcquisitionInputs, BotorchAlgorithm, RiskParameters
from bocu.learners.algorithms.botorch_model import arguments_of, arguments_planned, factory, refuse_arguments, settled

if TYPE_CHECKING:
    from botorch.acquisition import AcquisitionFunction

#: Classes of `botorch.acquisition` that choose one decision by what is at hand here.
Named = Literal[
    "ExpectedImprovement",
    "LogExpectedImprovement",
    "PosteriorMean",
    "ProbabilityOfImprovement",
    "UpperConfidenceBound",
    "qExpectedImprovement",
    "qLogExpectedImprovement",
    "qLogNoisyExpectedImprovement",
    "qLowerConfidenceBound",
    "qNoisyExpectedImprovement",
    "qProbabilityOfImprovement",
    "qSimpleRegret",
    "qUpperConfidenceBound",
]

OFFERED: Mapping[str, Callable[[AcquisitionInputs], Any]] = {
    "model": lambda at: at.model,
    "X_baseline": lambda at: at.tried,
    "best_f": lambda at: at.scoring.of_mean(at.model, at.tried).max(),
    "current_value": lambda at: at.scoring.of_mean(at.model, at.tried).max(),
    "objective": lambda at: at.scoring.objective,
    "posterior_transform": lambda at: at.scoring.posterior_transform,
    "bounds": lambda at: at.bounds,
    "contexts": lambda at: at.contexts,
    "weights": lambda at: at.weights,
    "payoffs": lambda at: at.payoffs,
}
"""What a factory may ask for by the names of its parameters.

`model` is fitted and takes decisions alone, each in all contexts; `X_baseline` are the decisions told (t, Dx) and
`payoffs` what came of them (t, outputs); `best_f` and `current_value` the best risk measure of the posterior mean among
them; `objective` and `posterior_transform` the measure itself, one of them None; `bounds` the corners (2, Dx) of the
unit cube, `contexts` (n_w, Dc), None where they are ignored, `weights` of the outputs (outputs,).
"""


class AcquisitionParameters(RiskParameters):
    """Which acquisition function, and what it is told."""

    acquisition: str = Field(
        "qLogNoisyExpectedImprovement",
        description="a class of `botorch.acquisition` by its name; or `module:factory` or `file.py:factory`, relative "
        "to the experiment file, which is called with what it has parameters for: `model`, `X_baseline`, `best_f`, "
        "`current_value`, `objective`, `posterior_transform`, `bounds`, `contexts`, `weights`, `payoffs`",
    )
    options: Plain = Field(default_factory=dict, description="further keyword arguments of it, such as `{beta: 4.0}`")

    @pydantic.field_validator("acquisition")
    @classmethod
    def _settled(cls, written: str, info: pydantic.ValidationInfo) -> str:
        if written in get_args(Named):
            return written
        if not set(":@") & set(written):
            raise ValueError(nearest(written, get_args(Named)))
        return settled("acquisition", written, info)

    @pydantic.field_validator("options")
    @classmethod
    def _not_ours(cls, options: Plain) -> Plain:
        for key in options:
            if key in OFFERED:
                raise ValueError(f"'{key}' is given by the algorithm itself; leave it out")
        return options

    @planning_only
    def refuse_misfits(self) -> None:
        if (taken := arguments_planned("acquisition", "acquisition", _place(self.acquisition))) is not None:
            refuse_arguments("options", taken, self.options, OFFERED)


def _place(name: str) -> str:
    return f"botorch.acquisition:{name}" if name in get_args(Named) else name


class BotorchAcquisition(BotorchAlgorithm[AcquisitionParameters]):
    """The largest value of an acquisition function of the user's choice.

    Raises:
        BocuError: at the first decision: there is no such factory, it wants an argument that is not there, or does not
            take the measure over contexts that is asked for.
    """

    about = About(
        title="BoTorch acquisition",
        summary="any acquisition function of BoTorch or of one's own, on any BoTorch model",
        paper="Balandat et al. 2020",
        look=Look("purple", "long-dash", "P"),
    )
    protocols = CONTINUOUS + SCALARISED
    Parameters = AcquisitionParameters

    def _acquisition(self, situation: AcquisitionInputs) -> "AcquisitionFunction":
        name, options = self.parameters.acquisition, self.parameters.options
        return make_acquisition(name, situation, options)


def make_acquisition(name: str, situation: AcquisitionInputs, options: Mapping[str, object]) -> "AcquisitionFunction":
    """Call an acquisition class or factory with what it has parameters for.

    Args:
        name: of a class of BoTorch's, or "module:factory".
        situation: what it may ask for.
        options: further keyword arguments.

    Raises:
        BocuError: see `BotorchAcquisition`.
    """
    from botorch.acquisition import AcquisitionFunction

    where = f"acquisition: {name}"
    make = factory("acquisition", _place(name))
    taken = dict(arguments_of(make))
    for key in ("objective", "posterior_transform") if name in get_args(Named) else ():
        if getattr(situation.scoring, key) is not None and key not in taken:
            raise BocuError(
                f"{where}: takes no {key}, which the measure over contexts, or the weighted sum of outputs, is given "
                "by; take another acquisition, `risk: expectation` with one output, or `risk: ignored`"
            )
    with faults_at(f"{where}: "):
        refuse_arguments("options", [*taken.items()], options, OFFERED)
    found = make(**{key: offer(situation) for key, offer in OFFERED.items() if key in taken}, **options)
    if not isinstance(found, AcquisitionFunction):
        raise BocuError(f"{where}: returned {type(found).__name__}; an acquisition function of BoTorch is wanted")
    return found
