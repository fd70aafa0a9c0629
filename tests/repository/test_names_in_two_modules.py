"""A public class stands in one module, and so does a function that others import by its name."""

import ast
from collections import defaultdict

import pytest

#: Names that stand in several modules, each with the reason.
JUSTIFIED = {
    "verdict": "on a claim, or on a difference of ranks",
    "section": "of the report's two pages of claims, each its own",
}


@pytest.fixture(scope="module")
def modules(root):
    return {
        "bocu." + ".".join(file.relative_to(root / "src/bocu").with_suffix("").parts): ast.parse(
            file.read_text("utf-8")
        )
        for file in (root / "src/bocu").rglob("*.py")
        if file.name != "__init__.py"
    }


def places(modules, *kinds):
    found = defaultdict(set)
    for module, tree in modules.items():
        for statement in tree.body:
            if isinstance(statement, kinds) and not statement.name.startswith("_"):
                found[statement.name].add(module)
    return {name: where for name, where in found.items() if len(where) > 1}


def test_no_public_class_stands_in_two_modules(modules):
    assert {name for name in places(modules, ast.ClassDef) if name not in JUSTIFIED} == set()


def test_no_function_is_imported_by_its_name_from_two_modules(modules):
    twice, imported = places(modules, ast.FunctionDef), defaultdict(set)
    for tree in modules.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if node.module in twice.get(alias.name, ()):
                        imported[alias.name].add(node.module)
    assert {name: where for name, where in imported.items() if len(where) > 1 and name not in JUSTIFIED} == {}
