"""Acquisition: surfaces of posteriors over decisions, functionals over contexts, multi-start search.

Imports `surrogates` and below.
"""
