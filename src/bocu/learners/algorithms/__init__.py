"""Algorithms, one module a family: built from a problem's public description, then asked and told.

Imports `acquisition`, `surrogates` and below; no problem.
"""
