"""Deterministic stand-ins with the schema of the real raw files, one module a data set, labelled as simulated.

Each module has `simulate(file, path)`, which writes one raw file of its data set. Every call writes the same content.
"""
