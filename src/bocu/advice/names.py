"""How the model tells names to choose from apart: one-hot, or by whether they differ at all (Hamming).

One-hot: each name is an input with a length-scale of its own under the kernel of the numbers, so that two names may be
more alike than two others. Hamming: two different names of a choice are equally unlike, exp(-1 / l^2), one length-scale
l for the whole choice, times the kernel of the numbers (the transformed overlap kernel of Wan et al., 2021). It has
fewer hyper-parameters, for logs with few rows for each name.
"""

from dataclasses import replace

import numpy as np

from bocu.advice.choices import Decisions, OneOfNames, Range
from bocu.core.errors import BocuError, shown
from bocu.core.kernels import kernel_named
from bocu.core.parameters import nearest
from bocu.learners.surrogates.continuous.fitting import LogPosterior
from bocu.learners.surrogates.continuous.structure import Factor, Hyperparameters, Structure, product

ONE_HOT, HAMMING = "one-hot", "hamming"
CODES = {
    ONE_HOT: "one input a name, each with a length-scale",
    HAMMING: "different or not, one length-scale a choice",
}


def checked_code(code: str) -> str:
    """Return the code.

    Raises:
        BocuError: there is none of that name.
    """
    if code not in CODES:
        raise BocuError(f"--names: found {shown(code)}; {nearest(code, CODES)}")
    return code


def structure_of(decisions: Decisions, contexts: int, kernel: str, code: str) -> Structure:
    """Return the covariance over coded decisions and contexts (`contexts` of them).

    The last factor is that of the contexts; all before are of decisions.
    """
    columns = len(decisions.encode(np.zeros((1, len(decisions.parts))))[0])
    choices = [i for i, part in enumerate(decisions.parts) if isinstance(part, OneOfNames)]
    if code == ONE_HOT or not choices:
        return product(columns, contexts, kernel, kernel)
    numbers = sum(isinstance(part, Range) for part in decisions.parts)
    factors = [Factor(kernel_named(kernel), slice(0, numbers))] if numbers else []
    factors += [Factor(kernel_named("squared-exponential"), decisions.columns(i)) for i in choices]
    factors.append(Factor(kernel_named(kernel), slice(columns, columns + contexts)))
    return Structure(columns, contexts, tuple(factors))


def shared_scales(decisions: Decisions, contexts: int, code: str) -> np.ndarray:
    """Return for each input (D,) which of the length-scales that a fit decides is its own."""
    groups: list[int] = []
    for i in sorted(range(len(decisions.parts)), key=lambda i: decisions.columns(i).start):
        width = decisions.columns(i).stop - decisions.columns(i).start
        first = groups[-1] + 1 if groups else 0
        groups += [first] * width if code == HAMMING else list(range(first, first + width))
    return np.array([*groups, *range(groups[-1] + 1, groups[-1] + 1 + contexts)])


class Shared(LogPosterior):
    """The objective of a fit in which inputs share length-scales, which the prior counts once.

    Args:
        whole: the objective of a fit where each input has its own.
        groups: which length-scale each input takes, shape (D,), of 0 to G - 1.
    """

    def __init__(self, whole: LogPosterior, groups: np.ndarray) -> None:
        self._whole = whole
        self._groups = groups
        self.priors = whole.priors
        contexts = whole.structure.contexts
        self.structure = replace(whole.structure, decisions=int(groups.max()) + 1 - contexts)

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log posterior density and its gradient at logarithms (G + 2,)."""
        spread = np.concatenate([vector[:-2][self._groups], vector[-2:]])
        value, gradient = self._whole(spread)
        prior, by_prior = self.priors.density(spread)
        once, by_once = self.priors.density(vector)
        gradient -= by_prior
        summed = np.bincount(self._groups, weights=gradient[:-2])
        return value - prior + once, np.concatenate([summed, gradient[-2:]]) + by_once


def spread_scales(found: Hyperparameters, groups: np.ndarray) -> Hyperparameters:
    """Return hyper-parameters with a length-scale for each input (D,)."""
    return replace(found, lengthscales=found.lengthscales[groups])
