"""Problems, one module a family: what a seed meets, and what planning may ask without opening a file.

Imports `priors`, `acquisition` and below; no algorithm.
"""
