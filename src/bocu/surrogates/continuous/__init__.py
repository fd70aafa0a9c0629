"""Gaussian processes over continuous decisions and contexts, exact, with fitted hyper-parameters."""
