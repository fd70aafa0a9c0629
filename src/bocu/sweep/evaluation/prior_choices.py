"""What algorithms with candidate priors did with them: which they trusted, and when they rejected which."""

import numpy as np


def trusted_shares(chosen: np.ndarray, priors: int) -> np.ndarray:
    """Count how often each prior was trusted.

    Args:
        chosen: indices of priors, negative where none was, shape (seeds, iterations).
        priors: number of candidate priors.

    Returns:
        Shares of the rounds with a choice, shape (seeds, priors); seeds without any are left out.
    """
    counts = (chosen[:, :, None] == np.arange(priors)).sum(axis=1)
    total = counts.sum(axis=1, keepdims=True)
    shares: np.ndarray = counts[total[:, 0] > 0] / total[total[:, 0] > 0]
    return shares


def first_rounds(iterations: np.ndarray, happened: np.ndarray) -> np.ndarray:
    """Return the first round in which something happened, shape (seeds, ...); not a number: in none.

    Args:
        iterations: rounds, shape (iterations,).
        happened: truth values, shape (seeds, iterations, ...).
    """
    first = iterations[happened.argmax(axis=1)].astype(float)
    return np.where(happened.any(axis=1), first, np.nan)


def rejection_rounds(iterations: np.ndarray, active: np.ndarray, rejected: np.ndarray | None) -> np.ndarray:
    """Return the round in which each prior was first rejected, shape (seeds, priors); not a number: in none.

    Args:
        iterations: rounds, shape (iterations,).
        active: 0 where a prior is no candidate, shape (seeds, iterations, priors).
        rejected: index of the prior that was rejected, negative where none was, shape (seeds, iterations), or None.
    """
    gone = active == 0
    if rejected is not None:
        # A prior whose rejection emptied the list is a candidate again at the end of the same round.
        gone = gone | (rejected[:, :, None] == np.arange(gone.shape[2]))
    return first_rounds(iterations, gone)
