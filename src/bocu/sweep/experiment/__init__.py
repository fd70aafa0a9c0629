"""An experiment: typed configuration, registry, branches, paths, parameters of jobs, fingerprints, cost estimates.

Imports what lies below; problems and algorithms by name. Opens no data file.
"""
