"""A package of an outsider's: an algorithm on a BoTorch model, a problem, an ambiguity set and a metric."""
