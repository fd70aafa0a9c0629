"""What a function or class is called with, as its source has it: nothing is imported for that."""

import ast
import importlib.util
import re
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.loading import is_file
from bocu.core.parameters import nearest

Arguments = list[tuple[str, bool]]  #: Names in their order, and whether each must be given; "**" where any is taken.


class _UnknownError(Exception):
    """The source does not tell."""


def arguments_written(place: str) -> Arguments | None:
    """Return what a function or class takes; None where its source does not tell.

    Args:
        place: "module:Name", or "/path/to/file.py:Name".

    Raises:
        BocuError: the module has no such name.
    """
    try:
        return _taken(*place.rsplit(":", 1)) or []
    except _UnknownError:
        return None


def _taken(module: str, name: str) -> Arguments | None:
    """Return what is taken; None of a class without `__init__`, its own or inherited."""
    file = _file(module)
    if file is None:
        raise _UnknownError
    text = file.read_text(encoding="utf-8")
    bound = _bound(ast.parse(text).body)
    if name not in bound and not re.search(rf"\b{re.escape(name)}\b|import \*", text):
        raise BocuError(f"{module} defines no '{name}'; {nearest(name, bound)}")
    node = bound.get(name)
    if isinstance(node, ast.ImportFrom):
        around = module.split(".")[: -node.level if file.stem != "__init__" else 1 - node.level or None]
        home = ".".join([*(around if node.level else []), *filter(None, [node.module])])
        return _taken(home, next(one.name for one in node.names if (one.asname or one.name) == name))
    if isinstance(node, ast.FunctionDef) and not node.decorator_list:
        return _of(node.args)
    if not isinstance(node, ast.ClassDef) or node.decorator_list:
        raise _UnknownError
    own = _bound(node.body)
    if "__new__" in own:
        raise _UnknownError
    if "__init__" in own:
        if not isinstance(made := own["__init__"], ast.FunctionDef) or made.decorator_list:
            raise _UnknownError
        return _of(made.args)[1:]
    for base in node.bases:
        if not isinstance(base, ast.Name):
            raise _UnknownError
        if base.id != "object" and (inherited := _taken(module, base.id)) is not None:
            return inherited
    return None


def _bound(block: list[ast.stmt]) -> dict[str, ast.stmt]:
    """Return what binds each name of a module or class, where a definition or an import does, for type checkers too."""
    found: dict[str, ast.stmt] = {}
    for node in block:
        if isinstance(node, ast.If | ast.Try):
            found.update(_bound(node.body))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update({one.asname or one.name: node for one in node.names})
    return found


def _of(written: ast.arguments) -> Arguments:
    placed = [*written.posonlyargs, *written.args]
    wanted = len(placed) - len(written.defaults)
    taken = [(one.arg, place < wanted) for place, one in enumerate(placed)]
    taken += [(one.arg, default is None) for one, default in zip(written.kwonlyargs, written.kw_defaults, strict=True)]
    return [*taken, ("**", False)] if written.kwarg else taken


def _file(module: str) -> Path | None:
    """Return the file of a module: that of a package is found without importing it, its modules lie below."""
    if is_file(module):
        return Path(module)
    top, *parts = module.split(".")
    found = importlib.util.find_spec(top) if top else None
    if found is None or not found.origin:
        return None
    base = Path(found.origin).parent.joinpath(*parts)
    candidates = (base.with_suffix(".py"), base / "__init__.py") if parts else (Path(found.origin),)
    return next((file for file in candidates if file.is_file() and file.suffix == ".py"), None)
