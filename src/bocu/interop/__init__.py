"""Bridges to other packages, one room or module a package; each is imported only when asked for.

Imports `sweep` and below. Nothing imports it but `commands`; what belongs to a sweep is loaded by its registered name.
"""
