"""Classes from outside the project: where they stand, and whether they keep the contract.

Imports what `experiment` may.
"""
