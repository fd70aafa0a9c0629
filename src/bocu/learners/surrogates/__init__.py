"""Gaussian processes: finite and incremental, over time, continuous; and draws from them.

Imports `contexts` and below.
"""
