"""Whether a run stands: the variable `status` of run files and cubes."""

import numpy as np

MISSING, DONE, NOT_DEFINED = 0, 1, 2
STATUS_ATTRIBUTES = {
    "long_name": "whether the run stands",
    "units": "1",
    "flag_values": np.array([MISSING, DONE, NOT_DEFINED], dtype=np.int8),
    "flag_meanings": "missing done not_defined",
}
