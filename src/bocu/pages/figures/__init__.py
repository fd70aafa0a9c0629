"""Figures: the digest or the cube of a problem in, a picture and its description out.

Imports `evaluation` and below.
"""
