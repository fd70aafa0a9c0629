"""One run: a pure function of its specification; protocols, records, checkpoints, the run cache.

Imports `experiment` and below.
"""
