"""Importing a class that is named as text."""

import importlib
from typing import Any


def load(target: str) -> Any:
    """Import `target`, written "module:Class"."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
