"""The knowledge gradient where contexts are met, not chosen.

rhoKG (Cakmak et al., 2020) chooses decision and context of an observation together. Here the context is only met, so
that each fantasy observes the decision in a context of its own, drawn as the algorithm believes contexts to come; the
mean over fantasies is then over contexts and payoffs at once. The rest is BoTorch's one-shot `qKnowledgeGradient`.
"""

from typing import Any

import torch
from botorch import settings
from botorch.acquisition.knowledge_gradient import _get_value_function, _split_fantasy_points, qKnowledgeGradient
from botorch.acquisition.objective import MCAcquisitionObjective, PosteriorTransform
from botorch.models.model import Model, ModelList
from botorch.sampling.base import MCSampler
from botorch.sampling.list_sampler import ListSampler
from botorch.sampling.normal import SobolQMCNormalSampler
from botorch.utils.sampling import draw_sobol_normal_samples
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor


class ContextualKnowledgeGradient(qKnowledgeGradient):
    """qKG of decisions, whose fantasies meet contexts.

    Args:
        model: fitted; takes decisions alone, each in all contexts of the measure, but is told both.
        fantasy_contexts: those that the fantasies meet, shape (fantasies, Dc).
        objective: the measure over contexts, of samples.
        posterior_transform: likewise, of the posterior.
        current_value: the best measure of the posterior mean so far.
    """

    def __init__(
        self,
        model: Model,
        fantasy_contexts: Tensor,
        objective: MCAcquisitionObjective | None = None,
        posterior_transform: PosteriorTransform | None = None,
        current_value: Tensor | None = None,
    ) -> None:
        fantasies = len(fantasy_contexts)
        super().__init__(
            model,
            num_fantasies=fantasies,
            objective=objective,
            posterior_transform=posterior_transform,
            current_value=current_value,
        )
        self.fantasy_contexts = fantasy_contexts
        self.noises = [
            draw_sobol_normal_samples(1, fantasies, dtype=fantasy_contexts.dtype) for _ in range(model.num_outputs)
        ]

    @t_batch_mode_transform()  # type: ignore[arg-type]  # as BoTorch's own are decorated
    def forward(self, X: Tensor) -> Tensor:
        """Return the value (b,) of decisions and the fantasies' best ones, X (b, 1 + fantasies, Dx)."""
        actual, best = _split_fantasy_points(X=X, n_f=self.num_fantasies)
        told = actual.expand(self.num_fantasies, *actual.shape)  # fantasies x b x 1 x Dx
        contexts = self.fantasy_contexts[:, None, None, :].expand(*told.shape[:-1], -1)
        model: Any = self.model
        fantasy_model = model.fantasize(torch.cat([told, contexts], dim=-1), sampler=self._sampler())
        value_function = _get_value_function(
            fantasy_model, self.objective, self.posterior_transform, self.inner_sampler
        )
        with settings.propagate_grads(True):
            values = value_function(X=best)[0]  # of one sample a fantasy: fantasies x b
        if self.current_value is not None:
            values = values - self.current_value
        return values.mean(dim=0)

    def _sampler(self) -> MCSampler:
        """Return what draws one payoff in every fantasy, by the same noise in every batch."""
        if isinstance(self.model, ModelList):
            return ListSampler(*(_given(noise[None, :, None]) for noise in self.noises))
        noise = torch.stack(self.noises, dim=-1) if len(self.noises) > 1 else self.noises[0]
        return _given(noise[None, :, None])  # 1 x fantasies x 1 (b) x 1 (x outputs)


def _given(noise: Tensor) -> MCSampler:
    """Return a sampler of one draw by given standard normal numbers, whose first batch are the fantasies."""
    sampler = SobolQMCNormalSampler(sample_shape=torch.Size([1]), seed=0)
    sampler.batch_range_override = (1, -2 if noise.dim() == 5 else -1)  # type: ignore[assignment]  # a plain attribute
    sampler.base_samples = noise
    return sampler
