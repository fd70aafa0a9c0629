"""What runs are worth: metrics, scores, cubes, statistics, fronts.

Imports `runs` and below.
"""
