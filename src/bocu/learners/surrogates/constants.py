"""Constants of several surrogates; importing them imports nothing heavy."""

import math

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)  # of the density of a normal variable
INITIAL_CAPACITY = 32  # rows; storage doubles when full
