"""Names of the protocols, and the groups of them that classes are defined for.

A protocol says who chooses what in which order; how each is played stands in `bocu.sweep.runs.protocol`.
"""

TIME_VARYING = ("time-varying",)
CONTEXTUAL = ("general", "data-driven", "simulator")
CONTINUOUS = ("continuous",)
SCALARISED = ("scalarised",)
ROLLING = ("rolling-simulator",)
GRID = CONTEXTUAL + ROLLING
FINITE = TIME_VARYING + GRID
ANNOUNCED = GRID + SCALARISED
EVERY = FINITE + CONTINUOUS + SCALARISED
