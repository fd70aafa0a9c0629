"""Fingerprints of code, by the definitions that a job reaches.

Imports `core` and `io`.
"""
