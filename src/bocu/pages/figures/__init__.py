"""Figures, one module a kind: a cube in, a picture and its description out.

Imports `evaluation` and below.
"""
