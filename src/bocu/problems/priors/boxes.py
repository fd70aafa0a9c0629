"""Candidate priors over a box of arms whose payoffs change with time: from their statements, or from fitted ones."""

from bocu.core.kernels import kernel_named
from bocu.core.rounds import BoxDomain
from bocu.learners.surrogates.box_time_varying import BoxPrior, ConstantMean, slope_tail_on_a_line
from bocu.problems.priors.grids import lengthscales
from bocu.problems.priors.statements import StatedPrior


def box_prior(stated: StatedPrior, box: BoxDomain, forgetting: float = 0.0) -> BoxPrior:
    """Return a candidate over a box, whose coordinates its length-scales are in units of.

    How steep payoffs are is known on a line alone; in more dimensions confidence bounds take a constant `sqrt_beta`.

    Args:
        stated: as an experiment file states it; of a fitted one, what `bocu.problems.priors.grids.fitted_prior` reads.
        box: the arms.
        forgetting: share of the payoff's variance that is new in every round.

    Raises:
        BocuError: there is not one length-scale for each coordinate.
    """
    kernel = kernel_named(stated.kernel)(lengthscales(stated, box.dimension))
    line = box.dimension == 1
    slope = slope_tail_on_a_line(kernel, stated.variance, float(box.upper[0] - box.lower[0])) if line else None
    return BoxPrior(stated.label, ConstantMean(stated.mean), kernel, stated.variance, forgetting, slope)
