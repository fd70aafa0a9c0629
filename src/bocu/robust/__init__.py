"""What is robust: ambiguity sets, objectives over them, and the contexts that they stand around.

Rooms `ambiguity`, `objectives` and `contexts`. Imports `core`.
"""
