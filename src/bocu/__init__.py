"""Robust Bayesian optimisation under an uncontrolled context: methods, problems and the sweep that compares them."""

__version__ = "0.1.0"
