"""The hash of the source files that a piece of the pipeline can reach.

Jobs carry it among their parameters, so that changed code reruns exactly what uses it. The parsed code counts:
comments, docstrings and layout do not. Imports are followed inside the package, wherever they stand in a module;
classes that are named as text (the registry's) are roots of their own.
"""

import ast
import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

PACKAGE = "bocu"
_ROOT = Path(__file__).parent
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # fields of a node that hold statements


def fingerprint(*modules: str) -> str:
    """Hash the code that `modules`, such as "bocu.runs", reach.

    Returns:
        16 hexadecimal digits.
    """
    return _fingerprint(tuple(sorted(set(modules))))


@functools.cache
def _fingerprint(modules: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for module in sorted(reachable(modules)):
        digest.update(f"{module}={module_hash(module)};".encode())
    return digest.hexdigest()[:16]


def module_hashes(modules: Iterable[str]) -> dict[str, str]:
    """Give the short hash of every module that `modules` reach, by name: what a changed fingerprint is explained by."""
    return {module: module_hash(module)[:12] for module in sorted(reachable(modules))}


def run_modules(specification: Mapping[str, Any]) -> list[str]:
    """Give the modules that a run of a specification starts from."""
    parts = [specification["problem"], specification["algorithm"], specification["objective"]]
    return ["bocu.runs", *(part["class"].partition(":")[0] for part in parts if part)]


def reachable(modules: Iterable[str]) -> set[str]:
    """Give the names of all modules of the package that `modules` import, directly or not, and of themselves."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(imports(module))
    return found


def module_hash(module: str) -> str:
    """Hash the parsed code of one module, without docstrings."""
    return _read(module)[0]


def imports(module: str) -> frozenset[str]:
    """Give the modules of the package that one module imports for running; imports for type checkers are left out."""
    return _read(module)[1]


@functools.cache
def _read(module: str) -> tuple[str, frozenset[str]]:
    """Give hash and imports of a module: planning asks for both of many, and parsing takes as long as either."""
    tree = _parse(module)
    names: set[str] = set()
    for node in _statements(tree, lambda node: isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            # `from bocu.x import y`: y is a module, or a name of module x.
            names.update(
                f"{base}.{alias.name}" if source_file(f"{base}.{alias.name}") else base for alias in node.names
            )
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:]
    digest = hashlib.sha256(ast.dump(tree).encode()).hexdigest()
    return digest, frozenset(name for name in names if name.split(".")[0] == PACKAGE and source_file(name))


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    file = source_file(module)
    parts = module.split(".")
    drop = node.level - (1 if file is not None and file.name == "__init__.py" else 0)
    base = parts[: len(parts) - drop]
    return ".".join(base + ([node.module] if node.module else []))


def _statements(tree: ast.Module, skipped: Callable[[ast.AST], bool] = lambda node: False) -> Iterator[ast.AST]:
    """Give the tree and every statement in it, without those that are `skipped` and what they hold.

    Expressions, most of a tree, hold no statement and are passed by.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for block in _BLOCKS:
            waiting.extend(child for child in getattr(node, block, ()) if not skipped(child))


def source_file(module: str) -> Path | None:
    """Give the file of a module, or None where the package has no such module."""
    parts = module.split(".")
    if parts[0] != PACKAGE:
        return None
    base = _ROOT.joinpath(*parts[1:])
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _parse(module: str) -> ast.Module:
    file = source_file(module)
    if file is None:
        raise ModuleNotFoundError(f"no module {module} in {_ROOT}")
    return ast.parse(file.read_bytes(), filename=str(file))
