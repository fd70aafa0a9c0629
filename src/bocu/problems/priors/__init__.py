"""Candidate priors: fitted to prepared data, one file each.

Imports `surrogates`, `data` and below.
"""
