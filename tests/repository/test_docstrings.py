"""Every public method says what it does: where it stands, or where it was first declared."""

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import FunctionType, ModuleType

import bocu


def public_classes() -> Iterator[type]:
    for info in pkgutil.walk_packages(bocu.__path__, "bocu."):
        for found in vars(imported(info.name)).values():
            if inspect.isclass(found) and found.__module__ == info.name and not found.__name__.startswith("_"):
                yield found


def imported(name: str) -> ModuleType:
    """The module; an empty one of an adapter whose package is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if name != f"bocu.interop.{missing.name}":
            raise
        return ModuleType(name)


def function_of(member: object) -> FunctionType | None:
    """The function behind a method, a class method or a property."""
    if isinstance(member, classmethod | staticmethod):
        member = member.__func__
    elif isinstance(member, property):
        member = member.fget
    elif isinstance(member, functools.cached_property):
        member = member.func
    return member if isinstance(member, FunctionType) else None


def test_public_methods_have_docstrings_where_they_are_declared() -> None:
    # ruff's D102 asks for one at every method that overrides a documented one, too.
    undocumented = [
        f"{owner.__module__}: {owner.__name__}.{name}"
        for owner in public_classes()
        for name, member in vars(owner).items()
        if not name.startswith("_")
        and (function := function_of(member)) is not None
        and not function.__doc__
        and not any(name in vars(base) for base in owner.__mro__[1:])
    ]
    assert undocumented == []
