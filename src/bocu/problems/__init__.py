"""Problems, one module a family: what a seed meets, and what planning may ask without opening a file.

Rooms `data` (catalogue, downloads, stand-ins) and `priors` (fitted to them). Imports `core`, `robust`, and of the
learners surrogates and what searches them; no algorithm.
"""
