"""Candidate priors: fitting them to data, storing them, reading them."""
