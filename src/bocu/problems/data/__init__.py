"""Data sets: the catalogue, fetching, simulated stand-ins, and preparation into NetCDF with units.

Import the modules themselves: the package pulls in nothing, so that planning stays light and a code fingerprint of one
data set does not reach the others.
"""
