"""A sweep, and what surrounds it: status, why a file is out of date, differences, leftovers, forecasts.

Rooms `experiment` (what is to be run), `runs`, `evaluation` (what they are worth). Imports `problems` and below.
"""
