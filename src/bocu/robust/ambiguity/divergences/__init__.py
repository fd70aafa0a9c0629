"""phi-divergences: chi-squared, Kullback-Leibler, Cressie-Read and those of a user's own.

Imports what `ambiguity` may.
"""
