"""Names of a package that load on first use, so that importing the package imports none of its modules."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, home: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: its name.
        home: for each public name, the module that defines it, relative to the package.
    """

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from bocu.core.loading import naming_extras

        with naming_extras():
            found = import_module(f"{package}.{home[name]}")
        return getattr(found, name)

    return get, lambda: sorted(home)
