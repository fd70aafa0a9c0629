"""The report: pages and tables made from cubes and figures.

Imports `figures` and below.
"""
