"""What people see: figures, reports, and pages that are computed again from run files.

Rooms `figures` and `report`. Imports `sweep` and what lies below it.
"""
