"""Robust upper confidence bounds of a Gaussian process of BoTorch over decisions and contexts."""

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import NotNegative
from bocu.learners.algorithms.base import Algorithm, AlgorithmParameters


class RobustBoTorchParameters(AlgorithmParameters):
    """How hopeful it is."""

    width: NotNegative = Field(1.5, description="standard deviations added to the mean")


class RobustBoTorch(Algorithm):
    """The decision whose bounds the objective of the experiment rates highest; refitted after every observation."""

    about = About(
        title="Robust BoTorch",
        summary="upper confidence bounds of a SingleTaskGP, rated by any objective over any set",
        look=Look("sky", "long-dash", "P"),
    )
    protocols = ("general", "data-driven")
    pursues_objective = True
    Parameters = RobustBoTorchParameters

    def __init__(self, description, objective, parameters, generator):
        super().__init__(description, objective, parameters, generator)
        self.places, self.values, self.round = [], [], None

    def ask(self, round):
        self.round = round
        rated = self.rated(self.parameters.width)
        if round.available is not None:
            rated[np.setdiff1d(np.arange(len(rated)), round.available)] = -np.inf
        return int(np.argmax(rated))

    def tell(self, decision, context, value):
        points = self.description.decisions.points[decision], self.description.contexts.points[context]
        self.places.append(np.concatenate(points))
        self.values.append(float(value))

    def recommend(self):
        return 0 if self.round is None else int(np.argmax(self.rated(0.0)))

    def rated(self, width):
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        decisions, contexts = self.description.decisions.points, self.description.contexts.points
        if not self.values:
            return np.zeros(len(decisions))
        pairs = np.hstack([np.repeat(decisions, len(contexts), axis=0), np.tile(contexts, (len(decisions), 1))])
        told = torch.tensor(np.array(self.places)), torch.tensor(self.values, dtype=torch.float64)[:, None]
        with torch.random.fork_rng():  # what BoTorch draws is to be the same in every process
            torch.manual_seed(len(self.values))
            model = SingleTaskGP(*told)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            with torch.no_grad():
                found = model.posterior(torch.tensor(pairs))
        bound = (found.mean + width * found.variance.sqrt()).numpy().reshape(len(decisions), len(contexts))
        return self.objective.with_epsilon(self.round.epsilon or 0.0)(bound, self.round.reference)
