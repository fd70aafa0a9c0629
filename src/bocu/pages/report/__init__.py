"""The report: pages and tables made from digests and figures.

Imports `figures` and below.
"""
