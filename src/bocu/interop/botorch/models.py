"""BoTorch models under our algorithms: a factory's model, fitted, and its optimistic payoff as a surface.

A model is a function of the observations and of one seed: it is made and fitted anew for every decision, inside
`torch.random.fork_rng`, by a seed from the algorithm's stream. Nothing else is kept, so that an interrupted or replayed
run goes on bit for bit. Inputs are decisions and contexts in the unit cube, payoffs in their own units.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.about import About, told_by
from bocu.core.errors import BocuError
from bocu.core.kernels import LEAST_VARIANCE
from bocu.learners.acquisition.base import Pullback, Surface
from bocu.learners.algorithms.botorch_model import BotorchModelParameters, factory
from bocu.learners.surrogates.continuous.model import Observations

if TYPE_CHECKING:
    from botorch.models.model import Model
    from torch import Tensor

#: Payoffs that are evaluated at once, each as a batch of its own; larger blocks save no time.
BLOCK_PAYOFFS = 8192


@told_by(
    About(
        title="SingleTaskGP",
        summary="BoTorch's Gaussian process with its defaults, fitted to all observations",
        paper="Balandat et al. 2020",
    )
)
def single_task_gp(inputs: "Tensor", payoffs: "Tensor") -> "Model":
    """Return BoTorch's `SingleTaskGP` with its defaults.

    These are, since its version 0.12: a squared exponential kernel whose length-scales have a log-normal prior that
    grows with the dimension (Hvarfner et al., 2024), a log-normal prior of the noise, standardised payoffs.

    Args:
        inputs: shape (t, D), in the unit cube.
        payoffs: shape (t, outputs).
    """
    from botorch.models import SingleTaskGP

    return SingleTaskGP(inputs, payoffs)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from a seed, and leave its own generator as it was."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def compile_nothing() -> None:
    """Let BoTorch's hypervolume improvement be the Python code, wherever it runs.

    Else it compiles another at its first use, for minutes, where a compiler is found: results are not to depend on it.
    """
    from botorch.acquisition.multi_objective import logei

    logei._load_attempted = True


def draw_seed(generator: np.random.Generator) -> int:
    """Draw a seed for torch from an algorithm's stream."""
    return int(generator.integers(2**63))


def fitted(parameters: BotorchModelParameters, inputs: np.ndarray, payoffs: np.ndarray) -> "Model":
    """Make the factory's model of observations and fit it, unless the factory did.

    Args:
        parameters: the factory and its keyword arguments.
        inputs: shape (t, D).
        payoffs: shape (t, outputs).

    Raises:
        BocuError: the factory is not there, refuses its arguments, or returns no BoTorch model.
    """
    import torch
    from botorch.models.model import Model, ModelList

    make = factory("model", parameters.botorch)
    try:
        model = make(torch.tensor(inputs), torch.tensor(payoffs), **parameters.parameters)
    except TypeError as error:
        raise BocuError(f"model: {parameters.botorch}: called with inputs and payoffs, it says: {error}") from error
    if not isinstance(model, Model):
        raise BocuError(f"model: {parameters.botorch}: returned {type(model).__name__}; a BoTorch model is wanted")
    if model.num_outputs != payoffs.shape[1]:
        raise BocuError(f"model: {parameters.botorch}: has {model.num_outputs} outputs; {payoffs.shape[1]} are wanted")
    if model.training:
        for part in model.models if isinstance(model, ModelList) else [model]:
            _fit(parameters.botorch, part)
    model.eval()
    return model


def _fit(target: str, model: object) -> None:
    from botorch.exceptions.errors import ModelFittingError
    from botorch.fit import fit_gpytorch_mll
    from gpytorch.mlls import ExactMarginalLogLikelihood

    if not hasattr(model, "likelihood"):
        raise BocuError(f"model: {target}: no likelihood to fit {type(model).__name__} by; return it fitted, by eval()")
    try:
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    except (ModelFittingError, NotImplementedError, RuntimeError) as error:
        raise BocuError(f"model: {target}: could not be fitted: {error}; return it fitted, by eval()") from error


def moments(posterior: Any) -> "tuple[Tensor, Tensor]":
    """Return mean and variance of a posterior; of a mixture, as fully Bayesian models have, those of the mixture."""
    if hasattr(posterior, "mixture_mean"):
        return posterior.mixture_mean, posterior.mixture_variance
    return posterior.mean, posterior.variance


