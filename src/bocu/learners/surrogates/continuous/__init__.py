"""Gaussian processes over continuous decisions and contexts: kernels, fits, posteriors, features.

Imports what `surrogates` may.
"""
