"""A set of a user's own, as a function that returns CVXPY constraints."""

import cvxpy as cp


def near_in_each(q, reference, radius, contexts):
    """Every context has its mass of the reference, but for the radius."""
    return cp.norm_inf(q - reference) <= radius
