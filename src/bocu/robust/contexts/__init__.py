"""Contexts: grids, the distributions they come from, empirical and kernel density estimates.

Imports `ambiguity` and below.
"""
