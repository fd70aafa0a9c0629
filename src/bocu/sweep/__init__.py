"""What surrounds a sweep: status, why a file is out of date, differences, leftovers, forecasts.

Imports `report` and below.
"""
