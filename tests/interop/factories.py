"""Factories of a user's own, as the tests of this folder name them."""

from typing import Any


def matern(inputs: Any, payoffs: Any, smoothness: float = 2.5) -> Any:
    """A GP of another kernel than BoTorch's, to be fitted."""
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import MaternKernel, ScaleKernel

    return SingleTaskGP(
        inputs, payoffs, covar_module=ScaleKernel(MaternKernel(nu=smoothness, ard_num_dims=inputs.shape[1]))
    )


def settled(inputs: Any, payoffs: Any, lengthscales: list[float], output_scale: float, noise: float) -> Any:
    """A GP of hyper-parameters that are given: nothing is left to fit."""
    import torch
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import RBFKernel, ScaleKernel

    model = SingleTaskGP(inputs, payoffs, covar_module=ScaleKernel(RBFKernel(ard_num_dims=inputs.shape[1])))
    model.covar_module.base_kernel.lengthscale = torch.tensor(lengthscales)
    model.covar_module.outputscale = output_scale
    model.likelihood.noise = noise
    gram = model.covar_module(inputs).to_dense() + noise * torch.eye(len(inputs))
    solved = torch.linalg.solve(gram, torch.stack([model.train_targets, torch.ones(len(inputs))], dim=-1))
    model.mean_module.constant = solved[:, 0].sum() / solved[:, 1].sum()
    return model.eval()


def two_outputs(inputs: Any, payoffs: Any) -> Any:
    from botorch.models import SingleTaskGP

    return SingleTaskGP(inputs, payoffs.repeat(1, 2))


def no_model(inputs: Any, payoffs: Any) -> int:
    return 3


def of_inputs_alone(inputs: Any) -> None:
    """Takes no payoffs."""


nothing_to_call = 3


def farthest(model: Any, X_baseline: Any, reach: float = 1.0) -> Any:
    """An acquisition function of one's own: how far a decision is from all that were tried."""
    import torch
    from botorch.acquisition import AcquisitionFunction
    from botorch.utils.transforms import t_batch_mode_transform

    class Farthest(AcquisitionFunction):
        @t_batch_mode_transform(expected_q=1)
        def forward(self, X: Any) -> Any:
            return reach * torch.cdist(X, X_baseline).min(dim=-1).values[:, 0]

    return Farthest(model)


def robust(model: Any, contexts: Any, radius: float) -> Any:
    """This project's acquisition function over this project's set."""
    from bocu.interop.botorch import RobustMeasure, RobustUpperConfidenceBound
    from bocu.robust.ambiguity import TotalVariation

    return RobustUpperConfidenceBound(model, RobustMeasure(TotalVariation(radius), n_w=len(contexts)), 2.0)
