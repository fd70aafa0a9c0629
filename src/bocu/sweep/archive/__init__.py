"""The archive of published results: what is in it known by, what is compared with it, whether it stands.

Imports `evaluation`, `experiment`, `runs` and below.
"""
