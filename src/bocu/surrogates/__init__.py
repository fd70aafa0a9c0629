"""The surrogates: Gaussian processes that the algorithms condition on data."""
