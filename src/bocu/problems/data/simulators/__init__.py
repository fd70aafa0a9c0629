"""Simulators of real decisions, which the extra `problems` installs, and the tables of payoffs that they fill.

Their tables are shipped under `data/shipped`: nothing here is imported where a table is only read.
"""
