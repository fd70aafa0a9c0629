"""What learns and decides: Gaussian processes, the search for decisions, and the algorithms.

Rooms `surrogates`, `acquisition` and `algorithms`. Imports `robust` and `core`; no problem.
"""
