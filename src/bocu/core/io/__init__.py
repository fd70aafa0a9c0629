"""Files: written whole or not at all, NetCDF, provenance and hashes, the log of a job, progress.

Imports `core`.
"""
