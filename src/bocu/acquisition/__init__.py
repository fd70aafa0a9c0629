"""Acquisition functions over continuous decisions: what to try next when the context is not ours to choose."""