class FactoryPosterior:
    """A fitted model of one output.

    Attributes:
        model: BoTorch's.
        decisions: number of coordinates of a decision, which come first.
        contexts: number of coordinates of a context; 0: the context is no input.
        least_variance: what is less is rounding.
        scale: a typical difference of payoffs.
    """

    def __init__(self, model: "Model", decisions: int, contexts: int, least_variance: float, scale: float) -> None:
        self.model = model
        self.decisions = decisions
        self.contexts = contexts
        self.least_variance = least_variance
        self.scale = scale

    def surface(self, points: np.ndarray, sqrt_beta: float) -> "ModelSurface":
        """Return the payoff `mu + sqrt_beta sigma` over contexts (M, Dc)."""
        return ModelSurface(self, points, sqrt_beta)


class FactoryModel(Observations):
    """A model that is told observations and gives posteriors, as `ContinuousGP`.

    Args:
        parameters: the factory.
        decisions: number of coordinates of a decision.
        contexts: number of coordinates of a context that are inputs; 0: the context is none.
    """

    def __init__(self, parameters: BotorchModelParameters, decisions: int, contexts: int) -> None:
        super().__init__(decisions, contexts)
        self.parameters = parameters
        self.decisions = decisions
        self._latest: tuple[tuple[int, int], Model] | None = None

    #: A run records nothing of the fits: they follow from what it records anyway.
    quantities: tuple[tuple[str, str], ...] = ()

    def posterior(self, generator: np.random.Generator) -> FactoryPosterior:
        """Return the posterior of all observations, of a new fit by one draw from the generator."""
        key = self.count, draw_seed(generator)
        if self._latest is None or self._latest[0] != key:
            with seeded(key[1]):
                self._latest = key, fitted(self.parameters, self.inputs, self.outputs[:, None])
        # What a model keeps of its predictions moves later ones in the last bits: each posterior starts afresh.
        model = copy.deepcopy(self._latest[1])
        variance = float(self.outputs.var())
        least = max(LEAST_VARIANCE * variance, np.finfo(float).tiny)
        contexts = self.inputs.shape[1] - self.decisions
        return FactoryPosterior(model, self.decisions, contexts, least, variance**0.5 or 1.0)

    def glance(self, generator: np.random.Generator) -> FactoryPosterior:
        """Return what `posterior` would: the fits follow from the observations alone."""
        return self.posterior(generator)

    def found(self) -> list[float]:
        """Return nothing: see `quantities`."""
        return []

    def reinstate_found(self, values: np.ndarray) -> None:
        """Take back what `found` gave: nothing."""


class ModelSurface(Surface):
    """The payoff `mu + sqrt_beta sigma` of a BoTorch model, with gradients by torch.

    Args:
        posterior: the fitted model.
        points: contexts in [0, 1], shape (M, Dc).
        sqrt_beta: multiplies the standard deviation.
    """

    def __init__(self, posterior: FactoryPosterior, points: np.ndarray, sqrt_beta: float) -> None:
        import torch

        if points.ndim != 2 or points.shape[1] != posterior.contexts or not len(points):
            raise BocuError(f"contexts: found shape {points.shape}; allowed: (M, {posterior.contexts}) with M positive")
        self.posterior = posterior
        self.points = points
        self.sqrt_beta = float(sqrt_beta)
        self._points = torch.tensor(points)

    @property
    def dimension(self) -> int:
        return self.posterior.decisions

    @property
    def contexts(self) -> int:
        return len(self.points)

    @property
    def block(self) -> int:
        return max(1, BLOCK_PAYOFFS // self.contexts)

    def payoffs(self, decisions: np.ndarray) -> np.ndarray:
        import torch

        with torch.no_grad():
            found: np.ndarray = self._payoffs(torch.tensor(decisions)).numpy()
        return found

    def evaluate(self, decisions: np.ndarray) -> tuple[np.ndarray, Pullback]:
        import torch

        at = torch.tensor(decisions, requires_grad=True)
        payoffs = self._payoffs(at)

        def pullback(weights: np.ndarray) -> np.ndarray:
            (gradient,) = torch.autograd.grad(payoffs, at, torch.tensor(weights), retain_graph=True)
            return gradient.numpy()

        return payoffs.detach().numpy(), pullback

    def rough(self, indices: np.ndarray) -> "ModelSurface":
        return ModelSurface(self.posterior, self.points[indices], self.sqrt_beta)

    def _payoffs(self, decisions: "Tensor") -> "Tensor":
        import torch

        shape = len(decisions), self.contexts
        both = [decisions[:, None, :].expand(*shape, -1), self._points[None].expand(*shape, -1)]
        # A batch of single points: jointly their covariances would be worked out, too.
        mean, variance = moments(self.posterior.model.posterior(torch.cat(both, dim=-1).flatten(0, 1)[:, None, :]))
        deviation = variance.clamp_min(self.posterior.least_variance).sqrt()
        return (mean + self.sqrt_beta * deviation).reshape(shape)
