"""The algorithms, one module a family; `bocu.registry` knows them by name."""
