"""Classes from outside the project: where they stand, whether they keep the contract, what planning knows of them.

Imports what `experiment` may. Planning imports none of those classes: `stand_ins` take their place.
"""
